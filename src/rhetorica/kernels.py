"""Choose how a decoder's kernel runs: compiled by numba, or vectorised with numpy.

A kernel has two bodies that give the same result: plain loops, which numba compiles, and numpy
operations on whole diagonals, for machines without numba. Which one runs is decided here and
nowhere else. numba is imported by the first call of a kernel, not before: importing it costs half
a second that a program which never decodes should not pay.

numba is used wherever it is installed, unless the environment variable ``RHETORICA_BACKEND`` is
"numpy" (which saves that half second, and compiling, where documents are few and short).
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, update_wrapper
from typing import Any, Generic, Literal, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")
Backend = Literal["numba", "numpy"]
BACKENDS: tuple[Backend, ...] = ("numba", "numpy")

_forced: list[Backend] = []

# No fast mathematics: it gains nothing here, and every machine should get the same bits.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}


@cache
def numba_works() -> bool:
    """Tell whether numba is installed and accepts the numpy that is."""
    if importlib.util.find_spec("numba") is None:
        return False
    try:
        importlib.import_module("numba")
    except ImportError:
        return False
    return True


@cache
def _default() -> Backend:
    wanted = os.environ.get("RHETORICA_BACKEND", "")
    if wanted not in ("", *BACKENDS):
        raise ValueError(f"RHETORICA_BACKEND is {wanted!r}: expected one of {', '.join(BACKENDS)}")
    if wanted == "numpy" or not numba_works():
        return "numpy"
    return "numba"


def backend() -> Backend:
    """Return the backend that kernels run on."""
    return _forced[-1] if _forced else _default()


@contextmanager
def using(name: Backend) -> Iterator[None]:
    """Run kernels on the given backend inside a ``with`` block (for tests and benchmarks)."""
    _forced.append(name)
    try:
        yield
    finally:
        _forced.pop()


def _compile(loops: Callable[P, R], *, cached: bool) -> Callable[P, R]:
    njit = importlib.import_module("numba").njit
    return cast("Callable[P, R]", njit(loops, cache=cached, **_OPTIONS))


class Kernel(Generic[P, R]):
    """A function with two bodies, of which the backend runs one."""

    def __init__(self, loops: Callable[P, R], vectorised: Callable[P, R]) -> None:
        self._loops, self._vectorised = loops, vectorised
        self._compiled: Callable[P, R] | None = None
        update_wrapper(self, loops)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the compiled body, or the one for numpy."""
        if backend() == "numpy":
            return self._vectorised(*args, **kwargs)
        if self._compiled is None:
            try:
                self._compiled = _compile(self._loops, cached=True)
            except RuntimeError:
                # numba found neither a writable __pycache__ nor a writable user cache.
                self._compiled = _compile(self._loops, cached=False)
        try:
            return self._compiled(*args, **kwargs)
        except (OSError, EOFError):
            # A full disk or a damaged cache file: kernels do no input or output of their own.
            self._compiled = _compile(self._loops, cached=False)
            return self._compiled(*args, **kwargs)


def kernel(vectorised: Callable[P, R]) -> Callable[[Callable[P, R]], Kernel[P, R]]:
    """Make loops a kernel, with ``vectorised`` for machines without numba.

    The loops may call numpy but no other kernel, and must allocate what they return.
    """

    def decorate(loops: Callable[P, R]) -> Kernel[P, R]:
        return Kernel(loops, vectorised)

    return decorate


def compiled(loops: Callable[P, R]) -> Kernel[P, R]:
    """Make a kernel of a function that is fast enough as it is on machines without numba."""
    return Kernel(loops, loops)
