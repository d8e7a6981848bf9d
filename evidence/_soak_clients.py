"""Clients of the soak: processes whose threads read and write campaigns over HTTP, and remember what was acknowledged."""

import threading
import time
from collections import Counter

import numpy as np

from linkarms.client import Client

#: What a client does, and how often. A look at the view is what the page does; every ask is followed by its tell.
MIX = {"status": 0.3, "view": 0.2, "result": 0.05, "history": 0.05, "ask": 0.25, "add": 0.15}


class Tally:
    """What the threads of a process know: values by campaign and ticket, how often each ticket was given out, times by kind."""

    def __init__(self):
        self.lock = threading.Lock()
        self.told, self.given, self.wrong = {}, Counter(), []
        self.times = {}


def run_client(seed, urls, campaigns, end, tally):
    """One connection: does one thing after the other until the end."""
    rng = np.random.default_rng(seed)
    url = urls[int(rng.integers(len(urls)))]
    clients = {name: Client(name, url, patience=300, timeout=120) for name in campaigns}
    kinds, weights = list(MIX), np.array(list(MIX.values()))
    try:
        while time.time() < end and not tally.wrong:
            name = list(campaigns)[int(rng.integers(len(campaigns)))]
            kind = str(rng.choice(kinds, p=weights))
            began = time.perf_counter()
            _send(kind, clients[name], name, campaigns[name], rng, tally)
            with tally.lock:
                tally.times.setdefault(kind, []).append(time.perf_counter() - began)
    except BaseException as error:
        tally.wrong.append(f"{type(error).__name__}: {error}")
    finally:
        for client in clients.values():
            client.close()


def _send(kind, client, name, arms, rng, tally):
    if kind == "view":
        client._campaign("GET", "/view", None, dict)
    elif kind == "history":
        client.history(limit=50)
    elif kind == "add":
        which = [arms[i] for i in rng.integers(len(arms), size=int(rng.choice([1, 5, 50])))]
        values = [_value(arm, rng) for arm in which]
        _remember(tally, name, [r.ticket for r in client.add_many(which, values, worker="soak")], values)
    elif kind == "ask":
        tickets = client.ask(int(rng.choice([1, 1, 2, 8])), worker="soak")
        values = [_value(ticket.arm, rng) for ticket in tickets]
        if tickets:
            client.tell_many(tickets, values)
            _remember(tally, name, [ticket.id for ticket in tickets], values)
    else:
        getattr(client, kind)()


def _value(arm, rng):
    """Arms are called ``arm 17 of 3``: the last word is the cluster."""
    return float(5.0 * int(arm.rpartition(" ")[2]) + rng.normal())


def _remember(tally, name, tickets, values):
    with tally.lock:
        tally.given.update((name, ticket) for ticket in tickets)
        tally.told |= {(name, ticket): value for ticket, value in zip(tickets, values, strict=True)}


def run_clients(n, seed, urls, campaigns, end, queue):
    """The connections of one process."""
    tally = Tally()
    threads = [
        threading.Thread(target=run_client, args=([seed, i], urls, campaigns, end, tally)) for i in range(n)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    queue.put((tally.told, tally.given, tally.wrong, tally.times))
