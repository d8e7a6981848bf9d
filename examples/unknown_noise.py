"""
My sensors have different noise, and I do not know how much
===========================================================

Six temperature sensors hang in three rooms. Some are precise, some are not, and nobody knows which. This is what the default family is for:
real numbers of unknown variance, each sensor with a variance of its own.
"""

# %%
# The truth, which the program does not see: the temperature and the noise of each sensor.

import matplotlib.pyplot as plt
import numpy as np

import linkarms as la

rng = np.random.default_rng(4)
sensors = {
    "a": (18.0, 0.3),
    "b": (18.4, 1.5),
    "c": (21.5, 0.4),
    "d": (21.8, 0.9),
    "e": (25.0, 1.0),
    "f": (25.3, 0.2),
}

run = la.BanditClusterer(n_clusters=3, arms=list(sensors), delta=0.05)
while not run.done:
    for name in run.ask():
        mean, noise = sensors[name]
        run.tell(name, rng.normal(mean, noise))
result = run.result()
print(result)

# %%
# The noisy sensors were read more often. ``to_frame`` gives the numbers.

print(result.to_frame().round(2))
la.plots.plot_pulls(result)
plt.show()
