// The page: state, history, and who tells whom.

import * as api from "./api.js";
import { byId, h, rangeName } from "./dom.js";
import { Inspector } from "./inspector.js";
import { Model, key, layoutArcs, layoutTree } from "./model.js";
import { Reading } from "./text.js";
import { Canvas } from "./tree.js";

const EXAMPLE = `The Night Bus

When the last train was cancelled, Mira decided to walk home, although it had begun to rain. She did not have an umbrella, but she knew a shortcut along the canal.

Halfway there she saw the lights of a bus, which surprised her, because no bus had run on that road for years. The driver opened the door and said that he was on his way to the depot. If she did not mind the detour, he would drop her off near the market.

She got in, dried her glasses, and thanked him. It was not the fastest way home. It was, however, the warmest.`;
const KBEST = 5;
const KBEST_CHARS = 8000;
const MOST_UNDO = 200;
const FOLD_DEPTH = 3;

const state = {
  info: null, parse: null, model: null, view: "rst", selected: null, folded: new Set(),
  past: [], future: [], saved: null, name: "",
};

const toTree = {
  hover: light, select: (unit) => select(unit), fold,
  enter: () => inspector.focus(),
  resize: () => canvas.steadily(() => {
    layOut();
    canvas.choose(state.selected);
  }),
  keys: {
    s: (unit) => turn(unit, "satellite"), n: (unit) => turn(unit, "nucleus"),
    b: (unit) => turn(unit, "both"),
    m: (unit) => unit.kind === "edu" && edit({ op: "merge", edu: unit.start }, [unit.start, unit.start + 1]),
    escape: () => select(null),
  },
};
const canvas = new Canvas(byId("canvas"), toTree);
const reading = new Reading({ hover: light, select: (unit) => select(unit) });
const inspector = new Inspector({
  edit, hover: light, fold, select: (unit) => select(unit),
  points: (unit) => working(() => api.points(state.parse, [unit.start, unit.end])),
  close: () => {
    select(null);
    byId("canvas").focus();
  },
});

// Asking the service

async function working(ask) {
  byId("progress").hidden = false;
  document.body.setAttribute("aria-busy", "true");
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof api.Refused)) throw error;
    complain(error.message);
    return null;
  } finally {
    byId("progress").hidden = true;
    document.body.removeAttribute("aria-busy");
  }
}

function complain(message) {
  const toast = byId("toast");
  toast.textContent = message;
  toast.hidden = false;
  clearTimeout(complain.timer);
  complain.timer = setTimeout(() => { toast.hidden = true; }, 9000);
}

const say = (message) => { byId("status").textContent = message; };

async function parseText(text, name = "") {
  if (!text.trim()) return complain("There is no text yet: paste one, or drop a file.");
  const [parser, model] = byId("parser").value.split("/");
  const kbest = text.length <= KBEST_CHARS ? KBEST : 1;
  const parse = await working(() => api.parseText(text, { parser, model, kbest, name }));
  if (parse) await open(parse, name);
  return undefined;
}

async function openFile(file) {
  const suffix = file.name.toLowerCase().match(/\.[a-z0-9]+$/)?.[0] ?? "";
  const known = Object.entries(state.info.formats)
    .find(([, format]) => format.readable && format.suffixes.includes(suffix));
  if (file.size > state.info.limits.max_bytes) return complain("This file is too large.");
  let content;
  try {
    content = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    return complain(`${file.name} is not UTF-8 text.`);
  }
  const name = file.name.replace(/\.[^.]*$/, "");
  if (!known) return parseText(content, name);
  const parse = await working(() => api.readFile(content, known[0], file.name));
  if (parse) await open(parse, name);
  return undefined;
}

async function open(parse, name) {
  Object.assign(state, { past: [], future: [], name, selected: null, saved: parse });
  state.folded.clear();
  if (!await show(parse)) return;
  document.body.dataset.state = "parsed";
  canvas.fit();
  byId("canvas").focus();
  const { edus, warnings } = state.model.view;
  say(`${edus.length} units`);
  if (warnings.length) complain(warnings.join(" "));
}

async function edit(operation, then) {
  const parse = await working(() => api.edit(state.parse, [operation]));
  if (!parse) return;
  const { selected } = state;
  state.past.push(state.parse);
  if (state.past.length > MOST_UNDO) state.past.shift();
  state.future = [];
  if (then) state.selected = { start: then[0], end: then[1], head: then[0], children: [] };
  else state.selected = selected;
  await show(parse);
  say("corrected");
}

async function travel(from, to) {
  if (!from.length) return;
  to.push(state.parse);
  await show(from.pop());
  say(from === state.past ? "undone" : "done again");
}

// Showing

async function show(parse) {
  const view = await working(() => api.view(parse));
  if (!view) return false;
  state.parse = parse;
  state.model = new Model(view);
  if (!state.model.units.length && view.dependencies) state.view = "dep";
  reading.show(state.model);
  const where = state.model.view.provenance;
  byId("facts").textContent = [
    `${view.edus.length} units`, where.parser && `by ${where.parser}`, where.edited && "edited",
  ].filter(Boolean).join(" · ");
  byId("sure").hidden = !parse.scores;
  byId("undo").disabled = !state.past.length;
  byId("redo").disabled = !state.future.length;
  draw();
  return true;
}

function draw() {
  const { model, view } = state;
  for (const name of ["rst", "dep"]) {
    byId(`view-${name}`).setAttribute("aria-pressed", String(name === view));
    byId(`view-${name}`).disabled = name === "rst" ? !model.units.length : !model.view.dependencies;
  }
  layOut();
  light(null);
  const again = state.selected && (model.byKey.get(key(state.selected)) ?? nearest(state.selected));
  select(again ?? null, false);
}

function layOut() {
  const { model, view, folded } = state;
  const isArcs = view === "dep" && model.view.dependencies;
  canvas.show(
    isArcs ? layoutArcs(model, canvas.width) : layoutTree(model, folded, canvas.width), model,
  );
}

/** The unit that a selection has become when its range is gone: the smallest around its start. */
function nearest(unit) {
  const around = state.model.units.filter((other) => other.start <= unit.start && unit.start < other.end);
  return around.at(-1) ?? null;
}

function light(unit) {
  canvas.light(unit);
  reading.light(unit);
}

function select(unit, reveal = true) {
  state.selected = unit;
  if (unit && unfoldAround(unit)) layOut();
  canvas.choose(unit);
  reading.choose(unit, reveal);
  if (unit && reveal) canvas.reveal(unit);
  inspector.show(state.model, unit, relations(), state.folded);
}

function unfoldAround(unit) {
  let changed = false;
  for (let above = unit.above; above; above = above.above) {
    changed = state.folded.delete(key(above)) || changed;
  }
  return changed && state.view === "rst";
}

/** The relations to choose from: those of the model's scheme, of the file, and those in use. */
function relations() {
  const { parse, model, info } = state;
  const { scheme } = model.view.provenance;
  const used = model.units.filter((unit) => unit.role !== "root" && unit.relation !== "span")
    .map((unit) => [unit.relation, unit.above.kind === "multinuc" ? "multinuc" : "rst"]);
  const listed = parse.source?.inventory ?? [];
  const offered = info.relations[scheme] ?? (listed.length ? [] : info.relations.gum);
  const all = new Map([...listed, ...offered, ...used].map((pair) => [pair.join("\t"), pair]));
  return [...all.values()].sort(([a], [b]) => a.localeCompare(b));
}

function fold(unit) {
  if (!unit.children.length || state.view === "dep") return;
  const name = key(unit);
  const isFolded = !state.folded.delete(name);
  if (isFolded) state.folded.add(name);
  state.selected = unit;
  draw();
  canvas.reveal(unit);
  say(`${rangeName(unit.start, unit.end)} ${isFolded ? "folded" : "unfolded"}`);
}

function foldTo(depth) {
  state.folded.clear();
  for (const unit of state.model.units) {
    let level = 0;
    for (let above = unit.above; above && level <= depth; above = above.above) level++;
    if (unit.children.length && level === depth) state.folded.add(key(unit));
  }
  state.selected = null;
  draw();
}

function turn(unit, part) {
  if (state.model.byKey.has(key(unit)) && state.model.part(unit) !== part) {
    edit({ op: "nuclearity", unit: [unit.start, unit.end], part });
  }
}

// Saving

async function save(format) {
  const theme = document.documentElement.dataset.theme ?? "light";
  const isPicture = ["svg", "png", "html"].includes(format);
  const blob = await working(() => (isPicture
    ? api.rendered(state.parse, format, { view: state.view, theme: format === "html" ? "auto" : theme })
    : api.exported(state.parse, format)));
  byId("export").open = false;
  if (!blob) return;
  if (["json", "rs4", "rs3"].includes(format)) state.saved = state.parse;
  const link = h("a", {
    href: URL.createObjectURL(blob), download: `${state.name || "rhetorica"}.${format}`,
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

// Wiring

function listen() {
  const on = (id, kind, act) => byId(id).addEventListener(kind, act);
  on("form", "submit", (event) => {
    event.preventDefault();
    parseText(byId("input").value);
  });
  on("input", "input", () => {
    const words = byId("input").value.trim().split(/\s+/).filter(Boolean).length;
    byId("count").textContent = words ? `${words.toLocaleString()} words` : "";
  });
  on("input", "keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) parseText(byId("input").value);
  });
  on("example", "click", () => {
    byId("input").value = EXAMPLE;
    byId("input").dispatchEvent(new Event("input"));
    parseText(EXAMPLE, "night-bus");
  });
  on("new", "click", () => {
    document.body.dataset.state = "start";
    byId("input").focus();
  });
  on("again", "click", () => parseText(state.parse.document.text, state.name));
  on("open", "change", () => {
    const [file] = byId("open").files;
    if (file) openFile(file);
    byId("open").value = "";
  });
  on("open-label", "keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") byId("open").click();
  });
  on("undo", "click", () => travel(state.past, state.future));
  on("redo", "click", () => travel(state.future, state.past));
  for (const view of ["rst", "dep"]) {
    on(`view-${view}`, "click", () => {
      state.view = view;
      draw();
      canvas.fit();
    });
  }
  on("zoom-in", "click", () => canvas.zoom(1.25));
  on("zoom-out", "click", () => canvas.zoom(0.8));
  on("zoom-fit", "click", () => canvas.fit());
  on("fold-all", "click", () => foldTo(FOLD_DEPTH));
  on("unfold-all", "click", () => {
    state.folded.clear();
    draw();
  });
  on("export", "click", (event) => {
    const format = event.target.closest("[data-export]")?.dataset.export;
    if (format) save(format);
  });
  on("help", "click", () => byId("help-dialog").showModal());
  on("theme", "click", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  on("toast", "click", () => { byId("toast").hidden = true; });
  listenToTabs();
  listenToDrops();
  document.addEventListener("click", (event) => {
    if (!event.target.closest("#export")) byId("export").open = false;
  });
  document.addEventListener("keydown", shortcut);
  window.addEventListener("beforeunload", (event) => {
    if (state.past.length && state.saved !== state.parse) event.preventDefault();
  });
}

function shortcut(event) {
  const isTyping = event.target.matches?.("input, textarea, select");
  if (isTyping || document.body.dataset.state !== "parsed") return;
  const letter = event.key.toLowerCase();
  if ((event.ctrlKey || event.metaKey) && (letter === "z" || letter === "y")) {
    event.preventDefault();
    if (letter === "y" || event.shiftKey) travel(state.future, state.past);
    else travel(state.past, state.future);
  } else if (event.key === "?") {
    byId("help-dialog").showModal();
  }
}

function listenToTabs() {
  const tabs = [byId("tab-text"), byId("tab-outline")];
  const pick = (tab) => {
    for (const other of tabs) {
      other.setAttribute("aria-selected", String(other === tab));
      other.tabIndex = other === tab ? 0 : -1;
      byId(other.getAttribute("aria-controls")).hidden = other !== tab;
    }
    tab.focus();
  };
  tabs.forEach((tab, i) => {
    tab.addEventListener("click", () => pick(tab));
    tab.addEventListener("keydown", (event) => {
      if (event.key === "ArrowLeft" || event.key === "ArrowRight") pick(tabs[1 - i]);
    });
  });
}

function listenToDrops() {
  let inside = 0;
  const showing = (isOver) => { byId("drop").hidden = !isOver; };
  window.addEventListener("dragenter", () => showing(++inside > 0));
  window.addEventListener("dragleave", () => showing(--inside > 0));
  window.addEventListener("dragover", (event) => event.preventDefault());
  window.addEventListener("drop", (event) => {
    event.preventDefault();
    inside = 0;
    showing(false);
    const [file] = event.dataTransfer.files;
    if (file) openFile(file);
    else if (event.dataTransfer.getData("text")) parseText(event.dataTransfer.getData("text"));
  });
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem("theme", theme);
  } catch { /* private window: the choice is not kept */ }
}

async function start() {
  let theme = null;
  try {
    theme = localStorage.getItem("theme");
  } catch { /* private window */ }
  setTheme(theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
  listen();
  state.info = await working(api.info);
  if (!state.info) return;
  const { parsers, parser } = state.info;
  byId("parser").replaceChildren(...Object.entries(parsers).flatMap(([name, models]) =>
    models.map((model) => h("option", {
      value: `${name}/${model}`, selected: name === parser && model === "gum",
    }, `${name} · ${model}`))));
  document.body.dataset.ready = "yes";
  byId("input").focus();
}

start();
