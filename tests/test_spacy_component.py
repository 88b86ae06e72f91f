"""The spaCy component: found by its name, one span an EDU, survives every way of saving."""

from __future__ import annotations

import pickle
from itertools import pairwise
from pathlib import Path

import pytest
import spacy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc, DocBin

import rhetorica
from rhetorica.document import Span
from rhetorica.errors import Mismatch, RhetoricaError, UnknownName
from rhetorica.spacy_component import KEY, token_ranges

TEXT = "We stayed at home because it rained. Nobody complained."


@pytest.fixture(scope="module")
def nlp() -> Language:
    # Named only: spaCy has to find the component by itself.
    pipeline = spacy.blank("en")
    pipeline.add_pipe("rhetorica")
    return pipeline


def test_the_document_gets_units_and_tree(nlp: Language) -> None:
    doc = nlp(TEXT)
    expected = rhetorica.load("en")(TEXT)
    assert doc._.discourse == expected
    assert [edu.text for edu in doc._.edus] == expected.edus
    assert [edu.label_ for edu in doc._.edus] == list(expected.dependencies.relations)
    assert list(doc.spans["edus"]) == doc._.edus
    assert doc._.discourse is doc._.discourse


def test_streams_and_empty_texts(nlp: Language) -> None:
    docs = list(nlp.pipe([TEXT, "", "  \n", "Yes.", "🌧️", "أمطرت"]))
    assert [len(doc._.edus) for doc in docs] == [len(doc._.discourse.edus) for doc in docs]
    assert docs[1]._.edus == []
    assert docs[0]._.discourse.edus == nlp(TEXT)._.discourse.edus


def test_several_processes(nlp: Language) -> None:
    """The component travels to another process and its results come back."""
    again = pickle.loads(pickle.dumps(nlp.get_pipe("rhetorica")))
    doc = again(nlp.make_doc(TEXT))
    assert doc._.discourse == nlp(TEXT)._.discourse


class TestSaving:
    def test_documents(self, nlp: Language) -> None:
        doc = nlp(TEXT)
        again = Doc(spacy.blank("en").vocab).from_bytes(doc.to_bytes())
        assert again._.discourse == doc._.discourse
        assert [edu.text for edu in again._.edus] == [edu.text for edu in doc._.edus]
        assert [edu.label_ for edu in again._.edus] == [edu.label_ for edu in doc._.edus]

    def test_many_documents(self, nlp: Language) -> None:
        doc = nlp(TEXT)
        data = DocBin(docs=[doc], store_user_data=True).to_bytes()
        again = next(iter(DocBin().from_bytes(data).get_docs(nlp.vocab)))
        assert again._.discourse == doc._.discourse

    def test_pipelines(self, nlp: Language, tmp_path: Path) -> None:
        nlp.to_disk(tmp_path / "saved")
        expected = nlp(TEXT)._.discourse
        assert spacy.load(tmp_path / "saved")(TEXT)._.discourse == expected
        blank = spacy.blank("en")
        blank.add_pipe("rhetorica")
        assert blank.from_bytes(nlp.to_bytes())(TEXT)._.discourse == expected


class TestSettings:
    def test_another_parser(self) -> None:
        nlp = spacy.blank("en")
        nlp.add_pipe("rhetorica", config={"parser": "li2014", "model": "gum"})
        assert nlp(TEXT)._.discourse == rhetorica.load("en", parser="li2014")(TEXT)

    @pytest.mark.parametrize(
        "config", [{"parser": "guess"}, {"alignment": "bend"}, {"language": "tlh"}]
    )
    def test_wrong_ones_show_at_once(self, config: dict[str, str]) -> None:
        with pytest.raises((UnknownName, ValueError)):
            spacy.blank("en").add_pipe("rhetorica", config=config)


def test_a_document_without_discourse(nlp: Language) -> None:
    doc = nlp.make_doc(TEXT)
    assert doc._.edus == []
    with pytest.raises(RhetoricaError, match=r"nlp\.add_pipe"):
        _ = doc._.discourse
    assert KEY not in doc.user_data


class TestAlignment:
    """Tokens "a", "bcd", "e" (characters 0-1, 2-5, 6-7), a boundary inside the second."""

    EDUS = (Span(0, 3), Span(3, 7))

    @pytest.fixture
    def doc(self, nlp: Language) -> Doc:
        return Doc(nlp.vocab, words=["a", "bcd", "e"], spaces=[True, True, False])

    @pytest.mark.parametrize(
        ("alignment", "expected"),
        [
            ("start", [(0, 2), (2, 3)]),
            ("expand", [(0, 2), (1, 3)]),
            ("contract", [(0, 1), (2, 3)]),
        ],
    )
    def test_cut_tokens(self, doc: Doc, alignment: str, expected: list[tuple[int, int]]) -> None:
        assert list(token_ranges(doc, self.EDUS, alignment)) == expected  # type: ignore[arg-type]

    def test_strict(self, doc: Doc) -> None:
        with pytest.raises(Mismatch, match="characters 0-3"):
            list(token_ranges(doc, self.EDUS, "strict"))
        assert list(token_ranges(doc, (Span(0, 1), Span(2, 7)), "strict")) == [(0, 1), (1, 3)]

    def test_a_unit_without_a_token(self, doc: Doc) -> None:
        edus = (Span(0, 3), Span(3, 4), Span(4, 7))
        assert list(token_ranges(doc, edus)) == [(0, 2), (2, 2), (2, 3)]
        assert list(token_ranges(doc, edus, "contract")) == [(0, 1), (2, 2), (2, 3)]

    @settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(data=st.data())
    def test_start_puts_every_token_into_one_unit(self, nlp: Language, data: st.DataObject) -> None:
        words = data.draw(st.lists(st.text("abc", min_size=1, max_size=4), min_size=1, max_size=8))
        doc = Doc(nlp.vocab, words=words)
        length = len(doc.text)
        cuts = sorted(data.draw(st.sets(st.integers(1, max(1, length - 1)))))
        bounds = [0, *(cut for cut in cuts if cut < length), length]
        edus = [Span(a, b) for a, b in pairwise(bounds)]
        ranges = list(token_ranges(doc, edus))
        assert [i for start, end in ranges for i in range(start, end)] == list(range(len(doc)))

    def test_one_token_for_the_whole_text(self, nlp: Language) -> None:
        whole = Doc(nlp.vocab, words=[TEXT], spaces=[False])
        doc = nlp.get_pipe("rhetorica")(whole)
        assert [len(edu) for edu in doc._.edus] == [1, *[0] * (len(doc._.discourse.edus) - 1)]
