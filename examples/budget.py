"""
I can pay for 300 samples. What do I get?
=========================================

If the budget ends before the rule stops, there is no promise. But the result says how far the run was from one: ``error_bound`` is the
smallest ``delta`` at which it would have stopped by now.
"""

# %%
import matplotlib.pyplot as plt

import linkarms as la

problem = la.Problem([0.0, 1.0, 3.0, 4.2], n_clusters=2, arms=["a", "b", "c", "d"])
recorder = la.plots.HistoryRecorder()
result = la.cluster(problem, delta=0.001, max_samples=300, seed=4, callback=recorder)
print(result)
print(f"stopped: {result.stopped}; error bound: {result.error_bound:.4f}")

# %%
# The evidence has not yet reached the threshold for ``delta = 0.001``.

la.plots.plot_evidence(recorder.history)
plt.show()

# %%
# How large should the budget have been? ``plan`` runs the rule many times on parameters that you guess.

plan = la.plan(
    problem.parameters, n_clusters=2, delta=0.001, stopping="anytime", sampling=["ebc-h"], trials=40
)
print(f"{plan.rows[0].q95:.0f} samples are enough in 19 of 20 runs")
