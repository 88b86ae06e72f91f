// The service, seen from the page. A signal as the last argument stops the waiting.

export class Refused extends Error {}

async function call(path, body, signal) {
  let response;
  try {
    response = await fetch(`/api/${path}`, body === undefined ? { signal } : {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused("The service does not answer. Is it still running?");
  }
  if (response.ok) return response;
  let message = `The service answered ${response.status}.`;
  try {
    message = (await response.json()).message;
  } catch { /* not one of our own answers */ }
  throw new Refused(message);
}

const json = async (path, body, signal) => (await call(path, body, signal)).json();
const wrapped = (parse) => ({ content: parse, format: "json" });

export const info = (signal) => json("info", undefined, signal);
export const relations = (signal) => json("relations", undefined, signal);
export const parseText = (text, options, signal) => json("parse", { content: text, ...options }, signal);
export const segment = (text, options, signal) => json("segment", { content: text, ...options }, signal);
export const readFile = (content, format, name, signal) =>
  json("convert", { content, format, name, to: "json" }, signal);
export const view = (parse, signal) => json("view", wrapped(parse), signal);
export const edit = (parse, operations, signal) =>
  json("edit", { ...wrapped(parse), operations }, signal);
export const points = async (parse, unit, signal) =>
  (await json("edit/points", { ...wrapped(parse), unit }, signal)).points;
export const exported = async (parse, to, signal) =>
  (await call("convert", { ...wrapped(parse), to }, signal)).blob();
export const flow = (request, signal) => json("dialogue", request, signal);
export const rendered = async (parse, to, options, signal) =>
  (await call("render", { ...wrapped(parse), to, ...options }, signal)).blob();
