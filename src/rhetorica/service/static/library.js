// The list of documents: in the bar, and on the start page those worked on last.

import { byId, counted, h } from "./dom.js";

const RECENT = 5;

export class Library {
  /** `actions`: open(id), rename(name), remove(entry). */
  constructor(actions) {
    this.actions = actions;
    this.menu = byId("documents");
    byId("name").addEventListener("change", () => actions.rename(byId("name").value));
    byId("name").addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.menu.open = false;
    });
  }

  /** `entries`: what is kept; `current`: the document in sight, or null. */
  async show(entries, current) {
    const entryOf = (entry) => h("li", { class: entry.id === current?.id ? "current" : null },
      h("button", {
        type: "button", "data-document": entry.id, "aria-current": entry.id === current?.id ? "true" : null,
        onclick: () => {
          this.menu.open = false;
          this.actions.open(entry.id);
        },
      }, h("span", {}, entry.name), h("small", {}, `${counted(entry.units, "unit")} · ${when(entry.changed)}`)),
      h("button", {
        type: "button", class: "delete", title: "Delete", "aria-label": `Delete ${entry.name}`,
        onclick: () => this.actions.remove(entry),
      }, "×"));
    this.menu.hidden = !entries.length && !current;
    byId("documents-name").textContent = current?.name ?? "Documents";
    byId("name-field").hidden = !current;
    byId("name").value = current?.name ?? "";
    byId("documents-list").replaceChildren(...entries.map(entryOf));
    byId("recent").hidden = !entries.length;
    byId("recent-list").replaceChildren(...entries.slice(0, RECENT).map(entryOf));
    if (current) document.title = `${current.name} · Rhetorica`;
  }
}

function when(time) {
  const date = new Date(time);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }) : date.toLocaleDateString();
}
