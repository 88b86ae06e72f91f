from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rhetorica import kernels
from rhetorica.kernels import Kernel, backend, compiled, kernel, numba_works, using

needs_numba = pytest.mark.skipif(not numba_works(), reason="numba is not installed")


def run(code: str, **environment: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stdout.strip()


def test_importing_the_package_does_not_import_numba() -> None:
    code = "import rhetorica.decode, sys; print('numba' in sys.modules, 'scipy' in sys.modules)"
    assert run(code) == "False False"


def test_without_numba_everything_works() -> None:
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "import numpy as np\n"
        "from rhetorica.decode import eisner\n"
        "from rhetorica.kernels import backend\n"
        "print(eisner(np.eye(3, k=1)).tolist(), backend())"
    )
    assert run(code) == "[-1, 0] numpy"


def test_environment_chooses_the_backend() -> None:
    code = "from rhetorica.kernels import backend; print(backend())"
    assert run(code, RHETORICA_BACKEND="numpy") == "numpy"
    code = (
        "from rhetorica.kernels import backend\n"
        "try: backend()\n"
        "except ValueError as error: print(error)"
    )
    assert "expected one of numba, numpy" in run(code, RHETORICA_BACKEND="cuda")


def test_using_is_undone_after_an_error() -> None:
    before, seen = backend(), []

    def fail() -> None:
        with using("numpy"):
            seen.append(backend())
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert seen == ["numpy"]
    assert backend() == before


def test_a_kernel_runs_the_body_of_its_backend() -> None:
    @kernel(lambda: "numpy")
    def which() -> str:
        return "numba"

    with using("numpy"):
        assert which() == "numpy"
    if numba_works():
        with using("numba"):
            assert which() == "numba"


@needs_numba
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
    with using("numba"):
        assert seven() == 7
        assert seven() == 7
    assert asked == [True, False]


@needs_numba
def test_a_read_only_install_works(tmp_path: Path) -> None:
    # A user cache below a file cannot be made by anyone, not even by root; the package's own
    # __pycache__ is hidden in the same way.
    (tmp_path / "file").touch()
    module = tmp_path / "frozen.py"
    module.write_text(
        "from rhetorica.kernels import compiled\n\n\n@compiled\ndef seven():\n    return 7\n"
    )
    (tmp_path / "__pycache__").touch()
    blocked = str(tmp_path / "file" / "below")
    code = "import frozen; print(frozen.seven())"
    output = run(
        code,
        PYTHONPATH=str(tmp_path),
        PYTHONDONTWRITEBYTECODE="1",
        HOME=blocked,
        XDG_CACHE_HOME=blocked,
        LOCALAPPDATA=blocked,
        RHETORICA_BACKEND="numba",
    )
    assert output == "7"
