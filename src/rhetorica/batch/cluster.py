"""A batch on a cluster, by dask: documents travel to the workers and results back, models do not.

Every worker has Rhetorica installed and finds the models itself; before it works, what it has is
compared with what we have. Results are written here only, so nothing can be written twice.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from rhetorica.batch.engine import Execute, Task
from rhetorica.batch.pool import Failure, attempt
from rhetorica.batch.work import Result, Work
from rhetorica.document import Document
from rhetorica.errors import MissingExtra, RhetoricaError
from rhetorica.progress import Event, Tell, nothing

CHUNK_DOCUMENTS, CHUNK_CHARACTERS = 32, 100_000
"""What goes to a worker at a time is at most so much."""
_RETRIES = 2
_PER_THREAD = 2


@contextmanager
def on_cluster(address: str, work: Work, *, tell: Tell = nothing) -> Iterator[Execute]:
    """Do tasks on the cluster whose scheduler is at ``address``, or on one of N local processes.

    The latter is asked for with ``local:N``. The address of the dashboard is told.
    """
    distributed = _distributed()
    with _client(distributed, address) as client:
        tell(Event("cluster", note=f"dashboard at {client.dashboard_link}"))
        about = work.about()
        for worker, found in client.run(_differences, work, about).items():
            _refuse(worker, found)
        yield _Cluster(distributed, client, work, about).execute


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
    with (
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
    def __init__(self, distributed: Any, client: Any, work: Work, about: dict[str, Any]) -> None:
        self.distributed, self.client, self.work, self.about = distributed, client, work, about
        self.again: deque[list[Task]] = deque()

    def execute(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Result | Failure]]:
        """Send chunks as workers have room, and yield what comes back."""
        chunks = _chunks(tasks)
        running: dict[Any, list[Task]] = {}
        finished = self.distributed.as_completed(with_results=False)
        while True:
            room = _PER_THREAD * max(1, sum(self.client.nthreads().values())) - len(running)
            for _ in range(max(0, room)):
                chunk = self.again.popleft() if self.again else next(chunks, None)
                if chunk is None:
                    break
                future = self._submit(chunk)
                running[future.key] = chunk
                finished.add(future)
            if not running:
                return
            future = next(finished)
            yield from self._results(future, running.pop(future.key))

    def _submit(self, chunk: list[Task]) -> Any:
        documents = [task.document for task in chunk]
        return self.client.submit(
            _do, self.work, self.about, documents, pure=False, retries=_RETRIES
        )

    def _results(self, future: Any, chunk: list[Task]) -> Iterator[tuple[Task, Result | Failure]]:
        if future.status == "finished":
            found = future.result()
            if isinstance(found, str):
                _refuse("a worker", found)
            yield from zip(chunk, found, strict=True)
            return
        error = future.exception() if future.status == "error" else None
        if not isinstance(error, self.distributed.KilledWorker):
            raise RhetoricaError(
                f"the cluster gave up ({error or future.status}): what is done is kept; give the "
                "same command again, it goes on"
            )
        # Workers died of this chunk, again and again: find out of which document.
        if len(chunk) == 1:
            yield chunk[0], Failure("WorkerDied", f"cluster workers ended while at it: {error}")
            return
        half = len(chunk) // 2
        self.again += [chunk[:half], chunk[half:]]


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


def _refuse(worker: str, differences: str) -> None:
    if differences:
        raise RhetoricaError(
            f"{worker} would give other results than this machine ({differences}): install the "
            "same version of Rhetorica and of its models everywhere"
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


def _do(work: Work, about: dict[str, Any], documents: list[Document]) -> list[Any] | str:
    """Do documents, or tell why not; run by a worker."""
    if differences := _differences(work, about):
        return differences
    do = _started(work)
    return [attempt(do, document) for document in documents]


@cache
def _started(work: Work) -> Callable[[Document], Result]:
    return work.start()


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise MissingExtra("--cluster", "cluster") from None
    return distributed
