// The running text with its units marked, the outline of the nuclei, the relations that there are.

import { byId, h } from "./dom.js";

export class Reading {
  /** `actions`: hover(unit|null), select(unit), find(relation), split(edu, at), merge(edu). */
  constructor(actions) {
    this.actions = actions;
    this.box = byId("text");
    this.list = byId("outline-list");
    this.slider = byId("depth");
    this.lit = [];
    this.chosen = [];
    this.found = [];
    for (const place of [this.box, this.list]) {
      const unitAt = (event) => {
        const edu = event.target.closest?.("[data-edu]")?.dataset.edu;
        return edu === undefined ? null : this.unitOf(Number(edu));
      };
      place.addEventListener("pointerover", (event) => actions.hover(unitAt(event)));
      place.addEventListener("pointerleave", () => actions.hover(null));
      place.addEventListener("click", (event) => {
        const unit = unitAt(event);
        if (unit && place === this.box && this.isCutting) return this.#cut(unit.start, event);
        if (unit && !String(getSelection())) actions.select(unit);
        return undefined;
      });
    }
    this.isCutting = false;
    byId("cutting").addEventListener("click", () => {
      this.isCutting = !this.isCutting;
      byId("cutting").setAttribute("aria-pressed", String(this.isCutting));
      this.box.classList.toggle("cutting", this.isCutting);
    });
    this.slider.addEventListener("input", () => this.#outline());
  }

  /** Split an EDU before the word nearest to a click; before its first word, merge it instead. */
  #cut(edu, { clientX, clientY }) {
    const { text, start } = this.model.edus[edu];
    const { offsetNode, offset } = caretAt(clientX, clientY);
    const clicked = this.spans[edu].contains(offsetNode) && offsetNode.nodeType === Node.TEXT_NODE ? offset : 0;
    const words = [...text.matchAll(/(?<=\s)\S|^/gu)].map((match) => match.index);
    const at = words.reduce((best, word) => (Math.abs(word - clicked) < Math.abs(best - clicked) ? word : best));
    // Positions are counted in characters, of which an emoji is one.
    if (at) this.actions.split(edu, start + [...text.slice(0, at)].length);
    else if (edu) this.actions.merge(edu - 1);
  }

  unitOf(edu) {
    return this.model.byKey.get(`${edu}-${edu + 1}`)
      ?? { start: edu, end: edu + 1, head: edu, kind: "edu", children: [] };
  }

  show(model, relations) {
    this.model = model;
    this.#relations(relations);
    this.spans = model.edus.map((edu, i) => h("span", {
      class: i % 2 ? "edu odd" : "edu", "data-edu": i, "data-number": i + 1,
    }, edu.text));
    const parts = [];
    // One block a paragraph: the browser then lays out only those in sight.
    let block = h("p");
    model.edus.forEach((edu, i) => {
      if (i && /\n\s*\n/.test(edu.gap)) {
        parts.push(block);
        block = h("p");
      } else if (i || edu.gap.trim()) {
        block.append(edu.gap);
      }
      block.append(this.spans[i]);
    });
    block.append(model.view.tail.trimEnd());
    this.box.replaceChildren(...parts, block);
    this.lit = [];
    this.chosen = [];
    // The slider counts units, the most central first.
    const count = model.view.order.length;
    this.slider.min = count ? 1 : 0;
    this.slider.max = count;
    this.slider.value = Math.min(count, Math.max(3, Math.round(count / 10)));
    this.#outline();
  }

  light(unit) {
    this.lit = this.#mark(this.lit, unit, "lit");
  }

  choose(unit, reveal) {
    this.chosen = this.#mark(this.chosen, unit, "chosen");
    if (unit && reveal) this.spans[unit.head]?.scrollIntoView({ block: "nearest" });
  }

  mark(units) {
    for (const span of this.found) span.classList.remove("found");
    this.found = units.filter((unit) => unit.kind === "edu").map((unit) => this.spans[unit.start]);
    for (const span of this.found) span.classList.add("found");
  }

  /** Which relations there are, how often, and what they mean; then those that could be. */
  #relations(relations) {
    const counts = new Map();
    for (const unit of this.model.units) {
      const part = this.model.part(unit);
      if (part !== "satellite" && part !== "both") continue;
      // The nuclei of a group share one relation.
      if (part === "both" && unit.above.children.find((other) => other.role === "nucleus") !== unit) continue;
      const name = `${part}\t${unit.relation}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    const entry = (part, name, count) => h("li", { class: part },
      h("button", {
        type: "button", class: "plain", "data-relation": name, disabled: !count,
        title: count ? "Find these" : null, onclick: () => this.actions.find(name),
      }, h("span", {}, name), h("small", {}, count ? `${count}` : "")),
      relations.meaning(name) ? h("p", {}, relations.meaning(name).definition,
        relations.meaning(name).example ? h("em", {}, relations.meaning(name).example) : "") : null);
    const used = [...counts].sort((a, b) => b[1] - a[1]).map(([both, count]) => {
      const [part, name] = both.split("\t");
      return entry(part, name, count);
    });
    const others = [["satellite", "rst"], ["both", "multinuc"]].flatMap(([part, type]) =>
      relations.names(type).filter((name) => !counts.has(`${part}\t${name}`)).map((name) => entry(part, name, 0)));
    byId("relations-used").replaceChildren(...used);
    byId("relations-other").replaceChildren(...others);
    byId("relations-rest").hidden = !others.length;
  }

  #mark(before, unit, name) {
    const now = unit ? this.spans.slice(unit.start, unit.end) : [];
    const keep = new Set(now);
    for (const span of before) if (!keep.has(span)) span.classList.remove(name);
    for (const span of now) span.classList.add(name);
    return now;
  }

  #outline() {
    const { levels, order } = this.model.view;
    const shown = order.slice(0, Number(this.slider.value)).sort((a, b) => a - b);
    byId("depth-out").textContent = order.length
      ? `${shown.length} of ${order.length} units` : "needs an RST tree";
    // Levels between those that are shown are no steps.
    const steps = [...new Set(shown.map((i) => levels[i]))].sort((a, b) => a - b);
    this.list.replaceChildren(...shown.map((i) => h("li", {
      "data-edu": i, class: `level-${Math.min(steps.indexOf(levels[i]), 4)}`,
    }, h("button", { type: "button", class: "plain", "data-edu": i }, this.model.edus[i].text))));
  }
}

/** Where in the text a point of the screen is. */
function caretAt(x, y) {
  if (document.caretPositionFromPoint) return document.caretPositionFromPoint(x, y) ?? {};
  const range = document.caretRangeFromPoint(x, y);
  return range ? { offsetNode: range.startContainer, offset: range.startOffset } : {};
}
