"""What a segmenter looks at around each token: features as strings, one list a token.

The groups ``word``, ``tag`` and ``tree`` are those of Heilman & Sagae (2015), section 3.1, after
Bach et al. (2012): word and tag, and for five nodes of the sentence's tree the label of the node
with its head word and with its head's tag. The nodes are the lowest common ancestor N of the token
and the next, its subtrees that hold either, its parent and its right sibling. They read them off a
constituency tree; in a dependency tree a node is a word with its subtree, its label the word's
relation to its head. Of these three groups, the features of two tokens to either side are seen too.

The other groups are ours; they say more directly what a boundary looks like:

- ``corner``: the largest subtree that begins at the token and the largest that ends there;
- ``ngram``: words and tags in a row;
- ``clause``: the verbs around: which comes next and what lies before it, which went before and how
  long ago, whether there was one since the last punctuation;
- ``place``: position in the sentence, brackets and quotes that are open.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rhetorica.features.phrases import Phrases
from rhetorica.features.syntax import Syntax

PAPER = ("word", "tag", "tree")
GROUPS = (*PAPER, "corner", "ngram", "clause", "place")
_WINDOW = 2


def sentence_features(
    syntax: Syntax, sentence: range, groups: Sequence[str], phrases: Phrases | None = None
) -> list[list[str]]:
    """Return the features of each token of a sentence."""
    own: list[list[str]] = [[] for _ in sentence]
    for group in ("word", "tag", "tree"):
        if group in groups:
            _WINDOWED[group](syntax, sentence, own, phrases)
    rows = _with_neighbours(own)
    for group, add in _LOCAL.items():
        if group in groups:
            add(syntax, sentence, rows)
    return rows


_prefixed: dict[str, tuple[str, ...]] = {}


def _with_neighbours(own: list[list[str]]) -> list[list[str]]:
    """Add to each token's features those of its neighbours, marked by their distance."""
    offsets = range(-_WINDOW, _WINDOW + 1)
    # Most features come again and again: each is prefixed once, not five times a token.
    if len(_prefixed) > 500_000:
        _prefixed.clear()
    marked: list[list[tuple[str, ...]]] = []
    for features in own:
        row = []
        for feature in features:
            if (found := _prefixed.get(feature)) is None:
                found = _prefixed[feature] = tuple(f"{offset}{feature}" for offset in offsets)
            row.append(found)
        marked.append(row)
    rows: list[list[str]] = []
    n = len(own)
    for i in range(n):
        row_features: list[str] = []
        for place, offset in enumerate(offsets):
            j = i + offset
            if j < 0:
                row_features.append(f"{offset}start{j}")
            elif j >= n:
                row_features.append(f"{offset}end{j - n}")
            else:
                row_features += [variants[place] for variants in marked[j]]
        rows.append(row_features)
    return rows


def _words(syntax: Syntax, sentence: range, own: list[list[str]], _: Phrases | None) -> None:
    for i, row in zip(sentence, own, strict=True):
        row.append(f"w={syntax.lowered[i]}")


def _tags(syntax: Syntax, sentence: range, own: list[list[str]], _: Phrases | None) -> None:
    for i, row in zip(sentence, own, strict=True):
        row.append(f"t={syntax.tags[i]}")


def _tree(syntax: Syntax, sentence: range, own: list[list[str]], phrases: Phrases | None) -> None:
    """Add the five nodes; from phrase structure where there is any."""
    lowered, tags, deprels, heads = syntax.lowered, syntax.tags, syntax.deprels, syntax.heads
    if phrases is not None:
        for i, row in zip(sentence[:-1], own, strict=False):
            for name, (label, head) in zip("nlrps", phrases.around(i), strict=True):
                if head >= 0:
                    row += (f"{name}={label}|{lowered[head]}", f"{name}~{label}|{tags[head]}")
        return
    siblings = _right_siblings(syntax, sentence)
    for i, row in zip(sentence[:-1], own, strict=False):
        node, left, right = syntax.common_ancestor(i, i + 1)
        parent = heads[node] if node >= 0 else -1
        sibling = siblings[node - sentence.start] if node >= 0 else -1
        for name, at in zip("nlrps", (node, left, right, parent, sibling), strict=True):
            if at >= 0:
                label = deprels[at]
                row += (f"{name}={label}|{lowered[at]}", f"{name}~{label}|{tags[at]}")


def _right_siblings(syntax: Syntax, sentence: range) -> list[int]:
    """Return, for each token, the next dependent of its head, -1 if it is the last."""
    siblings = [-1] * len(sentence)
    latest: dict[int, int] = {}
    for i in reversed(sentence):
        head = syntax.heads[i]
        siblings[i - sentence.start] = latest.get(head, -1)
        latest[head] = i
    return siblings


def _corners(syntax: Syntax, sentence: range, rows: list[list[str]]) -> None:
    lowered, tags, deprels, heads = syntax.lowered, syntax.tags, syntax.deprels, syntax.heads
    lefts, rights = syntax.lefts, syntax.rights
    before = ended = ""
    for i, row in zip(sentence, rows, strict=True):
        top = i
        while (head := heads[top]) >= 0 and lefts[head] == i:
            top = head
        label = deprels[top]
        row += (
            f"lc={label}",
            f"lct={label}|{tags[top]}",
            f"lcw={label}|{lowered[i]}",
            f"lcb={label}|{before}",
            f"re={before}|{tags[i]}",
            f"ret={ended}|{label}",
        )
        if head >= 0:
            row += (f"lch={label}|{tags[head]}", f"lchw={label}|{lowered[head]}")
            row.append(f"lcs={label}|{'before' if head > i else 'after'}|{_bucket(abs(head - i))}")
        row.append(f"lcn={label}|{_bucket(rights[top] - i + 1)}")
        row += (f"d={deprels[i]}", f"dh={tags[heads[i]] if heads[i] >= 0 else ''}|{deprels[i]}")
        top = i
        while (head := heads[top]) >= 0 and rights[head] == i:
            top = head
        before, ended = deprels[top], f"{deprels[top]}|{_bucket(i - lefts[top] + 1)}"
        row.append(f"rc={before}")


def _ngrams(syntax: Syntax, sentence: range, rows: list[list[str]]) -> None:
    words = ["<s>", "<s>", *(syntax.lowered[i] for i in sentence), "</s>", "</s>", "</s>"]
    tags = ["<s>", "<s>", *(syntax.tags[i] for i in sentence), "</s>", "</s>", "</s>"]
    for k, row in enumerate(rows, 2):
        row += (
            f"w-w={words[k - 1]}|{words[k]}",
            f"ww={words[k]}|{words[k + 1]}",
            f"t-w={tags[k - 1]}|{words[k]}",
            f"wt={words[k]}|{tags[k + 1]}",
            f"wtt={words[k]}|{tags[k + 1]}|{tags[k + 2]}",
            f"t-t={tags[k - 1]}|{tags[k]}",
            f"tt={tags[k]}|{tags[k + 1]}",
            f"t-tt={tags[k - 1]}|{tags[k]}|{tags[k + 1]}",
            f"ttt={tags[k]}|{tags[k + 1]}|{tags[k + 2]}",
            f"t--t={tags[k - 2]}|{tags[k - 1]}|{tags[k]}",
            f"t3={tags[k + 3]}",
        )


def _clauses(syntax: Syntax, sentence: range, rows: list[list[str]]) -> None:
    lowered, tags, roles = syntax.lowered, syntax.tags, syntax.language.tags
    n = len(sentence)
    # Right to left: the next verb, whether a subject stands before it, punctuation before it.
    following: list[tuple[str, ...]] = [()] * n
    verb, far, subject, point = "-", 0, "", ""
    for k in range(n - 1, -1, -1):
        i = sentence[k]
        tag = tags[i]
        if tag in roles.verbs:
            verb, far, subject, point = tag, 0, "", ""
        else:
            far += 1
            if tag in roles.subjects:
                subject = "s"
            elif roles.is_symbol(tag):
                point = "p"
        following[k] = (f"{verb}{subject}{point}", f"{_bucket(far)}")
    verb, far, since_point, finite = "-", 0, "", ""
    for k, row in enumerate(rows):
        i = sentence[k]
        after, distance = following[k]
        word = lowered[i]
        row += (
            f"nv={after}",
            f"nvd={after}|{distance}",
            f"nvw={after}|{word}",
            f"nvt={after}|{tags[i]}",
            f"pv={verb}",
            f"pvd={verb}|{_bucket(far)}",
            f"pvs={since_point}{finite}|{after}",
            f"pvst={since_point}{finite}|{after}|{tags[i]}",
            f"pvn={verb}|{after}|{tags[i]}",
        )
        tag = tags[i]
        if tag in roles.verbs:
            verb, far, since_point = tag, 0, "v"
            finite = "f" if tag in roles.finite else finite
        else:
            far += 1
            if roles.is_symbol(tag):
                since_point = finite = ""


def _places(syntax: Syntax, sentence: range, rows: list[list[str]]) -> None:
    n, language = len(sentence), syntax.language
    open_brackets = quoted = since_point = 0
    for k, row in enumerate(rows):
        word = syntax.words[sentence[k]]
        if word in language.closing:
            open_brackets = max(0, open_brackets - 1)
        row += (
            f"at={_bucket(k)}",
            f"left={_bucket(n - k)}",
            f"in={min(open_brackets, 1)}{quoted}",
            f"sp={_bucket(since_point)}",
            f"spt={_bucket(since_point)}|{syntax.tags[sentence[k]]}",
        )
        if word[:1].isupper():
            row.append("upper")
        since_point += 1
        if word in language.opening:
            open_brackets += 1
        elif word in language.quotes:
            quoted = 1 - quoted
        if not word[:1].isalnum():
            since_point = 0


def _bucket(number: int) -> str:
    """Return a number by order of size, so that far things are alike."""
    if number < 4:
        return str(number)
    return "4+" if number < 6 else "6+" if number < 10 else "10+" if number < 20 else "20+"


_WINDOWED: dict[str, Callable[[Syntax, range, list[list[str]], Phrases | None], None]] = {
    "word": _words,
    "tag": _tags,
    "tree": _tree,
}
_LOCAL: dict[str, Callable[[Syntax, range, list[list[str]]], None]] = {
    "corner": _corners,
    "ngram": _ngrams,
    "clause": _clauses,
    "place": _places,
}
