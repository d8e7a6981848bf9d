"""Requests a second and their times under load: ``python -m benchmarks.service [--quick]``.

A service of its own on SQLite, and client processes with connections that stay open. Each connection sends one request after the other; the
figures go to benchmarks/service.json and into docs/service.md.
"""

import argparse
import json
import multiprocessing
import tempfile
import time
from pathlib import Path

import numpy as np
from tests.service_process import Service

import linkarms as la
from linkarms.bench._machine import machine
from linkarms.campaign import Campaign
from linkarms.client import Client

HERE = Path(__file__).parent
RESULTS, PAGE = HERE / "service.json", HERE.parent / "docs" / "service.md"
BEGIN, END = "<!-- service:begin -->", "<!-- service:end -->"
KINDS, CONNECTIONS, SECONDS = ("status", "ask", "tell"), (1, 8, 64), 5.0
#: Client processes; each holds its share of the connections, on threads.
PROCESSES = 2


def one(url, kind, seconds, barrier, out):
    """One connection: the times of its requests in milliseconds, and its errors."""
    times, wrong = [], 0
    with Client("load", url, patience=0) as client:
        client.status()
        waiting = []
        barrier.wait()
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            if kind == "tell" and not waiting:
                waiting = client.ask(50)  # not counted
            began = time.perf_counter()
            try:
                if kind == "status":
                    client.status()
                elif kind == "ask":
                    client.ask(1)
                else:
                    client.tell(waiting.pop(), 0.5)
            except la.LinkarmsError:
                wrong += 1
            times.append(1e3 * (time.perf_counter() - began))
    out.append((times, wrong))


def some(url, kind, seconds, n, barrier, queue):
    """The connections of one process."""
    import threading

    out = []
    threads = [threading.Thread(target=one, args=(url, kind, seconds, barrier, out)) for _ in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    queue.put(out)


def measure(url, kind, connections, seconds):
    """One row."""
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager:
        barrier, queue = manager.Barrier(connections), context.Queue()
        shares = [connections // PROCESSES] * PROCESSES if connections > 1 else [1]
        workers = [context.Process(target=some, args=(url, kind, seconds, n, barrier, queue)) for n in shares]
        for worker in workers:
            worker.start()
        found = [part for _ in workers for part in queue.get(timeout=seconds + 300)]
        for worker in workers:
            worker.join()
    times = np.concatenate([part[0] for part in found])
    return {
        "kind": kind,
        "connections": connections,
        "requests": len(times),
        "errors": sum(part[1] for part in found),
        "rate": round(len(times) / seconds, 1),
        "p50_ms": round(float(np.quantile(times, 0.5)), 2),
        "p99_ms": round(float(np.quantile(times, 0.99)), 2),
    }


def run(seconds, connections=CONNECTIONS):
    """All rows."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        storage = Path(folder) / "runs.db"
        rule = la.stopping.Paper(theta=(-10, 10))
        arms = [f"arm {i}" for i in range(20)]
        Campaign.create("load", arms, 4, storage=storage, stopping=rule, delta=1e-300).add_many(
            arms, [2.5 * (i // 5) + 0.1 * i for i in range(20)]
        )
        with Service(storage) as service:
            for kind in KINDS:
                for n in connections:
                    rows.append(measure(service.url, kind, n, seconds))
                    print(rows[-1], flush=True)
    return rows


def markdown(report):
    """The table of the page."""
    lines = [
        "| request | connections | requests a second | median, ms | p99, ms | errors |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {r['kind']} | {r['connections']} | {r['rate']:,.0f} | {r['p50_ms']:.1f} | {r['p99_ms']:.1f} | {r['errors']} |"
        for r in report["rows"]
    ]
    return "\n".join(lines)


def main(arguments=None):
    """Measure, and keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one second each, and nothing is written")
    quick = parser.parse_args(arguments).quick
    report = {
        "command": "python -m benchmarks.service",
        "machine": machine(),
        "seconds": 1.0 if quick else SECONDS,
    }
    report["rows"] = run(report["seconds"])
    if quick:
        return
    RESULTS.write_text(json.dumps(report, indent=1) + "\n")
    page = PAGE.read_text(encoding="utf-8")
    before, after = page[: page.index(BEGIN)], page[page.index(END) :]
    PAGE.write_text(f"{before}{BEGIN}\n\n{markdown(report)}\n\n{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
