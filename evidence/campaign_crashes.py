"""Workers of a campaign killed at random moments, on SQLite and PostgreSQL: ``python -m evidence.campaign_crashes``.

In each round eight processes ask, tell and add on one campaign until 5,000 samples are acknowledged, while one after the other is killed
(kill -9) and a successor goes on from its journal. Then every sample that was acknowledged, or measured and told again, has to be in the
campaign exactly once with its value, no ticket may have gone to two workers, and the stored state has to equal a replay of the log.
"""

import argparse
import json
import multiprocessing
import os
import tempfile
import time
from collections import Counter
from contextlib import nullcontext
from pathlib import Path

import numpy as np
from tests.postgres import Server

from evidence import campaign_worker
from evidence._store import Store
from linkarms.campaign import Campaign

ROUNDS, TELLS, WORKERS = 20, 5_000, 8
#: Seconds; short, so that tickets of the killed expire and are answered late.
LEASE = 1.0
#: Seconds between two kills.
PAUSE = (0.05, 0.5)
#: Seconds that a round may take.
PATIENCE = 900


def run_round(url, seed, tells=TELLS, kills=True, workers=WORKERS):
    """One round; returns what was found, with `wrong` empty if all is well."""
    name = f"load-{seed}"
    Campaign.create(name, storage=url, **campaign_worker.settings()).close()
    rng = np.random.default_rng([11, seed])
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["evidence.campaign_worker"])
    os.environ["LINKARMS_WARM_UP"] = "1"
    with tempfile.TemporaryDirectory() as folder:

        def start(number):
            process = context.Process(
                target=campaign_worker.run_worker, args=(url, name, number, folder, LEASE), daemon=True
            )
            process.start()
            return process

        began = time.perf_counter()
        running = [start(number) for number in range(workers)]
        killed = 0
        try:
            while acknowledged(folder) < tells and not failed(folder):
                if time.perf_counter() - began > PATIENCE:
                    raise TimeoutError(f"only {acknowledged(folder)} of {tells} samples in {PATIENCE} s")
                time.sleep(rng.uniform(*PAUSE))
                if kills:
                    number = int(rng.integers(workers))
                    running[number].kill()
                    running[number].join()
                    killed += 1
                    running[number] = start(number)
            seconds = time.perf_counter() - began
            (Path(folder) / "stop").touch()
            for process in running:
                process.join(120)
        finally:
            for process in running:
                process.kill()
        found = verdict(url, name, folder)
    return found | {"seed": seed, "kills": killed, "seconds": round(seconds, 1)}


def lines(folder):
    """All lines of all journals, with the number of the worker."""
    for path in sorted(Path(folder).glob("worker-*")):
        for line in path.read_text().splitlines(keepends=True):
            if line.endswith("\n"):
                yield path.name, json.loads(line)


def acknowledged(folder):
    """Samples that were acknowledged so far."""
    told, pairs = 0, {}
    for worker, line in lines(folder):
        if line[0] == "tell":
            pairs[worker] = len(line[2])
        told += pairs[worker] if line[0] == "told" else line[0] == "added"
    return told


def failed(folder):
    """What workers could not do, in words."""
    return [f"{worker}: {line[1]}" for worker, line in lines(folder) if line[0] == "error"]


def verdict(url, name, folder):
    """Compare the journals with the campaign."""
    wrong = failed(folder)
    expected, owners = {}, Counter()
    for _, line in lines(folder):
        if line[0] == "got":
            owners.update(line[2])
        elif line[0] == "tell":
            expected |= dict(line[2])
        elif line[0] == "add":
            added = line[3]
        elif line[0] == "added":
            expected[line[2]] = added
            owners[line[2]] += 1
    wrong += [f"ticket {t} was given out {n} times" for t, n in owners.items() if n > 1]
    with Campaign.open(name, storage=url) as campaign:
        rows = {row["ticket"]: row for row in json.loads(campaign.export("json"))}
        stored = {t: row["value"] for t, row in rows.items() if row["state"] == "told"}
        wrong += [f"ticket {t} is lost or changed" for t, v in expected.items() if stored.get(t) != v]
        wrong += [f"ticket {t} was told by nobody" for t in stored.keys() - expected.keys()]
        checkup, status = campaign.doctor(), campaign.status()
        if not checkup.ok:
            wrong.append(f"doctor: {checkup.difference}")
        if not status.samples == sum(status.pulls.values()) == len(stored) == checkup.samples:
            wrong.append(f"{status.samples} samples are counted and {len(stored)} are stored")
        (ticket,) = campaign.ask(1, worker="after")
        if campaign.tell(ticket, 0.0).number != len(stored) + 1:
            wrong.append("the campaign does not go on")
    return {
        "wrong": wrong,
        "samples": len(stored),
        "entries": checkup.entries,
        "expirations": status.expirations,
    }


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args(arguments).rounds
    store = Store(Path(__file__).with_suffix(".json"), "python -m evidence.campaign_crashes")
    for database in ("sqlite", "postgresql"):
        results = store.data.setdefault(database, [])
        with (
            tempfile.TemporaryDirectory() as folder,
            Server() if database == "postgresql" else nullcontext() as server,
        ):
            while len(results) < rounds:
                seed = len(results)
                url = server.database() if server else Path(folder) / f"{seed}.db"
                results.append(run_round(url, seed))
                store.save()
                print(database, results[-1], flush=True)
    store.save()


if __name__ == "__main__":
    main()
