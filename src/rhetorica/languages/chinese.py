"""Chinese: how to recognise it, tags of the Penn Chinese Treebank, sentences by their marks.

There are no spaces between words. The front end here needs no model: a character is a word (a run
of Latin letters or digits, too), and words have no tags. `pipeline` puts the neural model's words,
tags and dependencies in its place for parsers that were trained with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from rhetorica.document import Document, Span, Token
from rhetorica.languages.language import Language, Tags

HAN = "\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HAN = re.compile(f"[{HAN}]")
_KANA = re.compile("[\u3040-\u30ff]")
_ENOUGH = 4
"""Different characters; a name or a quoted word in another language has fewer."""
_LETTERS = 1.5
"""Characters of a Chinese word, on average: so many weigh as much as a word of another language."""
_OTHER = re.compile(rf"(?:(?![{HAN}])[^\W\d_])+")
_WORD = re.compile(rf"[{HAN}]|(?:(?![{HAN}])\w)+|[^\w\s]")
_END = re.compile(r"[。！？!?]+[”’」』）)】\"']*|…{2,}[”’」』]*|\.(?=\s|$)")


def looks_chinese(text: str) -> bool:
    """Tell whether most words of a text are in Chinese characters (and none in Japanese kana).

    >>> looks_chinese("昨天下雨了，所以我们没有出门。"), looks_chinese("It rained in 北京.")
    (True, False)
    >>> looks_chinese("我们用 Python 写了一个 parser，它很快。")
    True
    """
    start = text[:2000]
    found = _HAN.findall(start)
    others = len(_OTHER.findall(start))
    return len(set(found)) >= _ENOUGH and len(found) > _LETTERS * others and not _KANA.search(start)


def sentences(text: str, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """Yield the sentences of a stretch of text: up to an end mark and the quotes that close there.

    >>> text = "下雨了！“真的？”他问。我们走吧"
    >>> [text[a:b] for a, b in sentences(text)]
    ['下雨了！', '“真的？”', '他问。', '我们走吧']
    """
    end = len(text) if end is None else end
    stretch = text[start:end]
    at = 0
    for edge in (*(match.end() for match in _END.finditer(stretch)), len(stretch)):
        part = stretch[at:edge]
        if inner := part.strip():
            first = start + at + len(part) - len(part.lstrip())
            yield Span(first, first + len(inner))
        at = edge


def _front_end(documents: Iterable[Document]) -> Iterator[Document]:
    for doc in documents:
        spans = doc.sentences or tuple(
            span for start, end in doc.paragraphs for span in sentences(doc.text, start, end)
        )
        tokens = doc.tokens or tuple(
            Token(*match.span(), lemma=match[0].lower()) for match in _WORD.finditer(doc.text)
        )
        yield replace(doc, tokens=tokens, sentences=spans)


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NOUNS, _VERBS = _set("NN NR NT"), _set("VV VA VC VE")
_CHUNKS = {
    "NP": "NN NR NT PN DT CD OD M JJ DEG",
    "VP": "VV VA VC VE AS BA LB SB DEV DER",
    "PP": "P",
    "ADVP": "AD",
    "CC": "CC CS",
}
_CHUNK_OF = {tag: chunk for chunk, tags in _CHUNKS.items() for tag in tags.split()}


def chunk(tags: Sequence[str]) -> list[str]:
    """Return a chunk tag (base phrases, BIO) for each word of a sentence, by its tag alone.

    >>> chunk(["PN", "AD", "VV", "AS", "NN", "PU"])
    ['B-NP', 'B-ADVP', 'B-VP', 'I-VP', 'B-NP', 'O']
    """
    result: list[str] = []
    before = ""
    for tag in tags:
        kind = _CHUNK_OF.get(tag, "")
        result.append(f"{'I' if kind == before else 'B'}-{kind}" if kind else "O")
        before = kind
    return result


_CONNECTIVES = {
    "causal explanation evaluation": "因此 所以",
    "causal explanation": "因为 因為 是因为 是因為",
    "causal": "因而",
    "causal joint": "于是 於是",
    "adversative": "但 但是 可是 然而 不过 不過",
    "joint": "而且 并且 並且 然后 然後",
    "explanation elaboration": "例如 比如",
}
_CLASSES_OF = {
    word: tuple(classes.split())
    for classes, words in _CONNECTIVES.items()
    for word in words.split()
}


CHINESE = Language(
    code="zh",
    name="Chinese",
    front_end=_front_end,
    recognises=looks_chinese,
    tags=Tags(
        nouns=_NOUNS,
        verbs=_VERBS,
        finite=_VERBS,
        participles=frozenset(),
        infinitives=frozenset(),
        prepositions=_set("P BA LB SB"),
        content=_NOUNS | _VERBS - {"VC"} | _set("JJ AD CD"),
        open=_NOUNS | _set("JJ CD"),
        subjects=_NOUNS | _set("PN DT"),
        connectives=_set("CS CC P AD PU"),
        cues=_set("CS CC P AD LC SP MSP"),
        subordinating=_set("CS P LC DEC"),
        is_mark=lambda tag: tag == "PU",
        is_symbol=lambda tag: tag in ("PU", "URL", ""),
        chunk=chunk,
    ),
    subordinators=_set(
        "因为 由于 因 虽然 虽 尽管 如果 若 假如 要是 倘若 只要 只有 除非 即使 即便 哪怕 "
        "无论 不论 不管 当 为了 为 以便 以 以免 随着 自 自从 直到 在 从 对于 关于 根据 按照 "
        "通过 经过 所以 因此 因而 从而 使得 既然 不但 不仅"
    ),
    coordinators=_set(
        "和 与 及 以及 并 并且 而 而且 且 但 但是 可是 然而 不过 却 或 或者 还是 又 也 "
        "同时 此外 另外 则"
    ),
    pronouns=_set(
        "我 我们 咱们 你 您 你们 他 她 它 他们 她们 它们 这 那 这些 那些 这里 那里 "
        "此 其 自己 本人 大家 之"
    ),
    light=_set(
        "是 有 在 不 也 都 就 还 了 会 能 可以 很 更 最 要 说 到 没 没有 的 地 得 着 过 这个 那个"
    ),
    marks=frozenset("。！？；：，、…?!.:;,"),
    separators=_set("， ； ： 、 — —— － - , ; : （ ("),
    strong=_set("； ： — —— ; :"),
    opening=frozenset("（([{《〈【「『"),
    closing=frozenset("）)]}》〉】」』"),
    quotes=frozenset('"“”‘’「」『』'),
    connectives=_CLASSES_OF,
)
