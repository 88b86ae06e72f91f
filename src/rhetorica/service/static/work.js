// Requests under way: that the page is busy, for how long, and a way to stop it.

import * as api from "./api.js";
import { byId, h } from "./dom.js";

const PATIENCE = 1000;
const running = new Set();

/**
 * Ask the service; null if it refused, or if someone pressed Cancel. `about` says what is done, for
 * work that takes its time; that is shown at once, anything else only when it lasts.
 */
export async function working(ask, about = "") {
  const task = { control: new AbortController(), since: performance.now(), about };
  running.add(task);
  show();
  try {
    return await ask(task.control.signal);
  } catch (error) {
    if (error instanceof api.Refused) complain(error.message);
    else if (error.name !== "AbortError") throw error;
    return null;
  } finally {
    running.delete(task);
    show();
  }
}

/** Give up all that is under way. */
export function cancel() {
  for (const task of running) task.control.abort();
}

export const isParsing = () => [...running].some((task) => task.about);

function show() {
  const isBusy = running.size > 0;
  byId("progress").hidden = !isBusy;
  document.body.toggleAttribute("data-parsing", isParsing());
  for (const id of ["parse", "by-hand", "example", "again"]) byId(id).disabled = isParsing();
  if (isBusy) document.body.setAttribute("aria-busy", "true");
  else document.body.removeAttribute("aria-busy");
  clearInterval(show.timer);
  if (isBusy) show.timer = setInterval(tick, 250);
  tick();
}

function tick() {
  const [task] = [...running].sort((a, b) => Boolean(b.about) - Boolean(a.about) || a.since - b.since);
  const elapsed = task ? performance.now() - task.since : 0;
  byId("busy").hidden = !task || (!task.about && elapsed < PATIENCE);
  if (task) byId("busy-text").textContent = `${task.about || "Working"} · ${Math.floor(elapsed / 1000)} s`;
}

/** Take back what was said to be wrong: something else is begun. */
export function calm() {
  byId("toast").hidden = true;
}

/** Say what is wrong, for a while. */
export function complain(message) {
  const toast = byId("toast");
  toast.textContent = message;
  toast.hidden = false;
  clearTimeout(complain.timer);
  complain.timer = setTimeout(() => { toast.hidden = true; }, 9000);
}

/** Tell those who listen instead of looking. */
export const say = (message) => { byId("status").textContent = message; };

/**
 * Ask the person: `parts` are elements, `buttons` pairs of value and text, the first one the usual.
 * Gives the value of the one pressed, "" when the question was put away.
 */
export function ask(title, parts, buttons) {
  const row = buttons.map(([value, text], i) => h("button", {
    class: i ? "button" : "button primary", value, "data-answer": value,
  }, text));
  const dialog = h("dialog", { class: "ask", "aria-label": title },
    h("form", { method: "dialog" }, h("h2", {}, title), ...parts, h("div", { class: "row" }, ...row)));
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
