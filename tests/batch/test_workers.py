"""Worker processes: everything is done once, whoever dies."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from batch_fakes import start, start_badly, start_never, wait_for
from rhetorica.document import Document
from rhetorica.errors import FormatError, RhetoricaError
from rhetorica.workers import Failure, run

HERE = Path(__file__).parent


def documents(*texts: str) -> list[Document]:
    return [Document(text, id=str(number)) for number, text in enumerate(texts)]


def test_results_come_in_order_and_errors_are_results() -> None:
    # Large both ways: more than a pipe holds.
    docs = documents("SLEEP=0.2 slow", "quick " * 100_000, "BAD", "BUG", *"abcdefg")
    found = list(run(start, docs, 2, ordered=True))
    assert [doc for doc, _ in found] == docs
    assert found[1][1] == docs[1].text
    assert found[2][1] == Failure("FormatError", "2:1: bad")
    bug = found[3][1]
    assert isinstance(bug, Failure)
    assert bug.error == "KeyError"
    assert "batch_fakes.py:" in bug.message


def test_who_kills_a_worker_is_tried_again_once(tmp_path: Path) -> None:
    docs = documents("a", "KILL", "b", f"KILL-ONCE={tmp_path / 'killed'}", "c")
    found = {doc.id: result for doc, result in run(start, docs, 2)}
    died = found.pop("1")
    assert isinstance(died, Failure)
    assert died.error == "WorkerDied"
    assert "SIGKILL" in died.message
    assert found == {doc.id: doc.text for doc in docs if doc.id != "1"}


def test_what_takes_too_long_is_set_aside_and_its_worker_replaced() -> None:
    docs = documents("a", "SLEEP=60", "SLEEP=0.1 b", "c", "SLEEP=60", *"defg")
    began = time.monotonic()
    found = {doc.id: result for doc, result in run(start, docs, 2, seconds=1)}
    assert time.monotonic() - began < 50
    for number in "14":
        failure = found.pop(number)
        assert failure == Failure("TooSlow", "not done within 1 s: its worker process was ended")
    assert found == {doc.id: doc.text for doc in docs if doc.id not in "14"}


SCRIPT = """
import multiprocessing
from batch_fakes import start
from rhetorica.document import Document
from rhetorica.workers import run
{before}
print([found for _, found in run(start, [Document("a"), Document("b")], 2, ordered=True)])
"""


@pytest.mark.parametrize(
    "before", ["", "multiprocessing.set_start_method('fork')", "multiprocessing.Pool(1)"]
)
def test_scripts_need_no_guard_whatever_their_start_method(tmp_path: Path, before: str) -> None:
    if "fork" in before and "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("no fork on this system")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(before=before))
    path = os.pathsep.join([str(HERE), *sys.path])
    done = subprocess.run(
        [sys.executable, script],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout == "['a', 'b']\n", done.stderr


def _in_a_pool(_: int) -> str:
    try:
        list(run(start, documents("a", "b"), 2))
    except RhetoricaError as error:
        return str(error)
    return "no error"


def test_a_daemonic_process_is_told_that_it_cannot() -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert "daemonic" in pool.apply(_in_a_pool, (0,))


def test_a_model_that_cannot_be_loaded_is_an_error() -> None:
    with pytest.raises(FormatError, match="no such model"):
        list(run(start_badly, documents("a"), 2))


def test_workers_that_never_start_are_an_error() -> None:
    with pytest.raises(RhetoricaError, match="ended with status 3"):
        list(run(start_never, documents("a"), 1))


def test_items_are_taken_as_they_are_needed() -> None:
    taken = 0

    def stream() -> Iterator[Document]:
        nonlocal taken
        while True:
            taken += 1
            yield Document("text")

    results = run(start, stream(), 1)
    for _ in range(20):
        next(results)
    results.close()  # type: ignore[attr-defined]
    assert taken <= 25


def test_no_work_starts_no_process() -> None:
    assert list(run(start_never, [], 4)) == []


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    # One that has ended is still listed where nobody asks how it ended.
    state = Path(f"/proc/{pid}/stat")
    return state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_workers_end_with_the_one_who_started_them(tmp_path: Path, how: signal.Signals) -> None:
    file = tmp_path / "pid"
    script = tmp_path / "script.py"
    script.write_text(
        "from batch_fakes import start\n"
        "from rhetorica.workers import run\n"
        "from rhetorica.document import Document\n"
        'if __name__ == "__main__":\n'
        f"    list(run(start, [Document('PID={file} SLEEP=60')], 1))\n"
    )
    path = os.pathsep.join([str(HERE), *sys.path])
    parent = subprocess.Popen([sys.executable, script], env={**os.environ, "PYTHONPATH": path})
    wait_for(lambda: file.exists() and file.read_text() != "")
    worker = int(file.read_text())
    assert not gone(worker)
    parent.send_signal(how)
    parent.wait()
    wait_for(lambda: gone(worker))
