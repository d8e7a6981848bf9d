"""Requests per second and their times under load: ``python -m benchmarks.service [--quick] [--against OTHER]``.

A service of its own on SQLite, and client processes with connections that stay open. Each connection sends one request after the other.
With ``--against OTHER``, the interpreter of another environment, that version is measured in the same
run: row by row, one version after the other. The figures go to benchmarks/service.json and into docs/service.md.
"""

import argparse
import json
import multiprocessing
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from tests.service_process import Service

import linkarms as la
from linkarms._machine import machine
from linkarms.client import Client

HERE = Path(__file__).parent
RESULTS, PAGE = HERE / "service.json", HERE.parent / "docs" / "service.md"
BEGIN, END = "<!-- service:begin -->", "<!-- service:end -->"
KINDS, CONNECTIONS, SECONDS = ("status", "view", "ask", "tell"), (1, 8, 64), 5.0
#: Client processes; each holds its share of the connections, on threads.
PROCESSES = 2
#: Tickets that are asked for before the tells begin, over all connections.
TICKETS = 8_000
ARMS, SAMPLES = 20, 400


def time_requests(url, name, kind, seconds, share, barrier, out):
    """One connection: the times of its requests in milliseconds, its errors, and how long it took."""
    times, wrong = [], 0
    with Client(name, url, patience=0) as client:
        client._campaign("GET", "", None, dict)
        waiting = client.ask(share) if kind == "tell" else []
        send = {
            "status": lambda: client._campaign("GET", "", None, dict),
            "view": lambda: client._campaign("GET", "/view", None, dict),
            "ask": client.ask,
            "tell": lambda: client.tell(waiting.pop(), 0.5),
        }[kind]
        barrier.wait()
        start = time.perf_counter()
        while time.perf_counter() < start + seconds and (kind != "tell" or waiting):
            began = time.perf_counter()
            try:
                send()
            except la.LinkarmsError:
                wrong += 1
            times.append(1e3 * (time.perf_counter() - began))
        out.append((times, wrong, time.perf_counter() - start))


def time_requests_on_threads(n, queue, *arguments):
    """The connections of one process."""
    out = []
    threads = [threading.Thread(target=time_requests, args=(*arguments, out)) for _ in range(n)]
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
        workers = [context.Process(target=time_requests_on_threads, args=(n, *arguments)) for n in shares]
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


def prepare(url, name):
    """A campaign of twenty arms in four clusters with a history, which does not stop."""
    arms = [f"arm {i}" for i in range(ARMS)]
    rng = np.random.default_rng(0)
    rule = la.stopping.Paper(theta=(-20, 20))
    with Client.create(name, arms, 4, url=url, stopping=rule, delta=1e-300, family="gaussian") as client:
        which = np.arange(SAMPLES) % ARMS
        values = 2.5 * (which // 5) + 0.1 * which + rng.normal(size=SAMPLES)
        client.add_many([arms[i] for i in which], values)
        client._campaign("GET", "", None, dict)
        client._campaign("GET", "/view", None, dict)


def run(seconds, versions, connections=CONNECTIONS, kinds=KINDS):
    """All rows of every version, one list for each; None is this one."""
    rows = [[] for _ in versions]
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        services = [
            stack.enter_context(Service(Path(folder) / f"{i}.db", other=version))
            for i, version in enumerate(versions)
        ]
        for kind in kinds:
            for n in connections:
                for i, service in enumerate(services):
                    prepare(service.url, f"{kind}-{n}")
                    rows[i].append(measure(service.url, f"{kind}-{n}", kind, n, seconds))
                    print(versions[i] or "this", rows[i][-1], flush=True)
    return rows


def markdown(report):
    """The table of the page."""
    before = report.get("before")
    extra = ("", "") if before is None else (f" {before['version']}, requests per second |", "---|")
    lines = [
        f"| request | connections |{extra[0]} requests per second | median, ms | p99, ms | errors |",
        f"|---|---|{extra[1]}---|---|---|---|",
    ]
    old = {} if before is None else {(r["kind"], r["connections"]): r for r in before["rows"]}
    for r in report["rows"]:
        was = "" if before is None else f" {old[r['kind'], r['connections']]['rate']:,.0f} |"
        lines.append(
            f"| {r['kind']} | {r['connections']} |{was} {r['rate']:,.0f} | {r['p50_ms']:.1f} | {r['p99_ms']:.1f} | {r['errors']} |"
        )
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
    parser.add_argument("--against", metavar="OTHER", help="the interpreter of another version")
    parser.add_argument("--name", default="before", help="how the page calls that version")
    parser.add_argument("--connections", type=int, nargs="+", default=CONNECTIONS)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    given = parser.parse_args(arguments)
    report = {
        "command": "python -m benchmarks.service --against OTHER",
        "machine": machine(),
        "seconds": 1.0 if given.quick else SECONDS,
    }
    versions = [None] if given.against is None else [given.against, None]
    *before, report["rows"] = run(report["seconds"], versions, given.connections, given.kinds)
    if before:
        report["before"] = {"version": given.name, "rows": before[0]}
    if given.quick:
        return
    RESULTS.write_text(json.dumps(report, indent=1) + "\n")
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), report), encoding="utf-8")


if __name__ == "__main__":
    main()
