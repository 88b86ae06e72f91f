"""The one training: settings are chosen on dev, events told, nothing printed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lessons import gold
from rhetorica.document import Document
from rhetorica.errors import RhetoricaError, UnknownName
from rhetorica.parsers.dplp import Settings as DPLPSettings
from rhetorica.parsers.li2014 import Settings as LiSettings
from rhetorica.parsers.shift_reduce import Settings as ShiftReduceSettings
from rhetorica.progress import Event
from rhetorica.relations import relation_set
from rhetorica.settings import about, combinations, made, plain
from rhetorica.train.loop import TRAINABLE, train
from rhetorica.train.treebank import Treebank, with_syntax


def treebank(**changes: object) -> Treebank:
    return replace(Treebank("tiny", gold(), gold(), relation_set("gum")), **changes)


def test_the_best_on_dev_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    heard: list[Event] = []
    first = ShiftReduceSettings(label_strength=100.0, min_count=1, epochs=30, explore=0)
    tries = list(combinations(first, {"strength": [1e-6, 100.0, 1e-5]}))
    found = train("shift-reduce", treebank(), tmp_path, *tries, tell=heard.append)
    assert found.settings.strength == 100.0
    assert [parse.tree for parse in gold()] == [found(p.document).tree for p in gold()]
    told = [event.what for event in heard if not event.total]
    assert told == ["strength 1e-06", "strength 100", "strength 1e-05", "dev"]
    assert capsys.readouterr() == ("", "")


def test_regularisers_share_the_features(tmp_path: Path) -> None:
    heard: list[Event] = []
    first = DPLPSettings(width=6, tau=0.1, iterations=5, min_count=1, samples=0)
    tries = list(combinations(first, {"l2": [1.0, 0.1]}))
    train("dplp", treebank(), tmp_path, *tries, tell=heard.append)
    assert sum(event.what == "features" for event in heard) == len(gold())
    assert sum(event.what == "projection" and event.at == 5 for event in heard) == 2


def test_an_interrupted_training_goes_on(tmp_path: Path) -> None:
    settings = LiSettings(bits=10, epochs=4, patience=9)
    whole = train("li2014", treebank(), tmp_path / "whole", settings)

    def stop(event: Event) -> None:
        if event.what == "epoch 3" and event.at == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train("li2014", treebank(), tmp_path / "part", settings, tell=stop)
    heard: list[Event] = []
    out = tmp_path / "part"
    rest = train("li2014", treebank(), out, settings, resume=True, tell=heard.append)
    assert {e.what for e in heard if e.total} == {"features", "epoch 3", "epoch 4"}
    assert (whole.weights_ == rest.weights_).all()
    assert sorted(path.name for path in out.iterdir()) == [
        "README.md", "config.json", "weights.npz"
    ]  # fmt: skip


def test_nothing_to_train(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'codra'"):
        train("cobra", treebank(), tmp_path)
    with pytest.raises(RhetoricaError, match="0 training and 3 dev"):
        train("crf", treebank(train=[]), tmp_path)
    with pytest.raises(RhetoricaError, match="no settings to try"):
        list(combinations(DPLPSettings(), {"l2": []}))


@pytest.mark.parametrize("name", TRAINABLE)
def test_settings_make_the_model_again(name: str) -> None:
    row = TRAINABLE[name]
    settings = row.settings()
    assert row.model(settings).settings == settings
    again = {key: list(v) if isinstance(v, tuple) else v for key, v in plain(settings).items()}
    assert row.model(**again).settings == settings
    helps = [facts.help for facts in about(settings).values() if facts.help]
    assert len(helps) >= 3
    assert len(set(helps)) == len(helps)
    with pytest.raises(TypeError, match="colour"):
        made(type(settings), settings, {"colour": "blue"})


def test_predicted_syntax_keeps_text_units_and_tree() -> None:
    parse = gold()[0]
    lying = replace(
        parse.document,
        tokens=tuple(token._replace(tag="XX") for token in parse.document.tokens),
    )
    [kept] = with_syntax([replace(parse, document=lying)])
    assert {token.tag for token in kept.document.tokens} == {"XX"}
    [ours] = with_syntax([replace(parse, document=lying)], predicted=True)
    assert "XX" not in {token.tag for token in ours.document.tokens}
    bare = replace(parse, document=Document(lying.text, lying.edus, id=lying.id))
    [filled] = with_syntax([bare])
    for found in (ours, filled):
        assert found.document.edus == lying.edus
        assert found.source == parse.source
        assert found.document.sentences
