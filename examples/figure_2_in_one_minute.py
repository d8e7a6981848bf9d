"""
The paper's Figure 2 in one minute
==================================

Figure 2 of *Efficient Clustering in Stochastic Bandits* shows the samples at the stop against the error probability. The paper averages 300
runs of EBC-H; a few are enough to see that the curves agree.
"""

# %%
# The package holds every coordinate of the paper's figures. We run EBC-H with the paper's stopping rule at the paper's values of ``delta``.

import matplotlib.pyplot as plt
import numpy as np

import linkarms as la
from linkarms.paper import published

curve = published.curve("figure2", "ebc-h", theta=(-5.0, 5.0), epsilon=0.01)
deltas = np.exp(-np.asarray(curve.x))
rule = la.stopping.Paper(theta=curve.theta, epsilon=curve.epsilon)
simulation = la.simulate(
    la.problems.synthetic1(), ["ebc-h"], stopping=rule, deltas=deltas, trials=10, seed=1, max_samples=200_000
)

# %%
times = simulation["ebc-h"].stopping_times
fig, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
ax.plot(curve.x, curve.samples, "s--", label=f"the paper, {curve.trials} runs")
error = times.std(axis=0, ddof=1) / np.sqrt(len(times))
ax.errorbar(curve.x, times.mean(axis=0), 2 * error, fmt="o-", capsize=3, label="linkarms, 10 runs")
ax.set_xlabel("log(1 / delta)")
ax.set_ylabel("samples at the stop")
ax.legend()
plt.show()

ratio = times.mean(axis=0) / np.asarray(curve.samples)
print(f"difference from the paper, on average over the curve: {100 * (ratio.mean() - 1):+.1f}%")
