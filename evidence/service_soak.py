"""Two services on one database under 64 connections, one of them killed every minute: ``python -m evidence.service_soak``.

Twenty campaigns of 10 to 1,000 arms are read and written for ten minutes, on SQLite and on PostgreSQL. The clients know nothing of the
kills: they send again what was not answered. Meanwhile ``/healthz`` of both services is asked twenty times a second, and the memory of the
one that is not killed is looked at. Then every sample that was acknowledged has to be in its campaign exactly once with its value,
nothing else may be there, no ticket may have gone to two clients, and every state has to equal a replay of its log.
"""

import argparse
import json
import multiprocessing
import tempfile
import threading
import time
from collections import Counter
from contextlib import nullcontext, suppress
from pathlib import Path

import httpx
import numpy as np
from tests.postgres import Server
from tests.service_process import Service

import linkarms as la
from evidence._soak_clients import run_clients
from evidence._store import Store
from linkarms._machine import machine
from linkarms.campaign import Campaign

SECONDS, CONNECTIONS, CAMPAIGNS, EVERY = 600, 64, 20, 60
ARMS = (10, 1_000)
PROCESSES = 4
NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
#: What the soak has to show: `/healthz` at the 99th percentile in seconds, and the memory at the end over that after a third of the time.
HEALTH, GROWTH = 0.1, 1.25


class Health(threading.Thread):
    """Asks a service how it is, while it is there."""

    def __init__(self, service):
        super().__init__(daemon=True)
        self._service, self._over, self.times, self.memory = service, threading.Event(), [], []
        #: Set while the service is meant to answer.
        self.up = threading.Event()
        self.up.set()

    def run(self):
        with httpx.Client(timeout=30) as client:
            while not self._over.wait(0.05):
                began, meant = time.perf_counter(), self.up.is_set()
                try:
                    client.get(f"{self._service.url}/healthz").raise_for_status()
                    taken = time.perf_counter() - began
                except httpx.HTTPError:
                    taken = 30.0
                if meant and self.up.is_set():
                    self.times.append(taken)
                    self.memory.append(resident_mebibytes(self._service.process.pid))

    def end(self):
        self._over.set()
        self.join()


def resident_mebibytes(pid):
    """Mebibytes of memory of a process; none if it has just been killed."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
    return 0.0


def create_campaigns(storage, n, arms, rule):
    """The campaigns, which do not stop: the names of the arms by name of the campaign."""
    stopping = la.stopping.Paper(theta=(-100, 100)) if rule == "paper" else rule
    made = {}
    for i, size in enumerate(np.rint(np.geomspace(*arms, n)).astype(int)):
        k = int(min(2 + i % 9, size))
        names = [f"arm {m} of {m % k}" for m in range(size)]
        settings = {"family": "gaussian", "delta": 1e-300, "stopping": stopping, "seed": i}
        Campaign.create(f"soak-{i}", names, k, storage=storage, **settings).close()
        made[f"soak-{i}"] = names
    return made


def soak(
    storage,
    seed,
    seconds=SECONDS,
    connections=CONNECTIONS,
    campaigns=CAMPAIGNS,
    arms=ARMS,
    every=EVERY,
    rule="anytime",
):
    """One run; returns what was found, with `wrong` empty if nothing was lost, doubled or changed."""
    made = create_campaigns(storage, campaigns, arms, rule)
    context = multiprocessing.get_context("spawn")
    queue, rng, kills = context.Queue(), np.random.default_rng(seed), 0
    with Service(storage) as steady, Service(storage) as killed:
        looks = [Health(steady), Health(killed)]
        for look in looks:
            look.start()
        end = time.time() + seconds
        each = max(connections // PROCESSES, 1)
        clients = [
            context.Process(
                target=run_clients, args=(each, [seed, p], [steady.url, killed.url], made, end, queue)
            )
            for p in range(min(PROCESSES, connections))
        ]
        for client in clients:
            client.start()
        following = time.time() + every * rng.uniform(0.8, 1.2)
        while time.time() < end:
            time.sleep(0.1)
            if time.time() > following:
                looks[1].up.clear()
                killed.kill()
                killed.start()
                looks[1].up.set()
                kills += 1
                following = time.time() + every * rng.uniform(0.8, 1.2)
        parts = [queue.get(timeout=600) for _ in clients]
        for client in clients:
            client.join()
        for look in looks:
            look.end()
        stopped = [steady.stop(), killed.stop()]
    told, given, times, wrong = (
        {},
        Counter(),
        {},
        [f"a service ended with {code}" for code in stopped if code],
    )
    for part in parts:
        told |= part[0]
        given.update(part[1])
        wrong += part[2]
        for kind, taken in part[3].items():
            times.setdefault(kind, []).extend(taken)
    return {
        "seed": seed,
        "seconds": seconds,
        "connections": connections,
        "campaigns": campaigns,
        "arms": list(arms),
        "rule": rule,
        "kills": kills,
        "samples": len(told),
        "wrong": [*wrong, *differences(storage, made, told, given)],
        "requests": {kind: _figures(taken) for kind, taken in sorted(times.items())},
        "healthz": [_figures(look.times) for look in looks],
        "memory_mib": _memory(looks[0].memory),
        "machine": machine(),
    }


def differences(storage, made, told, given):
    """What is lost, doubled or changed, in words."""
    wrong = [f"{name}: ticket {t} was given out {n} times" for (name, t), n in given.items() if n > 1]
    for name in made:
        mine = {ticket: value for (campaign, ticket), value in told.items() if campaign == name}
        with Campaign.open(name, storage=storage) as campaign:
            rows = json.loads(campaign.export("json"))
            stored = {row["ticket"]: row["value"] for row in rows if row["state"] == "told"}
            wrong += [f"{name}: ticket {t} is lost or changed" for t, v in mine.items() if stored.get(t) != v]
            wrong += [f"{name}: ticket {t} was told by nobody" for t in stored.keys() - mine.keys()]
            checkup = campaign.doctor()
            if not checkup.ok:
                wrong.append(f"{name}: doctor: {checkup.difference}")
    return wrong


def _figures(taken):
    p50, p99 = np.quantile(taken, [0.5, 0.99])
    return {
        "n": len(taken),
        "p50_ms": round(1e3 * float(p50), 1),
        "p99_ms": round(1e3 * float(p99), 1),
        "max_ms": round(1e3 * max(taken), 1),
    }


def _memory(seen):
    """The memory after a third of the time and at the end, means over a tenth of it."""
    tenth, third = max(len(seen) // 10, 1), len(seen) // 3
    return {
        "third": round(float(np.mean(seen[third : third + tenth])), 1),
        "end": round(float(np.mean(seen[-tenth:])), 1),
        "max": round(max(seen), 1),
    }


def table(data):
    """The table of docs/what-it-survives.md."""
    runs = [data[database] for database in NAMES if database in data]

    def row(what, cell):
        return f"| {what} | {' | '.join(cell(run) for run in runs)} |"

    def healthz(run):
        both = run["healthz"]
        return " / ".join(f"{look['p99_ms']:,.0f}" for look in both)

    def memory(run):
        return f"{run['memory_mib']['third']:,.0f} / {run['memory_mib']['end']:,.0f}"

    lines = [
        f"| | {' | '.join(NAMES[database] for database in NAMES if database in data)} |",
        f"|---|{'---|' * len(runs)}",
        row(
            "seconds, campaigns, arms",
            lambda r: f"{r['seconds']}, {r['campaigns']}, {r['arms'][0]} to {r['arms'][1]}",
        ),
        row("stopping rule", lambda r: f"`{r['rule']}`"),
        row("kills", lambda r: str(r["kills"])),
        row("samples acknowledged", lambda r: f"{r['samples']:,}"),
        row("lost, doubled or changed", lambda r: str(len(r["wrong"]))),
        row("requests", lambda r: f"{sum(k['n'] for k in r['requests'].values()):,}"),
        row("`/healthz` p99, ms: the steady service / the one that is killed", healthz),
        row("memory of the steady one after a third / at the end, MiB", memory),
        row("load of the machine at the end", lambda r: str(r["machine"]["load_average"])),
    ]
    return "\n".join(lines)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=SECONDS)
    parser.add_argument(
        "--arms", type=int, nargs=2, default=ARMS, help="of the smallest and the largest campaign"
    )
    parser.add_argument(
        "--rule", choices=("anytime", "paper"), default="anytime", help="when they would stop"
    )
    parser.add_argument("--every", type=int, default=EVERY, help="seconds between two kills")
    parser.add_argument("--databases", nargs="+", choices=NAMES, default=tuple(NAMES))
    given = parser.parse_args(arguments)
    store = Store(Path(__file__).with_suffix(".json"), "python -m evidence.service_soak")
    for database in given.databases:
        if store.data.get(database, {}).get("seconds", 0) >= given.seconds:
            continue
        with (
            tempfile.TemporaryDirectory() as folder,
            Server() if database == "postgresql" else nullcontext() as server,
        ):
            place = server.database() if server else Path(folder) / "runs.db"
            found = soak(place, 0, given.seconds, arms=tuple(given.arms), every=given.every, rule=given.rule)
        store.data[database] = found
        store.save()
        print(database, json.dumps({k: v for k, v in found.items() if k != "machine"}), flush=True)


if __name__ == "__main__":
    main()
