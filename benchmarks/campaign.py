"""Load on campaigns: ``python -m benchmarks.campaign [--quick]`` writes benchmarks/campaign.json and the table in docs/campaigns.md.

Each figure is a time of single calls, with p50 and p99. The yardstick for a tell is the bare commit: one row written by SQLite with full
sync to the same disk, without linkarms. PostgreSQL is a server of our own on the same disk, with its defaults.
"""

import argparse
import json
import sqlite3
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

import numpy as np
from tests.postgres import Server, binaries

import linkarms as la
from linkarms._machine import machine
from linkarms._progress import Progress
from linkarms.campaign import Campaign

HERE = Path(__file__).parent
RESULTS = HERE / "campaign.json"
PAGE = HERE.parent / "docs" / "campaigns.md"
BEGIN, END = "<!-- campaign:begin -->", "<!-- campaign:end -->"
BATCH = 500
#: What we aim at on SQLite: figure, field, limit; rates at least, times (p50) at most.
TARGETS = (
    ("tell", "rate", 300),
    ("batch", "rate", 20_000),
    ("ask_100", "p50_ms", 5),
    ("open", "p50_ms", 1_000),
)


def timed(call, n):
    """Milliseconds of each of ``n`` calls."""
    times = []
    for i in range(n):
        start = time.perf_counter()
        call(i)
        times.append(1e3 * (time.perf_counter() - start))
    return times


def summary(times, **more):
    """p50 and p99 in milliseconds."""
    p50, p99 = np.percentile(times, [50, 99])
    return {"calls": len(times), "p50_ms": round(float(p50), 3), "p99_ms": round(float(p99), 3)} | more


def with_processor(call, n):
    """The times of ``n`` calls, and the median of the processor's part in them: what is left when nobody else uses the machine."""
    own = []

    def counted(i):
        start = time.process_time()
        call(i)
        own.append(1e3 * (time.process_time() - start))

    times = timed(counted, n)
    return times, round(float(np.median(own)), 3)


def rate(times, each=1):
    """Calls, or samples, per second over the whole series."""
    return round(1e3 * each * len(times) / sum(times))


def bare_commits(folder, n):
    """One row of 1 kB, committed with full sync; no linkarms."""
    connection = sqlite3.connect(folder / "bare.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE t (x)")

    def commit(_):
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO t VALUES (?)", ("x" * 1_000,))
        connection.execute("COMMIT")

    times = timed(commit, n)
    connection.close()
    return times


def new(name, storage, arms, clusters, gap=0.4):
    """A campaign that does not stop, with every arm sampled twice, so that rules are at work."""
    campaign = Campaign.create(
        name,
        [f"arm {i}" for i in range(arms)],
        clusters,
        storage=storage,
        delta=1e-300,
        stopping=la.stopping.Paper(theta=(-1_000, 1_000)),
        family="gaussian",
    )
    value = level(campaign, clusters, gap)
    names = list(campaign.status().arms) * 2
    campaign.add_many(names, [value(name) for name in names])
    return campaign, value


def level(campaign, clusters, gap):
    """Samples of an arm; the evidence grows slowly with a small gap, and not at all without one."""
    rng = np.random.default_rng(1)
    index = {name: m for m, name in enumerate(campaign.status().arms)}
    return lambda name: gap * (index[name] % clusters) + rng.normal()


def measure(storage, quick, million, progress):
    """All figures of one database."""
    found = {}
    campaign, value = new("single", storage, 6, 3)
    n = 100 if quick else 1_000
    tickets = campaign.ask(n)
    times, own = with_processor(lambda i: campaign.tell(tickets[i], value(tickets[i].arm)), n)
    found["tell"] = summary(times, rate=rate(times), processor_ms=own)
    progress("tell")
    n = 5 if quick else 60
    batches = [campaign.ask(BATCH) for _ in range(n)]
    values = [[value(t.arm) for t in batch] for batch in batches]
    times, own = with_processor(lambda i: campaign.tell_many(batches[i], values[i]), n)
    found["batch"] = summary(times, rate=rate(times, BATCH), processor_ms=own)
    found["ask_6"] = summary(timed(lambda _: campaign.ask(1), 50 if quick else 300))
    campaign.close()
    progress("batch")
    campaign, value = new("hundred", storage, 100, 10)
    tickets = campaign.ask(20 if quick else 200)
    times = timed(lambda i: campaign.tell(tickets[i], value(tickets[i].arm)), len(tickets))
    found["tell_100"] = summary(times, rate=rate(times))
    found["ask_100"] = summary(timed(lambda _: campaign.ask(1), 50 if quick else 300))
    campaign.compute()
    with campaign.storage.read("hundred") as reader:
        found["snapshot_100_bytes"] = len(reader.head.account) + len(reader.computed("figures").body)
    campaign.close()
    progress("ask")
    if million:
        found |= large(storage, 20_000 if quick else 1_000_000, progress)
    return found


def large(storage, samples, progress):
    """Open, ask and tell in a campaign of a million samples."""
    campaign, value = new("large", storage, 6, 3, gap=0.0)
    arms = list(campaign.status().arms)
    block, start = 10_000, time.perf_counter()
    for i in range(0, samples, block):
        names = [arms[(i + j) % 6] for j in range(block)]
        campaign.add_many(names, [value(name) for name in names])
        progress(f"{i + block:,} samples")
    loaded = time.perf_counter() - start
    campaign.close()

    def reopen(_):
        again = Campaign.open("large", storage=storage)
        again.status()
        again.close()

    found = {"large_samples": samples + 12, "add_10000": {"rate": round(samples / loaded)}}
    found["open"] = summary(timed(reopen, 5 if samples < 1_000_000 else 30))
    again = Campaign.open("large", storage=storage)
    tickets = again.ask(100)
    found["tell_large"] = summary(timed(lambda i: again.tell(tickets[i], value(tickets[i].arm)), 100))
    start = time.perf_counter()
    checkup = again.doctor()
    found["doctor_seconds"] = round(time.perf_counter() - start, 1)
    assert checkup.ok, checkup.difference
    again.close()
    return found


def table(report):
    """The figures as Markdown."""
    columns = [name for name in ("sqlite", "postgresql") if name in report]
    large_samples = report["sqlite"].get("large_samples", 0)
    rows = {
        "one tell, 6 arms": "tell",
        "one tell, 100 arms": "tell_100",
        f"a batch of {BATCH} tells, 6 arms": "batch",
        "ask, 6 arms": "ask_6",
        "ask, 100 arms": "ask_100",
        f"open and status, {large_samples:,} samples": "open",
        f"one tell, {large_samples:,} samples": "tell_large",
    }
    bare = report["bare_commit"]
    lines = [
        "| p50 / p99, milliseconds | "
        + " | ".join({"sqlite": "SQLite", "postgresql": "PostgreSQL"}[c] for c in columns)
        + " |"
    ]
    lines.append("|---" * (1 + len(columns)) + "|")
    lines.append(
        f"| bare commit, no linkarms | {bare['p50_ms']:.2g} / {bare['p99_ms']:.2g} |"
        + " |" * (len(columns) - 1)
    )
    for title, key in rows.items():
        cells = [report[c].get(key) for c in columns]
        if any(cells):
            shown = [f"{x['p50_ms']:.3g} / {x['p99_ms']:.3g}" if x else "" for x in cells]
            lines.append(f"| {title} | {' | '.join(shown)} |")
    for title, key in (
        ("single tells per second", "tell"),
        (f"samples per second in batches of {BATCH}", "batch"),
    ):
        lines.append(f"| **{title}** | {' | '.join(format(report[c][key]['rate'], ',') for c in columns)} |")
    for title, key in (("processor's part of a tell, ms", "tell"), ("of a batch, ms", "batch")):
        lines.append(
            f"| {title} | {' | '.join(format(report[c][key]['processor_ms'], '.3g') for c in columns)} |"
        )
    load, cores = report["machine"]["load_average"], report["machine"]["cores"]
    lines += [
        "",
        f"{report['machine']['cpu']}, {cores} cores, load {load} at the start; bare commits {bare['rate']:,} per second.",
    ]
    return "\n".join(lines)


def targets(report):
    """For each target the limit, the figure and whether it is met."""
    rows = []
    for figure, field, limit in TARGETS:
        value = report["sqlite"][figure][field]
        met = value >= limit if field == "rate" else value <= limit
        rows.append({"figure": figure, "field": field, "limit": limit, "value": value, "met": met})
    return rows


def fill(page, report):
    """The page with the table between its marks."""
    before, after = page[: page.index(BEGIN)], page[page.index(END) :]
    return f"{before}{BEGIN}\n\n{table(report)}\n\n{after}"


def main(arguments=None):
    """Measure, write the file, fill the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a look: nothing is written")
    parser.add_argument("--page", action="store_true", help="only fill the page from the kept figures")
    options = parser.parse_args(arguments)
    if not options.page:
        report = {"command": "python -m benchmarks.campaign", "machine": machine()}
        with tempfile.TemporaryDirectory() as folder, Progress("campaign") as shown:
            times = bare_commits(Path(folder), 100 if options.quick else 1_000)
            report["bare_commit"] = summary(times, rate=rate(times))
            report["sqlite"] = measure(
                Path(folder) / "runs.db", options.quick, True, lambda text: shown.update(0.5, text)
            )
            with Server() if binaries() else nullcontext() as server:
                if server:
                    report["postgresql"] = measure(
                        server.database(), options.quick, options.quick, lambda text: shown.update(0.9, text)
                    )
        report["targets"] = targets(report)
        if options.quick:
            print(json.dumps(report, indent=1))
            return
        RESULTS.write_text(json.dumps(report, indent=1) + "\n")
    report = json.loads(RESULTS.read_text())
    PAGE.write_text(fill(PAGE.read_text(), report))
    print(table(report), file=sys.stderr)


if __name__ == "__main__":
    main()
