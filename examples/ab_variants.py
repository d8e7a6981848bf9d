"""
Which variants of a page convert alike?
=======================================

Eight variants of a sign-up page are online. A visitor signs up or does not, so a sample is 0 or 1 and the family is ``bernoulli``: nothing
is assumed but the probability. Which variants form the better group, and how few visitors does it take to know?
"""

# %%
# The conversion rates are made up here; in your experiment, a visitor is sent to the variant that ``ask`` names.

import matplotlib.pyplot as plt
import numpy as np

import linkarms as la

rates = {"A": 0.10, "B": 0.11, "C": 0.32, "D": 0.09, "E": 0.12, "F": 0.30, "G": 0.10, "H": 0.33}
rng = np.random.default_rng(1)

experiment = la.BanditClusterer(n_clusters=2, arms=list(rates), family="bernoulli", delta=0.05)
recorder = la.plots.HistoryRecorder()
while not experiment.done:
    for variant in experiment.ask():
        visitor_signs_up = rng.random() < rates[variant]
        experiment.tell(variant, float(visitor_signs_up))
    recorder(experiment)

result = experiment.result()
print(result)

# %%
# Visitors were not spread evenly: variants whose group was clear early were shown less often.

la.plots.plot_pulls(result)
plt.show()

# %%
# The run stopped when the evidence reached the threshold. The groups are wrong with probability at most 5%.

la.plots.plot_evidence(recorder.history)
plt.show()
