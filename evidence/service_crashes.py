"""The service killed at random moments under load, on SQLite and PostgreSQL: ``python -m evidence.service_crashes``.

In each round eight clients ask, tell and add over HTTP until 5,000 samples are acknowledged, while the service is killed (kill -9)
and started again. The clients know nothing of it: they send again what was not answered. Then every sample that was acknowledged has
to be in the campaign exactly once with its value, nothing else may be there, no ticket may have gone to two clients, and the state
has to equal a replay of the log.
"""

import argparse
import json
import tempfile
import threading
import time
from collections import Counter
from contextlib import nullcontext
from pathlib import Path

import numpy as np
from tests.postgres import Server
from tests.service_process import Service

from evidence._store import Store
from evidence.campaign_worker import settings
from linkarms.campaign import Campaign
from linkarms.client import Client

ROUNDS, TELLS, CLIENTS = 5, 5_000, 8
#: Samples that are acknowledged between two kills.
BETWEEN = (300, 1_200)
#: Seconds that a round may take.
PATIENCE = 900


class Tally:
    """What the clients know."""

    def __init__(self):
        self.lock = threading.Lock()
        self.told, self.given, self.wrong = {}, Counter(), []

    def __len__(self):
        return len(self.told)


def run_client(number, seed, url, tally, tells):
    """One client: goes on until enough samples are acknowledged."""
    rng = np.random.default_rng([seed, number])
    try:
        with Client("load", url, patience=300) as client:
            while len(tally) < tells and not tally.wrong:
                if rng.random() < 0.1:
                    value = float(rng.normal())
                    receipt = client.add("ada", value, worker=f"c{number}")
                    with tally.lock:
                        tally.given[receipt.ticket] += 1
                        tally.told[receipt.ticket] = value
                    continue
                tickets = client.ask(int(rng.choice([1, 1, 2, 12])), worker=f"c{number}")
                values = [float(v) for v in rng.normal(size=len(tickets))]
                with tally.lock:
                    tally.given.update(t.id for t in tickets)
                client.tell_many(tickets, values)
                with tally.lock:
                    tally.told |= {t.id: v for t, v in zip(tickets, values, strict=True)}
    except BaseException as error:
        tally.wrong.append(f"client {number}: {type(error).__name__}: {error}")


def run_round(storage, seed, tells=TELLS, clients=CLIENTS, between=BETWEEN):
    """One round; returns what was found, with `wrong` empty if all is well."""
    Campaign.create("load", storage=storage, **settings()).close()
    rng, tally, kills, began = np.random.default_rng([7, seed]), Tally(), 0, time.perf_counter()
    with Service(storage) as service:
        running = [
            threading.Thread(target=run_client, args=(number, seed, service.url, tally, tells))
            for number in range(clients)
        ]
        for thread in running:
            thread.start()
        following = rng.integers(*between)
        while any(thread.is_alive() for thread in running):
            if time.perf_counter() - began > PATIENCE:
                tally.wrong.append(f"only {len(tally)} of {tells} samples in {PATIENCE} s")
            if following <= len(tally) < tells:
                time.sleep(rng.uniform(0, 0.05))
                service.kill()
                service.start()
                kills += 1
                following = len(tally) + rng.integers(*between)
            time.sleep(0.005)
        for thread in running:
            thread.join()
        seconds = time.perf_counter() - began
        stopped = service.stop()
    wrong = [*tally.wrong, *([f"the service ended with {stopped}"] if stopped else [])]
    wrong += [f"ticket {t} was given out {n} times" for t, n in tally.given.items() if n > 1]
    with Campaign.open("load", storage=storage) as campaign:
        rows = json.loads(campaign.export("json"))
        stored = {row["ticket"]: row["value"] for row in rows if row["state"] == "told"}
        wrong += [f"ticket {t} is lost or changed" for t, v in tally.told.items() if stored.get(t) != v]
        wrong += [f"ticket {t} was told by nobody" for t in stored.keys() - tally.told.keys()]
        checkup, status = campaign.doctor(), campaign.status()
        if not checkup.ok:
            wrong.append(f"doctor: {checkup.difference}")
        if not status.samples == len(stored) == checkup.samples:
            wrong.append(f"{status.samples} samples are counted and {len(stored)} are stored")
    return {
        "seed": seed,
        "wrong": wrong,
        "samples": len(stored),
        "kills": kills,
        "seconds": round(seconds, 1),
    }


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args(arguments).rounds
    store = Store(Path(__file__).with_suffix(".json"), "python -m evidence.service_crashes")
    for database in ("sqlite", "postgresql"):
        results = store.data.setdefault(database, [])
        with (
            tempfile.TemporaryDirectory() as folder,
            Server() if database == "postgresql" else nullcontext() as server,
        ):
            while len(results) < rounds:
                seed = len(results)
                results.append(run_round(server.database() if server else Path(folder) / f"{seed}.db", seed))
                store.save()
                print(database, results[-1], flush=True)
    store.save()


if __name__ == "__main__":
    main()
