"""Batches: every document once, whatever ends a run; nothing mixed, nothing lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import rhetorica
from batch_fakes import Fake, here, wait_for
from rhetorica.batch import shards
from rhetorica.batch.engine import Counts, Task, in_processes, run_batch
from rhetorica.batch.inputs import Inputs, Item
from rhetorica.document import Document
from rhetorica.errors import RhetoricaError
from rhetorica.workers import Failure

HERE = Path(__file__).parent
WORK = Fake()
ITEMS = [
    Item(Document(f"Text {number}{' BAD' if number % 7 == 3 else ''}", id=f"d{number}"))
    for number in range(23)
]
FAILED = [item.document.id for item in ITEMS if "BAD" in item.document.text]


def run(items: Iterable[Item], out: Path, work: Fake = WORK, **options: object) -> Counts:
    execute = options.pop("execute", None) or here(work)
    options.setdefault("shard_size", 5)
    return run_batch(items, out, work, execute, **options)  # type: ignore[arg-type]


def contents(out: Path) -> dict[str, bytes]:
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in out.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def whole(tmp_path: Path) -> dict[str, bytes]:
    """What a run leaves that nothing disturbed."""
    counts = run(ITEMS, tmp_path / "whole")
    assert (counts.read, counts.done, counts.failed) == (23, 20, 3)
    return contents(tmp_path / "whole")


def test_shards_are_read_by_everybody(tmp_path: Path) -> None:
    items = [Item(Document(f"Text {n}", id=f"d{n}", meta={"year": str(n)})) for n in range(12)]
    run(items, tmp_path)
    parts = sorted(tmp_path.glob("part-*.jsonl"))
    assert [part.name for part in parts] == [f"part-{n:05}.jsonl" for n in range(3)]
    found = [parse for part in parts for parse in rhetorica.read(part)]
    assert [parse.id for parse in found] == [f"d{n}" for n in range(12)]
    assert found[3].document.meta == {"year": "3"}
    assert not (tmp_path / "failed.jsonl").exists()


def test_a_second_run_does_nothing(tmp_path: Path, whole: dict[str, bytes]) -> None:
    def nothing(tasks: Iterable[Task]) -> Iterator[tuple[Task, Failure]]:
        assert list(tasks) == []
        yield from ()

    counts = run(ITEMS, tmp_path / "whole", execute=nothing)
    assert (counts.read, counts.earlier, counts.done, counts.failed) == (23, 23, 20, 3)
    assert contents(tmp_path / "whole") == whole


def test_failures_are_set_aside_and_can_be_an_input(
    tmp_path: Path, whole: dict[str, bytes]
) -> None:
    rows = [json.loads(line) for line in whole["failed.jsonl"].splitlines()]
    assert [row["id"] for row in rows] == FAILED
    assert rows[0]["error"] == "FormatError"
    assert "bad" in rows[0]["message"]
    again = list(Inputs([str(tmp_path / "whole" / "failed.jsonl")]))
    assert [item.document.text for item in again] == [row["text"] for row in rows]


def test_what_failed_can_be_tried_again(tmp_path: Path) -> None:
    items = [Item(Document(f"x SLEEP={'0' if n else 'zero'}", id=str(n))) for n in range(8)]
    assert run(items, tmp_path / "out").failed == 1
    counts = run(items, tmp_path / "out", retry_failed=True)
    assert (counts.done, counts.failed, counts.earlier) == (7, 1, 3)
    assert len((tmp_path / "out" / "failed.jsonl").read_text().splitlines()) == 1


@pytest.mark.parametrize("moment", range(0, 24, 3))
def test_a_run_that_is_stopped_goes_on(
    tmp_path: Path, whole: dict[str, bytes], moment: int
) -> None:
    def stopped(tasks: Iterable[Task]) -> Iterator[object]:
        for number, result in enumerate(here(WORK)(tasks)):
            if number == moment:
                raise KeyboardInterrupt
            yield result

    if moment < len(ITEMS):
        with pytest.raises(KeyboardInterrupt):
            run(ITEMS, tmp_path / "out", execute=stopped)
    run(ITEMS, tmp_path / "out")
    assert contents(tmp_path / "out") == whole


@pytest.mark.parametrize("to", ["jsonl", "edus"])
@pytest.mark.parametrize("moment", range(1, 12, 2))
def test_a_write_that_fails_leaves_a_run_that_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: int, to: str
) -> None:
    work = Fake(to=to)
    run(ITEMS, tmp_path / "whole", work)
    real, calls = shards.write_bytes, 0

    def full(target: Path, data: bytes) -> None:
        nonlocal calls
        calls += 1
        if calls >= moment:
            raise OSError(28, "No space left on device")
        real(target, data)

    monkeypatch.setattr(shards, "write_bytes", full)
    with pytest.raises(RhetoricaError, match="No space left"):
        run(ITEMS, tmp_path / "out", work)
    monkeypatch.setattr(shards, "write_bytes", real)
    assert not list((tmp_path / "out").glob(".*"))
    run(ITEMS, tmp_path / "out", work)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_a_full_disk_is_a_clear_error(tmp_path: Path) -> None:
    # The system allows no file of more than so many bytes: writing one fails in the middle.
    script = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from batch_fakes import Fake, here\n"
        "from rhetorica.batch.engine import run_batch\n"
        "from rhetorica.batch.inputs import Inputs\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))\n"
        "try:\n"
        "    run_batch(Inputs(['in.jsonl']), Path('out'), Fake(), here(Fake()), shard_size=5)\n"
        "except Exception as error:\n"
        "    print(type(error).__name__, error)\n"
    )
    rows = [{"id": str(n), "text": "long " * 20 * n} for n in range(12)]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("RhetoricaError cannot write")
    assert "goes on" in done.stdout
    assert not list((tmp_path / "out").glob(".*"))
    inputs = Inputs([str(tmp_path / "in.jsonl")])
    counts = run(inputs, tmp_path / "out")
    assert (counts.done, counts.earlier) == (12, 5)


def test_what_is_damaged_is_done_again(tmp_path: Path, whole: dict[str, bytes]) -> None:
    out = tmp_path / "whole"
    (out / "part-00001.jsonl").write_bytes(b"half")
    (out / "part-00002.jsonl").unlink()
    (out / "part-00003.done").unlink()
    (out / ".part-00004.jsonl.xyz").write_bytes(b"left by a run that was killed")
    assert run(ITEMS, out).earlier == 8
    assert contents(out) == whole


def test_results_of_another_recipe_are_not_mixed(tmp_path: Path) -> None:
    run(ITEMS[:5], tmp_path)
    with pytest.raises(RhetoricaError, match=r"version: '1', now '2'.*--force-mix"):
        run(ITEMS, tmp_path, Fake(version="2"))
    with pytest.raises(RhetoricaError, match="shard_size 5, not 6"):
        run(ITEMS, tmp_path, shard_size=6)
    with pytest.raises(RhetoricaError, match="to 'jsonl', not 'edus'"):
        run(ITEMS, tmp_path, Fake(to="edus"))
    assert run(ITEMS, tmp_path, Fake(version="2"), force_mix=True).earlier == 5
    marks = [json.loads(path.read_text())["recipe"] for path in sorted(tmp_path.glob("*.done"))]
    assert len(set(marks)) == 2
    assert marks.count(marks[0]) == 1


def test_inputs_may_grow_at_the_end_and_not_change(tmp_path: Path) -> None:
    run(ITEMS[:8], tmp_path)
    counts = run(ITEMS, tmp_path)
    assert (counts.earlier, counts.read) == (8, 23)
    assert sorted(id_ for id_ in ids(tmp_path) if id_ not in FAILED) == sorted(
        item.document.id for item in ITEMS if item.document.id not in FAILED
    )
    with pytest.raises(RhetoricaError, match="'other' instead of 'd0'"):
        run([Item(Document("Other", id="other")), *ITEMS[1:]], tmp_path)
    with pytest.raises(RhetoricaError, match="other texts"):
        run([Item(Document("Other", id="d0")), *ITEMS[1:]], tmp_path)
    with pytest.raises(RhetoricaError, match="missing"):
        run(ITEMS[:8], tmp_path)


def ids(out: Path) -> list[str]:
    return [parse.id for part in sorted(out.glob("*.jsonl")) if part.name.startswith("part")
            for parse in rhetorica.read(part)]  # fmt: skip


def test_one_run_at_a_time(tmp_path: Path) -> None:
    with (
        shards.open_output(tmp_path, "jsonl", {}),
        pytest.raises(RhetoricaError, match="another run"),
    ):
        run(ITEMS, tmp_path)


def test_a_folder_of_others_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "part-00000.jsonl").write_text("mine")
    with pytest.raises(RhetoricaError, match="choose another"):
        run(ITEMS, tmp_path)
    assert (tmp_path / "part-00000.jsonl").read_text() == "mine"


def test_files_of_documents_stay_in_the_folder_and_apart(tmp_path: Path) -> None:
    names = [
        "x",
        "x",
        "X",
        "../../x",
        "/etc/x",
        "..",
        "",
        "a/b",
        "a\\b",
        "n" * 400,
        "nul\0",
        "\ud800",
    ]
    items = [Item(Document(f"Text {n}", id=name)) for n, name in enumerate(names)]
    out = tmp_path / "deep" / "out"
    run(items, out, Fake(to="edus"), shard_size=100)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert all(path.is_relative_to(out) for path in files)
    texts = [path.read_text().strip() for path in (out / "part-00000").iterdir()]
    assert sorted(texts) == sorted(item.document.text for item in items)


def test_a_lost_document_is_noticed(tmp_path: Path) -> None:
    def careless(tasks: Iterable[Task]) -> Iterator[object]:
        return (found for found in here(WORK)(tasks) if found[0].document.id != "d9")

    with pytest.raises(RhetoricaError, match="do not add up"):
        run(ITEMS, tmp_path, execute=careless)


def test_the_longest_of_a_shard_come_first(tmp_path: Path) -> None:
    order: list[str] = []

    def watched(tasks: Iterable[Task]) -> Iterator[object]:
        for found in here(WORK)(tasks):
            order.append(found[0].document.text)
            yield found

    texts = ["a", "aaa", "aa", "b", "bb", "bbb"]
    run([Item(Document(text)) for text in texts], tmp_path, execute=watched, shard_size=3)
    assert order == ["aaa", "aa", "a", "bbb", "bb", "b"]


def test_long_documents_make_short_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rhetorica.batch.engine.SHARD_CHARACTERS", 100)
    run([Item(Document("x" * 60)) for _ in range(5)], tmp_path)
    counts = [len(json.loads(p.read_text())["ids"]) for p in sorted(tmp_path.glob("*.done"))]
    assert counts == [2, 2, 1]


def test_workers_may_be_killed_all_the_time(tmp_path: Path) -> None:
    kills = {2: f"KILL-ONCE={tmp_path / '2'}", 5: "KILL", 9: f"KILL-ONCE={tmp_path / '9'}"}
    items = [Item(Document(f"Text {n} {kills.get(n, '')}", id=str(n))) for n in range(12)]
    counts = run(items, tmp_path / "out", execute=in_processes(WORK, 2))
    assert (counts.read, counts.done, counts.failed) == (12, 11, 1)
    assert [int(id_) for id_ in ids(tmp_path / "out")] == [n for n in range(12) if n != 5]


KILLED = """
import os, random, signal, sys, time
from pathlib import Path
from batch_fakes import Fake, here
from rhetorica.batch.engine import run_batch
from rhetorica.batch.inputs import Item
from rhetorica.document import Document

items = [Item(Document(f"Text {n} SLEEP=0.001{' BAD' if n % 7 == 3 else ''}", id=str(n)))
         for n in range(60)]
for seed in range(20):
    out, chance = Path(f"out{seed}"), random.Random(seed)
    killed = 0
    while True:
        child = os.fork()
        if not child:
            work = Fake(to="edus" if seed % 2 else "jsonl")
            run_batch(items, out, work, here(work), shard_size=4)
            os._exit(0)
        time.sleep(chance.uniform(0, 0.08))
        if killed < 5:
            os.kill(child, signal.SIGKILL)
        killed += 1
        if os.waitpid(child, 0)[1] == 0:
            break
    print(seed, killed)
"""


def test_twenty_runs_killed_at_random(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-c", KILLED],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    for to in (0, 1):
        outs = [contents(tmp_path / f"out{seed}") for seed in range(to, 20, 2)]
        assert all(out == outs[0] for out in outs)
        assert len(outs[0]["failed.jsonl"].splitlines()) == 9
    assert len(ids(tmp_path / "out0")) == len(set(ids(tmp_path / "out0"))) == 51


COMMAND = """
import signal, sys
from batch_fakes import Fake
from rhetorica.cli import batch
# Whoever is begun in the background by a script ignores Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
batch.Work = lambda recipe, to, kbest, coarse: Fake(to=to, kbest=kbest)
batch.app(sys.argv[1:])
"""


def test_ctrl_c_in_the_middle_and_then_to_the_end(tmp_path: Path) -> None:
    texts, out = tmp_path / "texts.jsonl", tmp_path / "out"
    rows = [{"id": str(n), "text": f"Text {n} SLEEP=0.2"} for n in range(60)]
    rows[7]["text"] += " BAD"
    texts.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = [sys.executable, "-c", COMMAND, str(texts), "--out", str(out), "--jobs", "2"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])}

    def begin() -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*command, "--shard-size", "5"],
            env=env,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    for least in (1, 4):
        with begin() as process:
            wait_for(lambda n=least: len(list(out.glob("*.done"))) >= n)
            # To all of them, as a terminal does.
            os.killpg(process.pid, signal.SIGINT)
            _, said = process.communicate(timeout=60)
            assert process.returncode == 130, said
            assert "goes on where this one was" in said
            assert "Traceback" not in said
    done = len(list(out.glob("*.done")))
    assert 4 <= done < 12
    with begin() as process:
        _, said = process.communicate(timeout=120)
    assert process.returncode == 1
    assert f"60 documents: 59 done, 1 set aside, {5 * done} of them by an earlier run" in said
    assert ids(out) == [str(n) for n in range(60) if n != 7]
