// The panel beside the tree: what a unit is, how sure the parser is, and how to correct it.

import { besideSection } from "./beside.js";
import { byId, clip, h, percent, present, rangeName } from "./dom.js";
import { key } from "./model.js";
import { relationField, typeOf } from "./relations.js";
import { complain } from "./work.js";

export class Inspector {
  /**
   * `actions`: edit(operation, select), split(edu, at), merge(edu), turn(unit, part), relabel(unit, name), points(unit),
   * reattach(unit, target, relation, role), addEdge(unit, target, relation), hover(unit|null), select(unit), fold(unit), close().
   */
  constructor(actions) {
    this.box = byId("inspector");
    this.actions = actions;
    this.box.addEventListener("keydown", (event) => {
      if (event.key === "Escape") actions.close();
    });
  }

  focus() {
    this.box.querySelector("input, select, button:not(.close)")?.focus();
  }

  /** Open the form that attaches the unit elsewhere: to this target, if one is given. */
  attach(target = null) {
    const section = byId("move");
    if (!section) {
      complain("This unit cannot be attached elsewhere: it is what others are attached to. Move those, or change the nuclearity.");
      return;
    }
    this.target = target;
    section.open = true;
    section.querySelector("summary").focus();
  }

  #aim(unit, points) {
    if (!this.target) return;
    const wanted = key(this.target);
    if (points.some((point) => point.join("-") === wanted)) byId("target").value = wanted;
    else {
      complain(`${rangeName(unit.start, unit.end)} cannot be attached to ${rangeName(this.target.start, this.target.end)}: `
        + `it can be attached to units that touch it, ${points.map(([start, end]) => rangeName(start, end)).join(", ")}.`);
    }
    this.target = null;
  }

  show(model, unit, relations, folded) {
    this.box.hidden = !unit;
    if (!unit) return this.box.replaceChildren();
    this.model = model;
    this.relations = relations;
    const isKnown = model.byKey.has(key(unit));
    this.box.replaceChildren(...present([
      h("header", {},
        h("h2", {}, rangeName(unit.start, unit.end)),
        h("button", { type: "button", class: "button icon close", "aria-label": "Close", onclick: () => this.actions.close() }, "×")),
      h("blockquote", {}, clip(model.text(unit, 500), 240)),
      ...(isKnown ? [this.#role(unit), this.#move(unit)] : [h("p", { class: "faint" },
        "Only trees without crossing arcs can be corrected here.")]),
      ...(isKnown && unit.kind === "edu" ? [this.#cut(unit)] : []),
      ...(unit.children.length ? [h("button", {
        type: "button", class: "button wide", onclick: () => this.actions.fold(unit),
      }, folded.has(key(unit)) ? "Unfold" : "Fold")] : []),
      isKnown ? this.#likely(unit) : null,
      this.#sureness(unit),
      this.#alternatives(unit),
      isKnown && model.part(unit) !== "root" ? besideSection(model, unit, relations, this.actions) : null,
    ]));
    return undefined;
  }

  #role(unit) {
    const part = this.model.part(unit);
    if (part === "root") {
      return h("section", {}, h("p", {}, "Root: the whole text."));
    }
    const partners = this.model.partners(unit);
    const section = h("section", {}, h("h3", {}, "Role and relation"));
    if (part !== "nucleus") {
      const { input, box } = relationField("relation", unit.relation, this.relations, typeOf(part),
        (name) => this.actions.relabel(unit, name));
      const p = unit.p?.relation;
      section.append(h("div", { class: "field" }, h("label", { for: input.id }, "Relation"), box));
      const meaning = this.relations.meaning(unit.relation);
      section.append(...present([
        p === undefined ? null : h("p", { class: "faint note", id: "relation-sure" },
          p >= 0.995 ? "sure" : `the parser is ${percent(p)} sure of it`),
        meaning ? h("p", { class: "faint note", id: "meaning" }, meaning.definition) : null,
      ]));
    }
    const choice = (name, label, isPossible = true) => h("button", {
      type: "button", class: "button", "data-part": name, "aria-pressed": String(part === name),
      disabled: !isPossible, onclick: () => this.actions.turn(unit, name),
    }, label);
    const isMovable = part !== "nucleus" || partners.length === 1;
    section.append(h("div", { class: "segmented", role: "group", "aria-label": "Nuclearity" },
      choice("satellite", "Satellite", isMovable),
      choice("nucleus", "Nucleus", part !== "both" || partners.length === 1),
      choice("both", "Multinuclear", isMovable)));
    const phrase = { satellite: "attached to", nucleus: "with the satellite", both: "together with" }[part];
    section.append(h("p", { class: "faint partners" }, `${phrase} `, ...partners.slice(0, 6).flatMap((other, i) => [
      i ? ", " : "", this.#mention(other)]), partners.length > 6 ? " …" : ""));
    return section;
  }

  #mention(unit) {
    return h("button", {
      type: "button", class: "link", onclick: () => this.actions.select(unit),
      onpointerenter: () => this.actions.hover(unit), onpointerleave: () => this.actions.hover(null),
    }, rangeName(unit.start, unit.end));
  }

  #move(unit) {
    const part = this.model.part(unit);
    if (part === "root" || part === "nucleus") return null;
    const section = h("details", { class: "section", id: "move" }, h("summary", {}, "Attach elsewhere"));
    section.addEventListener("toggle", async () => {
      if (!section.open || section.dataset.ready) return;
      section.dataset.ready = "yes";
      const points = await this.actions.points(unit);
      if (!points?.length) return section.append(h("p", { class: "faint" }, "There is nowhere else to attach it."));
      section.append(this.#moveForm(unit, points));
      this.#aim(unit, points);
      return byId("target")?.focus();
    });
    return section;
  }

  #moveForm(unit, points) {
    const describe = ([start, end]) => {
      const target = this.model.byKey.get(`${start}-${end}`);
      return `${rangeName(start, end)}: ${clip(this.model.text(target, 100), 34)}`;
    };
    const target = h("select", { id: "target" }, ...points.map((point) =>
      h("option", { value: point.join("-") }, describe(point))));
    const role = h("select", { id: "role" },
      h("option", { value: "satellite" }, "as its satellite"),
      h("option", { value: "nucleus" }, "as a nucleus, multinuclear"));
    role.value = this.model.part(unit) === "both" ? "nucleus" : "satellite";
    const slot = h("div", { class: "field" });
    let field = null;
    const offer = () => {
      const type = role.value === "nucleus" ? "multinuc" : "rst";
      const value = this.relations.find(unit.relation, type) ?? this.relations.like(unit.relation, type) ?? "";
      field = relationField("move-relation", value, this.relations, type);
      slot.replaceChildren(h("label", { for: "move-relation" }, "Relation"), field.box);
    };
    role.addEventListener("change", offer);
    offer();
    target.addEventListener("change", () => this.actions.hover(this.model.byKey.get(target.value)));
    target.addEventListener("blur", () => this.actions.hover(null));
    const submit = (event) => {
      event.preventDefault();
      this.actions.reattach(unit, target.value.split("-").map(Number), field.input.value, role.value);
    };
    return h("form", { onsubmit: submit },
      h("label", { class: "field" }, "To", target),
      h("label", { class: "field" }, "Role", role),
      slot,
      h("button", { class: "button wide", type: "submit", id: "attach" }, "Attach"));
  }

  #cut(unit) {
    const edu = unit.start;
    const { text, start } = this.model.edus[edu];
    const pieces = text.split(/(\s+)/);
    const words = h("p", { class: "words" });
    let before = "";
    pieces.forEach((piece, i) => {
      if (i % 2 === 0) {
        words.append(piece);
      } else {
        // Positions are counted in characters, of which an emoji is one.
        const at = start + [...before, ...piece].length;
        const next = pieces[i + 1];
        words.append(h("button", {
          type: "button", class: "cut", title: "Split here", "aria-label": `Split before ${next}`,
          onclick: () => this.actions.split(edu, at),
        }, piece));
      }
      before += piece;
    });
    const merge = (first, label) => h("button", {
      type: "button", class: "button", "data-merge": first,
      disabled: first < 0 || first + 1 >= this.model.edus.length,
      onclick: () => this.actions.merge(first),
    }, label);
    return h("details", { class: "section", id: "cut" },
      h("summary", {}, "Split or merge"),
      h("p", { class: "faint" }, "Click between two words to split the unit there."), words,
      h("div", { class: "segmented" }, merge(edu - 1, "Merge with previous"), merge(edu, "Merge with next")));
  }

  /** The labels that the parser finds likeliest, to be taken by a click. */
  #likely(unit) {
    const part = this.model.part(unit);
    if (!unit.likely?.length || part === "root" || part === "nucleus") return null;
    const named = { satellite: "", both: ", multinuclear", nucleus: ", as the nucleus" };
    const take = ({ part: wanted, relation }) => (wanted === part ? this.actions.relabel(unit, relation)
      : this.actions.edit({ op: "nuclearity", unit: [unit.start, unit.end], part: wanted, relation }));
    return h("section", { id: "likely" }, h("h3", {}, "What it could be"),
      h("ul", { class: "choices" }, ...unit.likely.filter(({ p }) => p >= 0.005).map((choice) => {
        const isNow = choice.part === part && choice.relation === unit.relation;
        const extra = choice.part === part ? "" : named[choice.part] || ", as a satellite";
        return h("li", {}, h("button", {
          type: "button", class: "plain", "data-likely": choice.relation, "aria-current": isNow ? "true" : null,
          disabled: isNow, title: this.relations.meaning(choice.relation)?.definition ?? null,
          onclick: () => take(choice),
        }, `${choice.relation}${extra}`), h("meter", { min: 0, max: 1, value: choice.p, "aria-label": choice.relation }),
        h("span", { class: "number" }, percent(choice.p)));
      })));
  }

  #sureness(unit) {
    const { dependencies } = this.model.view;
    // A nucleus shares its join, and what is known of that, with its nearest satellite.
    const own = this.model.part(unit) === "nucleus" ? "relation of its satellite" : "relation";
    const rows = [
      ["begins here", this.model.edus[unit.start].p],
      ["is a unit", unit.p?.span],
      ["nuclearity", unit.p?.nuclearity],
      [own, unit.p?.relation],
      ["head", unit.p ? undefined : dependencies?.p_heads[unit.head]],
      ["relation to head", unit.p ? undefined : dependencies?.p_relations[unit.head]],
    ].filter(([, p]) => p !== undefined);
    if (!rows.length) return null;
    return h("section", {}, h("h3", {}, "How sure the parser is"), h("dl", { class: "bars" }, ...rows.flatMap(([name, p]) => [
      h("dt", {}, name),
      h("dd", {}, h("meter", { min: 0, max: 1, value: p, "aria-label": name }), h("span", {}, percent(p)))])));
  }

  #alternatives(unit) {
    const { dependencies } = this.model.view;
    const arcs = unit.p ? [] : dependencies?.alternatives[unit.head] ?? [];
    const choices = [
      ...(unit.alternatives ?? []).map(({ choice: [part, relation, start, end], ranks }) => ({
        ranks, label: `${part === "both" ? "nucleus" : part}, ${relation}, with ${rangeName(start, end)}`,
      })),
      ...arcs.map(({ choice: [head, relation], ranks }) => ({
        ranks, label: head < 0 ? "root of the text" : `${relation} of EDU ${head + 1}`,
      })),
    ];
    if (!choices.length) return null;
    return h("section", { id: "alternatives" }, h("h3", {}, "Alternatives"),
      h("ul", { class: "choices" }, ...choices.map(({ label, ranks }) => h("li", {},
        h("span", {}, label, h("small", { class: "faint" }, ` in ${ranks.length} of the parser's ${this.model.view.alternatives} best trees`)),
        h("button", {
          type: "button", class: "button", title: "Take the whole tree that has this",
          onclick: () => this.actions.edit({ op: "choose", rank: ranks[0] }),
        }, "Use")))));
  }
}
