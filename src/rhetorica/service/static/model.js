// A parse as the page keeps it, and where everything stands. No elements are made here.

import { clipTo, measureOnce, percent, wrap } from "./dom.js";

export const ROW = 30;
export const LINE = 19;
export const LABEL = { size: 12, weight: 500, small: 11, pad: 9, gap: 5, height: 20 };
const TOP = 14;
const WORDS = 14;
const TEXT = { least: 235, most: 760, lines: 8 };
const NAME_ROOM = 190;
const SHARE = 0.32;
const NARROW = 520;

export const key = (unit) => `${unit.start}-${unit.end}`;

/** The units of a view with links between them. */
export class Model {
  /** `glossary`: what relations mean, by their names in small letters. */
  constructor(view, glossary) {
    this.view = view;
    this.glossary = glossary;
    this.edus = view.edus;
    this.units = view.units.map((unit) => ({ ...unit, children: [] }));
    this.byKey = new Map();
    this.top = [];
    for (const unit of this.units) {
      unit.above = unit.parent < 0 ? null : this.units[unit.parent];
      unit.above?.children.push(unit);
      this.byKey.set(key(unit), unit);
      // Preorder: the first unit with a head is the largest one.
      this.top[unit.head] ??= unit;
    }
    this.root = this.units[0] ?? null;
  }

  /** The nucleus that a satellite modifies, or the other nuclei of its group. */
  partners(unit) {
    const siblings = unit.above?.children.filter((other) => other !== unit) ?? [];
    return unit.role === "satellite" ? siblings.filter((other) => other.role === "nucleus") : siblings;
  }

  /** satellite, nucleus, both or root. */
  part(unit) {
    if (!unit.above) return "root";
    return unit.above.kind === "multinuc" ? "both" : unit.role;
  }

  /** What a relation means, on lines of its own; nothing if that is not known. */
  meaning(relation) {
    const entry = this.glossary.get(relation.toLowerCase());
    return entry ? `\n${entry.definition}\n${entry.example}` : "";
  }

  /** A unit's text on one line, or about so many characters of it. */
  text(unit, most = Infinity) {
    let text = "";
    for (let i = unit.start; i < unit.end && text.length <= most; i++) {
      text += (i > unit.start ? this.edus[i].gap : "") + this.edus[i].text;
    }
    return text.replace(/\s+/g, " ");
  }
}

/** How much of the width the tree itself may take. */
const share = (width) => (width < NARROW ? 0.2 : SHARE) * width;

/** Place the units of an RST tree: a row an EDU (or folded unit), larger units further left. */
export function layoutTree(model, folded, width) {
  const shown = [];
  const todo = model.root ? [model.root] : [];
  while (todo.length) {
    const unit = todo.pop();
    shown.push(unit);
    if (!folded.has(key(unit))) todo.push(...[...unit.children].reverse());
  }
  const place = new Map();
  const rows = [];
  for (const unit of shown) {
    if (unit.children.length && !folded.has(key(unit))) continue;
    place.set(unit, { row: rows.length, height: 0 });
    const isFolded = unit.children.length > 0;
    rows.push({
      number: isFolded ? `${unit.start + 1}–${unit.end}` : `${unit.start + 1}`,
      text: model.edus[isFolded ? unit.head : unit.start].text,
    });
  }
  for (const unit of [...shown].reverse()) {
    if (place.has(unit)) continue;
    const parts = unit.children.map((child) => place.get(child));
    const nucleus = unit.children.find((child) => child.role === "nucleus");
    place.set(unit, {
      row: place.get(nucleus).row,
      height: 1 + Math.max(...parts.map((part) => part.height)),
    });
  }
  const deepest = model.root ? place.get(model.root).height : 0;
  const step = Math.max(9, Math.min(30, share(width) / Math.max(1, deepest)));
  const edge = 18 + deepest * step;
  const items = shown.map((unit) => {
    const { row, height } = place.get(unit);
    const above = unit.above && place.get(unit.above);
    const isRow = height === 0;
    // A row has one label: that of the largest unit there.
    const hasLabel = !above || above.row !== row;
    return {
      id: key(unit), unit, row, x: edge - height * step, isRow, hasLabel,
      aboveRow: above?.row, aboveX: above && edge - above.height * step,
      isFolded: isRow && unit.children.length > 0,
      label: hasLabel ? labelOf(model.part(unit), unit.relation, unit.p?.relation,
        isRow ? "" : `${unit.start + 1}–${unit.end}`) : null,
      level: (unit.depth = unit.above ? unit.above.depth + 1 : 1),
      place: unit.above ? unit.above.children.indexOf(unit) + 1 : 1,
      count: unit.above ? unit.above.children.length : 1,
    };
  });
  return finish("rst", items, rows, edge, width);
}

/** Place a dependency tree: a row an EDU, arcs on the left, inner arcs nearer. */
export function layoutArcs(model, width) {
  const { heads, relations, multinuclear, p_relations: p } = model.view.dependencies;
  const n = heads.length;
  const reach = new Array(n).fill(0);
  const arcs = heads.map((head, i) => ({ i, low: Math.min(head, i), high: Math.max(head, i) }))
    .filter((arc) => arc.low >= 0)
    .sort((a, b) => a.high - a.low - (b.high - b.low));
  const levels = new Array(n).fill(0);
  for (const arc of arcs) {
    let level = 0;
    for (let k = arc.low; k < arc.high; k++) level = Math.max(level, reach[k]);
    level += 1;
    for (let k = arc.low; k < arc.high; k++) reach[k] = level;
    levels[arc.i] = level;
  }
  const deepest = Math.max(1, ...levels);
  const step = Math.max(7, Math.min(22, share(width) / deepest));
  const edge = 18 + deepest * step + 14;
  const depth = depths(heads);
  const rows = model.edus.map((edu, i) => ({ number: `${i + 1}`, text: edu.text }));
  const items = heads.map((head, i) => {
    const part = head < 0 ? "root" : multinuclear[i] ? "both" : "satellite";
    return {
      id: `dep-${i}`, unit: model.top[i] ?? { start: i, end: i + 1, head: i, kind: "edu", children: [] },
      edu: i, row: i, x: edge, aboveRow: head < 0 ? undefined : head,
      bend: edge - 10 - levels[i] * step,
      head, relation: relations[i], part, isRow: true, hasLabel: true,
      label: labelOf(part, relations[i], p[i], ""),
      level: depth[i] + 1, place: i + 1, count: n,
    };
  });
  return finish("dep", items, rows, edge, width);
}

function depths(heads) {
  const depth = new Array(heads.length).fill(-1);
  for (let i = 0; i < heads.length; i++) {
    const path = [];
    let at = i;
    while (at >= 0 && depth[at] < 0) {
      path.push(at);
      at = heads[at];
    }
    let d = at < 0 ? -1 : depth[at];
    for (const k of path.reverse()) depth[k] = ++d;
  }
  return depth;
}

/**
 * What a label says: the range that it is about, where that is more than its row, the relation, and
 * how sure it is. What a person decided is certain, and says nothing.
 */
function labelOf(part, relation, p, range) {
  const name = part === "root" ? "root" : clipTo(relation, NAME_ROOM, LABEL.size);
  const sure = part === "root" || p === undefined || p >= 0.995 ? "" : percent(p);
  const small = (text) => (text ? measureOnce(text, LABEL.small, LABEL.weight) + LABEL.gap : 0);
  const before = small(range);
  const own = measureOnce(name, LABEL.size, LABEL.weight);
  return {
    part, range, name, sure, p: part === "root" ? undefined : p,
    nameAt: LABEL.pad + before, sureAt: LABEL.pad + before + own + LABEL.gap,
    width: 2 * LABEL.pad + before + own + small(sure),
  };
}

/**
 * Add the columns right of the tree: label, number, text. Where little is left for the text, it
 * stands below the label instead of beside it. Rows are as high as their text needs.
 */
function finish(kind, items, rows, edge, width) {
  const label = edge + 12;
  const labels = Math.max(60, ...items.map((item) => item.label?.width ?? 0));
  const numbers = Math.max(18, ...rows.map((row) => measureOnce(row.number, 11.5, 600)));
  const beside = label + labels + 12 + numbers + 10;
  const isStacked = width - beside - 16 < TEXT.least && edge < 0.6 * width;
  const text = isStacked ? label + numbers + 10 : beside;
  const room = Math.max(isStacked ? 120 : TEXT.least, Math.min(TEXT.most, width - text - 16));
  let top = TOP;
  for (const row of rows) {
    row.lines = wrap(row.text.replace(/\s+/g, " "), room, WORDS, TEXT.lines);
    row.top = top;
    row.y = top + ROW / 2;
    row.textY = isStacked ? row.y + LINE + 4.5 : row.y + 4.5;
    row.height = Math.max(ROW, row.lines.length * LINE + (isStacked ? ROW - 2 : ROW - LINE)) + (isStacked ? 6 : 0);
    top += row.height;
  }
  for (const item of items) {
    const row = rows[item.row];
    const other = item.aboveRow === undefined ? row : rows[item.aboveRow];
    Object.assign(item, {
      y: row.y, textY: row.textY, rowTop: row.top, rowHeight: row.height,
      number: row.number, lines: row.lines, text: row.text,
      above: item.aboveX === undefined ? null : { x: item.aboveX, y: other.y },
      headY: other.y,
      top: Math.min(row.top, other.top),
      bottom: Math.max(row.top + row.height, other.top + other.height),
    });
  }
  return {
    kind, items, edge, label, number: text - 10, text, room, isStacked,
    // Where what is clicked is the row rather than the label.
    rowFrom: isStacked ? label : label + labels + 6,
    byId: new Map(items.map((item) => [item.id, item])),
    width: Math.max(text + room, isStacked ? label + labels : 0) + 16,
    height: top + TOP,
  };
}

/** The rows that a range of EDUs covers, as y and height. */
export function rowsOf(layout, start, end) {
  let low = Infinity;
  let high = -Infinity;
  for (const item of layout.items) {
    const [from, to] = layout.kind === "dep"
      ? [item.edu, item.edu + 1] : [item.unit.start, item.unit.end];
    if (item.isRow && from < end && to > start) {
      low = Math.min(low, item.rowTop);
      high = Math.max(high, item.rowTop + item.rowHeight);
    }
  }
  return low > high ? null : { y: low, height: high - low };
}
