"""
I do not know how many clusters there are
=========================================

Often nobody knows the number of clusters, but everybody knows which difference matters. Six scales weigh the same piece. Two scales that
agree to within half a gram are as good as one, directly or by way of others in between. How many kinds of scales are there?
"""

# %%
# ``distance_threshold`` takes the place of ``n_clusters``, as in scikit-learn. ``tolerance`` says how exactly the threshold is
# meant: gaps between 0.45 and 0.55 g may be counted either way, so the run ends even if a gap is exactly 0.5 g.

import matplotlib.pyplot as plt
import numpy as np

import linkarms as la

rng = np.random.default_rng(6)
offset = {"A": 0.0, "B": 0.2, "C": 1.4, "D": 1.5, "E": 1.7, "F": 3.0}  # grams, unknown to the program
run = la.BanditClusterer(arms=list(offset), distance_threshold=0.5, tolerance=0.05, delta=0.05)
while not run.done:
    for scale in run.ask():
        run.tell(scale, rng.normal(offset[scale], 0.4))
result = run.result()
print(result)

# %%
# There are three kinds of scales. The run found this number, and the promise covers it.

la.plots.plot_arms(result)
plt.show()

# %%
la.plots.plot_dendrogram(result)
plt.show()
