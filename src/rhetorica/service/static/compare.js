// Two analyses of one text side by side: the other tree, what differs marked in both, how far they agree.

import * as api from "./api.js";
import { byId, counted, h, percent, rangeName } from "./dom.js";
import { Model, layoutArcs, layoutTree } from "./model.js";
import { Canvas } from "./tree.js";
import { working } from "./work.js";

const MOST = 300;
const KINDS = { edu: "an EDU begins", unit: "a unit", label: "a label" };

export class Comparison {
  /** `actions`: hover(unit|null), select(unit), mark(ids), close(). */
  constructor(actions) {
    this.actions = actions;
    this.box = byId("comparison");
    this.canvas = new Canvas(byId("other-canvas"), {
      hover: actions.hover, select: (unit) => unit && actions.select(unit), fold: () => {}, enter: () => {},
      attach: () => {}, resize: () => this.#layOut(), keys: {},
    });
    byId("compare-close").addEventListener("click", () => this.close());
    byId("compare-labels").addEventListener("change", () => this.refresh());
  }

  get isOpen() {
    return !this.box.hidden;
  }

  /** Compare with another parse; `mine` gives the one at hand, whenever it has changed. */
  async open(name, other, mine, view, glossary) {
    Object.assign(this, { name, other, mine, view, glossary });
    this.box.hidden = false;
    document.body.dataset.comparing = "yes";
    byId("compare-name").textContent = name;
    if (!await this.refresh()) this.close();
  }

  close() {
    if (!this.isOpen) return;
    this.box.hidden = true;
    delete document.body.dataset.comparing;
    this.actions.mark(new Set());
    this.actions.close();
  }

  async refresh() {
    if (!this.isOpen) return false;
    const labels = byId("compare-labels").value || null;
    const found = await working((signal) => api.compare(this.mine(), this.other, labels, signal));
    if (!found) return false;
    this.found = found;
    this.model = new Model(found.views[1], this.glossary);
    const ids = (side) => new Set(found.differences.filter((one) => one[side]).map((one) => one[side].join("-")));
    this.canvas.differs = ids("there");
    this.actions.mark(ids("here"));
    byId("agreement").replaceChildren(...Object.entries(found.figures).map(([what, f]) => (
      h("div", {}, h("dt", {}, what), h("dd", {}, f === null ? "–" : percent(f)))
    )));
    byId("differences-count").textContent = found.differences.length
      ? counted(found.differences.length, "difference") : "no differences";
    byId("differences").replaceChildren(...found.differences.slice(0, MOST).map((one) => this.#difference(one)));
    this.#layOut();
    return true;
  }

  show(view) {
    this.view = view;
    if (this.isOpen) this.#layOut();
  }

  light(unit) {
    if (this.isOpen && this.model) this.canvas.light(unit);
  }

  #difference(one) {
    const where = one.here ?? one.there;
    return h("li", {}, h("button", {
      type: "button", class: "plain", "data-difference": one.kind,
      onclick: () => one.here && this.actions.select({ start: one.here[0], end: one.here[1] }),
    }, h("span", {}, `${rangeName(...where)}: ${KINDS[one.kind]}`),
    // In the order of the trees: the other one stands on the left.
    h("small", {}, `${one.other || "(none)"} | ${one.this || "(none)"}`)));
  }

  #layOut() {
    if (!this.model) return;
    const width = this.canvas.width;
    const isArcs = this.view === "dep" && this.model.view.dependencies;
    this.canvas.show(isArcs ? layoutArcs(this.model, width) : layoutTree(this.model, new Set(), width), this.model);
  }
}
