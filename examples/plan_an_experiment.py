"""
How many samples will I need?
=============================

Before an experiment, guess the parameters. ``lower_bound`` says what no rule can avoid, and ``plan`` what each rule of the package needs
in simulated runs.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import linkarms as la

guess = [0.0, 0.5, 3.0, 3.4, 6.0]
bound = la.lower_bound(guess, n_clusters=3)
print(
    f"no rule can promise an error of at most 5% with fewer than {bound.samples(0.05):.0f} samples on average"
)

# %%
# The best rule spreads its samples like this:

fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.bar(range(len(guess)), bound.weights)
ax.set_xticks(range(len(guess)), [f"{g:g}" for g in guess])
ax.set_xlabel("guessed parameter of the arm")
ax.set_ylabel("share of the samples")
plt.show()

# %%
# What the rules of the package need, and how that depends on the error probability:

for delta in (0.1, 0.01):
    plan = la.plan(guess, n_clusters=3, delta=delta, stopping="anytime", trials=40)
    for row in plan.rows:
        print(
            f"delta = {delta:g}, {row.sampling}: {row.mean:.0f} samples on average, {row.q95:.0f} in 19 of 20 runs"
        )

# %%
# The larger the gap between the clusters, the fewer samples are needed:

gaps = np.linspace(1.0, 4.0, 13)
needed = [la.lower_bound([0.0, 0.5, 0.5 + g, 0.9 + g], n_clusters=2).samples(0.05) for g in gaps]
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.plot(gaps, needed, "o-")
ax.set_yscale("log")
ax.set_xlabel("gap between the clusters")
ax.set_ylabel("samples that no rule can avoid")
plt.show()
