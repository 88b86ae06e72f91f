// The tree on its canvas: draws only what is in sight, zooms, pans, and is an ARIA tree.

import { clip, h, percent, rangeName, svg } from "./dom.js";
import { LABEL, LINE, ROW, key, rowsOf } from "./model.js";

const MARGIN = 240;
const SMALLEST = 0.3;
const LARGEST = 2.5;
const CORNER = 7;

export class Canvas {
  /** `actions`: hover(unit|null), select(unit|null, isClicked), fold(unit), enter(unit), resize(), attach(unit, target), keys. */
  constructor(box, actions) {
    this.box = box;
    this.prefix = box.id === "canvas" ? "item" : `${box.id}-item`;
    this.actions = actions;
    this.scale = 1;
    this.drawn = new Map();
    this.found = new Set();
    this.differs = new Set();
    this.lit = svg("rect", { class: "band lit", rx: 4 });
    this.chosen = svg("rect", { class: "band chosen", rx: 4 });
    this.world = svg("g", {}, this.chosen, this.lit);
    this.beside = svg("g", {});
    this.items = svg("g", {});
    this.world.append(this.beside, this.items);
    this.picture = svg("svg", { class: "picture", role: "presentation" }, this.world);
    this.sizer = h("div", { class: "sizer", role: "presentation" }, this.picture);
    box.append(this.sizer);
    this.#listen();
  }

  get width() {
    return this.box.clientWidth;
  }

  show(layout, model) {
    this.layout = layout;
    this.model = model;
    this.drawn.forEach((group) => group.remove());
    this.drawn.clear();
    this.beside.replaceChildren(...(layout.kind === "rst" ? secondary(layout, model) : []));
    this.#resize();
  }

  /** The whole picture, not only what is in sight, as a file of its own. */
  whole(style) {
    const { width, height } = this.layout;
    const parts = this.layout.items.map((item) => this.#group(item));
    for (const part of parts) part.querySelectorAll(".hit").forEach((hit) => hit.remove());
    return svg("svg", { xmlns: "http://www.w3.org/2000/svg", class: "picture", width, height, viewBox: `0 0 ${width} ${height}` },
      svg("style", {}, style), svg("rect", { width, height, fill: "var(--paper)" }),
      this.beside.cloneNode(true), ...parts);
  }

  /** Mark the units in which another analysis differs. */
  contrast(ids) {
    this.differs = ids;
    for (const [id, group] of this.drawn) group.classList.toggle("differs", ids.has(id));
  }

  /** Light up a unit (null: none); moves one rectangle, lays out nothing. */
  light(unit) {
    band(this.lit, unit && this.layout && rowsOf(this.layout, unit.start, unit.end), this.layout);
    this.hot?.classList.remove("hot");
    this.hot = unit ? this.drawn.get(this.idOf(unit)) : null;
    this.hot?.classList.add("hot");
  }

  choose(unit) {
    this.selected = unit;
    band(this.chosen, unit && rowsOf(this.layout, unit.start, unit.end), this.layout);
    for (const [id, group] of this.drawn) {
      const own = unit !== null && id === this.idOf(unit);
      group.classList.toggle("selected", own);
      group.setAttribute("aria-selected", own);
    }
    if (unit) this.box.setAttribute("aria-activedescendant", `${this.prefix}-${this.idOf(unit)}`);
    else this.box.removeAttribute("aria-activedescendant");
  }

  /** Mark what was searched for. */
  mark(units) {
    this.found = new Set(units.map((unit) => this.idOf(unit)));
    for (const [id, group] of this.drawn) group.classList.toggle("found", this.found.has(id));
  }

  idOf(unit) {
    return this.layout.kind === "dep" ? `dep-${unit.head}` : key(unit);
  }

  /** Scroll until a unit's row is in sight. */
  reveal(unit) {
    const item = this.layout?.byId.get(this.idOf(unit));
    if (!item) return;
    const top = item.rowTop * this.scale;
    const bottom = (item.rowTop + Math.min(item.rowHeight, 4 * ROW)) * this.scale;
    const { scrollTop, clientHeight } = this.box;
    if (top < scrollTop || bottom > scrollTop + clientHeight) {
      this.box.scrollTop = (top + bottom - clientHeight) / 2;
    }
    this.#draw();
  }

  /** Lay out anew while the selected row, if it is in sight, stays where it is on the screen. */
  steadily(layOut) {
    const place = () => this.selected && this.layout?.byId.get(this.idOf(this.selected));
    const before = place();
    const offset = before ? before.rowTop * this.scale - this.box.scrollTop : NaN;
    layOut();
    const after = place();
    if (after && offset > -ROW && offset < this.box.clientHeight) {
      this.box.scrollTop = after.rowTop * this.scale - offset;
      this.#draw();
    }
  }

  zoom(factor, about) {
    const before = this.scale;
    this.scale = Math.min(LARGEST, Math.max(SMALLEST, this.scale * factor));
    const { left, top } = this.box.getBoundingClientRect();
    const [dx, dy] = about ? [about.clientX - left, about.clientY - top] : [0, 0];
    const ratio = this.scale / before;
    const x = (this.box.scrollLeft + dx) * ratio - dx;
    const y = (this.box.scrollTop + dy) * ratio - dy;
    this.#resize();
    this.box.scrollTo(x, y);
    this.#draw();
  }

  fit() {
    this.scale = Math.min(1, Math.max(SMALLEST, this.width / this.layout.width));
    this.#resize();
    this.box.scrollLeft = 0;
    this.#draw();
  }

  #resize() {
    this.sizer.style.width = `${this.layout.width * this.scale}px`;
    this.sizer.style.height = `${this.layout.height * this.scale}px`;
    this.#draw();
  }

  #draw() {
    if (!this.layout) return;
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.box;
    this.picture.style.width = `${clientWidth}px`;
    this.picture.style.height = `${clientHeight}px`;
    this.world.setAttribute(
      "transform", `translate(${-scrollLeft} ${-scrollTop}) scale(${this.scale})`,
    );
    const low = scrollTop / this.scale - MARGIN;
    const high = (scrollTop + clientHeight) / this.scale + MARGIN;
    let before = null;
    for (const item of this.layout.items) {
      let group = this.drawn.get(item.id);
      if (item.bottom < low || item.top > high) {
        if (group) {
          group.remove();
          this.drawn.delete(item.id);
        }
        continue;
      }
      if (!group) {
        group = this.#group(item);
        this.drawn.set(item.id, group);
        // In the order of the tree, which is the order in which it is read out.
        if (before) before.after(group);
        else this.items.prepend(group);
      }
      before = group;
    }
  }

  #group(item) {
    const group = this.layout.kind === "dep"
      ? drawArc(item, this.layout, this.model) : drawUnit(item, this.layout, this.model);
    const isSelected = this.selected && item.id === this.idOf(this.selected);
    const attributes = {
      id: `${this.prefix}-${item.id}`, role: "treeitem", "data-unit": key(item.unit),
      "aria-level": item.level, "aria-posinset": item.place, "aria-setsize": item.count,
      "aria-selected": Boolean(isSelected), "aria-label": describe(item, this.layout, this.model),
    };
    if (this.layout.kind === "rst" && item.unit.children.length) {
      attributes["aria-expanded"] = !item.isFolded;
    }
    for (const [name, value] of Object.entries(attributes)) group.setAttribute(name, value);
    if (isSelected) group.classList.add("selected");
    if (this.found.has(item.id)) group.classList.add("found");
    if (this.differs.has(item.id)) group.classList.add("differs");
    group.item = item;
    return group;
  }

  #listen() {
    const box = this.box;
    const itemAt = (event) => event.target.closest?.("[role=treeitem]")?.item;
    let waiting = false;
    const redraw = () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        this.#draw();
      });
    };
    box.addEventListener("scroll", redraw, { passive: true });
    let [width, height] = [0, 0];
    new ResizeObserver(() => {
      if (!this.layout) return;
      if (box.clientWidth !== width) this.actions.resize();
      // What was chosen must not be left behind where there is less room than before.
      if (this.selected && box.clientHeight < height) this.reveal(this.selected);
      [width, height] = [box.clientWidth, box.clientHeight];
      redraw();
    }).observe(box);
    box.addEventListener("pointerover", (event) => this.actions.hover(itemAt(event)?.unit ?? null));
    box.addEventListener("pointerleave", () => this.actions.hover(null));
    box.addEventListener("click", (event) => {
      if (this.dragged) return;
      const item = itemAt(event);
      if (!item) this.actions.select(null);
      else if (event.target.closest(".fold")) this.actions.fold(item.unit);
      else this.actions.select(item.unit, true);
    });
    box.addEventListener("dblclick", (event) => {
      const item = itemAt(event);
      if (item?.unit.children.length) this.actions.fold(item.unit);
    });
    box.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 300), event);
    }, { passive: false });
    this.#pan();
    this.#attach();
    box.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Drag a unit by its label or dot, drop it on another. */
  #attach() {
    let from = null;
    const thread = svg("path", { class: "thread" });
    const itemUnder = (event) =>
      document.elementFromPoint(event.clientX, event.clientY)?.closest?.("#canvas [role=treeitem]")?.item;
    this.box.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "mouse" || event.button !== 0 || this.layout?.kind !== "rst") return;
      if (event.target.closest(".label, .fold, .leaf")) {
        from = event.target.closest("[role=treeitem]").item;
        [this.downX, this.downY] = [event.clientX, event.clientY];
      }
    }, { capture: true });
    window.addEventListener("pointermove", (event) => {
      if (!from) return;
      if (!thread.isConnected) {
        if (Math.hypot(event.clientX - this.downX, event.clientY - this.downY) <= 6) return;
        this.world.append(thread);
        this.box.classList.add("attaching");
        this.dragged = true;
      }
      const { left, top } = this.picture.getBoundingClientRect();
      const x = (event.clientX - left + this.box.scrollLeft) / this.scale;
      const y = (event.clientY - top + this.box.scrollTop) / this.scale;
      thread.setAttribute("d", `M${from.x} ${from.y}L${x} ${y}`);
      this.actions.hover(itemUnder(event)?.unit ?? null);
    });
    window.addEventListener("pointerup", (event) => {
      const [unit, isDrag, onto] = [from?.unit, thread.isConnected, itemUnder(event)];
      from = null;
      thread.remove();
      this.box.classList.remove("attaching");
      if (isDrag && onto && onto.unit !== unit) this.actions.attach(unit, onto.unit);
    });
  }

  #pan() {
    let from = null;
    this.box.addEventListener("pointerdown", (event) => {
      this.dragged = false;
      if (event.pointerType !== "mouse" || event.button !== 0) return;
      if (this.layout?.kind === "rst" && event.target.closest(".label, .fold, .leaf")) return;
      const { scrollLeft, scrollTop } = this.box;
      from = { x: event.clientX, y: event.clientY, scrollLeft, scrollTop };
    });
    window.addEventListener("pointermove", (event) => {
      if (!from) return;
      const dx = event.clientX - from.x;
      const dy = event.clientY - from.y;
      if (Math.hypot(dx, dy) > 4) {
        this.dragged = true;
        this.box.classList.add("dragging");
      }
      if (this.dragged) this.box.scrollTo(from.scrollLeft - dx, from.scrollTop - dy);
    });
    window.addEventListener("pointerup", () => {
      from = null;
      this.box.classList.remove("dragging");
    });
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.layout?.items.length) return;
    const items = this.layout.items;
    const at = this.selected ? items.findIndex((item) => item.id === this.idOf(this.selected)) : -1;
    const item = items[at];
    const go = (place) => {
      const next = items[Math.max(0, Math.min(items.length - 1, place))];
      if (next) this.actions.select(next.unit);
    };
    const steps = {
      ArrowDown: () => go(at + 1),
      ArrowUp: () => go(at < 0 ? 0 : at - 1),
      Home: () => go(0),
      End: () => go(items.length - 1),
      ArrowRight: () => this.#inward(item, go),
      ArrowLeft: () => this.#outward(item, go),
      Enter: () => item && this.actions.enter(item.unit),
      " ": () => item?.unit.children.length && this.actions.fold(item.unit),
      "+": () => this.zoom(1.2),
      "=": () => this.zoom(1.2),
      "-": () => this.zoom(1 / 1.2),
      0: () => this.fit(),
    };
    const step = steps[event.key] ?? (item && this.actions.keys[event.key.toLowerCase()]);
    if (!step) return;
    event.preventDefault();
    step(item?.unit);
  }

  #inward(item, go) {
    const items = this.layout.items;
    if (!item) return go(0);
    if (item.isFolded) return this.actions.fold(item.unit);
    if (this.layout.kind === "dep") {
      const child = items.findIndex((other) => other.head === item.edu);
      return child >= 0 && go(child);
    }
    return item.unit.children.length && go(items.indexOf(item) + 1);
  }

  #outward(item, go) {
    const items = this.layout.items;
    if (!item) return go(0);
    if (this.layout.kind === "dep") return item.head >= 0 && go(item.head);
    if (item.unit.children.length && !item.isFolded) return this.actions.fold(item.unit);
    return item.unit.above && go(items.findIndex((other) => other.unit === item.unit.above));
  }
}

function band(rect, rows, layout) {
  rect.classList.toggle("shown", Boolean(rows));
  if (!rows) return;
  rect.setAttribute("x", 2);
  rect.setAttribute("width", layout.width - 4);
  rect.setAttribute("y", rows.y + 1);
  rect.setAttribute("height", rows.height - 2);
}

/** Secondary edges (eRST): bent lines from unit to unit, where both are in sight. */
function secondary(layout, model) {
  return model.view.secondary.flatMap((edge) => {
    const [from, to] = [edge.unit, edge.target].map((range) => layout.byId.get(range.join("-")));
    if (!from || !to) return [];
    const out = Math.min(from.x, to.x) - 10 - Math.min(40, Math.abs(to.y - from.y) / 6);
    const about = `${rangeName(...edge.unit)}: ${edge.relation} to ${rangeName(...edge.target)} (secondary edge)`;
    return [svg("g", { class: "secondary" },
      svg("path", { class: "aside", d: `M${from.x} ${from.y}C${out} ${from.y} ${out} ${to.y} ${to.x - 6} ${to.y}` }),
      svg("path", { class: "tip", d: `M${to.x - 4} ${to.y}l-7 -3.5v7z` }), svg("title", {}, about + model.meaning(edge.relation)))];
  });
}

// Lines get fainter, and broken where the parser would rather bet against them. Words never do.
const sure = (p) => (p === undefined ? 1 : 0.5 + 0.5 * p);
const doubtful = (p) => p !== undefined && p < 0.5;
const dashes = (p) => (doubtful(p) ? "5 4" : null);

function drawUnit(item, layout, model) {
  const { unit, x, y, above } = item;
  const part = model.part(unit);
  const group = svg("g", { class: `unit ${part}` });
  const p = unit.p ?? {};
  if (above) {
    // What can be pointed at leaves the upper end to the unit there.
    group.append(svg("path", { class: "hit", d: link(item, 12) }));
    const own = part === "nucleus" ? p.nuclearity : p.relation;
    group.append(svg("path", {
      class: "link", d: link(item, part === "satellite" ? 11 : 0),
      "stroke-opacity": sure(own), "stroke-dasharray": dashes(own),
    }));
    if (part === "satellite") group.append(arrow(above.x, above.y, above.y < y ? 1 : -1, sure(p.relation)));
  }
  if (item.isRow) row(group, item, layout, model);
  if (item.hasLabel) {
    group.append(label(item, layout, `${rangeName(unit.start, unit.end)}: ${how(unit, part)}`,
      model.meaning(unit.relation)));
    // The dot that the label is about, where the row has several.
    if (!item.isRow) group.append(svg("circle", { class: "ring", cx: x, cy: y, r: 8.5 }));
  }
  if (unit.children.length) {
    const mark = svg("g", { class: "fold" }, svg("circle", { class: "hit", cx: x, cy: y, r: 10 }));
    mark.append(svg("circle", { class: "node", cx: x, cy: y, r: item.hasLabel ? 5 : 4, "fill-opacity": sure(p.span) }));
    if (item.isFolded) mark.append(svg("path", { class: "plus", d: `M${x - 2.5} ${y}h5M${x} ${y - 2.5}v5` }));
    mark.append(svg("title", {}, `${item.isFolded ? "Unfold" : "Fold"} ${rangeName(unit.start, unit.end)}`));
    group.append(mark);
  } else {
    group.append(svg("circle", { class: "leaf", cx: x, cy: y, r: 3 }));
  }
  return group;
}

/** The line from a unit to the one above: straight for a nucleus, round a corner otherwise. */
function link({ x, y, above }, gap) {
  if (above.y === y) return `M${Math.min(above.x + gap, (above.x + x) / 2)} ${y}H${x}`;
  const down = y > above.y ? 1 : -1;
  const r = Math.min(CORNER, Math.abs(x - above.x) / 2);
  const start = above.y + gap * down;
  return `M${above.x} ${start}V${y - r * down}Q${above.x} ${y} ${above.x + r} ${y}H${x}`;
}

function arrow(x, y, down, opacity) {
  const tip = y + 5.5 * down;
  return svg("path", {
    class: "tip", d: `M${x} ${tip}l-4.500 ${7 * down}h9z`, "fill-opacity": opacity,
  });
}

function drawArc(item, layout, model) {
  const { y, headY, bend, edu, head, part } = item;
  const group = svg("g", { class: `unit ${part}` });
  const { p_heads: heads } = model.view.dependencies;
  if (head >= 0) {
    const down = y > headY ? 1 : -1;
    const start = headY + 5 * down;
    const r = Math.min(CORNER, (layout.edge - bend) / 2);
    const path = `M${layout.edge - 2} ${start}H${bend + r}Q${bend} ${start} ${bend} ${start + r * down}`
      + `V${y - r * down}Q${bend} ${y} ${bend + r} ${y}H${layout.edge - 9}`;
    group.append(svg("path", { class: "hit", d: path }));
    group.append(svg("path", {
      class: "link", d: path, "stroke-opacity": sure(heads[edu]), "stroke-dasharray": dashes(heads[edu]),
    }));
    group.append(svg("path", {
      class: "tip", d: `M${layout.edge - 2} ${y}l-8 -4.500v9z`, "fill-opacity": sure(heads[edu]),
    }));
  }
  row(group, item, layout, model);
  group.append(label(item, layout,
    head < 0 ? `EDU ${edu + 1}: root of the text` : `EDU ${edu + 1}: ${item.relation} of EDU ${head + 1}`,
    model.meaning(item.relation)));
  group.append(svg("circle", { class: "leaf", cx: layout.edge + 2, cy: y, r: head < 0 ? 5 : 3 }));
  return group;
}

function label(item, layout, about, meaning) {
  const { range, name, sure: percents, p, nameAt, sureAt, width } = item.label;
  const x = layout.label;
  const at = (dx, text, kind) => svg("text", { class: kind, x: x + dx, y: item.y + 4 }, text);
  return svg("g", { class: "label" },
    // Beside the label is the label's too; below it (or right of it) is the row.
    svg("rect", {
      class: "hit", x, y: item.rowTop, width: layout.isStacked ? layout.width - x : layout.rowFrom - x,
      height: layout.isStacked ? ROW : item.rowHeight,
    }),
    svg("rect", {
      class: "pill", x, y: item.y - LABEL.height / 2, width, height: LABEL.height, rx: LABEL.height / 2,
      "stroke-dasharray": dashes(p),
    }),
    ...(range ? [at(LABEL.pad, range, "small range")] : []),
    at(nameAt, name, "name"),
    ...(percents ? [at(sureAt, percents, "small sure")] : []),
    svg("title", {}, `${about}${p === undefined ? "" : ` (${percent(p)} sure)`}${meaning}`));
}

function row(group, item, layout, model) {
  const { unit, lines, textY } = item;
  const from = layout.isStacked ? item.rowTop + ROW : item.rowTop;
  group.append(svg("rect", {
    class: "hit", x: layout.rowFrom, y: from, width: layout.width - layout.rowFrom,
    height: item.rowTop + item.rowHeight - from,
  }));
  group.append(svg("text", { class: "number", x: layout.number, y: textY }, item.number));
  group.append(svg("text", { class: item.isFolded ? "words folded" : "words", x: layout.text, y: textY },
    // The space keeps the words apart for whoever reads or copies them.
    ...lines.map((line, i) => svg("tspan", { x: layout.text, dy: i ? LINE : 0 }, i + 1 < lines.length ? `${line} ` : line)),
    svg("title", {}, item.isFolded ? clip(model.text(unit, 1000), 600) : item.text.replace(/\s+/g, " "))));
}

/** How a unit is attached, in words. */
const how = (unit, part) => ({
  root: "root, the whole text", nucleus: "nucleus", satellite: `satellite, ${unit.relation}`,
  both: `nucleus of ${unit.relation}`,
})[part];

/** What a screen reader says. */
function describe(item, layout, model) {
  const { unit } = item;
  if (layout.kind === "dep") {
    const role = item.head < 0 ? "root of the text" : `${item.relation} of EDU ${item.head + 1}`;
    return `EDU ${item.edu + 1}, ${role}: ${model.edus[item.edu].text}`;
  }
  const text = unit.children.length ? clip(model.text(unit, 100), 60) : model.edus[unit.start].text;
  return `${rangeName(unit.start, unit.end)}, ${how(unit, model.part(unit))}: ${text}`;
}
