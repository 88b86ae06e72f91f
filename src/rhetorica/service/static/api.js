// The service, seen from the page. A signal as the last argument stops the waiting.

export class Refused extends Error {}

const TOKEN = "rhetorica-token";

/** Ask; a service that was started with a token gets the one that the person gives, once a session. */
async function send(path, body, signal, name) {
  const token = sessionStorage.getItem(TOKEN);
  const headers = { ...(token && { authorization: `Bearer ${inBytes(token)}` }), ...(name && { "rhetorica-request": name }) };
  const response = await fetch(`/api/${path}`, body === undefined ? { headers, signal } : {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });
  if (response.status !== 401) return response;
  // Another request may have asked meanwhile.
  if (sessionStorage.getItem(TOKEN) === token) {
    const given = prompt(token ? "This is not the token. Token of this service:" : "Token of this service:");
    if (given === null) throw new Refused("This service asks for a token. Reload the page to give it.");
    sessionStorage.setItem(TOKEN, given.trim());
  }
  return send(path, body, signal, name);
}

/** A header holds bytes, each written as the character of that number; tokens are in UTF-8. */
const inBytes = (text) => String.fromCharCode(...new TextEncoder().encode(text));

async function call(path, body, signal, name) {
  let response;
  try {
    response = await send(path, body, signal, name);
  } catch (error) {
    if (error.name === "AbortError" || error instanceof Refused) throw error;
    throw new Refused("The service does not answer. Is it still running?");
  }
  if (response.ok) return response;
  let message = `The service answered ${response.status}.`;
  try {
    message = (await response.json()).message;
  } catch { /* not one of our own answers */ }
  throw new Refused(message);
}

const json = async (path, body, signal, name) => (await call(path, body, signal, name)).json();
const wrapped = (parse) => ({ content: parse, format: "json" });

export const description = () => json("openapi.json");
export const info = (signal) => json("info", undefined, signal);
export const relations = (signal) => json("relations", undefined, signal);
/** A request that has a name can be asked how far it has come: how much is read, from 0 to 1, or null. */
export const parseText = (text, options, signal, name) => json("parse", { content: text, ...options }, signal, name);
export const segment = (text, options, signal, name) => json("segment", { content: text, ...options }, signal, name);
export const progress = async (name, signal) => (await json(`progress/${name}`, undefined, signal)).read;
export const readFile = (content, format, name, signal) =>
  json("convert", { content, format, name, to: "json" }, signal);
export const compare = (parse, other, labels, signal) =>
  json("compare", { this: wrapped(parse), other: wrapped(other), labels }, signal);
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
