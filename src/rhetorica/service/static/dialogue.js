// The page on dialogues: text in, flow out.

import { Refused, flow } from "./api.js";

const at = (id) => document.getElementById(id);
const kept = new Map();

function offer(id, text, type) {
  URL.revokeObjectURL(kept.get(id));
  kept.set(id, URL.createObjectURL(new Blob([text], { type })));
  return kept.get(id);
}

at("open").addEventListener("change", async () => {
  const [file] = at("open").files;
  if (file) at("content").value = await file.text();
});

at("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  at("find").disabled = true;
  at("message").textContent = "Looking for the flow \u2026";
  try {
    const found = await flow({
      content: at("content").value,
      model: at("model").value,
      states: Number(at("states").value),
      topics: Number(at("topics").value),
      threshold: Number(at("threshold").value),
      merge: at("merge").checked,
    });
    at("page").href = offer("page", found.html, "text/html");
    at("chart").href = offer("chart", found.mermaid, "text/plain");
    at("shown").src = at("picture").href = offer("picture", found.svg, "image/svg+xml");
    at("shown").hidden = at("downloads").hidden = false;
    const left = found.empty_turns ? `; ${found.empty_turns} turns without text left out` : "";
    at("message").textContent = `${found.flow.states.length} states in ${found.dialogues} dialogues${left}`;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    at("message").textContent = error.message;
  } finally {
    at("find").disabled = false;
  }
});
