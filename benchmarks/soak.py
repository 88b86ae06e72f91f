"""A service under mixed clients for a while: every answer right or a clear refusal, nothing lost.

    python benchmarks/soak.py --minutes 5
    python benchmarks/soak.py --minutes 60 --pause 2

Starts a service on this machine and, until time is up, sends to it from several clients at once:
small texts (whose parse is compared with that of the parser), large ones, batches, broken files,
requests that are too large, not JSON or from foreign pages, clients that leave in the middle, that
send a byte at a time, that open connections and say nothing, that do not read their answer; and
kills worker processes. Small requests are sent by themselves first, then beside large ones, then
beside everything, in turns, so that a busy machine is equally busy for all three. With ``--pause``
clients wait so many seconds, on average and some of them longer, before they ask again.

Prints the tables of docs/reliability.md: latencies, what came of each kind of request, and how
memory went. The exit status is 1 if an answer was wrong, or the service did not answer as it
should.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from statistics import median
from typing import Any

from rhetorica import Document, load
from rhetorica.formats.native import to_dict

SENTENCES = (
    "We stayed at home because it rained.",
    "Nobody complained, although the beach was near.",
    "When the sun came out, the children ran to the harbour to watch the boats.",
    "The old ferry, which had been repaired in May, was about to leave.",
)
JSON = {"content-type": "application/json"}
FINE = {200}
REFUSED = {400, 408, 413, 421, 403, 422, 429}
SETTINGS = {
    "nothing": ("small", "health"),
    "large ones": ("small", "large", "health"),
    "all kinds": (
        "small", "large", "batch", "hostile", "leave", "dawdle", "deaf", "kill", "health",
    ),
}  # fmt: skip
"""What small requests are sent beside."""
CROWD = {
    "small": 3, "large": 2, "batch": 1, "hostile": 2, "leave": 1, "dawdle": 20, "deaf": 2,
    "kill": 1, "health": 1,
}  # fmt: skip
PAUSES = {"small": 1, "health": 0, "large": 10, "kill": 20}
"""How much longer than others some clients wait; all that are not named, 4 times."""
TURN = 120
"""Seconds of each setting, before the next one has its turn."""


class Soak:
    """What is sent, and what came of it."""

    def __init__(
        self, port: int, pid: int, right: dict[str, Any], pause: float, patience: float
    ) -> None:
        self.port, self.pid, self.right, self.pause = port, pid, right, pause
        self.patience = patience
        self.lock = threading.Lock()
        self.setting = ""
        self.kinds: tuple[str, ...] = ()
        self.busy = 0
        self.is_over = False
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.wrong: list[str] = []

    def note(self, kind: str, outcome: str, seconds: float = -1.0) -> None:
        """Keep what came of one thing."""
        with self.lock:
            self.counts[kind][outcome] += 1
            if seconds >= 0:
                self.seconds[kind].append(seconds)
                self.seconds[f"{kind} beside {self.setting}"].append(seconds)

    def fail(self, kind: str, why: str) -> None:
        """Keep what must not be."""
        with self.lock:
            self.counts[kind]["WRONG"] += 1
            self.wrong.append(f"{kind}: {why}"[:300])

    def ask(
        self, kind: str, path: str, body: bytes, allowed: set[int], headers: dict[str, str] = JSON
    ) -> bytes | None:
        """Send one request; its answer must have one of some statuses."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=self.patience)
        begin = time.perf_counter()
        try:
            connection.request("POST", path, body, headers)
            response = connection.getresponse()
            answer = response.read()
        except (OSError, HTTPException) as error:
            self.fail(kind, f"no answer: {error!r}")
            return None
        finally:
            connection.close()
        self.note(kind, str(response.status), time.perf_counter() - begin)
        if response.status not in allowed:
            self.fail(kind, f"{response.status} {answer[:200]!r}")
        if response.status != 200:
            if set(json.loads(answer)) != {"error", "message"}:
                self.fail(kind, f"an error of another shape: {answer[:200]!r}")
            if response.status == 429 and not response.getheader("retry-after"):
                self.fail(kind, "429 without Retry-After")
            return None
        return answer

    def small(self, rng: random.Random) -> None:
        """Parse a short text, and compare."""
        name = rng.choice(list(self.right))
        body = json.dumps({"content": name}).encode()
        answer = self.ask("small", "/api/parse", body, FINE | {429, 503})
        if answer is not None and json.loads(answer) != self.right[name]:
            self.fail("small", f"another parse of {name!r}")

    def large(self, rng: random.Random) -> None:
        """Parse a long text: done, or refused because it takes too long or too many wait."""
        text = " ".join(rng.choices(SENTENCES, k=3000 if rng.random() < 0.1 else 400))
        answer = self.ask(
            "large", "/api/parse", json.dumps({"content": text}).encode(), FINE | {422, 429, 503}
        )
        if answer is not None and json.loads(answer)["document"]["text"] != text:
            self.fail("large", "another text came back")

    def batch(self, rng: random.Random) -> None:
        """Parse several texts, one of which is broken."""
        names = rng.sample(list(self.right), 3)
        documents: list[dict[str, str]] = [{"content": name} for name in names]
        documents.insert(1, {"content": "<rst>", "format": "rs3"})
        body = json.dumps({"documents": documents}).encode()
        answer = self.ask("batch", "/api/parse/batch", body, FINE | {429, 503})
        if answer is not None:
            results = json.loads(answer)["results"]
            found = [part.get("parse") for part in (results[0], *results[2:])]
            fine = [p is None or p == self.right[n] for n, p in zip(names, found, strict=True)]
            if not all(fine) or "error" not in results[1]:
                self.fail("batch", "other results")

    def hostile(self, rng: random.Random) -> None:
        """Send what must be refused."""
        bomb = (
            '<!DOCTYPE r [<!ENTITY a "ha">]><rst><body><segment id="1">&a;</segment></body></rst>'
        )
        nested = '<rst><body><segment id="1">a<![CDATA[' + "<segment " * 5000 + "]]></segment>"
        path, body, headers = rng.choice(
            [
                ("/api/convert", _body(content=bomb, format="rs3", to="rsd"), JSON),
                ("/api/convert", _body(content=nested, format="rs3", to="rsd"), JSON),
                ("/api/parse", b"{" * 50_000, JSON),
                ("/api/parse", _body(content="[" * 99_999, format="json"), JSON),
                ("/api/parse", b'{"content": ' + b"9" * 100_000 + b"}", JSON),
                ("/api/parse", _body(content="x" * 1_100_000), JSON),
                ("/api/parse", b" " * 17_000_000, JSON),
                ("/api/parse", _body(content="a"), {**JSON, "origin": "http://evil.example"}),
                ("/api/parse", _body(content="a"), {**JSON, "host": "evil.example"}),
                ("/api/view", _body(content={str(n): n for n in range(20_000)}), JSON),
            ]
        )
        self.ask("hostile", path, body, REFUSED | {503}, headers)

    def leave(self, rng: random.Random) -> None:
        """Ask for much, and go away before the answer."""
        text = " ".join(rng.choices(SENTENCES, k=rng.choice((1, 3000))))
        with suppress(OSError), self._open() as connection:
            connection.sendall(_head(len(body := _body(content=text))) + body)
            time.sleep(rng.choice((0.0, 0.05, 0.5)))
        self.note("leave", "left")

    def dawdle(self, rng: random.Random) -> None:
        """Send a byte at a time, or nothing, until the service has enough of it."""
        begin = time.perf_counter()
        data = rng.choice([b"", b"GET / HTTP/1.1\r\nHost: localhost\r\n", _head(1000)])
        with suppress(OSError), self._open() as connection:
            connection.settimeout(1)
            connection.sendall(data)
            while time.perf_counter() - begin < 90:
                try:
                    if not connection.recv(10_000):
                        break
                except TimeoutError:
                    if data and rng.random() < 0.5:
                        connection.sendall(b"x")
        took = time.perf_counter() - begin
        self.note("dawdle", "closed" if took < 80 else "OPEN", took)
        if took >= 80:
            self.fail("dawdle", "a connection stayed open")

    def deaf(self, rng: random.Random) -> None:
        """Ask for a long answer, and do not read it."""
        text = " ".join(rng.choices(SENTENCES, k=2000))
        with suppress(OSError), self._open() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
            connection.sendall(_head(len(body := _body(content=text)), "segment") + body)
            time.sleep(rng.uniform(1, 20))
        self.note("deaf", "left")

    def kill(self, rng: random.Random) -> None:
        """Kill a worker process."""
        time.sleep(rng.uniform(5, 15))
        workers = _children(self.pid)
        if workers:
            with suppress(ProcessLookupError):
                os.kill(rng.choice(workers), signal.SIGKILL)
            self.note("kill", "killed")

    def health(self, rng: random.Random) -> None:
        """Ask how it is."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        begin = time.perf_counter()
        try:
            connection.request("GET", "/api/health")
            found = json.loads(connection.getresponse().read())
            self.note("health", found["status"], time.perf_counter() - begin)
        except (OSError, HTTPException) as error:
            self.fail("health", repr(error))
        finally:
            connection.close()
        time.sleep(0.2)

    def client(self, kind: str, seed: int) -> None:
        """Do one thing again and again, whenever it is its turn."""
        rng = random.Random(seed)
        what: Callable[[random.Random], None] = getattr(self, kind)
        while not self.is_over:
            if kind not in self.kinds:
                time.sleep(0.1)
                continue
            with self.lock:
                self.busy += 1
            try:
                what(rng)
            finally:
                with self.lock:
                    self.busy -= 1
            if self.pause:
                longest = time.monotonic() + self.pause * PAUSES.get(kind, 4) * rng.uniform(0, 2)
                while time.monotonic() < longest and kind in self.kinds:
                    time.sleep(0.05)

    def turn(self, setting: str, seconds: float) -> None:
        """Let clients loose for a while, then wait until all have their answer."""
        self.setting, self.kinds = setting, SETTINGS[setting]
        time.sleep(seconds)
        self.kinds = ()
        late = time.monotonic() + self.patience
        while self.busy and time.monotonic() < late:
            time.sleep(0.1)

    def _open(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)


def _body(**request: Any) -> bytes:
    return json.dumps(request).encode()


def _head(length: int, path: str = "parse") -> bytes:
    return (
        f"POST /api/{path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {length}\r\n\r\n"
    ).encode()


def _children(pid: int) -> list[int]:
    """Return the worker processes of a service (Linux)."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            command = path.with_name("cmdline").read_bytes()
            if int(fields[1]) == pid and b"spawn_main" in command:
                found.append(int(path.parent.name))
    return found


def memory(pid: int) -> float:
    """Return the memory of a process, in MB; 0 if it is no more."""
    with suppress(OSError):
        found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
        return int(found[1]) / 1000 if found else 0.0
    return 0.0


class Watch:
    """Looks now and then how much memory there is in use, and how busy the machine is."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.own: list[float] = []
        self.workers: list[float] = []
        self.loads: list[float] = []
        self.is_over = threading.Event()

    def run(self) -> None:
        """Look every ten seconds."""
        while not self.is_over.wait(10):
            self.own.append(memory(self.pid))
            self.workers.append(max(map(memory, _children(self.pid)), default=0.0))
            self.loads.append(os.getloadavg()[0])

    def table(self) -> str:
        """Tell of the first and the second half."""
        rows = ["| memory, MB | first half | second half |", "|---|---:|---:|"]
        for name, sizes in (("the service", self.own), ("largest worker", self.workers)):
            half = len(sizes) // 2
            parts = (sizes[:half] or sizes, sizes[half:])
            cells = [f"{median(part):.0f}, at most {max(part):.0f}" for part in parts]
            rows.append(f"| {name} | {cells[0]} | {cells[1]} |")
        return "\n".join(rows)


def at(seconds: list[float], share: float) -> float:
    """Return a quantile, of which there need not be many."""
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def shown(seconds: float) -> str:
    """Write a latency."""
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def latencies(soak: Soak) -> str:
    """Tell how long small requests and questions after health took, beside what."""
    rows = [
        "| | beside | number | p50 | p95 | p99 | p99 / p50 |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for kind in ("small", "health"):
        for setting in SETTINGS:
            if found := soak.seconds[f"{kind} beside {setting}"]:
                marks = [at(found, share) for share in (0.5, 0.95, 0.99)]
                cells = " | ".join(map(shown, marks))
                ratio = marks[2] / marks[0]
                rows.append(f"| {kind} | {setting} | {len(found):,} | {cells} | {ratio:.1f} |")
    return "\n".join(rows)


def outcomes(soak: Soak) -> str:
    """Tell what came of each kind of request."""
    rows = ["| kind | what came of it | p50 | p99 |", "|---|---|---:|---:|"]
    for kind in CROWD:
        counts = ", ".join(
            f"{number:,} x {name}" for name, number in sorted(soak.counts[kind].items())
        )
        found = soak.seconds[kind]
        cells = f"{shown(at(found, 0.5))} | {shown(at(found, 0.99))}" if found else "|"
        rows.append(f"| {kind} | {counts} | {cells} |")
    return "\n".join(rows)


def main() -> int:
    """Run it."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--minutes", type=float, default=60)
    options.add_argument("--pause", type=float, default=0, help="seconds between two requests")
    options.add_argument("--timeout", type=float, default=20, help="of the service, in seconds")
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    nlp = load("en")
    texts = [f"Report {n} came late. {SENTENCES[n % 4]}" for n in range(12)]
    right = {text: json.loads(json.dumps(to_dict(nlp(Document(text))))) for text in texts}
    command = [sys.executable, "-m", "rhetorica", "serve", "--port", "0"]
    command += ["--timeout", str(given.timeout), "--workers", "2"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    port = re.search(r":(\d+) ", process.stderr.readline())
    if port is None:
        raise SystemExit("the service did not start")
    said: list[str] = []
    threading.Thread(target=lambda: said.extend(process.stderr or ()), daemon=True).start()
    # It may wait for its turn for a minute, and for a new process, before its time runs.
    soak = Soak(int(port[1]), process.pid, right, given.pause, 180 + given.timeout)
    soak.small(random.Random(0))  # waits until the model is loaded
    soak.counts.clear()
    soak.seconds.clear()
    watch = Watch(process.pid)
    looking = threading.Thread(target=watch.run)
    kinds = [kind for kind, times in CROWD.items() for _ in range(times)]
    threads = [
        threading.Thread(target=soak.client, args=(kind, 100 * given.seed + number))
        for number, kind in enumerate(kinds)
    ]
    for thread in [looking, *threads]:
        thread.start()
    end = time.monotonic() + 60 * given.minutes
    turn = min(TURN, 60 * given.minutes / len(SETTINGS))
    for setting in itertools.cycle(SETTINGS):
        soak.turn(setting, min(turn, max(1.0, end - time.monotonic())))
        if time.monotonic() >= end and setting == list(SETTINGS)[-1]:
            break
    soak.is_over = True
    for thread in threads:
        thread.join()
    watch.is_over.set()
    looking.join()
    soak.small(random.Random(1))
    alive = process.poll() is None
    process.terminate()
    process.wait(60)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"{given.minutes:g} minutes, pause {given.pause:g} s, two workers and a spare one; load "
        f"{median(watch.loads or [0.0]):.1f} on {os.cpu_count()} cores, of which the service had "
        f"{(used.ru_utime + used.ru_stime) / (60 * given.minutes):.2f} cores.\n"
    )
    print("\n\n".join([latencies(soak), outcomes(soak), watch.table()]))
    for line in [*soak.wrong[:20], *said[:20]]:
        print("  " + line.rstrip())
    print(f"\n{len(soak.wrong)} wrong answers, {len(said)} lines in the log of the service, which")
    print("answered to the end." if alive else "ENDED.")
    return int(bool(soak.wrong) or not alive)


if __name__ == "__main__":
    sys.exit(main())
