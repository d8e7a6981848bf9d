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
from linkarms._machine import machine
from linkarms.campaign import Campaign
from linkarms.client import Client

HERE = Path(__file__).parent
RESULTS, PAGE = HERE / "service.json", HERE.parent / "docs" / "service.md"
BEGIN, END = "<!-- service:begin -->", "<!-- service:end -->"
KINDS, CONNECTIONS, SECONDS = ("status", "ask", "tell"), (1, 8, 64), 5.0
#: Client processes; each holds its share of the connections, on threads.
PROCESSES = 2
#: Tickets that are asked for before the tells begin, over all connections.
TICKETS = 8_000


def one(url, name, kind, seconds, share, barrier, out):
    """One connection: the times of its requests in milliseconds, its errors, and how long it took."""
    times, wrong = [], 0
    with Client(name, url, patience=0) as client:
        client.status()
        waiting = client.ask(share) if kind == "tell" else []
        barrier.wait()
        start = time.perf_counter()
        while time.perf_counter() < start + seconds and (kind != "tell" or waiting):
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
        out.append((times, wrong, time.perf_counter() - start))


def some(n, queue, *arguments):
    """The connections of one process."""
    import threading

    out = []
    threads = [threading.Thread(target=one, args=(*arguments, out)) for _ in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    queue.put(out)


def measure(url, name, kind, connections, seconds):
    """One row, on a campaign of its own."""
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager:
        barrier, queue = manager.Barrier(connections), context.Queue()
        shares = [connections // PROCESSES] * PROCESSES if connections > 1 else [1]
        arguments = (queue, url, name, kind, seconds, TICKETS // connections, barrier)
        workers = [context.Process(target=some, args=(n, *arguments)) for n in shares]
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
        "rate": round(sum(len(part[0]) / part[2] for part in found), 1),
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
        values = [2.5 * (i // 5) + 0.1 * i for i in range(20)]
        with Service(storage) as service:
            for kind in KINDS:
                for n in connections:
                    name = f"{kind}-{n}"
                    campaign = Campaign.create(
                        name, arms, 4, storage=storage, stopping=rule, delta=1e-300, family="gaussian"
                    )
                    campaign.add_many(arms, values)
                    rows.append(measure(service.url, name, kind, n, seconds))
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
    on = report["machine"]
    lines += ["", f"{on['cpu']}, {on['cores']} cores, load {on['load_average']} at the start."]
    return "\n".join(lines)


def fill(page, report):
    """The page with the figures of a report between its marks."""
    before, after = page[: page.index(BEGIN)], page[page.index(END) :]
    return f"{before}{BEGIN}\n\n{markdown(report)}\n\n{after}"


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
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), report), encoding="utf-8")


if __name__ == "__main__":
    main()
