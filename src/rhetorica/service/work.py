"""Where the work is done: a few threads, and models that are loaded once for all requests.

ONNX Runtime's sessions may be used by several threads at once, and the neural parser keeps no state
of its own, so its requests run side by side. spaCy's pipelines are not made for that: whatever
needs one takes turns.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from threading import Lock, RLock
from typing import TypeVar

from rhetorica.document import Document
from rhetorica.parsers import TextParser, load
from rhetorica.parses import Parse
from rhetorica.segmenters import segment_all
from rhetorica.service.limits import Limits, TooBusy, TooSlow
from rhetorica.text import annotate

T = TypeVar("T")


class Models:
    """Parsers by name, loaded when first asked for."""

    def __init__(self) -> None:
        self._loading = Lock()
        self._syntax = RLock()
        self._loaded: dict[tuple[str, str, str | None], TextParser] = {}

    def parse(
        self, doc: Document, parser: str, model: str, segmenter: str | None, kbest: int
    ) -> Parse:
        """Parse a document; the EDUs that it has are kept."""
        loaded = self._load(parser, model, segmenter)
        with self._turn(parser == "neural" and segmenter in (None, "neural")):
            return loaded(doc, kbest=kbest)

    def segment(self, doc: Document, segmenter: str, model: str) -> Parse:
        """Cut a document into EDUs."""
        if segmenter == "neural":
            self._load("neural", model, None)
        with self._turn(segmenter == "neural"):
            return next(segment_all([doc], segmenter=segmenter, model=model))

    def with_tokens(self, parse: Parse) -> Parse:
        """Add tokens and syntax, which some formats need, if they are missing."""
        if parse.document.tokens:
            return parse
        with self._turn(False):
            return replace(parse, document=annotate(parse.document))

    def _load(self, parser: str, model: str, segmenter: str | None) -> TextParser:
        key = (parser, model, segmenter)
        if key not in self._loaded:
            with self._loading:  # two requests must not load one model twice
                if key not in self._loaded:
                    self._loaded[key] = load("en", parser=parser, model=model, segmenter=segmenter)
        return self._loaded[key]

    def _turn(self, side_by_side: bool) -> AbstractContextManager[object]:
        return nullcontext() if side_by_side else self._syntax


class Workers:
    """A bounded pool of threads, seen from the event loop."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.running = 0
        self._pool: ThreadPoolExecutor | None = None

    async def run(self, work: Callable[[], T]) -> T:
        """Do something in a thread; refuse if too many wait, give up if it takes too long.

        A thread cannot be stopped: work that is given up ends by itself and counts until then.
        """
        if self.running >= self.limits.workers + self.limits.queue:
            raise TooBusy(
                f"{self.running} requests are being worked on or wait already: try again later"
            )
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.limits.workers, thread_name_prefix="rhetorica")
        self.running += 1
        loop = asyncio.get_running_loop()
        future = self._pool.submit(work)
        future.add_done_callback(lambda _: loop.call_soon_threadsafe(self._done))
        return await self._result(future)

    def _done(self) -> None:
        self.running -= 1

    async def _result(self, future: Future[T]) -> T:
        waiting = asyncio.wrap_future(future)
        # An error after the time is up has nobody to go to.
        waiting.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            return await asyncio.wait_for(asyncio.shield(waiting), self.limits.seconds)
        except TimeoutError:
            future.cancel()
            raise TooSlow(
                f"not done within {self.limits.seconds:g} s, the most that this service spends on "
                "a request: send a shorter text, or start it with a higher --timeout"
            ) from None

    def close(self) -> None:
        """Wait for what is running and end the threads; the next request starts new ones."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=True, cancel_futures=True)
