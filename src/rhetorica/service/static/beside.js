// What eRST has beside the tree, in the panel: secondary edges and signals of relations.

import { byId, clip, h, rangeName } from "./dom.js";
import { key } from "./model.js";
import { relationField } from "./relations.js";

// The types of signals in eRST (Zeldes et al. 2025); a file may have its own.
const TYPES = [
  "dm", "graphical", "lexical", "morphological", "numerical", "orphan", "reference", "semantic",
  "syntactic", "unsure",
];
const same = (range, unit) => range[0] === unit.start && range[1] === unit.end;

/** `actions`: edit(operation), select(unit), addRelation; `model` and `unit` are what is shown. */
export function besideSection(model, unit, relations, actions) {
  const edges = model.view.secondary.map((edge, number) => ({ ...edge, number }))
    .filter((edge) => same(edge.unit, unit) || same(edge.target, unit));
  const signals = model.view.signals.map((signal, number) => ({ ...signal, number }))
    .filter((signal) => same(signal.unit, unit));
  const part = model.part(unit);
  const count = edges.length + signals.length;
  return h("details", { class: "section", id: "beside", open: count > 0 },
    h("summary", {}, count ? `Signals and secondary edges (${count})` : "Signals and secondary edges"),
    h("ul", { class: "choices" },
      ...signals.map((signal) => entry(
        `${signal.type}: ${signal.subtype}`, signal.words ? `“${signal.words}”` : "",
        "Remove this signal", () => actions.edit({ op: "remove-signal", signal: signal.number }))),
      ...edges.map((edge) => {
        const isFrom = same(edge.unit, unit);
        const other = isFrom ? edge.target : edge.unit;
        return entry(`${edge.relation} ${isFrom ? "to" : "from"} ${rangeName(...other)}`, "secondary edge",
          "Remove this edge", () => actions.edit({ op: "remove-edge", edge: edge.number }));
      })),
    part === "satellite" || part === "both" ? signalForm(model, unit, actions) : null,
    edgeForm(model, unit, relations, actions));
}

function entry(what, more, title, remove) {
  return h("li", {}, h("span", {}, what, more ? h("small", { class: "faint" }, more) : ""),
    h("button", { type: "button", class: "button icon", title, "aria-label": title, onclick: remove }, "×"));
}

function signalForm(model, unit, actions) {
  const type = h("select", { id: "signal-type", "aria-label": "Type of signal" },
    ...TYPES.map((name) => h("option", {}, name)));
  const subtype = h("input", { id: "signal-subtype", placeholder: "subtype", "aria-label": "Subtype", value: "dm" });
  type.addEventListener("change", () => { subtype.value = type.value === "dm" ? "dm" : ""; });
  const words = h("input", { id: "signal-words", placeholder: "its words, if any", "aria-label": "Words" });
  return h("form", {
    class: "beside", onsubmit: (event) => {
      event.preventDefault();
      actions.edit({
        op: "add-signal", unit: [unit.start, unit.end], type: type.value,
        subtype: subtype.value.trim() || type.value, words: words.value,
      });
    },
  }, type, subtype, words, h("button", { class: "button wide", type: "submit", id: "add-signal" }, "Add signal"));
}

function edgeForm(model, unit, relations, actions) {
  const target = h("select", { id: "edge-target", "aria-label": "To which unit" },
    ...model.units.filter((other) => key(other) !== key(unit)).map((other) => h("option", { value: key(other) },
      `${rangeName(other.start, other.end)}: ${clip(model.text(other, 60), 30)}`)));
  const field = relationField("edge-relation", "", relations, "rst");
  return h("form", {
    class: "beside", onsubmit: async (event) => {
      event.preventDefault();
      actions.addEdge(unit, byId("edge-target").value.split("-").map(Number), field.input.value);
    },
  }, target, field.box, h("button", { class: "button wide", type: "submit", id: "add-edge" }, "Add secondary edge"));
}
