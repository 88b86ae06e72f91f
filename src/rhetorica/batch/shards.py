"""The output folder of a batch: shards, each whole or not there, and marks of those that are done.

    run.json            what the results depend on: recipe, version, models, format
    part-00000.jsonl    a shard (or .parquet; or a folder with a file a document)
    part-00000.done     its mark: ids, counts, checksums; written last
    failed.jsonl        documents that were set aside, with their errors

A shard without its mark does not count, nor does one that is not what its mark says; it is done
again. So a run may end at any moment, and the next one goes on.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rhetorica import formats
from rhetorica.batch.tables import write_parquet
from rhetorica.errors import FormatError, RhetoricaError
from rhetorica.files import digest, file_name, write_bytes

FORMAT = 1
SHARD_SIZE = 1000
_RUN, _FAILED = "run.json", "failed.jsonl"


@dataclass(frozen=True, slots=True)
class Mark:
    """What a shard holds: the documents of ``input`` (a checksum), those that failed as they are.

    ``recipe`` stands for all that the results depend on.
    """

    ids: Sequence[str]
    input: str
    failed: Sequence[Mapping[str, Any]]
    words: int
    sha256: str
    recipe: str

    @property
    def done(self) -> int:
        """How many documents the shard holds."""
        return len(self.ids) - len(self.failed)


@dataclass(frozen=True, slots=True)
class Output:
    """The folder, open for one run at a time; made by `open_output`."""

    path: Path
    to: str
    recipe: str
    shard_size: int

    def mark(self, number: int) -> Mark | None:
        """Return the mark of a shard, if there is one."""
        try:
            return Mark(**json.loads(self._mark(number).read_text("utf-8")))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError) as error:
            path = self._mark(number)
            raise FormatError(str(path), None, f"damaged mark ({error}): remove it") from None

    def is_whole(self, number: int, mark: Mark) -> bool:
        """Tell whether a shard is what its mark says."""
        try:
            return _checksum(self._shard(number)) == mark.sha256
        except OSError:
            return False

    def numbers(self) -> list[int]:
        """Return the numbers of all marks."""
        return sorted(
            int(path.stem.removeprefix("part-")) for path in self.path.glob("part-*.done")
        )

    def write(
        self,
        number: int,
        ids: Sequence[str],
        results: Mapping[int, Any],
        failed: Sequence[Mapping[str, Any]],
        *,
        input: str,
        words: int,
    ) -> Mark:
        """Write a shard, then its mark; ``results`` are by the places of their documents."""
        place = self._shard(number)
        in_order = [(ids[index], results[index]) for index in sorted(results)]
        try:
            if self.to == "jsonl":
                write_bytes(place, b"".join(data for _, data in in_order))
            elif self.to == "parquet":
                write_bytes(place, write_parquet([data for _, data in in_order]))
            else:
                self._write_folder(place, in_order)
            mark = Mark(ids, input, failed, words, _checksum(place), self.recipe)
            write_bytes(self._mark(number), _json(asdict(mark)))
            if failed:
                with (self.path / _FAILED).open("ab") as file:
                    file.write(b"".join(map(_json, failed)))
        except (OSError, FormatError) as error:
            raise RhetoricaError(
                f"cannot write {place}: {getattr(error, 'strerror', None) or error}. What was "
                "written before is whole: mend this (is the disk full?) and give the same command "
                "again, it goes on from there"
            ) from None
        return mark

    def _write_folder(self, place: Path, files: Sequence[tuple[str, bytes]]) -> None:
        """Write a file a document to a folder that appears when all are written."""
        suffix = formats.get_format(self.to).suffixes[0]
        temporary = place.with_name(f".{place.name}")
        taken: set[str] = set()
        try:
            temporary.mkdir()
            for id, data in files:
                write_bytes(temporary / f"{file_name(id or 'document', taken)}{suffix}", data)
            if place.exists():  # of a run that ended before it was marked
                shutil.rmtree(place)
            temporary.rename(place)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise

    def tidy(self) -> None:
        """Take away what a run has left half written, and list what is set aside as marks say."""
        for path in self.path.glob(".*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        marks = (mark for number in self.numbers() if (mark := self.mark(number)))
        lines = b"".join(_json(failure) for mark in marks for failure in mark.failed)
        if lines:
            write_bytes(self.path / _FAILED, lines)
        else:
            (self.path / _FAILED).unlink(missing_ok=True)

    def _shard(self, number: int) -> Path:
        ending = f".{self.to}" if self.to in ("jsonl", "parquet") else ""
        return self.path / f"part-{number:05}{ending}"

    def _mark(self, number: int) -> Path:
        return self.path / f"part-{number:05}.done"


@contextmanager
def open_output(
    path: Path,
    to: str,
    about: Mapping[str, Any],
    *,
    shard_size: int | None = None,
    force_mix: bool = False,
) -> Iterator[Output]:
    """Open the folder for one run, and see that its results will be of one kind.

    ``about`` is what they depend on. A folder keeps its size of shards: where each begins depends
    on it.
    """
    path.mkdir(parents=True, exist_ok=True)
    with _alone(path):
        run = path / _RUN
        before = _known(run) if run.exists() else None
        if before is None and any(path.glob("part-*")):
            raise RhetoricaError(
                f"{path} holds parts but no {_RUN} that tells of what: choose another folder"
            )
        size = shard_size or (before or {}).get("shard_size", SHARD_SIZE)
        now = {"format": FORMAT, "to": to, "shard_size": size, "about": dict(about)}
        if before is not None and before != now:
            _compare(path, before, now, force_mix=force_mix)
        output = Output(path, to, digest(now["about"]), size)
        output.tidy()
        try:
            write_bytes(run, (json.dumps(now, indent=1, ensure_ascii=False) + "\n").encode())
        except OSError as error:
            raise FormatError(str(run), None, f"cannot be written: {error.strerror}") from None
        try:
            yield output
        finally:
            with suppress(OSError, RhetoricaError):  # it will be done when the run goes on
                output.tidy()


def _known(run: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(run.read_text("utf-8")))
    except (OSError, ValueError) as error:
        raise FormatError(str(run), None, f"damaged: {error}; choose another folder") from None


def _compare(path: Path, before: Any, now: Any, *, force_mix: bool) -> None:
    """Refuse what does not go together, and say what it is."""
    for name in ("format", "to", "shard_size"):
        if before.get(name) != now[name]:
            raise RhetoricaError(
                f"{path} was begun with {name} {before.get(name)!r}, not {now[name]!r}: leave it "
                "so, or choose another folder"
            )
    was = before.get("about", {})
    names = [name for name in {**was, **now["about"]} if was.get(name) != now["about"].get(name)]
    if names and not force_mix:
        changes = "; ".join(f"{n}: {was.get(n)!r}, now {now['about'].get(n)!r}" for n in names)
        raise RhetoricaError(
            f"the results in {path} were made otherwise ({changes}): choose another folder, or mix "
            "them on purpose with --force-mix"
        )


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Keep other runs out of a folder; the system forgets this with the process, however it ends.

    Where folders cannot be locked (Windows), nothing is done.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise RhetoricaError(
            f"another run is writing to {path}: wait for it, or choose another folder"
        ) from None
    except OSError:
        pass  # a file system without locks
    try:
        yield
    finally:
        os.close(handle)


def _checksum(place: Path) -> str:
    """Return the SHA-256 of a file, or of all names and files of a folder."""
    if place.is_dir():
        every = hashlib.sha256()
        for path in sorted(place.iterdir()):
            every.update(f"{path.name}\0{_checksum(path)}\n".encode())
        return every.hexdigest()
    with place.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _json(data: Any) -> bytes:
    # Lone surrogates, which UTF-8 does not have, are escaped with everything else.
    return (json.dumps(data) + "\n").encode()
