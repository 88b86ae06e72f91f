// The service, seen from the page.

export class Refused extends Error {}

async function call(path, body) {
  let response;
  try {
    response = await fetch(`/api/${path}`, body === undefined ? {} : {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  } catch {
    throw new Refused("The service does not answer. Is it still running?");
  }
  if (response.ok) return response;
  let message = `The service answered ${response.status}.`;
  try {
    message = (await response.json()).message;
  } catch { /* not one of our own answers */ }
  throw new Refused(message);
}

const json = async (path, body) => (await call(path, body)).json();
const wrapped = (parse) => ({ content: parse, format: "json" });

export const info = () => json("info");
export const parseText = (text, options) => json("parse", { content: text, ...options });
export const readFile = (content, format, name) =>
  json("convert", { content, format, name, to: "json" });
export const view = (parse) => json("view", wrapped(parse));
export const edit = (parse, operations) => json("edit", { ...wrapped(parse), operations });
export const points = async (parse, unit) =>
  (await json("edit/points", { ...wrapped(parse), unit })).points;
export const exported = async (parse, to) => (await call("convert", { ...wrapped(parse), to })).blob();
export const flow = (request) => json("dialogue", request);
export const rendered = async (parse, to, options) =>
  (await call("render", { ...wrapped(parse), to, ...options })).blob();
