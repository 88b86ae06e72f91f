"""A batch on a cluster, by dask: documents travel to the workers and results back, models do not.

Every worker has Rhetorica installed and finds the models itself; before it works, what it has is
compared with what we have. Results are written here only, so nothing can be written twice.
"""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import islice
from threading import Timer
from typing import Any

from rhetorica.batch.engine import Execute, Task
from rhetorica.batch.work import Result, Work
from rhetorica.document import Document
from rhetorica.errors import MissingExtra, RhetoricaError
from rhetorica.progress import Event, Tell, nothing
from rhetorica.workers import Failure, attempt

CHUNK_DOCUMENTS, CHUNK_CHARACTERS = 32, 100_000
"""What goes to a worker at a time is at most so much."""
_RETRIES = 2
_PER_THREAD = 2


@contextmanager
def on_cluster(
    address: str, work: Work, *, seconds: float = math.inf, tell: Tell = nothing
) -> Iterator[Execute]:
    """Do tasks on the cluster whose scheduler is at ``address``, or on one of N local processes.

    The latter is asked for with ``local:N``. The address of the dashboard is told. A worker that
    takes more ``seconds`` for a document ends, and dask starts another in its place.
    """
    distributed = _distributed()
    with _client(distributed, address) as client:
        tell(Event("cluster", note=f"dashboard at {client.dashboard_link}"))
        about = work.about()
        for worker, found in client.run(_differences, work, about).items():
            if found:
                raise _other_results(worker, found)
        yield _Cluster(distributed, client, work, about, seconds).execute


@contextmanager
def _client(distributed: Any, address: str) -> Iterator[Any]:
    if not address.startswith("local:"):
        try:
            with distributed.Client(address, timeout="30s") as client:
                yield client
        except OSError as error:
            raise RhetoricaError(f"no scheduler answers at {address}: {error}") from None
        return
    try:
        count = int(address.removeprefix("local:"))
    except ValueError:
        raise RhetoricaError(f"--cluster {address}: expected local:N, such as local:4") from None
    from dask import config

    # A worker that died is started again; on a busy machine that may take a while.
    patience = {"distributed.deploy.lost-worker-timeout": "1 hour"}
    with (
        config.set(patience),
        distributed.LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


class _Cluster:
    def __init__(
        self,
        distributed: Any,
        client: Any,
        work: Work,
        about: dict[str, Any],
        seconds: float,
    ) -> None:
        self.distributed, self.client, self.work, self.about = distributed, client, work, about
        self.seconds = seconds
        self.suspects: deque[Task] = deque()

    def execute(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Result | Failure]]:
        """Send chunks as workers have room, and yield what comes back."""
        chunks = _chunks(tasks)
        running: dict[Any, list[Task]] = {}
        finished = self.distributed.as_completed()
        while True:
            room = _PER_THREAD * max(1, sum(self.client.nthreads().values())) - len(running)
            sent = list(islice(chunks, max(0, room)))
            if not running and not sent:
                break
            for chunk in sent:
                future = self._submit(chunk)
                running[future.key] = chunk
                finished.add(future)
            future = next(finished)
            chunk = running.pop(future.key)
            found = self._result(future)
            if found is None:
                # Workers died of these documents, or only beside them: each will show, alone.
                self.suspects += chunk
            else:
                yield from zip(chunk, found, strict=True)
        for task in self.suspects:
            future = self._submit([task])
            self.distributed.wait(future)
            found = self._result(future)
            yield task, found[0] if found else self._death()

    def _death(self) -> Failure:
        """Tell why a document was set aside of which workers end even when it is alone."""
        why = "cluster workers died of it"
        if not math.isinf(self.seconds):
            why += f", or were ended because it took more than {self.seconds:g} s"
        return Failure("WorkerDied", why)

    def _submit(self, chunk: list[Task]) -> Any:
        documents = [task.document for task in chunk]
        return self.client.submit(
            _do, self.work, self.about, documents, self.seconds, pure=False, retries=_RETRIES
        )

    def _result(self, future: Any) -> list[Result | Failure] | None:
        """Return what came of a chunk; nothing if workers died of it, again and again."""
        if future.status == "finished":
            found: list[Result | Failure] | str = future.result()
            if isinstance(found, str):
                raise _other_results("a worker", found)
            return found
        error = future.exception() if future.status == "error" else future.status
        if isinstance(error, self.distributed.KilledWorker):
            return None
        raise RhetoricaError(
            f"the cluster gave up ({error}): what is done is kept; give the same command again, it "
            "goes on"
        )


def _chunks(tasks: Iterable[Task]) -> Iterator[list[Task]]:
    chunk: list[Task] = []
    characters = 0
    for task in tasks:
        length = len(task.document.text)
        if chunk and (len(chunk) == CHUNK_DOCUMENTS or characters + length > CHUNK_CHARACTERS):
            yield chunk
            chunk, characters = [], 0
        chunk.append(task)
        characters += length
    if chunk:
        yield chunk


def _other_results(worker: str, differences: str) -> RhetoricaError:
    return RhetoricaError(
        f"{worker} would give other results than this machine ({differences}): install the same "
        "version of Rhetorica and of its models everywhere"
    )


def _differences(work: Work, about: dict[str, Any]) -> str:
    """Tell what a worker has that we have not; run there."""
    try:
        here = work.about()
    except RhetoricaError as error:
        return str(error)
    return "; ".join(
        f"{name} {here.get(name)!r}, not {about[name]!r}"
        for name in about
        if here.get(name) != about[name]
    )


def _do(
    work: Work, about: dict[str, Any], documents: list[Document], seconds: float
) -> list[Any] | str:
    """Do documents, or tell why not; run by a worker."""
    if differences := _differences(work, about):
        return differences
    do = _started(work)
    found = []
    for document in documents:
        with _at_most(seconds):
            found.append(attempt(do, document))
    return found


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """End this process if what is done takes longer: a thread cannot be ended alone."""
    if math.isinf(seconds):
        yield
        return
    clock = Timer(seconds, os._exit, [1])
    clock.daemon = True
    clock.start()
    try:
        yield
    finally:
        clock.cancel()


@cache
def _started(work: Work) -> Callable[[Document], Result]:
    return work.start()


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise MissingExtra("--cluster", "cluster") from None
    return distributed
