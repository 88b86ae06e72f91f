"""Strange requests to the service: an answer or a clear refusal, in time."""

from __future__ import annotations

import json
import random
import time
import warnings
from collections import Counter
from typing import Any

from fuzz.check import PARSES, READABLE, SLOW, Failure, seeds
from fuzz.mutate import NASTY, mutated
from rhetorica.formats import FORMATS
from rhetorica.formats.native import to_dict
from rhetorica.service.limits import Limits
from rhetorica.service.messages import Answer, Task
from rhetorica.service.tasks import start

NAMES = ("convert", "score", "render", "edit", "edit/points", "view", "parse/batch", "dialogue")
"""All but those that parse, which `texts` does."""
_CHATS = "Agent: Where to?\nClient: To the airport.\n\n"
_DIALOGUE = {"content": _CHATS, "model": "lm-hmm", "states": 2, "sweeps": 1}


def request(rng: random.Random, name: str) -> dict[str, Any]:
    """Return a request that is right."""
    content = rng.choice([_in_json, _in_a_format])(rng)
    if name == "convert":
        return {**content, "to": rng.choice(list(FORMATS))}
    if name == "score":
        return {"gold": content, "predicted": _in_json(rng), "labels": rng.choice([None, "gum"])}
    if name == "render":
        return {**content, "to": rng.choice(["svg", "html"]), "view": rng.choice(["rst", "dep"])}
    if name == "edit":
        return {**content, "operations": [_operation(rng) for _ in range(rng.choice((1, 2, 5)))]}
    if name == "edit/points":
        return {**content, "unit": _unit(rng)}
    if name == "parse/batch":
        return {"documents": [content] * rng.choice((1, 3, 300)), "kbest": rng.choice((1, 20, 21))}
    if name == "dialogue":
        return {**_DIALOGUE, "content": mutated(rng, [_CHATS])}
    return content


def _in_json(rng: random.Random) -> dict[str, Any]:
    return {"content": to_dict(rng.choice(PARSES)), "format": "json"}


def _in_a_format(rng: random.Random) -> dict[str, Any]:
    format = rng.choice(READABLE)
    return {"content": mutated(rng, seeds(format)), "format": format}


def _unit(rng: random.Random) -> list[int]:
    return [rng.randint(-1, 6), rng.randint(0, 6)]


def _operation(rng: random.Random) -> dict[str, Any]:
    relation = rng.choice(["cause", "list", "x y", "(", "", "é" * 200])
    return rng.choice(
        [
            {"op": "relabel", "unit": _unit(rng), "relation": relation},
            {"op": "nuclearity", "unit": _unit(rng), "part": rng.choice(["nucleus", "both", ""])},
            {"op": "reattach", "unit": _unit(rng), "target": _unit(rng), "relation": relation},
            {"op": "split", "edu": rng.randint(0, 5), "at": rng.randint(0, 60), "relation": "a"},
            {"op": "merge", "edu": rng.randint(0, 5)},
            {"op": "choose", "rank": rng.randint(0, 2)},
            {"op": "begin", "relation": relation},
        ]
    )


def broken(rng: random.Random, value: Any) -> Any:
    """Put something else in one place of a request."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(list(value))
        if rng.random() < 0.1:
            return {name: part for name, part in value.items() if name != key}
        return {**value, key: broken(rng, value[key])}
    if isinstance(value, list) and value and rng.random() < 0.9:
        place = rng.randrange(len(value))
        return [*value[:place], broken(rng, value[place]), *value[place + 1 :]]
    others = (None, True, -1, 0, 2**70, 1e308, 0.5, "", [], {}, [[]], {"a": {}}, *NASTY)
    return rng.choice(others)


def body(rng: random.Random, name: str) -> bytes:
    """Return the body of a request: right, with something wrong in it, or broken altogether."""
    data: Any = request(rng, name)
    for _ in range(rng.choice((0, 1, 1, 3))):
        data = broken(rng, data)
    text = json.dumps(data)
    if rng.random() < 0.1:
        text = mutated(rng, [text])
    return text.encode("utf-8", "surrogatepass")


def check_answer(answer: Answer | list[Task]) -> str:
    """Return "accepted" or "refused", or raise a `Failure`."""
    if isinstance(answer, list) or answer.status == 200:
        return "accepted"
    found = json.loads(answer.body)
    if answer.status not in (400, 413, 422, 501) or set(found) != {"error", "message"}:
        raise Failure(f"answered {answer.status}: {answer.body[:100]!r}")
    if len(found["message"]) > 1100:
        raise Failure(f"a message of {len(found['message'])} characters")
    return "refused"


def run_requests(name: str, count: int, seed: int = 0) -> Counter[str]:
    """Ask so many times for one thing."""
    rng = random.Random(f"{name}-{seed}")
    answer = start(Limits())
    answer(Task(name, json.dumps(request(rng, name)).encode()))  # compiles what it needs
    tagged = {"content": "It rained\n", "format": "edus", "to": "rels"}
    answer(Task("convert", json.dumps(tagged).encode()))  # loads the syntax pipeline
    if name == "dialogue":
        answer(Task(name, json.dumps(_DIALOGUE).encode()))  # its kernels, too
    outcomes: Counter[str] = Counter()
    for number in range(count):
        data = body(rng, name)
        begin = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                outcomes[check_answer(answer(Task(name, data)))] += 1
            if (seconds := time.process_time() - begin) > SLOW:
                raise Failure(f"took {seconds:.1f} s")
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            raise Failure(f"{name}, request {number} of seed {seed}: {why}\n{data!r}") from error
    return outcomes
