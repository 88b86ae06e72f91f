"""RST-DT and the Penn Treebank as they are distributed, with texts of our own."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rhetorica import Document, formats
from rhetorica.cli import app
from rhetorica.corpora.layers import read_brackets
from rhetorica.corpora.ptb import article, find_article, with_phrases
from rhetorica.corpora.rstdt import read_rstdt
from rhetorica.errors import FormatError, Mismatch, RepairWarning, RhetoricaError, UnknownName
from rhetorica.features.phrases import Phrases
from rhetorica.features.syntax import Syntax
from rhetorica.text import annotate
from rhetorica.train.treebank import Treebank, read_treebank


def names(folder: Path, split: str) -> list[str]:
    return [parse.id for parse in read_rstdt(folder / "rst", split)]


def test_dev_is_every_tenth_document_of_training(licensed: Path) -> None:
    training = names(licensed, "training")
    assert training == ["file1", *(f"wsj_{600 + n:04}" for n in range(20))]
    assert names(licensed, "dev") == [training[9], training[19]]
    assert names(licensed, "train") == [*training[:9], *training[10:19], training[20]]
    assert names(licensed, "test") == ["wsj_2300", "wsj_2301", "wsj_2302"]
    with pytest.raises(UnknownName, match="'validation'"):
        names(licensed, "validation")
    with pytest.raises(FormatError, match="no such folder"):
        list(read_rstdt(licensed / "nowhere"))
    inside = next((licensed / "rst").rglob("TRAINING"))
    with pytest.raises(FormatError, match="with TRAINING and TEST somewhere below"):
        list(read_rstdt(inside, "train"))


def test_trees_texts_and_treebank_are_joined(licensed: Path) -> None:
    for parse in read_rstdt(licensed / "rst", ptb=licensed / "ptb"):
        doc = parse.document
        assert len(doc.constituency) == len(doc.sentences)
        assert all(token.tag and token.deprel for token in doc.tokens)
        starts = {token.start for token in doc.tokens}
        assert all(edu.start in starts for edu in doc.edus)
        assert "".join(doc.text[t.start : t.end] for t in doc.tokens) == "".join(doc.text.split())
        syntax = Syntax.of(doc)
        phrases = Phrases.of(doc, syntax)
        assert phrases is not None
        # The head that the rules give a phrase is the highest of its words.
        for sentence in syntax.sentences:
            roots = [i for i in sentence if syntax.heads[i] < 0]
            assert len(roots) == 1
            assert all(syntax.heads[i] < 0 or syntax.heads[i] in sentence for i in sentence)


MRG = """
( (S
    (NP-SBJ-1 (DT The) (JJ old) (NN man) )
    (VP (VBD said)
      (SBAR (-NONE- 0)
        (S
          (NP-SBJ (PRP he) )
          (VP (MD would)
            (VP (VB sell)
              (NP
                (NP (CD 1\\/2) )
                (PP (IN of)
                  (NP (PRP it) )))))))
      (PRN (-LRB- -LRB-) (ADVP (RB soon) ) (-RRB- -RRB-) ))
    (. .) ))
( (FRAG (`` ``) (NP (NN Rain) ) (. .) ('' '') ))
"""


@pytest.fixture
def mrg(tmp_path: Path) -> Path:
    (tmp_path / "wsj" / "07").mkdir(parents=True)
    path = tmp_path / "wsj" / "07" / "wsj_0764.mrg"
    path.write_text(MRG)
    return path


def test_heads_by_hand(mrg: Path, tmp_path: Path) -> None:
    assert find_article(tmp_path, "file1") == mrg
    assert find_article(tmp_path, "wsj_0001") is None
    assert len(read_brackets(mrg)) == 2
    doc = with_phrases(
        Document('The old man said he\nwould sell 1/2 of it (soon).\n\n"Rain."'), mrg
    )
    words = [doc.form(token) for token in doc.tokens]
    assert " ".join(words) == 'The old man said he would sell 1/2 of it ( soon ) . " Rain . "'
    above = {
        word: (words[token.head] if (token.head or 0) >= 0 else None, token.deprel)
        for word, token in zip(words, doc.tokens, strict=True)
    }
    assert above["man"] == ("said", "nsubj")
    assert above["said"] == (None, "root")
    assert above["would"] == ("said", "sbar")
    assert above["sell"] == ("would", "vp")
    assert above["1/2"] == ("sell", "np")
    assert above["of"] == ("1/2", "pp")
    assert above["it"] == ("of", "np")
    assert above["soon"] == ("said", "prn")
    assert above["("] == ("soon", "punct")
    assert above["Rain"] == (None, "root")
    assert doc.constituency[1] == "(FRAG (`` ``) (NP (NN Rain)) (. .) ('' ''))"


def test_names_in_capitals(tmp_path: Path) -> None:
    path = tmp_path / "WSJ" / "07" / "WSJ_0764.MRG"
    path.parent.mkdir(parents=True)
    path.write_text(MRG)
    assert find_article(tmp_path, "file1") == find_article(tmp_path, "wsj_0764") == path


def test_words_that_the_text_lacks_and_words_that_the_trees_lack(mrg: Path) -> None:
    doc = with_phrases(Document('The man said that he would sell 1/2 of it (soon). "Rain."'), mrg)
    assert [doc.form(token) for token in doc.tokens][:6] == [
        "The", "man", "said", "that he", "would", "sell",
    ]  # fmt: skip
    assert "old" not in doc.constituency[0]
    doc = with_phrases(Document("The old man said he would sell 1/2 of it (soon). ``Rain.''"), mrg)
    assert [doc.form(token) for token in doc.tokens][-4:] == ["``", "Rain", ".", "''"]
    with pytest.raises(Mismatch, match="another article"):
        with_phrases(Document("Nobody would sell a quarter of this here today."), mrg)


def test_a_document_without_an_article_keeps_our_syntax(licensed: Path, mrg: Path) -> None:
    with pytest.warns(RepairWarning, match="predicted"):
        parses = list(read_rstdt(licensed / "rst", "test", ptb=mrg.parents[2]))
    assert not parses[0].document.tokens
    assert article("file5") == "wsj_2172"
    with pytest.raises(FormatError, match="is this the Penn Treebank"):
        list(read_rstdt(licensed / "rst", "test", ptb=licensed / "rst"))


def test_unknown_relations_are_classes_of_their_own(licensed: Path) -> None:
    with pytest.warns(RepairWarning, match="digression"):
        treebank = read_treebank("rst-dt", licensed / "rst", test=True)
    assert treebank.relations.coarse("digression") == "digression"
    assert treebank.relations.coarse("Elaboration-additional-e") == "elaboration"
    assert treebank.relations.label_name == "coarse19"
    assert (len(treebank.train), len(treebank.dev), len(treebank.test)) == (19, 2, 3)
    final = treebank.final()
    assert (len(final.train), final.dev, final.part) == (21, treebank.test, "test")
    assert final.final() is final
    assert whose(treebank) == whose(final) == "predicted"
    with pytest.raises(RhetoricaError, match="only for rst-dt"):
        read_treebank("gum", licensed, ptb=licensed / "ptb")


def test_the_treebank_has_lemmas(licensed: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RepairWarning)
        treebank = read_treebank("rst-dt", licensed / "rst", ptb=licensed / "ptb")
    doc = treebank.dev[0].document
    assert doc.constituency
    lemmas = {doc.form(token): token.lemma for parse in treebank.train
              for doc in [parse.document] for token in doc.tokens}  # fmt: skip
    assert lemmas["said"] == "say"
    assert lemmas["was"] == "be"
    assert whose(treebank) == "gold"
    assert whose(treebank.automatic()) == "predicted"


def whose(treebank: Treebank) -> str:
    """Return whose syntax the signature of scores on the treebank's own documents names."""
    report = treebank.score(treebank.dev)
    fields = dict(field.split(":", 1) for field in report.table()[0].signature.split("|")[:-1])
    return fields["syntax"]


def test_test_documents_are_parsed_and_scored(licensed: Path, tmp_path: Path) -> None:
    test = next((licensed / "rst").rglob("TEST"))
    options = ("--from", "dis", "--parser", "shift-reduce", "--beam", "1", "--to", "dis")
    parse = ["parse", str(test), *options, "--out", str(tmp_path / "parsed"), "--quiet"]
    done = CliRunner().invoke(app, parse)
    assert done.exit_code == 0, done.output
    assert len(list((tmp_path / "parsed").iterdir())) == 3
    done = CliRunner().invoke(app, ["score", str(test), str(tmp_path / "parsed"), "--json"])
    assert done.exit_code == 0, done.output
    rows = {(row["metric"], row["figure"]): row for row in json.loads(done.stdout)["scores"]}
    assert rows["segmentation", "starts"]["f1"] == 1
    assert 0 < rows["parseval", "span"]["f1"] <= 1


def test_scores_of_the_corpus_as_it_is(licensed: Path) -> None:
    """Lists of units beside the trees are not documents."""
    test = next((licensed / "rst").rglob("TEST"))
    done = CliRunner().invoke(app, ["score", str(test), str(test), "--labels", "rst-dt", "--json"])
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert {row["documents"] for row in report["scores"]} == {3}
    assert all(row["f1"] == 1 for row in report["scores"])


def test_unknown_relations_do_not_stop_scores(licensed: Path, tmp_path: Path) -> None:
    """One document of TRAINING has a relation that the manual does not have."""
    training = str(next((licensed / "rst").rglob("TRAINING")))
    command = ["score", training, training, "--json", "--labels"]
    with pytest.warns(RepairWarning, match="digression: not in the inventory of rst-dt"):
        done = CliRunner().invoke(app, [*command, "rst-dt"])
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)["scores"]
    assert all(row["f1"] == 1 for row in rows)
    assert any("labels:coarse19" in row["signature"] for row in rows)
    # What a parser has learned from such a document does not stop its scores either.
    odd = tmp_path / "wsj_2300.dis"
    tree = next((licensed / "rst").rglob("wsj_2300.out.dis"))
    odd.write_text(tree.read_text().replace("concession", "digression"))
    with pytest.warns(RepairWarning, match="digression"):
        done = CliRunner().invoke(
            app, ["score", str(tree), str(odd), "--json", "--labels", "rst-dt"]
        )
    rows = json.loads(done.stdout)["scores"]
    assert any("labels:coarse18" in row["signature"] for row in rows)
    # Where most are unknown, the set is another corpus's.
    done = CliRunner().invoke(app, [*command, "gum"])
    assert done.exit_code
    assert isinstance(done.exception, UnknownName)


@pytest.mark.filterwarnings("ignore:digression")
def test_the_corpus_is_described_with_the_treebank(licensed: Path) -> None:
    places = [str(licensed / "rst"), "--corpus", "rst-dt"]
    treebank = ["--ptb", str(licensed / "ptb")]
    command = ["stats", *places, *treebank, "--labels", "rst-dt", "--json"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    joins = json.loads(done.stdout)["join_relations"]
    assert joins["same-unit"]["inside_sentence"] == sum(joins["same-unit"].values()) > 0
    assert sum(joins["digression"].values()) == 1
    done = CliRunner().invoke(app, ["stats", places[0], *treebank])
    assert done.exit_code
    assert "--corpus rst-dt" in done.output


def test_the_treebank_goes_with_documents(licensed: Path, tmp_path: Path) -> None:
    """Converted with the treebank's syntax, a document is parsed with it, not with ours."""
    places = [str(licensed / "rst"), "--corpus", "rst-dt", "--split", "test"]
    options = ["--ptb", str(licensed / "ptb"), "--to", "json", "--out", str(tmp_path)]
    done = CliRunner().invoke(app, ["convert", *places, *options])
    assert done.exit_code == 0, done.output
    for gold in read_rstdt(licensed / "rst", "test", ptb=licensed / "ptb"):
        (read,) = formats.read(tmp_path / f"{gold.id}.json")
        assert read.document == gold.document
        assert annotate(read.document).tokens == gold.document.tokens


def test_texts_are_shown_and_cut(licensed: Path) -> None:
    test = next((licensed / "rst").rglob("TEST"))
    shown = CliRunner().invoke(app, ["show", str(test / "wsj_2300.out.dis")])
    assert shown.exit_code == 0, shown.output
    units = (test / "wsj_2300.out.edus").read_text().split("\n")
    assert all(unit.strip()[:20] in shown.output for unit in units)
    cut = CliRunner().invoke(app, ["segment", str(test / "wsj_2300.out"), "--segmenter", "rules"])
    assert cut.exit_code == 0, cut.output
    assert "".join(cut.stdout.split()) == "".join((test / "wsj_2300.out").read_text().split())
