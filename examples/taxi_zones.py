"""
Which taxi zones have similar waiting times?
============================================

A sample of the pickups in six zones of New York ships with the package: one row per pickup, with the seconds since the last one in that
zone. Do the zones fall into two groups, and how many pickups does it take to be sure?
"""

# %%
# Gaps between pickups are very skewed, so we take their logarithm: a group is then a group of *typical* waiting times. No variance is
# known, and without ``family`` none has to be.

import matplotlib.pyplot as plt
import numpy as np

import linkarms as la

pickups = la.datasets.load_taxi_sample()
pickups["log10 of seconds"] = np.log10(pickups["gap"].clip(lower=1))
print(pickups.groupby("zone")["gap"].describe()[["count", "50%", "mean"]].round())

# %%
# ``cluster`` draws one pickup at a time, from the zone whose next sample is most informative.

recorder = la.plots.HistoryRecorder()
result = la.cluster(
    pickups, n_clusters=2, arm="zone", value="log10 of seconds", delta=0.05, callback=recorder
)
print(result)

# %%
# The warnings say where the samples contradict the family: neighbouring waiting times are alike, and some logarithms are more extreme than
# Gaussian ones. So take the error probability with caution here.
#
# Two zones in East Harlem have the short waiting times. The picture shows the estimates, the tree that single linkage makes of them,
# how the evidence grew, and where the samples went.

la.plots.summary(result, recorder.history)
plt.show()
