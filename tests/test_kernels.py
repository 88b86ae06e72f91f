"""Compiled functions: when they are made, what they share, where their machine code is kept."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rhetorica import kernels
from rhetorica.kernels import Kernel, compiled, part


def run(code: str, **environment: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stdout.strip()


@part
def twice(number: int) -> int:
    return 2 * number


@part
def four_times(number: int) -> int:
    return twice(twice(number))


def sum_of_fours(numbers, more: int = 0) -> int:
    total = more
    for number in numbers:
        total += four_times(number)
    return total


def test_importing_the_package_does_not_import_numba() -> None:
    code = "import rhetorica.decode, sys; print('numba' in sys.modules, 'scipy' in sys.modules)"
    assert run(code) == "False False"


def test_kernels_share_parts_and_parts_have_parts() -> None:
    import numpy as np

    numbers = np.array([1, 2, 3])
    # Not cached: numba could not import this module by its name to find it again.
    function = kernels._compile(sum_of_fours, cached=False)
    assert function(numbers) == 24
    assert function(numbers, 1) == 25
    assert four_times(5) == 20  # parts can be called from Python, too


@pytest.mark.parametrize("error", [RuntimeError("no locator available"), OSError(28, "disk full")])
def test_a_cache_that_cannot_be_written_is_done_without(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    asked = []

    def compile_(loops, *, cached: bool):
        asked.append(cached)
        if not cached:
            return loops
        if isinstance(error, RuntimeError):
            raise error

        def fail() -> int:
            raise error

        return fail

    monkeypatch.setattr(kernels, "_compile", compile_)

    @compiled
    def seven() -> int:
        return 7

    assert isinstance(seven, Kernel)
    assert seven() == 7
    assert seven() == 7
    assert asked == [True, False]


SHARED = "from rhetorica.kernels import part\n\n\n@part\ndef scale(x):\n    return {factor} * x\n"
USER = (
    "from shared import scale\nfrom rhetorica.kernels import compiled\n\n\n"
    "@compiled\ndef seven(x):\n    return 7 + scale(x)\n"
)
CALL = "import user; print(user.seven(1), sum(user.seven._compiled.stats.cache_hits.values()))"


def test_machine_code_is_kept_until_a_part_changes(tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text(USER)
    (tmp_path / "shared.py").write_text(SHARED.format(factor=1))
    where = {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    assert run(CALL, **where) == "8 0"
    assert run(CALL, **where) == "8 1"
    (tmp_path / "shared.py").write_text(SHARED.format(factor=100))
    assert run(CALL, **where) == "107 0"


def blocked(tmp_path: Path) -> dict[str, str]:
    """Say where a module is whose folder and user cache cannot be written, not even by root."""
    (tmp_path / "file").touch()
    (tmp_path / "user.py").write_text(USER)
    (tmp_path / "shared.py").write_text(SHARED.format(factor=1))
    (tmp_path / "__pycache__").touch()
    below = str(tmp_path / "file" / "below")
    return {
        "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": below,
        "XDG_CACHE_HOME": below,
        "LOCALAPPDATA": below,
    }


def test_a_read_only_install_works(tmp_path: Path) -> None:
    assert run(CALL, **blocked(tmp_path)) == "8 0"


def test_a_read_only_install_keeps_machine_code_in_the_users_cache(tmp_path: Path) -> None:
    home = str(tmp_path / "home")
    where = blocked(tmp_path) | {"HOME": home, "XDG_CACHE_HOME": home, "LOCALAPPDATA": home}
    assert run(CALL, **where) == "8 0"
    assert run(CALL, **where) == "8 1"
