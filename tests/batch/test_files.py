"""Files side by side: in order, and one that is bad, or kills, does not end the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from batch_fakes import FakeJob
from rhetorica.batch.files import SetAside, run_jobs


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_bad_file_does_not_end_the_others(tmp_path: Path, jobs: int) -> None:
    texts = ["first", "BAD", "SLEEP=0.1 third", "fourth", "last"]
    if jobs > 1:
        texts[3] = "KILL"
    paths = [tmp_path / f"{number}.txt" for number in range(5)]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    paths[4].write_bytes(b"\xff")
    pairs = list(run_jobs(FakeJob(), [str(path) for path in paths], jobs))
    assert [Path(path).stem for path, _ in pairs] == ["0", "1", "2", "3", "4"]
    found = [one for _, one in pairs]
    failed = {Path(one.path).name: str(one) for one in found if isinstance(one, SetAside)}
    assert list(failed) == ["1.txt", "3.txt", "4.txt"] if jobs > 1 else ["1.txt", "4.txt"]
    assert all(failed[name].startswith(str(tmp_path / name)) for name in failed)
    assert [one.id for one in found if not isinstance(one, SetAside)] == (
        ["0", "2"] if jobs > 1 else ["0", "2", "3"]
    )
    assert "not UTF-8" in failed["4.txt"]
    if jobs > 1:
        assert "SIGKILL" in failed["3.txt"]


def test_documents_before_a_bad_one_of_a_file_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "many.jsonl"
    line = '{"format": "rhetorica", "version": 1, "document": {"id": "a", "text": "%s"}}\n'
    path.write_text(line % "good" + line % "BAD" + line % "after")
    found = [one for _, one in run_jobs(FakeJob(format="jsonl"), [str(path)])]
    assert [getattr(one, "id", None) for one in found] == ["a", None]
