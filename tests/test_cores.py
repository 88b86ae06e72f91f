"""Work side by side, on the cores that are free."""

from __future__ import annotations

import os
import threading

import pytest

from rhetorica import cores


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch):
    """Return a function that sets how many cores there are, and how busy they are."""

    def set_to(count: int, load: float) -> None:
        monkeypatch.setattr(cores, "allowed", lambda: count)
        monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0), raising=False)

    return set_to


@pytest.mark.parametrize(
    ("count", "load", "free"),
    [(4, 0.0, 4), (4, 1.0, 4), (4, 2.0, 3), (4, 2.5, 2), (4, 9.0, 1), (1, 0.0, 1), (2, 1.4, 1)],
)
def test_free_cores_are_those_that_others_leave(machine, count: int, load: float, free: int):
    machine(count, load)
    assert cores.free() == free


def test_where_the_load_is_not_told_no_core_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "getloadavg", raising=False)
    assert cores.free() == 1


def test_work_runs_at_the_same_time_where_cores_are_free(machine) -> None:
    machine(3, 0.0)
    # Nobody gets past the barrier before all three are there.
    meeting = threading.Barrier(3)

    def work(item: int) -> tuple[int, str]:
        meeting.wait(timeout=20)
        return item * item, threading.current_thread().name

    found = cores.side_by_side(work, [3, 1, 2])
    assert [square for square, _ in found] == [9, 1, 4]
    assert len({name for _, name in found}) == 3


@pytest.mark.parametrize(("load", "together"), [(8.0, True), (0.0, False)])
def test_busy_or_told_not_to_it_stays_in_its_thread(machine, load: float, together: bool) -> None:
    machine(3, load)
    here = threading.current_thread().name
    found = cores.side_by_side(lambda _: threading.current_thread().name, "abc", together=together)
    assert found == [here] * 3


@pytest.mark.parametrize("load", [0.0, 8.0])
def test_the_first_error_is_raised(machine, load: float) -> None:
    machine(3, load)

    def work(item: int) -> int:
        if item:
            raise ValueError(f"item {item}")
        return item

    with pytest.raises(ValueError, match="item 1"):
        cores.side_by_side(work, [0, 1, 2])
