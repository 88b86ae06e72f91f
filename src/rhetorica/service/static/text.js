// The running text with its units marked, and the outline of the central ones.

import { byId, h } from "./dom.js";

export class Reading {
  /** `actions`: hover(unit|null), select(unit). */
  constructor(actions) {
    this.box = byId("text");
    this.list = byId("outline-list");
    this.slider = byId("depth");
    this.lit = [];
    this.chosen = [];
    for (const place of [this.box, this.list]) {
      const unitAt = (event) => {
        const edu = event.target.closest?.("[data-edu]")?.dataset.edu;
        return edu === undefined ? null : this.unitOf(Number(edu));
      };
      place.addEventListener("pointerover", (event) => actions.hover(unitAt(event)));
      place.addEventListener("pointerleave", () => actions.hover(null));
      place.addEventListener("click", (event) => {
        const unit = unitAt(event);
        if (unit && !String(getSelection())) actions.select(unit);
      });
    }
    this.slider.addEventListener("input", () => this.#outline());
  }

  unitOf(edu) {
    return this.model.byKey.get(`${edu}-${edu + 1}`)
      ?? { start: edu, end: edu + 1, head: edu, kind: "edu", children: [] };
  }

  show(model) {
    this.model = model;
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
    const { levels } = model.view;
    const deepest = Math.max(0, ...levels);
    const enough = Math.min(model.edus.length, Math.max(3, model.edus.length / 8));
    let level = 0;
    while (level < deepest && levels.filter((own) => own <= level).length < enough) level++;
    this.slider.max = deepest;
    this.slider.value = level;
    this.#outline();
  }

  light(unit) {
    this.lit = this.#mark(this.lit, unit, "lit");
  }

  choose(unit, reveal) {
    this.chosen = this.#mark(this.chosen, unit, "chosen");
    if (unit && reveal) this.spans[unit.head]?.scrollIntoView({ block: "nearest" });
  }

  #mark(before, unit, name) {
    const now = unit ? this.spans.slice(unit.start, unit.end) : [];
    const keep = new Set(now);
    for (const span of before) if (!keep.has(span)) span.classList.remove(name);
    for (const span of now) span.classList.add(name);
    return now;
  }

  #outline() {
    const { levels } = this.model.view;
    const most = Number(this.slider.value);
    const shown = levels.flatMap((level, i) => (level <= most ? [i] : []));
    byId("depth-out").textContent = levels.length
      ? `${shown.length} of ${levels.length} units` : "needs an RST tree";
    this.list.replaceChildren(...shown.map((i) => h("li", {
      "data-edu": i, class: `level-${Math.min(levels[i], 4)}`,
    }, h("button", { type: "button", class: "plain", "data-edu": i }, this.model.edus[i].text))));
  }
}
