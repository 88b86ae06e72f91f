// Small helpers: make elements, never from strings of HTML, so that text stays text.

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...present(children));
  return element;
}

/** Leave out what is null: `condition ? element : null` is a child like any other. */
export const present = (children) => children.filter((child) => child !== null && child !== undefined);

export const h = (name, attributes = {}, ...children) =>
  fill(document.createElement(name), attributes, children);

export const svg = (name, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, name), attributes, children);

export const percent = (p) => `${Math.round(100 * p)} %`;

/** Cut a text to about so many columns; Chinese characters and the like take two. */
export function clip(text, columns) {
  let used = 0;
  let end = 0;
  for (const char of text) {
    used += char.codePointAt(0) >= 0x1100 ? 2 : 1;
    if (used > columns) return `${text.slice(0, end).trimEnd()} …`;
    end += char.length;
  }
  return text;
}

const pen = document.createElement("canvas").getContext("2d");
const widths = new Map();
let family = "";

/** How wide a text is on the page, in pixels. */
export function measure(text, size, weight = 400) {
  family ||= getComputedStyle(document.body).fontFamily;
  pen.font = `${weight} ${size}px ${family}`;
  return pen.measureText(text).width;
}

/** The same for texts that come again and again. */
export function measureOnce(text, size, weight) {
  if (!widths.has(text)) widths.set(text, measure(text, size, weight));
  return widths.get(text);
}

/** Cut a text to a width. */
export function clipTo(text, width, size) {
  const whole = measure(text.slice(0, Math.ceil(width)), size);
  if (whole <= width && text.length <= width) return text;
  // A guess from the average width, which is then made smaller as long as it is too wide.
  let end = Math.floor((Math.min(text.length, width) * width) / whole);
  const shown = () => `${text.slice(0, end).trimEnd()} …`;
  while (end > 0 && measure(shown(), size) > width) end -= Math.max(1, Math.floor(end / 24));
  // Not between the two halves of a character.
  if (/[\ud800-\udbff]/.test(text[end - 1] ?? "")) end--;
  return shown();
}

/** How people count: EDUs from 1, both ends named. */
export const rangeName = (start, end) =>
  end - start === 1 ? `EDU ${start + 1}` : `EDUs ${start + 1}–${end}`;
