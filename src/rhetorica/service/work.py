"""Where the work is done: a few threads, and models that are loaded once for all requests.

Whatever `rhetorica.load` gives may be used by several threads at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import TypeVar

from rhetorica.pipeline import Pipeline, Recipe, load
from rhetorica.service.limits import Limits, TooBusy, TooSlow

T = TypeVar("T")


class Models:
    """Pipelines by recipe, loaded when first asked for."""

    def __init__(self) -> None:
        self._loading = Lock()
        self._loaded: dict[Recipe, Pipeline] = {}

    def __getitem__(self, recipe: Recipe) -> Pipeline:
        """Return the pipeline of a recipe."""
        if recipe not in self._loaded:
            with self._loading:  # two requests must not load one model twice
                if recipe not in self._loaded:
                    self._loaded[recipe] = load(recipe)
        return self._loaded[recipe]


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
