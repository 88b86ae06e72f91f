"""Strange texts through a parser: no error, nothing lost, in time."""

from __future__ import annotations

import random
import time
import warnings
from collections import Counter

from fuzz.check import PARSES, SLOW, Failure
from fuzz.mutate import NASTY, mutated
from rhetorica import Parse
from rhetorica.errors import LanguageWarning, UnknownLanguage
from rhetorica.pipeline import Pipeline, load

SEEDS = (
    *(parse.document.text for parse in PARSES),
    "We stayed at home because it rained. Nobody complained, although the beach was near.",
    'Hard Times\n\nDr. Smith (b. 1950) said: "No!" He left...\n\n- one\n- two\n',
)
_PLANES = ((0x20, 0x7F), (0xA0, 0x24F), (0x300, 0x36F), (0x590, 0x6FF), (0x2000, 0x206F),
           (0x4E00, 0x9FFF), (0xD800, 0xDFFF), (0xE000, 0xE0FF), (0x1F300, 0x1FAFF))  # fmt: skip


def strange(rng: random.Random) -> str:
    """Return a text: one of ours that was broken, or characters at random."""
    if rng.random() < 0.7:
        return mutated(rng, SEEDS)
    planes = rng.sample(_PLANES, rng.choice((1, 2, 5)))
    characters = [chr(rng.randint(*rng.choice(planes))) for _ in range(rng.choice((0, 1, 9, 80)))]
    for _ in range(rng.choice((0, 1, 4))):
        characters.insert(rng.randrange(len(characters) + 1), rng.choice(NASTY))
    return "".join(characters)


def check_text(nlp: Pipeline, text: str, *, in_time: bool = True) -> str:
    """Parse a text; return "accepted" or "refused" (another language), or raise a `Failure`."""
    begin = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LanguageWarning)
            parse = nlp(text)
    except UnknownLanguage:
        return "refused"
    except Exception as error:
        raise Failure(f"uncaught {type(error).__name__}: {str(error)[:100]}") from error
    # A line of thousands of dashes is as long for a network as a text of as many words.
    limit = SLOW + len(text) / 1000
    if (seconds := time.process_time() - begin) > limit and in_time:
        raise Failure(f"took {seconds:.1f} s")
    _covered(parse, text)
    return "accepted"


def _covered(parse: Parse, text: str) -> None:
    if parse.document.text != text:
        raise Failure("another text came back")
    at = 0
    for start, end in parse.document.edus:
        if text[at:start].strip() or not text[start:end].strip():
            raise Failure(f"EDUs do not cover the text: {text[at:end][:40]!r}")
        at = end
    if text[at:].strip():
        raise Failure(f"EDUs do not reach the end: {text[at:][:40]!r}")
    if parse.edus and parse.dependencies.n_edus != len(parse.edus):
        raise Failure("a tree over other EDUs")


def run_texts(parser: str, count: int, seed: int = 0) -> Counter[str]:
    """Parse so many strange texts."""
    rng = random.Random(f"{parser}-{seed}")
    nlp = load("en", parser=parser)
    for text in SEEDS:  # the first ones load the model and compile what it needs
        check_text(nlp, text, in_time=False)
    outcomes: Counter[str] = Counter()
    for number in range(count):
        text = strange(rng)
        try:
            outcomes[check_text(nlp, text)] += 1
        except Failure as failure:
            raise Failure(
                f"{parser}, text {number} of seed {seed}: {failure}\n{text!r}"
            ) from failure
    return outcomes
