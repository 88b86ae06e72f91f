// A parse as the page keeps it, and where everything stands. No DOM here.

export const ROW = 30;
const TOP = 14;
const LABEL = 172;
const NUMBER = 40;
const TEXT = [150, 1000];
const SHARE = 0.32;

export const key = (unit) => `${unit.start}-${unit.end}`;

/** The units of a view with links between them. */
export class Model {
  constructor(view) {
    this.view = view;
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

  /** A unit's text on one line, or about so many characters of it. */
  text(unit, most = Infinity) {
    let text = "";
    for (let i = unit.start; i < unit.end && text.length <= most; i++) {
      text += (i > unit.start ? this.edus[i].gap : "") + this.edus[i].text;
    }
    return text.replace(/\s+/g, " ");
  }
}

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
  let rows = 0;
  for (const unit of shown) {
    if (!unit.children.length || folded.has(key(unit))) place.set(unit, { row: rows++, height: 0 });
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
  const step = Math.max(9, Math.min(30, (SHARE * width) / Math.max(1, deepest)));
  const left = 18;
  const edge = left + deepest * step;
  const at = (unit) => {
    const { row, height } = place.get(unit);
    return { x: edge - height * step, y: TOP + row * ROW + ROW / 2 };
  };
  const items = shown.map((unit) => {
    const { x, y } = at(unit);
    const above = unit.above && at(unit.above);
    const isRow = place.get(unit).height === 0;
    return {
      id: key(unit), unit, x, y, above, isRow,
      isFolded: isRow && unit.children.length > 0,
      // The label stands on the row of the largest unit there.
      hasLabel: !above || above.y !== y,
      top: Math.min(y, above?.y ?? y) - ROW / 2,
      bottom: Math.max(y, above?.y ?? y) + ROW / 2,
      level: (unit.depth = unit.above ? unit.above.depth + 1 : 1),
      place: unit.above ? unit.above.children.indexOf(unit) + 1 : 1,
      count: unit.above ? unit.above.children.length : 1,
    };
  });
  return finish("rst", items, rows, edge, width);
}

/** Place a dependency tree: a row an EDU, arcs on the left, inner arcs nearer. */
export function layoutArcs(model, width) {
  const { heads, relations, multinuclear } = model.view.dependencies;
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
  const step = Math.max(7, Math.min(22, (SHARE * width) / deepest));
  const edge = 18 + deepest * step + 14;
  const depth = depths(heads);
  const items = heads.map((head, i) => {
    const y = TOP + i * ROW + ROW / 2;
    const headY = head < 0 ? y : TOP + head * ROW + ROW / 2;
    const unit = model.top[i] ?? { start: i, end: i + 1, head: i, kind: "edu", children: [] };
    return {
      id: `dep-${i}`, unit, edu: i, x: edge, y, headY,
      bend: edge - 10 - levels[i] * step,
      head, relation: relations[i], multinuclear: multinuclear[i],
      isRow: true, hasLabel: true,
      top: Math.min(y, headY) - ROW / 2,
      bottom: Math.max(y, headY) + ROW / 2,
      level: depth[i] + 1, place: i + 1, count: n,
    };
  });
  return finish("dep", items, n, edge, width);
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

/** Add the columns right of the tree: label, number, and what is left of the width for the text. */
function finish(kind, items, rows, edge, width) {
  const label = edge + 12;
  const text = label + LABEL + NUMBER;
  const room = Math.max(TEXT[0], Math.min(TEXT[1], width - text - 16));
  return {
    kind, items, rows, edge, label, number: text - 10, text,
    byId: new Map(items.map((item) => [item.id, item])),
    width: text + room + 16,
    room,
    height: rows * ROW + 2 * TOP,
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
      low = Math.min(low, item.y);
      high = Math.max(high, item.y);
    }
  }
  return low > high ? null : { y: low - ROW / 2, height: high - low + ROW };
}
