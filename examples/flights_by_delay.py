"""
Which airlines are late equally often?
======================================

The package ships delays of flights from New York in 2013. We ask which of six airlines share a group when they are compared by the chance
that a flight arrives more than a quarter of an hour late.
"""

# %%
# "Late" is yes or no, so the family is ``bernoulli``: it assumes nothing but the chance itself. Delays in minutes have very heavy
# tails, so their mean does not describe a typical flight.

import matplotlib.pyplot as plt

import linkarms as la

flights = la.datasets.load_flights().dropna(subset=["arr_delay"])
flights = flights[flights["carrier"].isin(["AS", "DL", "US", "EV", "FL", "YV"])]
flights["late"] = (flights["arr_delay"] > 15).astype(float)

result = la.cluster(flights, n_clusters=2, arm="carrier", value="late", family="bernoulli", delta=0.1)
print(result)

# %%
# The two airlines on both sides of the gap got most of the samples. A flight is drawn from the records with replacement, so the answer is
# about these records. The warnings say the same: the records are in order of time, and days with many late flights follow each other.

la.plots.plot_arms(result)
plt.show()

# %%
la.plots.plot_pulls(result)
plt.show()
