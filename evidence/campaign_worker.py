"""One worker of a campaign under load: asks, tells and adds, and keeps a journal, from which its successor goes on after a kill.

A line is written before a request and another one after its answer. Whatever was answered has to be in the campaign once; whatever was
written down and not answered is requested again, with the same key and the same values, and has to be there once too.
"""

import json
import os
import tempfile
from importlib import import_module
from pathlib import Path

import numpy as np

import linkarms as la
from linkarms.campaign import Campaign


def settings():
    """Four arms that are too close for the run to stop."""
    return {
        "arms": ["ada", "ben", "cy", "dot"],
        "n_clusters": 2,
        "family": "gaussian",
        "delta": 1e-300,
        "stopping": la.stopping.Paper(theta=(-10, 10)),
    }


class Journal:
    """Lines of JSON in a file that survives a kill."""

    def __init__(self, path):
        self.path = Path(path)
        self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        text = self.path.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]  # a line that was cut off counts as not written
        # never rewritten: a kill between emptying and writing would lose what was acknowledged
        os.ftruncate(self._file, len(whole))
        self.lines = [json.loads(line) for line in whole.splitlines()]

    def write(self, *line):
        os.write(self._file, json.dumps(line).encode() + b"\n")
        self.lines.append(line)


def run_worker(url, name, number, folder, lease):
    """Go on until the file ``stop`` is there."""
    journal = Journal(Path(folder) / f"worker-{number}")
    try:
        campaign = Campaign.open(name, storage=url)
        rng = np.random.default_rng([number, len(journal.lines)])
        while True:
            last = journal.lines[-1] if journal.lines else ("told", None)
            if last[0] in ("told", "added"):
                if (Path(folder) / "stop").exists():
                    return
                key = f"{number}-{len(journal.lines)}"
                if rng.random() < 0.1:
                    journal.write("add", key, str(rng.choice(["ada", "dot"])), rng.normal())
                else:
                    journal.write("ask", key, int(rng.choice([1, 1, 1, 2, 12])))
            elif last[0] == "add":
                _, key, arm, value = last
                receipt = campaign.add(arm, value, worker=f"w{number}", key=key)
                journal.write("added", key, receipt.ticket)
            elif last[0] == "ask":
                _, key, n = last
                tickets = campaign.ask(n, worker=f"w{number}", lease=lease, key=key)
                journal.write("got", key, [t.id for t in tickets])
            elif last[0] == "got":
                journal.write("tell", last[1], [[ticket, rng.normal()] for ticket in last[2]])
            elif last[0] == "tell":
                pairs = last[2]
                campaign.tell_many([t for t, _ in pairs], [v for _, v in pairs])
                journal.write("told", last[1])
    except BaseException as error:
        journal.write("error", f"{type(error).__name__}: {error}")
        raise


def warm_up():
    """Load the compiled kernels and the drivers, so that a fork has them."""
    import_module("psycopg")
    with (
        tempfile.TemporaryDirectory() as folder,
        Campaign.create("warm", storage=f"{folder}/warm.db", **settings()) as campaign,
    ):
        campaign.tell_many(campaign.ask(8), [0.0] * 8)


if os.environ.get("LINKARMS_WARM_UP"):  # set for the process from which workers are forked
    warm_up()
