"""A syntax pipeline trained for one epoch on three little documents of our own."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lessons import LESSONS
from rhetorica import Parse, RSTTree
from rhetorica.cli import app
from rhetorica.document import Document, Span, Token
from rhetorica.formats.conllu import write_conllu
from rhetorica.models.store import Config
from rhetorica.text import annotate
from rhetorica.train.syntax import score
from rhetorica.train.syntax.examples import paragraphs_of
from rhetorica.train.syntax.silver import join_clitics, present_scheme

pytest.importorskip("spacy_lookups_data", reason="spacy-lookups-data is not installed")


def parses() -> list[Parse]:
    """Return documents with a paragraph for each EDU."""
    return [
        Parse(annotate(Document.from_edus(units, joiner="\n\n")), RSTTree(len(units), joins))
        for units, joins in LESSONS
    ]


def corpus(folder: Path) -> tuple[Path, Path]:
    """Lay out three documents as GUM, and one of them again as English-EWT."""
    gum, ewt = folder / "gum", folder / "ewt"
    for place in (gum / "rst" / "rstweb", gum / "dep", gum / "splits", ewt):
        place.mkdir(parents=True)
    names = []
    for number, parse in enumerate(parses()):
        names.append(f"GUM_test_{number}")
        doc = parse.document
        # GUM's trees have words with spaces between them.
        words = [" ".join(doc.form(doc.tokens[i]) for i in group) for group in doc.edu_tokens()]
        spaced = Parse(Document.from_edus(words), parse.tree)
        (gum / "rst" / "rstweb" / f"{names[-1]}.rs4").write_text(spaced.to_rs3(), "utf-8")
        (gum / "dep" / f"{names[-1]}.conllu").write_text(write_conllu(parse), "utf-8")
    for split in ("train", "dev"):
        (gum / "splits" / f"{split}.txt").write_text("\n".join(names))
    (ewt / "en_ewt-ud-train.conllu").write_text(write_conllu(parses()[0]), "utf-8")
    return gum, ewt


def test_a_short_training(tmp_path: Path) -> None:
    import spacy

    gum, ewt = corpus(tmp_path)
    out = tmp_path / "my_syntax"
    small = "--epochs 1 --width 16 --depth 1 --hidden 8 --min-actions 1 --gum-only-epochs 0".split()
    result = CliRunner().invoke(
        app, ["train", "syntax", "--gum", str(gum), "--ewt", str(ewt), "--out", str(out), *small]
    )
    assert result.exit_code == 0, result.output
    config = Config.read(out)
    assert (config.kind, config.treebanks, config.settings["width"]) == (
        "syntax",
        ("gum", "ewt"),
        16,
    )
    assert config.check() == out
    assert "my_syntax" in (out / "README.md").read_text("utf-8")
    # Strings of the training texts are not in the folder.
    strings = json.loads((out / "vocab" / "strings.json").read_text("utf-8"))
    assert "umbrella" not in strings
    nlp = spacy.load(out)
    doc = annotate("The old umbrella can't be mended.", nlp)
    assert [doc.form(token) for token in doc.tokens][3:6] == ["ca", "n't", "be"]
    assert score(nlp, [parse.document for parse in parses()])["tokens"].f1 == 1


def test_two_stages(tmp_path: Path) -> None:
    gum, ewt = corpus(tmp_path)
    out, blind = tmp_path / "my_syntax", tmp_path / "my_syntax_blind"
    silver = ewt / "en_ewt-ud-train.conllu"
    small = (
        f"train syntax --gum {gum} --ewt {ewt} --silver {silver} --out {out} --silver-rounds 2 "
        "--epochs 1 --width 16 --depth 1 --hidden 8 --min-actions 1 --gum-only-epochs 0"
    ).split()
    result = CliRunner().invoke(app, small)
    assert result.exit_code == 0, result.output
    assert "round 2 of 2" in result.output
    assert Config.read(blind).treebanks == ("amalgum", "ewt")
    assert Config.read(out).treebanks == ("gum", "ewt", "amalgum")
    changed = (out / "tok2vec" / "model").read_bytes()
    assert changed != (blind / "tok2vec" / "model").read_bytes()
    again = CliRunner().invoke(app, small)
    assert again.exit_code == 0
    assert "round" not in again.output  # the first stage is there
    assert (out / "tok2vec" / "model").stat().st_size == len(changed)


def test_older_labels_of_automatic_syntax_are_renamed() -> None:
    words = "Kongo 's king was seen by Al last May - 5 $ .".split()
    relations = "nmod:poss case nsubj:pass aux:pass root case obl amod obl:tmod punct dep dep punct"
    heads = [2, 0, 4, 4, -1, 6, 4, 8, 4, 10, 4, 10, 4]
    tags = "NNP POS NN VBD VBN IN NNP JJ NNP : CD SYM .".split()
    classes = "PROPN PART NOUN AUX VERB ADP PROPN ADJ PROPN PUNCT NUM SYM .".split()
    doc = Document.from_edus([" ".join(words).replace("- 5", "-5").replace("May -", "May-")])
    tokens, at = [], 0
    for word, relation, head, tag, pos in zip(
        words, relations.split(), heads, tags, classes, strict=True
    ):
        at = doc.text.index(word, at)
        tokens.append(Token(at, at + len(word), pos=pos, tag=tag, head=head, deprel=relation))
        at += len(word)
    doc = replace(doc, tokens=tuple(tokens))
    new = present_scheme(join_clitics(doc))
    assert new.text == "Kongo's king was seen by Al last May-5 $ ."
    assert [new.form(token) for token in new.tokens] == words
    changed = {
        new.form(b): (b.deprel, b.tag, b.pos)
        for a, b in zip(doc.tokens, new.tokens, strict=True)
        if (a.deprel, a.tag, a.pos) != (b.deprel, b.tag, b.pos)
    }
    assert changed == {
        "Al": ("obl:agent", "NNP", "PROPN"),
        "May": ("obl:unmarked", "NNP", "PROPN"),
        "-": ("punct", "HYPH", "PUNCT"),
        "$": ("dep", "$", "SYM"),
        ".": ("punct", ".", "PUNCT"),
    }


def test_words_are_counted_where_they_stand() -> None:
    def doc(*tokens: Token) -> Document:
        return Document("It rains.", tokens=tokens, sentences=(Span(0, 9),))

    right = doc(
        Token(0, 2, lemma="it", pos="PRON", tag="PRP", head=1, deprel="nsubj"),
        Token(3, 8, lemma="rain", pos="VERB", tag="VBZ", head=-1, deprel="root"),
        Token(8, 9, lemma=".", pos="PUNCT", tag=".", head=1, deprel="punct"),
    )
    [paragraph] = paragraphs_of(right)
    [sentence] = paragraph
    assert [word.text for word in sentence] == ["It", "rains", "."]
    assert [word.space for word in sentence] == [True, False, False]
    assert [(word.head, word.dep) for word in sentence] == [(1, "nsubj"), (1, "ROOT"), (1, "punct")]
