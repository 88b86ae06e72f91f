// The OpenAPI description as a page to read.

import * as api from "./api.js";
import { byId, h } from "./dom.js";

const dark = matchMedia("(prefers-color-scheme: dark)").matches;
document.documentElement.dataset.theme = dark ? "dark" : "light";

const description = await api.description();
const resolve = (schema) => (schema.$ref
  ? description.components.schemas[schema.$ref.split("/").at(-1)] : schema);

function typeName(schema) {
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  if (schema.enum) return schema.enum.join(" | ");
  if (schema.const) return JSON.stringify(schema.const);
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return options.map(typeName).join(" | ");
  if (schema.type === "array") return `list of ${schema.items ? typeName(schema.items) : "numbers"}`;
  return schema.type ?? "anything";
}

function fields(schema) {
  const { properties = {}, required = [] } = resolve(schema);
  return h("table", {}, ...Object.entries(properties).map(([name, part]) => h("tr", {},
    h("th", {}, h("code", {}, name)),
    h("td", {}, typeName(part)),
    h("td", { class: "faint" }, [
      required.includes(name) ? "required" : part.default === undefined || part.default === null
        ? "" : `default ${JSON.stringify(part.default)}`,
      resolve(part).description ?? ""].filter(Boolean).join("; ")))));
}

byId("address").textContent = location.origin;
byId("about").textContent = description.info.description.replaceAll("`", "");
for (const [path, methods] of Object.entries(description.paths)) {
  for (const [method, operation] of Object.entries(methods)) {
    const body = operation.requestBody?.content["application/json"].schema;
    byId("docs").append(h("article", {},
      h("h2", {}, h("span", { class: `method ${method}` }, method.toUpperCase()), h("code", {}, path)),
      h("p", {}, operation.description ?? operation.summary),
      body ? fields(body) : null));
  }
}
byId("docs").append(h("h2", {}, "Corrections"));
for (const name of ["Relabel", "SetNuclearity", "Reattach", "Split", "Merge", "Choose", "Begin"]) {
  const schema = description.components.schemas[name];
  byId("docs").append(h("article", {}, h("p", {}, schema.description), fields(schema)));
}
document.body.dataset.ready = "yes";
