"""Terms and keywords of texts that are cut into words: for the methods that do not learn them.

As in Cao et al. (2014, section 3.2): adjacent words with high mutual information are joined to
candidates, and candidates are scored by how frequent they are here and in general, after Nazar
(2011). His formula is not in the text at hand; taken is the frequency times the logarithm of the
ratio of relative frequencies, here to elsewhere.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rhetorica.words.characters import kind

MOST_WORDS = 3
_FUNCTION = frozenset(
    "的 地 得 了 着 过 之 所 等 吗 呢 是 有 在 不 也 都 就 还 又 却 会 能 可 可以 要 应 很 更 "
    "最 较 没 没有 我 我们 你 你们 他 她 它 他们 她们 它们 这 那 这些 那些 这个 那个 这里 "
    "那里 此 其 该 本 某 各 每 全 自己 大家 和 与 及 以及 并 并且 而 而且 且 但 但是 可是 "
    "然而 不过 或 或者 还是 同时 此外 另外 则 因为 由于 因 虽然 虽 尽管 如果 若 假如 只要 "
    "只有 除非 即使 无论 不论 不管 所以 因此 因而 从而 使得 既然 不但 不仅 为了 为 以便 以 "
    "以免 随着 自 自从 直到 当 从 对 对于 关于 根据 按照 按 据 通过 经过 被 把 将 由 给 让 使 "
    "向 于 至 比 跟 同 用 到 上 中 下 内 外 间 里 前 后 时 以上 以下 之间 其中 一 两 几 个 种 "
    "项 次 类 些 名 例 条 篇 份 位 第 均 仅 只 已 才 再 便 即 未 无 非常 比较 能够 应该 必须 "
    "说 进行 具有 成为 作为 提出 认为 表明 倘若 即便 哪怕 要是 您 咱们 本人".split()
)
"""Words that are no part of a term: particles, prepositions, places, measures, empty verbs."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A term or keyword: how often it occurs there, and how strong it is."""

    word: str
    count: int
    score: float


def candidates(
    clauses: Iterable[Sequence[str]], *, least: int = 2, information: float = 4.0
) -> set[tuple[str, ...]]:
    """Return sequences of two or three words whose parts attract each other.

    They occur ``least`` times, and the mutual information (in bits) of every adjacent pair is at
    least ``information``.
    """
    words: Counter[str] = Counter()
    pairs: Counter[tuple[str, ...]] = Counter()
    threes: Counter[tuple[str, ...]] = Counter()
    for clause in clauses:
        words.update(clause)
        pairs.update(itertools.pairwise(clause))
        threes.update(zip(clause, clause[1:], clause[2:], strict=False))
    total, all_pairs = max(1, words.total()), max(1, pairs.total())

    def attract(pair: tuple[str, ...]) -> bool:
        first, second = words[pair[0]] / total, words[pair[1]] / total
        return math.log2(pairs[pair] / all_pairs / (first * second)) >= information

    joined = {
        pair
        for pair, count in pairs.items()
        if count >= least and all(map(may_join, pair)) and attract(pair)
    }
    return joined | {
        three
        for three, count in threes.items()
        if count >= least and three[:2] in joined and three[1:] in joined
    }


def count_with_candidates(
    clauses: Iterable[Sequence[str]], joined: set[tuple[str, ...]]
) -> Counter[str]:
    """Count words and candidates; where a candidate stands, its parts are not counted.

    >>> dict(count_with_candidates([["神经", "网络", "很", "大"]], {("神经", "网络")}))
    {'神经网络': 1, '很': 1, '大': 1}
    """
    counts: Counter[str] = Counter()
    for clause in clauses:
        at = 0
        while at < len(clause):
            for size in range(MOST_WORDS, 0, -1):
                part = tuple(clause[at : at + size])
                if size == 1 or (len(part) == size and part in joined):
                    break
            counts["".join(part)] += 1
            at += size
    return counts


def rank(here: Mapping[str, int], elsewhere: Mapping[str, int], *, least: int = 1) -> list[Ranked]:
    """Order the words of a place by frequency and how special they are to it, best first.

    ``elsewhere`` are the counts of everything, this place included.
    """
    total, all_words = max(1, sum(here.values())), max(1, sum(elsewhere.values()))
    found = []
    for word, count in here.items():
        if count >= least and is_term(word):
            ratio = (count / total) / (max(count, elsewhere.get(word, 0)) / all_words)
            found.append(Ranked(word, count, count * math.log2(max(ratio, 1.0))))
    return sorted(found, key=lambda row: (-row.score, -len(row.word), row.word))


def is_word(word: str) -> bool:
    """Tell whether a word has a letter or Chinese character."""
    return any(kind(character) in "hnla" for character in word)


def may_join(word: str) -> bool:
    """Tell whether a word may be a part of a term of several words.

    >>> may_join("网络"), may_join("了"), may_join("，")
    (True, False, False)
    """
    return is_word(word) and word not in _FUNCTION


def is_term(word: str) -> bool:
    """Tell whether a word may be a term: two Chinese characters or more, or a Latin word."""
    kinds = [kind(character) for character in word]
    return len(word) > 1 and ("h" in kinds or "l" in kinds)
