"""How many requests the service answers, beside the parser without a service; and none is lost.

Starts a service on a free port of this machine, sends texts of a few sizes from several clients at
once, and checks that each client gets the parse of its own text. All is done in turns, so that a
machine that is busy with other things is equally busy for all of it; the best of each counts. CPU
time, which is not touched by that, tells what the service costs: that of a text in the parser, and
in all processes of the service.

    python benchmarks/service.py [--clients 8] [--requests 32] [--turns 3]
    python benchmarks/service.py --threads [--clients 16] [--requests 96]

With ``--threads``: how many sentences a second it parses with numeric threads bounded, as they are,
against as many as the libraries take, in turns.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from functools import partial
from http.client import HTTPConnection
from pathlib import Path

from rhetorica import Document, load, pipeline
from rhetorica.formats.native import from_dict
from rhetorica.service import Limits, tasks
from rhetorica.service.app import make_app
from rhetorica.service.messages import Answer, Task
from rhetorica.service.server import run

SENTENCES = (
    "We stayed at home because it rained.",
    "Nobody complained, although the beach was near.",
    "When the sun came out, the children ran to the harbour to watch the boats.",
    "The old ferry, which had been repaired in May, was about to leave.",
)
SIZES = {"a sentence": 1, "a paragraph": 8, "an article": 40}


def text_of(number: int, sentences: int) -> str:
    """Return a text that no other request has."""
    parts = [SENTENCES[(number + i) % len(SENTENCES)] for i in range(sentences)]
    return f"Report {number} came late. " + " ".join(parts)


def ask(connection: HTTPConnection, text: str, number: int) -> tuple[float, bool]:
    """Send one text; return the seconds it took and whether the answer is to this text."""
    body = json.dumps({"content": text, "name": str(number)})
    start = time.perf_counter()
    connection.request("POST", "/api/parse", body, {"content-type": "application/json"})
    response = connection.getresponse()
    answer = response.read()
    seconds = time.perf_counter() - start
    if response.status != 200:
        return seconds, False
    document = json.loads(answer)["document"]
    return seconds, (document["text"], document["id"]) == (text, str(number))


def client(port: int, jobs: list[tuple[int, str]]) -> list[tuple[float, bool]]:
    """Send texts one after the other over one connection."""
    connection = HTTPConnection("127.0.0.1", port, timeout=600)
    try:
        return [ask(connection, text, number) for number, text in jobs]
    finally:
        connection.close()


def unbounded(limits: Limits) -> Callable[[Task], Answer | list[Task]]:
    """Be a worker process whose numeric libraries take as many threads as they like."""
    vars(pipeline)["numeric_threads"] = nullcontext
    return tasks.start(limits, warm=True)


def serve_unbounded() -> None:
    """Run a service with such workers."""
    limits = Limits()
    app = make_app(limits, (), start=partial(unbounded, limits))
    run(app, "127.0.0.1", 0, limits=limits, started=lambda url: print(f"{url} ", file=sys.stderr))


def start_service(*command: str) -> tuple[subprocess.Popen[str], int]:
    """Start a service on any free port, and wait until its model is loaded."""
    command = command or ("-m", "rhetorica", "serve", "--port", "0")
    free = {key: value for key, value in os.environ.items() if not key.endswith("_NUM_THREADS")}
    process = subprocess.Popen(
        [sys.executable, *command], stderr=subprocess.PIPE, text=True, env=free
    )
    if process.stderr is None or not (found := re.search(r":(\d+) ", process.stderr.readline())):
        raise SystemExit("the service did not start")
    port = int(found[1])
    client(port, [(0, text_of(0, 1))])
    return process, port


def main() -> None:
    """Print the table of docs/service.md: direct calls, one client, several clients."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--clients", type=int, default=8)
    options.add_argument("--requests", type=int, default=32)
    options.add_argument("--turns", type=int, default=3)
    options.add_argument("--threads", action="store_true")
    options.add_argument("--unbounded", action="store_true", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.unbounded:
        serve_unbounded()
        return
    if chosen.threads:
        compare_threads(chosen.clients, chosen.requests)
        return
    nlp = load("en")
    nlp(text_of(0, 1))
    process, port = start_service()
    crowd = (1, chosen.clients)
    print(f"| text | parser alone | service, one client | {chosen.clients} clients | right |")
    print("|---|---:|---:|---:|---:|")
    try:
        for name, sentences in SIZES.items():
            count = max(8, chosen.requests // max(1, sentences // 4))
            jobs = [(number, text_of(number, sentences)) for number in range(count)]
            rates: dict[int, float] = dict.fromkeys((0, *crowd), 0.0)
            work: dict[int, float] = dict.fromkeys((0, *crowd), math.inf)
            right = 0
            for _ in range(chosen.turns):
                start, begin = time.perf_counter(), time.process_time()
                parses = [nlp(Document(text, id=str(number))) for number, text in jobs]
                rates[0] = max(rates[0], count / (time.perf_counter() - start))
                work[0] = min(work[0], (time.process_time() - begin) / count)
                for clients in crowd:
                    begin = cpu_of(process.pid)
                    answers, took = send(port, jobs, clients)
                    rates[clients] = max(rates[clients], count / took)
                    work[clients] = min(work[clients], (cpu_of(process.pid) - begin) / count)
                    right += sum(is_own for _, is_own in answers)
            check(port, jobs[0], parses[0])
            cells = [
                f"{1000 * work[clients]:.0f} ms CPU ({work[clients] / work[0]:.0%}), "
                f"{rates[clients] / rates[0]:.2f} times the rate"
                for clients in crowd
            ]
            asked = len(crowd) * chosen.turns * count
            alone = f"{1000 * work[0]:.0f} ms CPU, {rates[0]:.1f} a second"
            print(f"| {name} | {alone} | {' | '.join(cells)} | {right} of {asked} |", flush=True)
    finally:
        process.terminate()
        process.wait()


def cpu_of(pid: int) -> float:
    """Return the CPU seconds of a process and of those that it has started (Linux)."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            if pid in (int(path.parent.name), int(fields[1])):
                ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def compare_threads(clients: int, requests: int) -> None:
    """Print requests a second, and CPU a request, with bounded and with unbounded threads."""
    ways = {"bounded": (), "unbounded": (__file__, "--unbounded")}
    started = {name: start_service(*command) for name, command in ways.items()}
    jobs = [(number, text_of(number, 1)) for number in range(requests)]
    rates: dict[str, float] = {}
    try:
        for _, port in started.values():
            send(port, jobs[: 2 * clients], clients)  # all workers have their model
        for turn in range(3):
            for name, (_, port) in started.items():
                rate = len(jobs) / send(port, jobs, clients)[1]
                rates[name] = max(rate, rates.get(name, 0.0))
                print(f"turn {turn + 1}, {name:<10} {rate:6.1f} requests a second", flush=True)
    finally:
        for process, _ in started.values():
            process.terminate()
            process.wait()
    ratio = rates["bounded"] / rates["unbounded"]
    print(f"{clients} clients, best of three: bounded {ratio:.2f} times as many as unbounded")


def send(
    port: int, jobs: list[tuple[int, str]], clients: int
) -> tuple[list[tuple[float, bool]], float]:
    """Send all texts from so many clients at once; return the answers and the seconds."""
    start = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        parts = [jobs[i::clients] for i in range(clients)]
        answers = [a for found in pool.map(lambda part: client(port, part), parts) for a in found]
    return answers, time.perf_counter() - start


def check(port: int, job: tuple[int, str], right: object) -> None:
    """Check that the service gives what the parser gives."""
    connection = HTTPConnection("127.0.0.1", port, timeout=600)
    body = json.dumps({"content": job[1], "name": str(job[0])})
    connection.request("POST", "/api/parse", body, {"content-type": "application/json"})
    if from_dict(json.loads(connection.getresponse().read())) != right:
        raise SystemExit("the service gives another parse than the parser")
    connection.close()


if __name__ == "__main__":
    main()
