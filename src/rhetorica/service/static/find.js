// Search in the texts and the relations of a tree, and walk through what was found.

import { byId, clip } from "./dom.js";
import { say } from "./work.js";

export class Find {
  /** `actions`: select(unit), mark(units). */
  constructor(actions) {
    this.actions = actions;
    this.input = byId("find");
    this.found = [];
    this.at = -1;
    this.input.addEventListener("input", () => this.#search());
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.#go(event.shiftKey ? -1 : 1);
      if (event.key === "Escape") {
        this.look("");
        byId("canvas").focus();
      }
    });
    byId("find-next").addEventListener("click", () => this.#go(1));
    byId("find-previous").addEventListener("click", () => this.#go(-1));
  }

  show(model) {
    this.model = model;
    this.#search();
  }

  focus() {
    this.input.select();
    this.input.focus();
  }

  /** Search for something; the first of what is found is selected. */
  look(words) {
    this.input.value = words;
    this.#search();
    if (words) this.#go(1);
  }

  #search() {
    const words = this.input.value.trim().toLowerCase().replace(/\s+/g, " ");
    const { units, edus } = this.model;
    const has = (text) => text.toLowerCase().replace(/\s+/g, " ").includes(words);
    const isFound = (unit) => (unit.kind === "edu" && has(edus[unit.start].text))
      || (unit.above && this.model.part(unit) !== "nucleus" && has(unit.relation));
    this.found = words ? units.filter(isFound) : [];
    this.at = -1;
    this.actions.mark(this.found);
    this.#count(words);
  }

  #go(step) {
    if (!this.found.length) return;
    const { length } = this.found;
    this.at = this.at < 0 ? (step > 0 ? 0 : length - 1) : (this.at + step + length) % length;
    this.actions.select(this.found[this.at]);
    this.#count(this.input.value);
    say(`${this.at + 1} of ${length}: ${clip(this.model.text(this.found[this.at], 100), 60)}`);
  }

  #count(words) {
    const { length } = this.found;
    byId("find-count").textContent = !words ? "" : this.at < 0 ? `${length}` : `${this.at + 1} of ${length}`;
    for (const id of ["find-next", "find-previous"]) byId(id).disabled = !length;
  }
}
