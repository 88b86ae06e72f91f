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

/** Cut a text to about so many columns, after a word; Chinese characters and the like take two. */
export function clip(text, columns) {
  let used = 0;
  let end = 0;
  for (const char of text) {
    used += char.codePointAt(0) >= 0x1100 ? 2 : 1;
    if (used > columns) {
      const cut = text.slice(0, end);
      const isInside = /\S/.test(char) && /\s/.test(cut);
      return `${(isInside ? cut.replace(/\S+$/, "") : cut).trimEnd()} …`;
    }
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
export function measureOnce(text, size, weight = 400) {
  const name = `${weight} ${size} ${text}`;
  if (!widths.has(name)) widths.set(name, measure(text, size, weight));
  return widths.get(name);
}

/** Cut a text to a width, between two words where there are any. */
export function clipTo(text, width, size) {
  return wrap(text, width, size, 1)[0] ?? "";
}

const segments = new Intl.Segmenter(undefined, { granularity: "word" });

/** Break a text into lines of a width, between words; more than `most` lines end in an ellipsis. */
export function wrap(text, width, size, most) {
  if (text.length < width && measure(text, size) <= width) return [text];
  const lines = [];
  let line = "";
  let used = 0;
  for (const piece of pieces(text, width, size)) {
    const wide = measureOnce(piece, size);
    if (line && used + measureOnce(piece.trimEnd(), size) > width) {
      lines.push(line.trimEnd());
      if (lines.length === most) {
        lines[most - 1] = ended(lines[most - 1], width, size);
        return lines;
      }
      line = "";
      used = 0;
    }
    line += piece;
    used += wide;
  }
  return [...lines, line.trimEnd()];
}

/** The parts that a line may not break: words with the white space after them. */
function* pieces(text, width, size) {
  for (const word of text.match(/\s*\S+\s*/g) ?? []) {
    if (measureOnce(word.trimEnd(), size) <= width) {
      yield word;
      continue;
    }
    // Scripts without spaces break between their words, anything else (an address) where it must.
    for (const { segment } of segments.segment(word)) {
      if (measureOnce(segment, size) <= width) yield segment;
      else yield* segment;
    }
  }
}

function ended(line, width, size) {
  let words = line;
  while (words && measure(`${words} …`, size) > width) {
    const space = words.lastIndexOf(" ");
    words = space > 0 ? words.slice(0, space) : [...words].slice(0, -1).join("");
  }
  return `${words} …`;
}

/** How people count: EDUs from 1, both ends named. */
export const rangeName = (start, end) =>
  end - start === 1 ? `EDU ${start + 1}` : `EDUs ${start + 1}–${end}`;

/** "1 unit", "2 units". */
export const counted = (count, noun) => `${count.toLocaleString()} ${noun}${count === 1 ? "" : "s"}`;
