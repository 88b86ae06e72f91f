"""Text that is cut into words already: CoNLL-U, or words with spaces between them."""

from __future__ import annotations

from rhetorica.files import Readable, Source
from rhetorica.formats.conllu import read_conllu

Sentence = list[str]


def read_segmented(source: Readable) -> list[Sentence]:
    r"""Read sentences as lists of words.

    A file whose name ends in ``.conllu`` (or ``.conllu.gz``) is CoNLL-U; any other has one sentence
    a line and white space between words.

    >>> from io import StringIO
    >>> read_segmented(StringIO("我们  喜欢  音乐\n\n再见 。\n"))
    [['我们', '喜欢', '音乐'], ['再见', '。']]
    """
    file = Source.of(source)
    if file.name.removesuffix(".gz").endswith(".conllu"):
        found = []
        for parse in read_conllu(file):
            doc = parse.document
            for tokens in doc.sentence_tokens():
                found.append([doc.form(doc.tokens[number]) for number in tokens])
        return found
    return [words for line in file.text.splitlines() if (words := line.split())]
