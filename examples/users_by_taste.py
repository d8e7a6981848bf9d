"""
Which users share a taste?
==========================

A service asks users to rate films. A user's taste is their mean rating of drama and of action, so a sample is a vector of two numbers. How
many ratings does it take to find users of similar taste?
"""

# %%
# The ratings of MovieLens may not be redistributed. Where its files are available (in the folder that the variable ``LINKARMS_MOVIELENS``
# names), they are used; elsewhere the ratings are simulated from the tastes below, in steps of half a star.

import os

import matplotlib.pyplot as plt
import numpy as np

import linkarms as la

folder = os.environ.get("LINKARMS_MOVIELENS")
rng = np.random.default_rng(2)
tastes = {"Ana": (4.5, 2.0), "Bo": (4.3, 2.2), "Cem": (2.0, 4.4), "Dia": (2.2, 4.1), "Eli": (3.4, 3.4)}


def rate(user):
    """One rating of a drama and one of an action film."""
    return np.clip(np.round(2 * rng.normal(tastes[user], 0.7)) / 2, 0.5, 5.0)


if folder:
    experiment = la.paper.run_movielens(folder, trials=50)
    print(experiment)
else:
    ratings = {user: np.array([rate(user) for _ in range(400)]) for user in tastes}
    result = la.cluster(ratings, n_clusters=3, delta=0.05, seed=1)
    print(result)

# %%
# Estimates in the plane, coloured by cluster.

if not folder:
    ax = la.plots.plot_arms(result)
    ax.set_xlabel("mean rating of drama")
    ax.set_ylabel("mean rating of action")
    plt.show()
