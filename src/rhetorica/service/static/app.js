// The page: the document at hand, its history, and who tells whom.

import * as api from "./api.js";
import { Comparison } from "./compare.js";
import { Documents, newDocument, remember, remembered } from "./documents.js";
import { byId, counted, h, rangeName } from "./dom.js";
import { Find } from "./find.js";
import { Inspector } from "./inspector.js";
import { Library } from "./library.js";
import { Model, key, layoutArcs, layoutTree } from "./model.js";
import { Relations, meant, pick, typeOf } from "./relations.js";
import { Reading } from "./text.js";
import { Canvas } from "./tree.js";
import { ask, calm, cancel, complain, isParsing, say, working } from "./work.js";

const EXAMPLE = `The Night Bus

When the last train was cancelled, Mira decided to walk home, although it had begun to rain. She did not have an umbrella, but she knew a shortcut along the canal.

Halfway there she saw the lights of a bus, which surprised her, because no bus had run on that road for years. The driver opened the door and said that he was on his way to the depot. If she did not mind the detour, he would drop her off near the market.

She got in, dried her glasses, and thanked him. It was not the fastest way home. It was, however, the warmest.`;
const KBEST = 5;
const KBEST_CHARS = 8000;
const MOST_UNDO = 200;
const FOLD_DEPTH = 3;
const START = "joint-other";
const MOST_WORDS_IN_NAME = 6;
// Files that hold text in a way that only other programs take out.
const FOREIGN = {
  ".html": "a web page", ".htm": "a web page", ".svg": "a picture", ".png": "a picture",
  ".jpg": "a picture", ".docx": "a Word document", ".doc": "a Word document",
  ".odt": "a word processor's document", ".rtf": "a word processor's document", ".pdf": "a PDF",
  ".epub": "an e-book", ".zip": "an archive", ".gz": "an archive",
};

const state = {
  info: null, doc: null, model: null, view: "rst", selected: null, folded: new Set(),
  isPanelOpen: true, isKept: true, isStopped: false, documents: null,
  sets: null, glossary: new Map(),
};

const canvas = new Canvas(byId("canvas"), {
  hover: light, fold,
  select: (unit, isClicked) => select(unit, { open: isClicked }),
  enter: (unit) => {
    select(unit, { open: true });
    inspector.focus();
  },
  attach,
  resize: () => canvas.steadily(() => {
    layOut();
    canvas.choose(state.selected);
  }),
  keys: {
    s: (unit) => turn(unit, "satellite"), n: (unit) => turn(unit, "nucleus"),
    b: (unit) => turn(unit, "both"),
    m: (unit) => unit.kind === "edu" && merge(unit.start),
    a: (unit) => attach(unit),
    escape: () => closePanel(),
  },
});
const reading = new Reading({
  hover: light, select: (unit) => select(unit, { open: true }), find: (name) => find.look(name),
  split, merge,
});
const inspector = new Inspector({
  edit, split, merge, turn, relabel, reattach, addEdge, hover: light, fold, close: closePanel,
  select: (unit) => select(unit, { open: true }),
  points: (unit) => working((signal) => api.points(state.doc.parse, [unit.start, unit.end], signal)),
});
const find = new Find({
  select: (unit) => select(unit), mark: (units) => {
    canvas.mark(units);
    reading.mark(units);
  },
});
const library = new Library({ open: openKept, rename, remove });
const comparison = new Comparison({
  hover: light, mark: (ids) => canvas.contrast(ids), close: () => byId("canvas").focus(),
  select: (unit) => {
    const own = state.model.byKey.get(key(unit));
    if (own) select(own, { open: true });
  },
});

// Getting a document

async function parseText(text, given = "", replacing = null) {
  if (!text.trim()) return complain("There is no text yet: paste one, or drop a file.");
  if (isParsing()) return undefined;
  const name = given || nameOf(text);
  const [parser, model] = byId("parser").value.split("/");
  const segmenter = byId("segmenter").value || null;
  const language = byId("language").value;
  const kbest = text.length <= KBEST_CHARS ? KBEST : 1;
  const about = `Parsing ${counted(countWords(text), "word")} with ${parser}`;
  say(about);
  const parse = await working(
    (signal, task) => api.parseText(text, { language, parser, model, segmenter, kbest, name }, signal, task), about,
  );
  if (!parse) return undefined;
  // To parse again is a step like any other: undo brings back what was corrected before.
  if (replacing) return replacing === state.doc ? step(parse, "parsed again") : undefined;
  await open(newDocument(name, parse));
  return undefined;
}

/** Cut a text into EDUs and begin a tree: all of them nuclei of one group, to be built from there. */
async function byHand(text) {
  if (!text.trim()) return complain("There is no text yet: paste one, or drop a file.");
  const [, model] = byId("parser").value.split("/");
  const segmenter = byId("segmenter").value || state.info.segmenter;
  const name = nameOf(text);
  const parse = await working(async (signal, task) => {
    const language = byId("language").value;
    const cut = await api.segment(text, { language, segmenter, model, name }, signal, task);
    return api.edit(cut, [{ op: "begin", relation: START }], signal);
  }, `Cutting ${counted(countWords(text), "word")} into EDUs`);
  if (parse) await open(newDocument(name, parse));
  return undefined;
}

const countWords = (text) => text.trim().split(/\s+/).filter(Boolean).length;

/** What a pasted text is called: its first line, or as much of it as a name can be. */
function nameOf(text) {
  const words = text.trim().split("\n")[0].split(/\s+/);
  const name = words.slice(0, MOST_WORDS_IN_NAME).join(" ").slice(0, 60);
  return name.replace(/[\p{P}\p{S}\s]+$/u, "") || "untitled";
}

async function openFiles(files) {
  calm();
  // The first stays in sight, the others are in the list.
  const opened = [];
  state.isStopped = false;
  for (const file of files) {
    if (state.isStopped) break;
    await openFile(file);
    if (state.doc && !opened.includes(state.doc.id)) opened.push(state.doc.id);
  }
  if (files.length > 1 && opened.length > 1) {
    await openKept(opened[0]);
    say(`${counted(opened.length, "document")} opened; Documents has them all`);
  }
}

async function openFile(file) {
  const suffix = file.name.toLowerCase().match(/\.[a-z0-9]+$/)?.[0] ?? "";
  const name = file.name.replace(/\.[^.]*$/, "");
  const known = Object.entries(state.info.formats)
    .find(([, format]) => format.readable && format.suffixes.includes(suffix));
  if (FOREIGN[suffix]) {
    return complain(`${file.name} is ${FOREIGN[suffix]}, which cannot be read here: open it where it `
      + "belongs and save it as plain text (.txt), or copy the text and paste it. Trees are read from "
      + ".rs3, .rs4, .dis, .rsd and .json.");
  }
  if (file.size > state.info.limits.max_bytes) {
    const megabytes = Math.round(state.info.limits.max_bytes / 1e5) / 10;
    return complain(`${file.name} is too large: this service takes ${megabytes} MB. Cut it into parts.`);
  }
  let content;
  try {
    content = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    return complain(`${file.name} is not text in UTF-8: save it as plain text in that encoding.`);
  }
  if (/^\s*(<!doctype html|<html|<svg|\{\\rtf|%PDF-)/i.test(content)) {
    return complain(`${file.name} holds a web page, a picture or a word processor's document, not a `
      + "plain text: copy its text and paste it, or save it as .txt.");
  }
  const isTree = /^\s*(<\?xml[^>]*>\s*)?<rst>/.test(content);  // whatever the file is called
  if (!known && !isTree) return parseText(content, name);
  const format = known ? known[0] : "rs3";
  const parse = await working((signal) => api.readFile(content, format, file.name, signal));
  if (parse) await open(newDocument(name, parse));
  return undefined;
}

async function openKept(id) {
  calm();
  const doc = await state.documents.load(id);
  if (doc) await open(doc);
  else complain("This document is gone: another window may have deleted it.");
  return undefined;
}

async function open(next) {
  const doc = await sameAs(next) ?? next;
  cancel();
  comparison.close();
  const before = state.doc;
  Object.assign(state, { doc, selected: null, isPanelOpen: true });
  state.folded.clear();
  document.body.dataset.state = "parsed";
  if (!await show()) {
    state.doc = before;
    document.body.dataset.state = before ? "parsed" : "start";
    return;
  }
  byId("input").value = "";
  remember("draft", null);
  canvas.fit();
  byId("canvas").focus();
  const { edus, warnings } = state.model.view;
  say(`${doc.name}: ${counted(edus.length, "unit")}`);
  if (warnings.length) complain(warnings.join(" "));
  if (doc.stamp) await enlist();  // it is kept as it is
  else await keep();
}

/** A file that is opened again without having been changed is the document that there is. */
async function sameAs(doc) {
  if (doc.stamp) return null;
  const content = JSON.stringify(doc.parse);
  for (const { id, name, units } of await state.documents.list()) {
    if (name !== doc.name || units !== doc.parse.document.edus.length) continue;
    const kept = await state.documents.load(id);
    if (kept && JSON.stringify(kept.parse) === content) return kept;
  }
  return null;
}

/** Keep the document in the browser. */
async function keep() {
  const { doc } = state;
  // Until then the page is busy: whoever leaves too early is asked.
  state.isKept = false;
  state.isKept = await working(() => state.documents.keep(doc));
  if (!state.isKept && !keep.hasTold) {
    keep.hasTold = true;
    complain("This browser cannot keep the document: export it before you leave the page.");
  }
  await enlist();
}

/** Show the document in the list; the page opens with it next time. */
async function enlist() {
  remember("current", state.doc.id);
  await library.show(await state.documents.list(), state.doc);
}

async function rename(name) {
  if (!name.trim()) return complain("A document needs a name.");
  state.doc.name = name.trim();
  state.doc.isRenamed = true;
  return keep();
}

async function remove({ id, name }) {
  const answer = await ask(`Delete “${name}”?`, [
    h("p", {}, "It is kept in this browser only, with its corrections. This cannot be undone."),
  ], [["", "Keep it"], ["delete", "Delete"]]);
  if (answer !== "delete") return;
  await state.documents.remove(id);
  if (state.doc?.id === id) await startPage();
  else await library.show(await state.documents.list(), state.doc);
}

async function startPage() {
  calm();
  cancel();
  comparison.close();
  state.doc = null;
  remember("current", null);
  document.title = "Rhetorica";
  document.body.dataset.state = "start";
  await library.show(await state.documents.list(), null);
  byId("input").focus();
}

// Changing it: one thing after the other, each on what the one before has made

let last = Promise.resolve();
const inTurn = (act) => {
  last = last.then(act, act);
  return last;
};

/** Put a parse in the place of the one at hand; undo brings that back. */
async function step(parse, message, then) {
  const { doc, selected } = state;
  doc.past.push(doc.parse);
  if (doc.past.length > MOST_UNDO) doc.past.shift();
  doc.future = [];
  doc.parse = parse;
  state.selected = then ? { start: then[0], end: then[1], head: then[0], children: [] } : selected;
  await show();
  say(message);
  await keep();
}

function edit(operation, then) {
  return inTurn(async () => {
    if (isParsing()) return complain("The text is being parsed: wait for that, or cancel it.");
    const { doc } = state;
    const parse = await working((signal) => api.edit(doc.parse, [operation], signal));
    if (parse && doc === state.doc) await step(parse, "corrected", then);
    return undefined;
  });
}

function merge(edu) {
  return edit({ op: "merge", edu }, [edu, edu + 1]);
}

/** Split an EDU; of a group's nucleus both parts are nuclei, else the second elaborates the first. */
function split(edu, at) {
  const unit = state.model.byKey.get(`${edu}-${edu + 1}`);
  if (!unit) return complain("Only trees without crossing arcs can be corrected here.");
  const names = relations().names("rst");
  const how = state.model.part(unit) === "both"
    ? { nuclearity: "NN", relation: unit.relation }
    : {
      nuclearity: "NS",
      relation: names.find((name) => /^elaboration/i.test(name)) ?? names[0] ?? "elaboration",
    };
  return edit({ op: "split", edu, at, ...how }, [edu, edu + 1]);
}

/** Ask how to attach a unit elsewhere (to a target, if there is one). */
function attach(unit, target = null) {
  select(unit, { open: true });
  inspector.attach(target);
}

const undo = () => travel("past", "future", "undone");
const redo = () => travel("future", "past", "done again");

function travel(from, to, message) {
  return inTurn(async () => {
    const { doc } = state;
    if (!doc?.[from].length || isParsing()) return;
    doc[to].push(doc.parse);
    doc.parse = doc[from].pop();
    await show();
    say(message);
    await keep();
  });
}

function addRelation(name, type) {
  state.doc.added.push([name, type]);
}

/** Change a relation, if it is one; false if not. */
async function relabel(unit, name) {
  const type = typeOf(state.model.part(unit));
  const relation = await meant(relations(), name, type, addRelation);
  if (!relation || relation === unit.relation) return false;
  await edit({ op: "relabel", unit: [unit.start, unit.end], relation });
  return true;
}

/** Make a unit satellite, nucleus or one of several; asks for a relation of the kind needed. */
async function turn(unit, part) {
  const { model } = state;
  if (!model.byKey.has(key(unit)) || ["root", part].includes(model.part(unit))) return;
  const now = model.part(unit) === "nucleus" ? model.partners(unit)[0].relation : unit.relation;
  const type = typeOf(part);
  const known = relations();
  const relation = known.find(now, type) ?? (known.names(type).length
    ? await pick(known, part === "both" ? "Which multinuclear relation?" : "Which relation to the nucleus?",
      `${now} is not ${part === "both" ? "multinuclear" : "a relation of a satellite"}.`, now, type, null)
    : now);
  if (relation) await edit({ op: "nuclearity", unit: [unit.start, unit.end], part, relation });
}

async function reattach(unit, target, name, role) {
  const relation = await meant(relations(), name, role === "nucleus" ? "multinuc" : "rst", addRelation);
  if (relation) await edit({ op: "reattach", unit: [unit.start, unit.end], target, relation, role });
}

async function addEdge(unit, target, name) {
  const relation = await meant(relations(), name, "rst", addRelation);
  if (relation) await edit({ op: "add-edge", unit: [unit.start, unit.end], target, relation });
}

// Comparing it with another analysis of the same text

/** What it can be compared with: how it was at first, and the other documents. */
async function listComparable() {
  const { doc } = state;
  const entries = (await state.documents.list()).filter(({ id }) => id !== doc.id);
  const button = (name, more, act) => h("li", {}, h("button", {
    type: "button", "data-compare": name, onclick: () => {
      byId("compare").open = false;
      act();
    },
  }, h("span", {}, name), h("small", {}, more)));
  byId("compare-list").replaceChildren(
    ...(doc.past.length ? [button("as it was at first", "before corrections", () => compareWith("as it was at first", doc.past[0]))] : []),
    ...entries.map((entry) => button(entry.name, counted(entry.units, "unit"), async () => {
      const other = await state.documents.load(entry.id);
      if (other) compareWith(other.name, other.parse);
    })));
}

function compareWith(name, other) {
  const { doc } = state;
  return comparison.open(name, other, () => doc.parse, state.view, state.glossary);
}

async function compareFile(file) {
  const suffix = file.name.toLowerCase().match(/\.[a-z0-9]+$/)?.[0] ?? "";
  const known = Object.entries(state.info.formats)
    .find(([, format]) => format.readable && format.suffixes.includes(suffix));
  byId("compare").open = false;
  if (!known) return complain(`${file.name} holds no tree that can be read: take .rs3, .rs4, .dis, .rsd or .json.`);
  const parse = await working(async (signal) => api.readFile(await file.text(), known[0], file.name, signal));
  return parse && compareWith(file.name, parse);
}

// Showing

async function show() {
  const { doc } = state;
  const view = await working((signal) => api.view(doc.parse, signal));
  if (!view || doc !== state.doc) return false;
  state.model = new Model(view, state.glossary);
  if (!state.model.units.length && view.dependencies) state.view = "dep";
  reading.show(state.model, relations());
  const { parser, edited, begun } = view.provenance;
  byId("facts").textContent = [
    counted(view.edus.length, "unit"), begun ? `annotated ${begun}` : parser && `by ${parser}`, edited && !begun && "edited",
  ].filter(Boolean).join(" · ");
  byId("sure").hidden = !doc.parse.scores;
  byId("has-secondary").hidden = !view.secondary.length;
  byId("undo").disabled = !doc.past.length;
  byId("redo").disabled = !doc.future.length;
  draw();
  find.show(state.model);
  await comparison.refresh();
  return true;
}

function draw() {
  const { model, view } = state;
  for (const name of ["rst", "dep"]) {
    byId(`view-${name}`).setAttribute("aria-pressed", String(name === view));
    byId(`view-${name}`).disabled = name === "rst" ? !model.units.length : !model.view.dependencies;
  }
  layOut();
  comparison.show(view);
  light(null);
  const again = state.selected && (model.byKey.get(key(state.selected)) ?? nearest(state.selected));
  select(again ?? null, { reveal: false });
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
  comparison.light(unit);
  reading.light(unit);
}

/** `open`: also open the panel, if it was closed. */
function select(unit, { reveal = true, open: toOpen = false } = {}) {
  state.selected = unit;
  state.isPanelOpen ||= toOpen;
  if (unit && unfoldAround(unit)) layOut();
  canvas.choose(unit);
  reading.choose(unit, reveal);
  inspector.show(state.model, state.isPanelOpen ? unit : null, relations(), state.folded);
  if (unit && reveal) canvas.reveal(unit);
}

/** Back to the tree, at the place where one was. */
function closePanel() {
  state.isPanelOpen = false;
  inspector.show(state.model, null);
  byId("canvas").focus();
}

function unfoldAround(unit) {
  let changed = false;
  for (let above = unit.above; above; above = above.above) {
    changed = state.folded.delete(key(above)) || changed;
  }
  return changed && state.view === "rst";
}

/** The relations to choose from: of the model's scheme, of the file, those in use, those added. */
function relations() {
  const { doc: { parse, added }, model, sets, glossary } = state;
  const { scheme, relations: trained = "" } = model.view.provenance;
  const used = model.units.filter((unit) => unit.role !== "root" && unit.relation !== "span")
    .map((unit) => [unit.relation, unit.above.kind === "multinuc" ? "multinuc" : "rst"]);
  const listed = parse.source?.inventory ?? [];
  const [set, kind = ""] = trained.split(" "); // such as "gum fine" or "gum coarse15"
  const own = sets[scheme ?? set] ?? (listed.length ? null : sets.gum);
  const offered = (kind.startsWith("coarse") ? own?.classes : own?.relations) ?? [];
  return new Relations(
    [...listed, ...offered.map(({ name, type }) => [name, type]), ...used, ...added], glossary,
  );
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

// Saving

/** The tree as it is drawn and folded here, with its colours. */
function pictureOfView() {
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
    .filter((rule) => rule.selectorText?.includes(".picture") || rule.selectorText?.includes("data-theme"))
    .map((rule) => rule.cssText.replace(/:root, \[data-theme="light"\]|\[data-theme="[a-z]+"\]/, (found) =>
      (found.includes(document.documentElement.dataset.theme) ? ".picture" : ".not-here")));
  const { fontFamily } = getComputedStyle(document.body);
  const drawn = canvas.whole(`.picture{font-family:${fontFamily}}${rules.join("")}`);
  return new Blob([new XMLSerializer().serializeToString(drawn)], { type: "image/svg+xml" });
}

const PICTURES = ["svg", "png", "html", "pdf", "latex"];

async function save(format) {
  const theme = document.documentElement.dataset.theme ?? "light";
  const isPicture = PICTURES.includes(format);
  const { parse, name, isRenamed } = state.doc;
  const named = isRenamed ? { ...parse, document: { ...parse.document, id: name } } : parse;
  const blob = format === "view" ? pictureOfView() : await working((signal) => (isPicture
    ? api.rendered(named, format, { view: state.view, theme: format === "html" ? "auto" : theme }, signal)
    : api.exported(named, format, signal)));
  byId("export").open = false;
  if (!blob) return;
  const file = name.replace(/[\\/:*?"<>|\p{C}]+/gu, "-");
  const link = h("a", { href: URL.createObjectURL(blob), download: `${file}.${{ view: "svg", latex: "tex" }[format] ?? format}` });
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
    const words = countWords(byId("input").value);
    byId("count").textContent = words ? counted(words, "word") : "";
    remember("draft", byId("input").value || null);
  });
  on("input", "keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) parseText(byId("input").value);
  });
  on("by-hand", "click", () => byHand(byId("input").value));
  on("example", "click", () => parseText(EXAMPLE));
  on("new", "click", startPage);
  on("cancel", "click", () => {
    state.isStopped = true;
    cancel();
  });
  on("again", "click", () => {
    byId("parsing").open = false;
    const { doc } = state;
    parseText(doc.parse.document.text, doc.parse.document.id, doc);
  });
  on("open", "change", () => {
    openFiles([...byId("open").files]);
    byId("open").value = "";
  });
  on("open-label", "keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") byId("open").click();
  });
  on("undo", "click", undo);
  on("redo", "click", redo);
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
  on("compare", "toggle", () => byId("compare").open && listComparable());
  on("compare-file", "change", () => {
    const [file] = byId("compare-file").files;
    byId("compare-file").value = "";
    if (file) compareFile(file);
  });
  on("compare-label", "keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") byId("compare-file").click();
  });
  on("help", "click", () => byId("help-dialog").showModal());
  on("theme", "click", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  on("toast", "click", () => { byId("toast").hidden = true; });
  for (const choice of ["language", "parser", "segmenter"]) on(choice, "change", nameParser);
  listenToTabs();
  listenToDrops();
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("details.menu")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });
  document.addEventListener("keydown", shortcut);
  window.addEventListener("beforeunload", (event) => {
    if (state.doc?.past.length && !state.isKept) event.preventDefault();
  });
}

function shortcut(event) {
  const menu = event.target.closest?.("details.menu[open]");
  if (event.key === "Escape" && menu) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
  const isTyping = event.target.matches?.("input, textarea, select");
  if (isTyping || document.body.dataset.state !== "parsed") return;
  const letter = event.key.toLowerCase();
  if ((event.ctrlKey || event.metaKey) && (letter === "z" || letter === "y")) {
    event.preventDefault();
    if (letter === "y" || event.shiftKey) redo();
    else undo();
  } else if (event.key === "?") {
    byId("help-dialog").showModal();
  } else if (event.key === "/") {
    event.preventDefault();
    find.focus();
  }
}

function listenToTabs() {
  const tabs = [...document.querySelectorAll(".reading [role=tab]")];
  const turnTo = (tab) => {
    for (const other of tabs) {
      other.setAttribute("aria-selected", String(other === tab));
      other.tabIndex = other === tab ? 0 : -1;
      byId(other.getAttribute("aria-controls")).hidden = other !== tab;
    }
    tab.focus();
  };
  tabs.forEach((tab, i) => {
    tab.addEventListener("click", () => turnTo(tab));
    tab.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: tabs.length - 1, ArrowRight: 1 }[event.key];
      if (by) turnTo(tabs[(i + by) % tabs.length]);
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
    const files = [...event.dataTransfer.files];
    if (files.length) openFiles(files);
    else if (event.dataTransfer.getData("text")) parseText(event.dataTransfer.getData("text"));
  });
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  remember("theme", theme);
}

function nameParser() {
  const [parser, model] = byId("parser").value.split("/");
  const segmenter = byId("segmenter").value;
  const chosen = byId("language").selectedOptions[0];
  byId("parsing-name").textContent = [chosen?.value !== "auto" && chosen?.textContent, parser, model, segmenter && `EDUs: ${segmenter}`].filter(Boolean).join(" · ");
}

async function start() {
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = remembered("theme") ?? (isDark ? "dark" : "light");
  listen();
  [state.documents, state.info, state.sets] = await Promise.all([
    Documents.open(), working(api.info), working(api.relations),
  ]);
  if (!state.info || !state.sets) return;
  for (const { relations: own, classes } of Object.values(state.sets)) {
    for (const entry of [...own, ...classes]) state.glossary.set(entry.name.toLowerCase(), entry);
  }
  const { languages, parsers, parser, segmenters } = state.info;
  byId("language").replaceChildren(h("option", { value: "auto" }, "that of the text"),
    ...Object.entries(languages).map(([code, name]) => h("option", { value: code }, name)));
  byId("parser").replaceChildren(...Object.entries(parsers).flatMap(([name, models]) =>
    models.map((model) => h("option", {
      value: `${name}/${model}`, selected: name === parser && model === "gum",
    }, `${name} · ${model}`))));
  byId("segmenter").replaceChildren(h("option", { value: "" }, "the parser's own"),
    ...Object.keys(segmenters).map((name) => h("option", { value: name }, name)));
  nameParser();
  byId("input").value = remembered("draft") ?? "";
  byId("input").dispatchEvent(new Event("input"));
  await library.show(await state.documents.list(), null);
  const current = remembered("current") && await state.documents.load(remembered("current"));
  if (current) await open(current);
  else byId("input").focus();
  document.body.dataset.ready = "yes";
}

start();
