// The relations to choose from, a field to choose them in, and questions about those not among them.

import { h } from "./dom.js";
import { ask, complain } from "./work.js";

const KINDS = { rst: "satellite", multinuc: "multinuclear" };

/** What a part (satellite, nucleus, both) needs: a relation to a nucleus, or one between nuclei. */
export const typeOf = (part) => (part === "both" ? "multinuc" : "rst");

/** Names with their type (rst or multinuc); `glossary` knows what some of them mean. */
export class Relations {
  constructor(pairs, glossary = new Map()) {
    this.glossary = glossary;
    this.byType = { rst: new Map(), multinuc: new Map() };
    for (const [name, type] of pairs) this.byType[type]?.set(name.toLowerCase(), name);
  }

  names(type) {
    return [...this.byType[type].values()].sort((a, b) => a.localeCompare(b));
  }

  /** The name as it is written here, or undefined. */
  find(name, type) {
    return this.byType[type].get(name.toLowerCase());
  }

  meaning(name) {
    return this.glossary.get(name.toLowerCase());
  }

  /** A relation of this type that stands for something like the name. */
  like(name, type) {
    const names = this.names(type);
    const stem = name.toLowerCase().split("-")[0];
    return names.find((other) => other.toLowerCase().includes(name.toLowerCase()))
      ?? names.find((other) => other.toLowerCase().startsWith(stem))
      ?? names.find((other) => /^(joint-list|list|elaboration)/.test(other.toLowerCase())) ?? names[0];
  }
}

/**
 * The relation that someone means by a name, as it is spelled here; null if none. What is unknown is
 * added only when someone says so: `add(name, type)`.
 */
export async function meant(relations, name, type, add) {
  const wanted = name.trim();
  if (!wanted) {
    complain("A relation needs a name: choose one from the list, or type one.");
    return null;
  }
  const known = relations.find(wanted, type);
  if (known) return known;
  const other = relations.find(wanted, type === "rst" ? "multinuc" : "rst");
  const why = other
    ? `${other} is a ${KINDS[type === "rst" ? "multinuc" : "rst"]} relation here; what is wanted is a ${KINDS[type]} one.`
    : `This document has no ${KINDS[type]} relation of that name.`;
  return pick(relations, `“${wanted}”?`, why, wanted, type, add);
}

/** Ask for a relation of a type; `name` is what was there, or what someone typed. */
export async function pick(relations, title, why, name, type, add) {
  const names = relations.names(type);
  const list = h("select", { id: "pick", size: Math.max(2, Math.min(9, names.length)), "aria-label": "Relation" },
    ...names.map((other) => h("option", { value: other, title: relations.meaning(other)?.definition }, other)));
  if (names.length) list.value = relations.like(name, type);
  list.addEventListener("dblclick", () => list.form.requestSubmit());
  const answer = await ask(title, [h("p", {}, why), ...(names.length ? [list] : [])], [
    ...(names.length ? [["use", "Use the chosen one"]] : []),
    ...(add ? [["add", `Add “${name}” as ${KINDS[type]}`]] : []),
    ["", "Leave it as it is"],
  ]);
  if (answer === "use") return list.value || null;
  if (answer !== "add") return null;
  add(name, type);
  return name;
}

/**
 * A field with a list below it: typing narrows the list, arrows walk through it. `commit(name)`, if
 * given, is called when someone chose or pressed Enter, and resolves to whether that was taken;
 * leaving the field then takes what is known, else nothing.
 */
export function relationField(id, value, relations, type, commit = null) {
  const list = h("ul", { id: `${id}-list`, role: "listbox", class: "options", hidden: true });
  const input = h("input", {
    id, value, maxlength: 200, spellcheck: "false", autocomplete: "off", role: "combobox",
    "aria-controls": `${id}-list`, "aria-expanded": "false", "aria-autocomplete": "list",
  });
  let before = value;
  let active = -1;
  const options = () => [...list.children];
  const isOpen = () => !list.hidden;
  const close = () => {
    list.hidden = true;
    active = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const open = (part) => {
    const found = relations.names(type).filter((name) => name.toLowerCase().includes(part.toLowerCase()));
    list.replaceChildren(...found.map((name, i) => h("li", {
      id: `${id}-${i}`, role: "option", "data-name": name, "aria-selected": String(name === before),
      title: relations.meaning(name)?.example,
      // Before the field loses its focus.
      onpointerdown: (event) => {
        event.preventDefault();
        choose(name);
      },
    }, name, ...(relations.meaning(name) ? [h("small", {}, relations.meaning(name).definition)] : []))));
    list.hidden = !found.length;
    active = -1;
    input.setAttribute("aria-expanded", String(isOpen()));
    options().find((option) => option.dataset.name === before)?.scrollIntoView({ block: "nearest" });
  };
  const choose = (name) => {
    input.value = name;
    close();
    if (name === before) return;
    before = name;
    commit?.(name).then((isTaken) => {
      if (!isTaken) input.value = before = value;
    });
  };
  const walk = (step) => {
    if (!isOpen()) open("");
    const all = options();
    if (!all.length) return;
    if (active < 0) active = step > 0 ? all.findIndex((o) => o.dataset.name === before) : all.length;
    active = (active + step + all.length) % all.length;
    all.forEach((option, i) => option.classList.toggle("active", i === active));
    all[active].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", all[active].id);
  };
  input.addEventListener("focus", () => input.select());
  input.addEventListener("click", () => open(""));
  input.addEventListener("input", () => open(input.value.trim()));
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      walk(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Escape" && isOpen()) {
      event.stopPropagation();
      input.value = before;
      close();
    } else if (event.key === "Enter") {
      const name = isOpen() && active >= 0 ? options()[active].dataset.name : input.value.trim();
      // Else the key would also press a button of the question that may come.
      if (commit || (isOpen() && active >= 0)) event.preventDefault();
      choose(name);
    }
  });
  input.addEventListener("blur", () => {
    const known = relations.find(input.value.trim(), type);
    if (known) choose(known);
    else if (commit) input.value = before;
    close();
  });
  return { input, box: h("div", { class: "combo" }, input, list) };
}
