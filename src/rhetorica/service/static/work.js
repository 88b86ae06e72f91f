// Requests under way: that the page is busy, for how long, and a way to stop it.

import * as api from "./api.js";
import { byId, h } from "./dom.js";

const PATIENCE = 1000;
const BETWEEN = 700; // how often the service is asked how far it has come
const running = new Set();

/**
 * Ask the service; null if it refused, or if someone pressed Cancel. `about` says what is done, for
 * work that takes its time; that is shown at once, anything else only when it lasts. `ask` gets a
 * signal, and a name under which the service can be asked how far it has come.
 */
export async function working(ask, about = "") {
  const since = performance.now();
  const task = { control: new AbortController(), since, asked: since, about, name: someName(), read: null };
  running.add(task);
  show();
  try {
    return await ask(task.control.signal, task.name);
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
  const read = task?.read ?? null;
  const bar = byId("progress");
  bar.classList.toggle("known", read !== null);
  if (read === null) bar.removeAttribute("aria-valuenow");
  else bar.setAttribute("aria-valuenow", Math.round(100 * read));
  bar.style.setProperty("--done", `${Math.round(100 * (read ?? 0))}%`);
  if (!task) return;
  const far = read === null ? "" : read < 1 ? ` · ${Math.floor(100 * read)} % read` : " · read, now the tree";
  byId("busy-text").textContent = `${task.about || "Working"}${far} · ${Math.floor(elapsed / 1000)} s`;
  if (task.about && performance.now() - task.asked >= BETWEEN) askHowFar(task);
}

/** Ask how far a task has come; it goes on whether or not there is an answer. */
async function askHowFar(task) {
  task.asked = Infinity; // one question at a time
  try {
    const read = await api.progress(task.name, task.control.signal);
    task.read = read ?? task.read;
  } catch { /* then it is not known */ }
  task.asked = performance.now();
}

const someName = () => [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join("");

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
