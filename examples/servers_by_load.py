"""
Which servers are equally loaded?
=================================

Each request for a server's CPU load costs a little, and the load jumps around. It is a percentage, and that is all we want to assume: the
family ``bounded:0:100`` needs the range and nothing else.
"""

# %%
# Eight servers, simulated: most are idle with bursts, three are busy. ``cluster`` takes functions, one per server.

from functools import partial

import matplotlib.pyplot as plt
import numpy as np

import linkarms as la

rng = np.random.default_rng(3)
loads = {"web1": 12, "web2": 14, "web3": 11, "db1": 71, "db2": 68, "cache": 13, "batch": 73, "mail": 15}


def read_load(mean):
    """One reading: skewed, between 0 and 100, with this mean."""
    return 100 * rng.beta(mean / 10, (100 - mean) / 10)


servers = {name: partial(read_load, mean) for name, mean in loads.items()}
result = la.cluster(servers, n_clusters=2, family="bounded:0:100", delta=0.05)
print(result)

# %%
la.plots.plot_arms(result)
plt.show()
