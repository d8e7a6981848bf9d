"""
Three people measure at the same time
=====================================

A *campaign* is a run in a database. Several workers ask it what to measure and tell what they found, in any order. It survives crashes, and
it counts every sample once.
"""

# %%
# Here three threads stand for three people in the laboratory; they could as well be processes on three machines.

import io
import tempfile
import threading
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import linkarms as la
from linkarms.campaign import Campaign

strength = {"alloy A": 5.0, "alloy B": 5.4, "alloy C": 9.0, "alloy D": 9.3, "alloy E": 2.0}
storage = str(Path(tempfile.mkdtemp()) / "lab.db")
Campaign.create("alloys", list(strength), 3, storage=storage, delta=0.05)


def work(name, seed):
    """Measure until the campaign has nothing more to ask."""
    rng = np.random.default_rng(seed)
    campaign = Campaign.open("alloys", storage=storage)
    while tickets := campaign.ask(2, worker=name):
        for ticket in tickets:
            campaign.tell(ticket.id, rng.normal(strength[ticket.arm]))


workers = [threading.Thread(target=work, args=(name, seed)) for seed, name in enumerate(["Ida", "Jo", "Kim"])]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()

# %%
# The result, and who measured what. Samples that arrived after the stop are kept in the log and do not change the answer.

campaign = Campaign.open("alloys", storage=storage)
print(campaign.result())
samples = pd.read_csv(io.StringIO(campaign.export("csv")))
print(samples.groupby(["worker", "arm"]).size().unstack(fill_value=0))

# %%
# The dendrogram shows at which distance alloys join.

la.plots.plot_dendrogram(campaign.result())
plt.show()
