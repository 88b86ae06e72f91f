"""A page with the texts of a collection, terms and keywords marked in them by strength.

It has no scripts and refers to nothing outside itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from rhetorica.render.colours import DARK, LIGHT, SANS
from rhetorica.words.characters import normalise
from rhetorica.words.extract import MOST_WORDS, Ranked
from rhetorica.words.model import Cut, WordsModel

_STYLE = """
*{box-sizing:border-box}
body{margin:0 auto;padding:1.2rem 1.5rem;max-width:60rem;background:var(--paper);color:var(--ink);
font:16px/1.8 FONTS}
h1{font-size:1.3rem}h2{font-size:1.1rem;margin:1.6rem 0 .4rem}h3{font-size:.95rem;margin:1rem 0 0}
p{margin:.3rem 0}.faint{color:var(--faint);font-size:.9rem}
mark{color:var(--ink);border-radius:3px;padding:0 .1em}
.term{background:color-mix(in srgb,var(--nucleus) var(--strength),transparent)}
.keyword{background:color-mix(in srgb,var(--satellite) var(--strength),transparent);
font-weight:600}
article{border-top:1px solid var(--edge);padding:.4rem 0}
article p{white-space:pre-wrap}
nav a{color:var(--nucleus);margin-right:1rem}
"""
_STRONGEST, _FAINTEST = 48, 14
"""Percent of colour behind a word; with more, light letters are hard to read on the dark page."""


def words_html(model: WordsModel, *, terms: int = 50, keywords: int = 5, title: str = "") -> str:
    """Make the page: each domain with its terms, then its texts with everything marked.

    ``terms`` of a domain are marked in its texts (blue), and ``keywords`` of each text (orange);
    the stronger one is, the stronger its colour.
    """
    title = escape(title or "Words, terms and keywords")
    names = list(model.terms)
    links = "".join(f'<a href="#d{k}">{_name(name)}</a>' for k, name in enumerate(names))
    parts = [f"<h1>{title}</h1><nav>{links}</nav>"]
    parts.append(
        f'<p class="faint" lang="en">{_mark("terms", "term", _STRONGEST)} of the domain, '
        f"{_mark('keywords', 'keyword', _STRONGEST)} of the text: the stronger the colour, the "
        "stronger the word.</p>"
    )
    for number, name in enumerate(names):
        rows = model.terms[name][:terms]
        parts.append(f'<h2 id="d{number}">{_name(name)}</h2>')
        strengths = _strengths(rows)
        shown = " ".join(
            _mark(row.word, "term", strengths[row.word], f"{row.count} times, {row.score:.1f}")
            for row in rows
        )
        parts.append(f"<p>{shown}</p>")
        parts += [
            _article(cut, strengths, keywords) for cut in model.texts if cut.text.domain == name
        ]
    style = _STYLE.replace("FONTS", SANS)
    colours = "".join(f"--{name}:{value};" for name, value in LIGHT.items())
    dark = "".join(f"--{name}:{value};" for name, value in DARK.items())
    return (
        f'<!doctype html><html lang="zh"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<style>:root{{color-scheme:light dark;{colours}}}"
        f"@media(prefers-color-scheme:dark){{:root{{{dark}}}}}{style}</style></head>"
        f"<body>{''.join(parts)}</body></html>\n"
    )


def _name(domain: str) -> str:
    return escape(domain or "all texts")


def _strengths(rows: Sequence[Ranked]) -> dict[str, int]:
    """Return how strong the colour of each is, in percent: by its place in the list."""
    span = _STRONGEST - _FAINTEST
    return {
        row.word: _STRONGEST - span * place // max(1, len(rows)) for place, row in enumerate(rows)
    }


def _mark(text: str, kind: str, strength: int, about: str = "") -> str:
    title = f' title="{escape(about)}"' if about else ""
    return f'<mark class="{kind}" style="--strength:{strength}%"{title}>{escape(text)}</mark>'


def _article(cut: Cut, terms: Mapping[str, int], keywords: int) -> str:
    rows = cut.keywords[:keywords]
    listed = " · ".join(escape(row.word) for row in rows)
    body = "".join(_marked(cut, terms, _strengths(rows)))
    return (
        f"<article><h3>{escape(cut.text.id)}</h3>"
        f'<p class="faint">{listed}</p><p>{body}</p></article>'
    )


def _marked(cut: Cut, terms: Mapping[str, int], keywords: Mapping[str, int]) -> Iterator[str]:
    """Yield the text in pieces; a keyword wins over a term, more words over fewer."""
    text, spans = cut.text.text, cut.words
    at = number = 0
    while number < len(spans):
        for size in range(min(MOST_WORDS, len(spans) - number), 0, -1):
            start, end = spans[number].start, spans[number + size - 1].end
            piece = normalise(text[start:end])
            if piece in keywords or piece in terms or size == 1:
                break
        yield escape(text[at:start])
        if piece in keywords:
            yield _mark(text[start:end], "keyword", keywords[piece])
        elif piece in terms:
            yield _mark(text[start:end], "term", terms[piece])
        else:
            yield escape(text[start:end])
        at, number = end, number + size
    yield escape(text[at:])
