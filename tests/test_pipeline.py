"""Recipes as data, and pipelines made of them."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy

import rhetorica
from rhetorica import Document, Span, Token, kernels, load
from rhetorica.errors import InvalidDocument, InvalidRecipe, ModelError, UnknownName
from rhetorica.models import store
from rhetorica.pipeline import (
    PARSERS,
    SEGMENTERS,
    Pipeline,
    Recipe,
    load_parser,
    load_segmenter,
    models_of,
)
from rhetorica.text import annotate

TEXT = "We stayed at home because it rained. It was late, but nobody slept."
RECIPES = [
    Recipe(),
    Recipe(parser=None, segmenter="rules"),
    Recipe(parser="auto", model="scidtb"),
    Recipe(parser="shift-reduce", options={"samples": 0, "beam": 2, "threads": 2}),
    Recipe("en", "li2014", "neural", "some/folder", "xx_pipeline"),
]


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_is_data(recipe: Recipe) -> None:
    assert Recipe.from_json(recipe.to_json()) == recipe
    assert pickle.loads(pickle.dumps(recipe)) == recipe
    assert len({recipe, Recipe.from_json(recipe.to_json())}) == 1
    assert set(json.loads(recipe.to_json())) == set(Recipe.__dataclass_fields__)


def test_the_order_of_options_does_not_matter() -> None:
    first = Recipe(parser="dplp", options={"beam": 2, "samples": 0})
    assert first == Recipe(parser="dplp", options=(("samples", 0), ("beam", 2)))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"parser": "li2041"}, "Did you mean 'li2014'"),
        ({"segmenter": "crff"}, "Did you mean 'crf'"),
        ({"language": "tlh"}, "unknown language 'tlh'"),
        ({"parser": "li2014", "options": {"beam": 4}}, "unknown option of li2014 'beam'"),
        ({"parser": "shift-reduce", "options": {"beem": 4}}, "Did you mean 'beam'"),
    ],
)
def test_names_that_are_not_known(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UnknownName, match=message):
        Recipe(**settings)


def test_json_that_is_no_recipe() -> None:
    for text in ("", "[1]", "7", "null"):
        with pytest.raises(InvalidRecipe, match="not the JSON"):
            Recipe.from_json(text)
    with pytest.raises(UnknownName, match="Did you mean 'parser'"):
        Recipe.from_json('{"parsers": "neural"}')


def test_tables_name_classes_that_keep_their_promises() -> None:
    for name, offer in PARSERS.items():
        assert load_parser(name).name == name == offer.name
        assert "tree" in offer.gives
    for name, offer in SEGMENTERS.items():
        assert load_segmenter(name).name == name == offer.name
        assert "edus" in offer.gives


def test_syntax_that_nobody_would_use_is_refused() -> None:
    blank = spacy.blank("en")
    for settings in ({}, {"parser": None}, {"segmenter": "neural"}):
        with pytest.raises(InvalidRecipe, match="neural needs none"):
            load(syntax=blank, **settings)  # type: ignore[arg-type]
    with pytest.raises(InvalidRecipe, match="neural needs none"):
        Recipe(syntax="en_core_web_sm")
    with pytest.raises(ModelError, match="no_such_pipeline"):
        load(parser="li2014", syntax="no_such_pipeline")
    assert load(segmenter="crf", syntax=blank).syntax is blank


def test_auto_is_the_best_that_is_installed() -> None:
    nlp = load("en", parser="auto")
    best = store.find("parser", None, "gum")
    assert nlp.recipe.parser == best.name
    assert nlp(TEXT) == load("en", parser=best.name)(TEXT)


def weights(parser: Any) -> Any:
    return parser.models_["structure"].weights


def test_weights_are_read_once_and_settings_are_ones_own() -> None:
    first, second = load_parser("shift-reduce"), load(parser="shift-reduce", model="gum")
    third: Any = load(Recipe(parser="shift-reduce", options={"samples": 0, "beam": 1})).parser
    folder: Any = load(parser="shift-reduce", model=Path(third_folder())).parser
    assert weights(first) is weights(second.parser) is weights(third) is weights(folder)
    assert (third.settings.samples, third.settings.beam) == (0, 1)
    mine: Any = second.parser
    mine.settings = replace(mine.settings, samples=3)
    again: Any = load_parser("shift-reduce")
    assert again.settings.samples == 16


def third_folder() -> Path:
    from rhetorica.models.store import find

    return find("parser", "shift-reduce", "gum").folder


def test_one_network_for_both_treebanks() -> None:
    gum: Any = load("en").parser
    scidtb: Any = load("en", model="scidtb").parser
    segmenter: Any = load_segmenter("neural")
    assert gum.network is scidtb.network is segmenter.network
    assert (gum.scheme, scidtb.scheme) == ("gum", "scidtb")
    more: Any = load("en", threads=2).parser
    assert more.network.config.threads == 2
    assert more.network.weights is gum.network.weights


@pytest.mark.parametrize("recipe", [RECIPES[0], RECIPES[1], RECIPES[3]])
def test_a_pipeline_is_its_recipe(recipe: Recipe) -> None:
    nlp = load(recipe)
    assert isinstance(nlp, Pipeline)
    again = pickle.loads(pickle.dumps(nlp))
    assert again.recipe == recipe
    assert again(TEXT) == nlp(TEXT)


def test_workers_keep_the_order() -> None:
    nlp = load(parser="li2014")
    texts = [f"{TEXT} {'It rained. ' * n}" for n in range(7)]
    assert list(nlp.pipe(iter(texts), workers=3)) == [nlp(text) for text in texts]
    assert list(nlp.pipe(iter(texts))) == [nlp(text) for text in texts]


@pytest.mark.parametrize("settings", [{}, {"parser": "li2014"}, {"parser": None}])
def test_segmenting_is_done_anew(settings: dict[str, Any]) -> None:
    doc = Document.from_edus(["We stayed at home because it", "rained."], id="mine")
    nlp = load(**settings)
    parse = nlp.segment(doc)
    assert parse.edus == ["We stayed at home", "because it rained."]
    assert (parse.id, parse.document.language) == ("mine", "en")
    assert parse.scores is not None
    assert nlp(doc).edus == (parse.edus if nlp.parser is None else doc.edu_texts)


@pytest.mark.parametrize("name", PARSERS)
def test_halves_of_characters_stay_in_the_text(name: str) -> None:
    text = "We stayed \ud83c at home because\udf27 it rained."
    parse = load(parser=name)(text)
    assert parse.document.text == text
    assert len(parse.edus) == 2


def test_the_fast_parser_is_the_small_model() -> None:
    parse = load(parser="neural-fast", model="scidtb")("We stayed at home because it rained.")
    assert parse.provenance["parser"] == "neural-fast"
    assert parse.provenance["model"] == "en_neural"
    assert parse.provenance["scheme"] == "scidtb"


def test_neural_syntax_wants_a_model_that_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    every = store.models

    def untagged(*args: Any, **kwargs: Any) -> list[store.Config]:
        return [
            replace(model, settings={**model.settings, "tags": ()})
            for model in every(*args, **kwargs)
        ]

    monkeypatch.setattr(store, "models", untagged)
    with pytest.raises(ModelError, match="rhetorica-en"):
        load(parser="li2014", syntax="neural")


def test_a_model_of_several_treebanks_follows_the_one_that_is_asked() -> None:
    assert load_parser("neural", "en_neural").scheme == "gum"  # type: ignore[attr-defined]
    follows = load_parser("neural", "en_neural", treebank="scidtb")
    assert follows.scheme == "scidtb"  # type: ignore[attr-defined]
    cuts = load_segmenter("neural", "en_neural", treebank="scidtb")
    assert cuts.scheme == "scidtb"  # type: ignore[attr-defined]


def test_an_ensemble_gets_the_front_end_that_it_was_trained_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def front_end(name: str, language: str = "en") -> spacy.Language:
        asked.append(name)
        return spacy.blank("en")

    monkeypatch.setattr("rhetorica.pipeline.load_syntax", front_end)
    found = store.find("segmenter", "ensemble", "segments_gum")
    for file in found.folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    for syntax in ("", "neural"):
        config = store.Config.read(tmp_path)
        store.seal(tmp_path, replace(config, settings={**config.settings, "syntax": syntax}))
        ours = load("en", parser=None, segmenter="ensemble", model=tmp_path / ".")
        assert ours.__reduce__()[0].keywords == {"syntax": None}  # it is found again
        tmp_path = tmp_path.rename(tmp_path.with_name(f"{tmp_path.name}_x"))
    assert asked == ["spacy", "neural"]
    assert load("en", parser=None, segmenter="ensemble", syntax="blank").syntax is not None
    assert asked == ["spacy", "neural", "blank"]


def test_the_best_syntax_that_is_installed_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    every = store.models

    def without(*args: Any, **kwargs: Any) -> list[store.Config]:
        return [model for model in every(*args, **kwargs) if not model.settings.get("tags")]

    def kinds(**wanted: str) -> list[str]:
        found = models_of(Recipe("en", **wanted))  # type: ignore[arg-type]
        return [f"{model.kind} {model.name}" for model in found]

    bare = ["parser li2014", "segmenter crf", "syntax spacy"]
    if any(model.settings.get("tags") for model in every("parser", "neural", language="en")):
        neural = "parser neural"
        assert kinds(parser="li2014") == ["parser li2014", neural, neural]
        assert kinds(parser="li2014", segmenter="crf")[1:] == ["segmenter crf", neural]
        nlp = load("en", parser="li2014")
        assert nlp.segmenter is not None
        assert nlp.segmenter.name == "neural"
        assert nlp("We stayed at home because it rained.").document.tokens[0].tag == "PRP"
    assert kinds(parser="li2014", syntax="spacy") == bare
    monkeypatch.setattr(store, "models", without)
    assert kinds(parser="li2014") == bare
    nlp = load("en", parser="li2014")
    assert nlp.segmenter is not None
    assert nlp.segmenter.name == "crf"


def test_any_front_end_will_do() -> None:
    def one_word(docs: Iterable[Document]) -> Iterator[Document]:
        for doc in docs:
            whole = Span(0, len(doc.text))
            token = Token(*whole, tag="NN", head=-1, deprel="root")
            yield replace(doc, tokens=(token,), sentences=(whole,))

    assert annotate("It rained.", one_word).tokens[0].end == 10


def test_matrix_products_keep_to_one_thread() -> None:
    import threadpoolctl

    def threads() -> list[int]:
        found = threadpoolctl.threadpool_info()
        # Numpy's own: another library's, loaded later by some other test, is not promised.
        ours = [pool for pool in found if "numpy" in pool["filepath"]]
        return [pool["num_threads"] for pool in ours if pool["user_api"] == "blas"]

    np.dot(np.ones((2, 2)), np.ones((2, 2)))
    before = threads()
    with kernels.numeric_threads(1):
        with kernels.numeric_threads(2):
            assert set(threads()) <= {1}
        assert set(threads()) <= {1}
    assert threads() == before

    def within() -> list[int]:
        with kernels.numeric_threads(1):
            return threads()

    # From any thread; and who begins need not be who ends.
    with ThreadPoolExecutor(1) as another:
        assert set(another.submit(within).result()) <= {1}
        assert threads() == before
        held = kernels.numeric_threads(1)
        held.__enter__()
        assert set(threads()) <= {1}
        another.submit(held.__exit__, None, None, None).result()
        assert threads() == before
        assert set(another.submit(within).result()) <= {1}
    assert threads() == before


def test_the_face_of_the_package() -> None:
    assert {"load", "parse", "explain", "save"} <= set(dir(rhetorica))
    assert "import_module" not in dir(rhetorica)
    assert rhetorica.explain("joint-list").example
    assert rhetorica.render.render_svg is not None  # a sub-module, imported when asked for
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = rhetorica.nonsense


def test_one_liner() -> None:
    parse = rhetorica.parse("We stayed because it rained.", parser=None, segmenter="sentence")
    assert len(parse) == 1


@pytest.mark.parametrize("wrong", [["a", "b"], None, 3, b"bytes"])
def test_what_is_not_a_text_is_refused_with_a_remedy(wrong: object) -> None:
    nlp = load(parser=None, segmenter="sentence")
    with pytest.raises(InvalidDocument, match=r"text|pipe"):
        nlp(wrong)  # type: ignore[arg-type]


def test_a_pipeline_tells_its_way() -> None:
    assert repr(load("en", parser="neural-fast")) == "<Pipeline en: neural-fast, gum>"
    assert repr(load("en", parser="li2014")) == "<Pipeline en: crf > li2014, gum>"


def test_one_text_is_not_many() -> None:
    nlp = load("en", parser=None, segmenter="neural-fast")
    for text in (TEXT, Document(TEXT)):
        with pytest.raises(InvalidDocument, match="found one: call the pipeline"):
            list(nlp.pipe(text))


def test_an_empty_text_has_everything_but_units() -> None:
    parse = load("en", parser="neural-fast")("")
    assert (len(parse), parse.root, parse.summary(), parse.relations()) == (0, None, "", [])
    assert (parse.dependencies.root, parse.to_dicts(), str(parse)) == (-1, [], "")


def test_a_language_without_parsers_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    found = store.models

    def without(*kind: Any, **which: Any) -> list[store.Config]:
        return [] if kind and which.get("language") == "zh" else found(*kind, **which)

    monkeypatch.setattr(store, "models", without)
    with pytest.raises(ModelError, match="install the package rhetorica-zh"):
        load("zh")
