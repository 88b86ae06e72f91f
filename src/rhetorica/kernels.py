"""Compiled functions: plain loops that numba turns into machine code, kept on disk.

`compiled` makes a kernel, which Python calls; `part` makes a piece of one, which kernels and other
parts call. numba is imported by the first call of a kernel, not before: importing it costs half a
second that a program which never decodes should not pay.

Machine code is kept beside the source file, or in the user's cache directory where that cannot be
written; where neither can, every process compiles anew.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, update_wrapper
from hashlib import sha1
from threading import Lock
from types import FunctionType
from typing import Any, Generic, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")

# No fast mathematics: it gains nothing here, and every machine should get the same bits.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}


class Part(Generic[P, R]):
    """A function that is compiled into the kernels which call it."""

    def __init__(self, loops: Callable[P, R]) -> None:
        self.loops = cast("FunctionType", loops)
        update_wrapper(self, loops)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the loops as they are, slowly (for tests)."""
        return cast("R", self.loops(*args, **kwargs))


class Kernel(Generic[P, R]):
    """A function that is compiled when it is first called."""

    def __init__(self, loops: Callable[P, R]) -> None:
        self._loops = cast("FunctionType", loops)
        self._compiled: Callable[P, R] | None = None
        update_wrapper(self, loops)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the machine code."""
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


def compiled(loops: Callable[P, R]) -> Kernel[P, R]:
    """Make a kernel of loops; they may call numpy and parts, but no other kernel."""
    return Kernel(loops)


def part(loops: Callable[P, R]) -> Part[P, R]:
    """Make a part of kernels; it may call numpy and other parts."""
    return Part(loops)


def _compile(loops: FunctionType, *, cached: bool, **options: str) -> Callable[..., Any]:
    njit = importlib.import_module("numba").njit
    parts = _parts(loops)
    if parts:
        # Calls with many arrays are slow: parts are put in the place where they are called.
        own = {n: _compile(p.loops, cached=False, inline="always") for n, p in parts.items()}
        known = {**loops.__globals__, **own}
        ready = FunctionType(loops.__code__, known, loops.__name__, loops.__defaults__)
        # numba looks for machine code by file, name and date. A part may change in another file, so
        # that what the parts say must be part of the name.
        ready.__module__ = loops.__module__
        ready.__qualname__ = f"{loops.__name__}_{_digest(loops)[:12]}"
        loops = ready
    return cast("Callable[..., Any]", njit(loops, cache=cached, **_OPTIONS, **options))


def _parts(loops: FunctionType) -> dict[str, Part[Any, Any]]:
    """Return the parts that a function calls, by the names it has for them."""
    found = {name: loops.__globals__.get(name) for name in loops.__code__.co_names}
    return {name: value for name, value in found.items() if isinstance(value, Part)}


def _digest(loops: FunctionType) -> str:
    """Return a number that changes with a function or any part of it."""
    code = loops.__code__
    below = [_digest(found.loops) for found in _parts(loops).values()]
    return sha1(repr((code.co_code, code.co_consts, code.co_names, below)).encode()).hexdigest()


_counting = Lock()
_inside = 0
_limited: Any = None


@contextmanager
def numeric_threads(count: int = 1) -> Iterator[None]:
    """Hold the matrix products of numpy to so many threads; the setting is that of the process.

    Our matrices are small: more threads cost more than they gain, and take the cores from others.
    Of several who ask at a time, the first decides.
    """
    global _inside, _limited
    with _counting:
        if not _inside:
            _for_any_thread()
            _limited = _controller().limit(limits=count, user_api="blas")
        _inside += 1
    try:
        yield
    finally:
        with _counting:
            _inside -= 1
            if not _inside:
                _for_any_thread()
                _limited.restore_original_limits()
                _for_any_thread()


def _for_any_thread() -> None:
    """Let this thread set the number, and after it any other.

    From 3.8 on, threadpoolctl keeps that to the thread that did so first, and what others ask for
    does nothing; but our first and our last may be different threads.
    """
    for library in _controller().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


@cache
def _controller() -> Any:
    return importlib.import_module("threadpoolctl").ThreadpoolController()
