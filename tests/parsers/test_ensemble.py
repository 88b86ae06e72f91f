"""The ensemble parser, with members made for it."""

from __future__ import annotations

import threading
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest

from rhetorica import Document, Join, Parse, RSTTree, Scores, Span, cores
from rhetorica.convert import relabel
from rhetorica.decode import Votes as JoinVotes
from rhetorica.decode import elect
from rhetorica.errors import InvalidTree, Mismatch, ModelError, UnknownName
from rhetorica.parsers.ensemble import EnsembleParser
from rhetorica.parsers.ensemble.candidates import Candidates, range_classes, split_levels
from rhetorica.parsers.ensemble.dependencies import DependencyEnsemble, decode
from rhetorica.parsers.ensemble.parser import METHODS
from rhetorica.parsers.ensemble.weights import Example, fit_votes, split_classes
from rhetorica.protocols import ArcBallot, Ballot
from rhetorica.relations import relation_set
from rhetorica.trees import DepTree, Label

NAMES = ("elaboration-additional", "joint-list", "causal-cause")
COARSE = relation_set("gum").coarse


def document(sizes: list[int], name: str = "") -> Document:
    """EDUs of one word, in sentences of some sizes, two sentences a paragraph."""
    text = " ".join(f"w{i}" for i in range(sum(sizes)))
    starts = [0, *np.cumsum([len(f"w{i}") + 1 for i in range(sum(sizes))]).tolist()]
    edus = tuple(Span(a, b - 1) for a, b in pairwise(starts))
    ends = np.cumsum(sizes).tolist()
    sentences = [
        Span(edus[end - size].start, edus[end - 1].end)
        for end, size in zip(ends, sizes, strict=True)
    ]
    paragraphs = [
        Span(sentences[at].start, sentences[min(at + 1, len(sentences) - 1)].end)
        for at in range(0, len(sentences), 2)
    ]
    return Document(
        text, edus, sentences=tuple(sentences), paragraphs=tuple(paragraphs), id=name, language="en"
    )


def random_tree(n: int, rng: np.random.Generator) -> RSTTree:
    joins, todo = [], [(0, n)]
    while todo:
        start, end = todo.pop()
        if end - start > 1:
            split = int(rng.integers(start + 1, end))
            kind = ("NS", "NN", "NS")
            which = int(rng.integers(3))
            joins.append(Join(start, split, end, kind[which], NAMES[which]))
            todo += [(start, split), (split, end)]
    return RSTTree.from_joins(n, joins)


class Member:
    """Knows the gold trees, and makes mistakes: other trees for some documents."""

    def __init__(self, name: str, trees: dict[str, RSTTree], sure: float = 0.8) -> None:
        self.name, self.trees, self.sure = name, trees, sure

    def __call__(self, doc: Document, *, kbest: int = 1) -> Parse:
        tree = self.trees[doc.id]
        some = (self.sure,) * len(tree.joins)
        return Parse(doc, tree, Scores(spans=some, nuclearities=some, relations=some))


def treebank(count: int = 12, seed: int = 0) -> list[Parse]:
    rng = np.random.default_rng(seed)
    found = []
    for at in range(count):
        doc = document(rng.integers(1, 5, size=4).tolist(), f"d{at}")
        found.append(Parse(doc, random_tree(len(doc.edus), rng)))
    return found


def members(parses: list[Parse], shares: tuple[float, ...], seed: int = 1) -> list[Member]:
    rng = np.random.default_rng(seed)
    return [
        Member(
            f"m{at}",
            {
                p.id: p.tree if rng.random() < share else random_tree(len(p.document.edus), rng)
                for p in parses
            },
        )
        for at, share in enumerate(shares)
    ]


def units(tree: RSTTree) -> set[tuple[int, int]]:
    return {(join.start, join.end) for join in tree.joins}


def test_classes_are_those_of_the_places() -> None:
    doc = document([2, 1, 2, 1])
    assert split_levels(doc).tolist() == [0, 1, 2, 0, 1]
    ranges = np.array([[0, 2], [0, 3], [1, 3], [2, 4], [3, 5], [3, 6], [0, 6]])
    assert range_classes(doc, ranges).tolist() == [0, 1, 1, 2, 0, 1, 2]
    assert split_classes(doc).tolist() == [0, 1, 2, 0, 1]
    long = document([2] * 60)
    assert range_classes(long, np.array([[0, 41], [0, 40]])).tolist() == [3, 2]
    assert split_classes(long)[:4].tolist() == [3, 4, 3, 5]


def test_a_ballot_of_a_parse_has_its_probabilities() -> None:
    doc = document([3])
    tree = RSTTree(3, (Join(0, 1, 3, "NS", "a"), Join(1, 2, 3, "NN", "b")))
    scores = Scores(spans=(1.0, 0.6), relations=(0.9, 0.5))
    ballot = Ballot.of(Parse(doc, tree, scores))
    assert ballot.labels == (Label("NN", "b"), Label("NS", "a"))
    pairs = zip(ballot.votes.ranges.tolist(), ballot.votes.labels, strict=True)
    found = {tuple(place): row for place, row in pairs}
    assert found[0, 3].tolist() == pytest.approx([0.1, 0.9])
    assert found[1, 3].tolist() == pytest.approx([0.3, 0.3])
    assert [join.split for join in elect(3, ballot.votes)] == [1, 2]
    assert len(Ballot.of(Parse(document([1]), RSTTree(1))).votes.joins) == 0


def test_candidates_have_what_members_say() -> None:
    doc = document([3])
    left = RSTTree(3, (Join(0, 2, 3, "NS", "joint-list"), Join(0, 1, 2, "NS", "causal-cause")))
    right = RSTTree(3, (Join(0, 1, 3, "NN", "joint-list"), Join(1, 2, 3, "NN", "joint-list")))
    labels = [Label("NN", "joint"), Label("NS", "causal"), Label("NS", "joint")]
    ballots = [Ballot.of(Parse(doc, tree)) for tree in (left, right)]
    said = Candidates.of(doc, ballots, labels, COARSE)
    assert said.ranges.tolist() == [[0, 2], [0, 3], [1, 3]]
    assert said.shares.tolist() == [[0.5, 0], [0.5, 0.5], [0, 0.5]]
    assert said.own.tolist() == [[True, False], [True, True], [False, True]]
    assert said.joins.tolist() == [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]
    assert said.labels[1, 1].tolist() == [0.5, 0, 0]
    assert said.labels[0, 0].sum() == pytest.approx(0.5)
    assert said.rows(np.array([1]), np.array([3])).tolist() == [2]


@pytest.mark.parametrize("method", METHODS)
def test_an_ensemble_follows_the_member_that_is_right(method: str) -> None:
    parses = treebank(60)
    good, bad, worse = members(parses, (1.0, 0.2, 0.0))
    model = EnsembleParser(members="a,b,c", method=method).gather([bad, good, worse])
    model.fit(parses)
    others = treebank(6, seed=5)
    for number, member in enumerate((good, bad, worse)):
        rng = np.random.default_rng(number)
        member.trees = {
            p.id: p.tree if member is good else random_tree(len(p.document.edus), rng)
            for p in others
        }
    for parse in others:
        found = model(parse.document)
        assert found.scores is not None
        assert all(0 <= p <= 1 for p in found.scores.spans)
        # A plain majority trusts all alike.
        assert method == "Majority" or units(found.tree) == units(parse.tree)


def test_three_of_which_two_agree_are_better_than_each() -> None:
    parses = treebank(40)
    voters = members(parses, (0.7, 0.7, 0.7))
    model = EnsembleParser(members="a,b,c").gather(voters).fit(parses[:20])

    def right(parser) -> int:
        return sum(len(units(parser(p.document).tree) & units(p.tree)) for p in parses[20:])

    assert right(model) > max(right(member) for member in voters)


def test_weights_of_votes_are_learned_by_class() -> None:
    # One member knows the inside of sentences, the other what is above.
    parses = treebank(20)
    trees: list[dict[str, RSTTree]] = [{}, {}]
    for parse in parses:
        doc, n = parse.document, len(parse.document.edus)
        levels = [0, *split_levels(doc).tolist()]
        starts = [k for k in range(n) if k == 0 or levels[k]] + [n]
        for known in (0, 1):
            joins = []
            for a, b in pairwise(starts):
                # right-branching is right for the first member inside sentences
                order = range(a + 1, b) if known == 0 else range(b - 1, a, -1)
                joins += (
                    [Join(k - 1, k, b, "NS", NAMES[0]) for k in order]
                    if known == 0
                    else [Join(a, k, k + 1, "NS", NAMES[0]) for k in order]
                )
            tops = starts[1:-1]
            joins += (
                [Join(0, k, starts[at + 2], "NN", NAMES[1]) for at, k in enumerate(tops)]
                if known
                else [Join(starts[at], k, n, "NN", NAMES[1]) for at, k in enumerate(tops)]
            )
            trees[known][parse.id] = RSTTree.from_joins(n, joins)
    golds = []
    for parse in parses:
        inner = [j for j in trees[0][parse.id].joins if j.relation == NAMES[0]]
        outer = [j for j in trees[1][parse.id].joins if j.relation == NAMES[1]]
        tree = RSTTree.from_joins(parse.tree.n_edus, [*inner, *outer])
        golds.append(Parse(parse.document, tree))
    voters = [Member("inside", trees[0]), Member("above", trees[1])]
    model = EnsembleParser(members="a,b", method="ESPBoost").gather(voters).fit(golds)
    assert model.weights_.ranges[0].argmax() == 0
    assert model.weights_.ranges[2].argmax() == 1
    for gold in golds[:5]:
        assert model(gold.document).tree.joins == gold.tree.joins


def test_k_best_begins_with_the_tree_and_is_sorted() -> None:
    parses = treebank()
    model = EnsembleParser(members="a,b").gather(members(parses, (0.5, 0.5))).fit(parses)
    found = model(parses[0].document, kbest=4)
    assert found.kbest[0].tree == found.tree
    scores = [one.score for one in found.kbest]
    assert scores == sorted(scores, reverse=True)
    assert len({one.tree.joins for one in found.kbest}) == len(scores)


def test_scores_of_a_k_best_list_are_the_share_that_is_right() -> None:
    parses = treebank(120)
    model = EnsembleParser(members="a,b,c").gather(members(parses, (0.6, 0.6, 0.6)))
    model.fit(parses[:60])
    promised, right = [], []
    for parse in parses[60:]:
        gold = {(j.start, j.end, j.nuclearity, COARSE(j.relation)) for j in parse.tree.joins}
        for one in model(parse.document, kbest=3).kbest:
            assert 0 <= one.score <= 1
            said = {(j.start, j.end, j.nuclearity, COARSE(j.relation)) for j in one.tree.joins}
            promised.append(one.score)
            right.append(len(gold & said) / len(gold))
    assert np.mean(promised) == pytest.approx(np.mean(right), abs=0.07)
    # Documents of which little is known are told from the others.
    assert np.corrcoef(promised, right)[0, 1] > 0.5


def test_likely_labels_come_with_the_k_best_list() -> None:
    parses = treebank()
    model = EnsembleParser(members="a,b").gather(members(parses, (0.5, 0.5))).fit(parses)
    assert not model(parses[0].document).scores.labels
    found = model(parses[0].document, kbest=2)
    for join, row in zip(found.tree.joins, found.scores.labels, strict=True):
        assert (row[0].nuclearity, row[0].relation) == (join.nuclearity, join.relation)
        shares = [one.probability for one in row]
        assert shares == sorted(shares, reverse=True)
        assert sum(shares) <= 1.001


def test_a_relations_probability_is_not_that_of_its_class() -> None:
    # Two members agree on the class and not on the relation within it.
    parses = treebank(30)
    swap = {"elaboration-additional": "elaboration-attribute", "joint-list": "joint-sequence"}

    def other(name: str) -> str:
        return swap.get(name, name)

    voters = []
    for seed in (1, 2):
        swapped = np.random.default_rng(seed).random(len(parses)) < 0.5
        trees = {
            p.id: relabel(p.tree, other) if wrong else p.tree
            for p, wrong in zip(parses, swapped, strict=True)
        }
        voters.append(Member(f"m{seed}", trees, sure=0.9))
    model = EnsembleParser(members="a,b").gather(voters).fit(parses)
    said, true = [], []
    for parse in parses:
        found = model(parse.document)
        said += found.scores.relations
        true += [
            a.relation == b.relation
            for a, b in zip(found.tree.joins, parse.tree.joins, strict=True)
        ]
    assert np.mean(said) == pytest.approx(np.mean(true), abs=0.05)
    assert np.mean(true) < 0.95


@pytest.mark.parametrize("edus", [6, 2001])
def test_members_vote_side_by_side_unless_the_text_is_long(
    edus: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    doc = document([3] * (edus // 3), "d")
    n = len(doc.edus)
    tree = RSTTree(n, tuple(Join(k, k + 1, n, "NS", NAMES[0]) for k in range(n - 1)))
    seen = []

    class Meeting(Member):
        def __call__(self, doc: Document, *, kbest: int = 1) -> Parse:
            seen.append(threading.current_thread() is threading.main_thread())
            if edus < 2000:
                meeting.wait(timeout=20)  # nobody gets on before both are there
            return super().__call__(doc, kbest=kbest)

    meeting = threading.Barrier(2)
    monkeypatch.setattr(cores, "free", lambda: 2)
    voters = [Meeting(name, {"d": tree}) for name in ("a", "b")]
    ballots = EnsembleParser(members="a,b").gather(voters).ballots(doc)
    assert len(ballots) == 2
    assert seen == [edus > 2000] * 2


def test_relations_within_a_class_come_from_members_who_know_them() -> None:
    parses = treebank()
    fine = Member("fine", {p.id: p.tree for p in parses})
    coarse = Member("coarse", {p.id: relabel(p.tree, COARSE) for p in parses})
    both = EnsembleParser(members="a,b").gather([coarse, fine]).fit(parses)
    assert both(parses[0].document).tree == parses[0].tree
    # Nobody knows: the most frequent relation of the class.
    alone = EnsembleParser(members="a").gather([coarse]).fit(parses)
    assert {j.relation for j in alone(parses[0].document).tree.joins} <= set(NAMES)


def test_small_documents() -> None:
    parses = treebank()
    model = EnsembleParser(members="a").gather(members(parses, (1.0,))).fit(parses)
    for sizes in ([], [1]):
        doc = replace(document(sizes), id="d0") if sizes else Document("", language="en")
        model.members_ = (Member("m", {doc.id: RSTTree(len(doc.edus))}),)
        assert model(doc).tree.n_edus == len(doc.edus)


def test_saved_and_loaded_it_decides_the_same(tmp_path: Path) -> None:
    parses = treebank()
    voters = members(parses, (0.8, 0.4))
    for method in ("stacked", "MVote"):
        model = EnsembleParser(members="a,b:mine", method=method).gather(voters).fit(parses)
        model.save(tmp_path / method, treebanks=("gum",))
        again = EnsembleParser.load(tmp_path / method)
        assert [one[:2] for one in again.members] == [("a", ""), ("b", "mine")]
        assert not list((tmp_path / method).glob("*model*"))
        with pytest.raises(ModelError, match="without members"):
            again(parses[0].document)
        with pytest.raises(ModelError, match="2 members and 1 parsers"):
            again.gather(voters[:1])
        assert again.gather(voters)(parses[0].document) == model(parses[0].document)


def test_what_is_wrong_is_said() -> None:
    parses = treebank(2)

    class Cutter(Member):
        def __call__(self, doc: Document, *, kbest: int = 1) -> Parse:
            return Parse(replace(doc, edus=(Span(0, len(doc.text)),)), RSTTree(1))

    cutter = Cutter("cutter", {})
    with pytest.raises(Mismatch, match="cutter has 1 EDUs in d0"):
        EnsembleParser(members="a").gather([cutter]).fit(parses)
    with pytest.raises(ModelError, match="at least one member"):
        EnsembleParser().gather([])
    with pytest.raises(UnknownName, match="MVote"):
        EnsembleParser(method="mvote")
    single = Parse(document([1], "d0"), RSTTree(1))
    good = Member("good", {"d0": RSTTree(1)})
    with pytest.raises(ModelError, match="no document with a join"):
        EnsembleParser(members="a").gather([good]).fit([single])


def test_reparsing_weighs_members_by_their_accuracy() -> None:
    parses = treebank(20)
    voters = members(parses, (1.0, 0.3))
    labels = sorted({Label(j.nuclearity, COARSE(j.relation)) for p in parses for j in p.tree.joins})
    examples = []
    hits = np.zeros(2)
    for parse in parses:
        said = [Ballot.of(voter(parse.document)) for voter in voters]
        together = Candidates.of(parse.document, said, labels, COARSE)
        examples.append(Example.of(parse.document, together, relabel(parse.tree, COARSE), labels))
        splits = {(j.split, j.start, j.end) for j in parse.tree.joins}
        for at, voter in enumerate(voters):
            tree = voter(parse.document).tree
            hits[at] += len({(j.split, j.start, j.end) for j in tree.joins} & splits)
    weights = fit_votes(examples, "reparsing").ranges
    assert weights[0] == pytest.approx(hits / hits.sum())
    assert (weights == weights[0]).all()


def test_votes_of_a_sample_make_a_ballot_of_shipped_parsers() -> None:
    from rhetorica.pipeline import load_parser
    from rhetorica.text import annotate

    doc = Document("We stayed at home because it rained. Later, the sun came out.")
    doc = annotate(replace(doc, edus=(Span(0, 17), Span(18, 36), Span(37, 61))))
    for name in ("neural", "shift-reduce", "dplp"):
        parser = load_parser(name)
        ballot = parser.ballot(doc)
        assert isinstance(ballot.votes, JoinVotes)
        assert len(elect(3, ballot.votes)) == 2
        ranges = list(map(tuple, ballot.votes.ranges.tolist()))
        assert sorted(set(ranges)) == ranges
        totals = dict(zip(ranges, ballot.votes.labels.sum(axis=1).tolist(), strict=True))
        assert totals[0, 3] == pytest.approx(1, abs=0.05)
        assert all(0 <= total <= 1.001 for total in totals.values())


def test_a_long_text_is_read_in_pieces_with_the_same_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from rhetorica.parsers.ensemble import weights
    from rhetorica.parsers.neural import network, syntax
    from rhetorica.pipeline import load

    paragraphs = [
        f"On day {day} we stayed at home because it rained. Although the {place} was near, nobody "
        f"wanted to go there, and so the children read what they had found in the {place}."
        for day in range(3, 9)
        for place in ("harbour", "library")
    ]
    text = "\n\n".join(paragraphs)
    nlp = load("en", parser="ensemble", model="ensemble_gum", syntax="neural")
    whole = nlp(text)
    assert len(whole.edus) > 48
    monkeypatch.setattr(network, "AT_ONCE", 37)
    monkeypatch.setattr(network, "EDUS_AT_ONCE", 5)
    monkeypatch.setattr(syntax, "_WORDS_AT_ONCE", 11)
    monkeypatch.setattr(weights, "_AT_ONCE", 7)
    found = nlp(text)
    assert found.document == whole.document
    assert found.tree == whole.tree
    for name in ("boundaries", "spans", "nuclearities", "relations"):
        ours, theirs = (getattr(parse.scores, name) for parse in (found, whole))
        assert ours == pytest.approx(theirs, abs=1e-4)


class ArcMember:
    """A dependency parser that knows a share of the right heads, and says how sure it is."""

    def __init__(self, golds: dict[str, DepTree], rng: np.random.Generator, wrong: float) -> None:
        self.name = "arcs"
        self.trees = {}
        for name, tree in golds.items():
            n = tree.n_edus
            heads = [-1, *(int(rng.integers(0, i)) for i in range(1, n))]
            mixed = [
                b if rng.random() < wrong else a for a, b in zip(tree.heads, heads, strict=True)
            ]
            relations = [r if rng.random() >= wrong else NAMES[0] for r in tree.relations]
            self.trees[name] = DepTree(tuple(mixed), ("ROOT", *relations[1:]))

    def __call__(self, doc: Document, *, kbest: int = 1) -> Parse:
        return Parse(doc, self.trees[doc.id])


def arc_corpus(rng: np.random.Generator) -> list[Parse]:
    found = []
    for number in range(40):
        sizes = rng.integers(1, 4, size=4).tolist()
        n = sum(sizes)
        # Each EDU hangs on one before it, without crossing: on the last EDU or its head.
        heads = [-1]
        for i in range(1, n):
            last = i - 1
            heads.append(last if rng.random() < 0.6 or heads[last] < 0 else heads[last])
        names = ("ROOT", *(NAMES[int(k)] for k in rng.integers(0, 3, size=n - 1)))
        found.append(Parse(document(sizes, f"d{number}"), DepTree(tuple(heads), names)))
    return found


@pytest.mark.parametrize("method", METHODS)
def test_an_ensemble_of_dependency_parsers(method: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    golds = arc_corpus(rng)
    trees = {gold.id: gold.dependencies for gold in golds}
    members = [ArcMember(trees, rng, wrong) for wrong in (0.2, 0.3, 0.3)]

    def right(parses: list[Parse]) -> float:
        pairs = [
            (a, b)
            for gold, parse in zip(golds, parses, strict=True)
            for a, b in zip(
                zip(gold.dependencies.heads, gold.dependencies.relations, strict=True),
                zip(parse.dependencies.heads, parse.dependencies.relations, strict=True),
                strict=True,
            )
        ]
        return sum(a == b for a, b in pairs) / len(pairs)

    empty = DependencyEnsemble(members="a,b,c", method=method).gather(members)
    ensemble = empty.fit(golds)
    found = [ensemble(gold.document) for gold in golds]
    alone = max(right([member(gold.document) for gold in golds]) for member in members)
    # One expert a class loses a little, as its tree may have to be made projective.
    assert right(found) >= alone - (0.05 if method in ("Rand", "Best", "FPL-CV") else 0)
    if method in ("stacked", "reparsing", "MVote"):
        assert right(found) > alone + 0.02
    assert all(0 <= p <= 1.0001 for parse in found for p in parse.scores.heads)
    ensemble.save(tmp_path / "arcs", treebanks=("scidtb",))
    again = EnsembleParser.load(tmp_path / "arcs")
    assert isinstance(again, DependencyEnsemble)
    again = again.gather(members)
    assert [again(gold.document).dependencies for gold in golds] == [
        parse.dependencies for parse in found
    ]
    with pytest.raises(ModelError, match="weights of 3 members and 2 parsers"):
        again.gather(members[:2])


def test_votes_for_arcs_are_counted_by_hand() -> None:
    doc = document([3], "d")
    trees = [(-1, 0, 0), (-1, 0, 1), (-1, 0, 1)]
    said = [
        ArcBallot.of(Parse(doc, DepTree(heads, ("ROOT", NAMES[0], name))))
        for heads, name in zip(trees, NAMES, strict=True)
    ]
    ensemble = DependencyEnsemble(members="a,b,c", method="Majority")
    ensemble.labels_ = tuple(sorted(Label("NS", name) for name in NAMES))
    ensemble.heads_ = np.tile([0.5, 0.3, 0.15], (3, 1))
    ensemble.relations_ = ensemble.heads_
    # .5 for the head 0 of the last EDU, .45 for 1; only the first member knows that arc's relation.
    parse = ensemble.decide(doc, said)
    assert parse.dependencies.heads == (-1, 0, 0)
    assert parse.dependencies.relations == ("ROOT", NAMES[0], NAMES[0])
    assert parse.scores.heads == pytest.approx((0.95, 0.95, 0.5))
    ensemble.heads_ = np.tile([0.4, 0.3, 0.3], (3, 1))
    ensemble.relations_ = np.tile([0.4, 0.2, 0.4], (3, 1))
    parse = ensemble.decide(doc, said)
    assert parse.dependencies.heads == (-1, 0, 1)
    assert parse.dependencies.relations == ("ROOT", NAMES[0], NAMES[2])
    assert ensemble.decide(document([1]), []).dependencies.heads == (-1,)


@pytest.mark.parametrize("decoder", ["eisner", "spanning"])
def test_k_best_of_dependencies(decoder: str) -> None:
    rng = np.random.default_rng(3)
    golds = arc_corpus(rng)
    trees = {gold.id: gold.dependencies for gold in golds}
    members = [ArcMember(trees, rng, wrong) for wrong in (0.2, 0.3, 0.3)]
    ensemble = DependencyEnsemble(members="a,b,c", decoder=decoder).gather(members).fit(golds[:20])
    promised, right, heads, true = [], [], [], []
    for gold in golds[:20]:
        found = ensemble(gold.document, kbest=5)
        assert found.kbest[0].tree == found.source
        scores = [one.score for one in found.kbest]
        assert scores == sorted(scores, reverse=True)
        assert len({one.tree.heads for one in found.kbest}) == len(scores) > 1
        gold_arcs = list(zip(gold.source.heads, gold.source.relations, strict=True))
        for one in found.kbest:
            arcs = zip(one.tree.heads, one.tree.relations, strict=True)
            promised.append(one.score)
            right.append(np.mean([a == b for a, b in zip(arcs, gold_arcs, strict=True)]))
        heads += found.scores.heads
        true += [a == b for a, b in zip(gold.source.heads, found.source.heads, strict=True)]
    # On what it has learned from, logistic regression is right in the mean.
    assert np.mean(promised) == pytest.approx(np.mean(right), abs=0.01)
    assert np.mean(heads) == pytest.approx(np.mean(true), abs=0.01)


@pytest.mark.parametrize("decoder", ["eisner", "spanning"])
def test_the_tree_with_the_most_votes_of_all(decoder: str) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        votes = rng.random((4, 5))
        best, value = (), -1.0
        for heads in product(range(-1, 4), repeat=4):
            try:
                tree = DepTree(heads, ("r",) * 4)
            except InvalidTree:
                continue
            total = sum(votes[i, head + 1] for i, head in enumerate(heads))
            if (decoder == "spanning" or tree.is_projective()) and total > value:
                best, value = heads, total
        assert tuple(decode(votes, decoder).tolist()) == best


def test_members_are_recipes(tmp_path: Path) -> None:
    from rhetorica import load
    from rhetorica.pipeline import Recipe, load_member, models_of

    golds = treebank(4)
    said = [Ballot.of(gold) for gold in golds]
    wanted = "shift-reduce,shift-reduce?beam=4&samples=0"
    model = EnsembleParser(members=wanted).fit(golds, ballots=[[one, one] for one in said])
    model.save(tmp_path / "two", treebanks=("gum",))
    nlp = load("en", parser="ensemble", model=tmp_path / "two", syntax="spacy")
    first, second = nlp.parser.members_
    assert (second.settings.beam, second.settings.samples) == (4, 0)
    assert (first.settings.beam, first.settings.samples) != (4, 0)
    assert len(nlp("We stayed at home because it rained. So we read.").tree.joins) == 2
    recipe = Recipe("en", parser="ensemble", model=str(tmp_path / "two"), syntax="spacy")
    assert [one.id for one in models_of(recipe)][1:3] == ["shift_reduce_gum"] * 2

    for number, (members, kind, why) in enumerate(
        [
            ("shift-reduce,perceptron", UnknownName, "unknown member of an ensemble 'perceptron'"),
            ("ensemble", UnknownName, "unknown member of an ensemble 'ensemble'"),
            ("codra:nowhere", ModelError, "nowhere"),
            ("shift-reduce?width=3", UnknownName, "unknown option of shift-reduce 'width'"),
        ]
    ):
        for member in EnsembleParser(members=members).members[-1:]:
            with pytest.raises(kind, match=why):
                load_member("parser", member, treebank="gum")
        count = len(EnsembleParser(members=members).members)
        bad = EnsembleParser(members=members).fit(golds, ballots=[[one] * count for one in said])
        folder = tmp_path / f"bad{number}"
        bad.save(folder, treebanks=("gum",))
        with pytest.raises(kind, match=why):
            load("en", parser="ensemble", model=folder)


def test_labels_of_an_ensemble_of_dependencies_are_its_own(tmp_path: Path) -> None:
    from rhetorica import load

    golds = arc_corpus(np.random.default_rng(3))
    said = [[ArcBallot.of(gold)] for gold in golds]
    model = DependencyEnsemble(members="li2014", relations="scidtb fine")
    model.fit(golds, ballots=said).save(tmp_path / "arcs", treebanks=("scidtb",))
    nlp = load("en", parser="ensemble", model=tmp_path / "arcs", syntax="spacy")
    assert nlp.labels == tuple(sorted(NAMES))
