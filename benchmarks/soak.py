"""A service under mixed clients for a while: every answer right or a clear refusal, nothing lost.

    python benchmarks/soak.py --minutes 10

Starts a service on this machine and, until time is up, sends to it from several clients at once:
small texts (whose parse is compared with that of the parser), large ones, batches, broken files,
requests that are too large, not JSON or from foreign pages, clients that leave in the middle, that
send a byte at a time, that open connections and say nothing, that do not read their answer; and
kills worker processes. Prints what came of each, latencies, and how memory went. The exit status is
1 if an answer was wrong, or the service did not answer as it should.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
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


class Soak:
    """What is sent, and what came of it."""

    def __init__(self, port: int, pid: int, right: dict[str, Any]) -> None:
        self.port, self.pid, self.right = port, pid, right
        self.end = 0.0
        self.lock = threading.Lock()
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.wrong: list[str] = []

    def note(self, kind: str, outcome: str, seconds: float = -1.0) -> None:
        """Keep what came of one thing."""
        with self.lock:
            self.counts[kind][outcome] += 1
            if seconds >= 0:
                self.seconds[kind].append(seconds)

    def fail(self, kind: str, why: str) -> None:
        """Keep what must not be."""
        with self.lock:
            self.counts[kind]["WRONG"] += 1
            self.wrong.append(f"{kind}: {why}"[:300])

    def ask(
        self, kind: str, path: str, body: bytes, allowed: set[int], headers: dict[str, str] = JSON
    ) -> bytes | None:
        """Send one request; its answer must have one of some statuses."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=120)
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
        text = " ".join(rng.choices(SENTENCES, k=rng.choice((400, 3000))))
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

    def client(self, what: Callable[[random.Random], None], seed: int) -> None:
        """Do one thing again and again."""
        rng = random.Random(seed)
        while time.monotonic() < self.end:
            what(rng)

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
    """Return the memory of a process, in MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+)", status)
    return int(found[1]) / 1000 if found else 0.0


def main() -> int:
    """Run it."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--minutes", type=float, default=60)
    options.add_argument("--timeout", type=float, default=20, help="of the service, in seconds")
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    nlp = load("en")
    texts = [f"Report {n} came late. {SENTENCES[n % 4]}" for n in range(12)]
    right = {text: json.loads(json.dumps(to_dict(nlp(Document(text))))) for text in texts}
    command = [sys.executable, "-m", "rhetorica.cli", "serve", "--port", "0"]
    command += ["--timeout", str(given.timeout), "--workers", "2"]
    log = subprocess.PIPE
    process = subprocess.Popen(command, stderr=log, text=True)
    assert process.stderr is not None
    port = re.search(r":(\d+) ", process.stderr.readline())
    if port is None:
        raise SystemExit("the service did not start")
    said: list[str] = []
    threading.Thread(target=lambda: said.extend(process.stderr or ()), daemon=True).start()
    soak = Soak(int(port[1]), process.pid, right)
    soak.small(random.Random(0))  # loads the model
    soak.counts.clear()
    soak.seconds.clear()
    crowd = {
        soak.small: 3, soak.large: 2, soak.batch: 1, soak.hostile: 2, soak.leave: 1,
        soak.dawdle: 20, soak.deaf: 2, soak.kill: 1, soak.health: 1,
    }  # fmt: skip
    soak.end = time.monotonic() + 60 * given.minutes
    threads = [
        threading.Thread(target=soak.client, args=(what, 100 * given.seed + number))
        for number, what in enumerate(what for what, times in crowd.items() for _ in range(times))
    ]
    for thread in threads:
        thread.start()
    sizes = []
    while time.monotonic() < soak.end:
        time.sleep(min(10, 6 * given.minutes))
        sizes.append(memory(process.pid))
    for thread in threads:
        thread.join()
    soak.small(random.Random(1))
    alive = process.poll() is None
    process.terminate()
    process.wait(60)
    for kind, outcomes in sorted(soak.counts.items()):
        seconds = sorted(soak.seconds[kind])
        times = ""
        if seconds:
            at = [
                seconds[min(len(seconds) - 1, int(share * len(seconds)))] for share in (0.95, 0.99)
            ]
            times = f"  p50 {median(seconds):.3f} s, p95 {at[0]:.3f} s, p99 {at[1]:.3f} s"
        counts = ", ".join(f"{number} x {name}" for name, number in sorted(outcomes.items()))
        print(f"{kind:8} {counts}{times}")
    half = len(sizes) // 2
    print(
        f"memory of the service itself: {max(sizes[:half] or sizes):.0f} MB at most in the first "
        f"half, {max(sizes[half:]):.0f} MB in the second; {len(said)} lines in its log"
    )
    for line in [*soak.wrong[:20], *said[:20]]:
        print("  " + line.rstrip())
    print("it answered to the end" if alive else "THE SERVICE ENDED")
    return int(bool(soak.wrong) or not alive)


if __name__ == "__main__":
    sys.exit(main())
