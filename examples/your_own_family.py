"""
My samples have a distribution that is not shipped
==================================================

A machine is tried until it works. The sample is the number of failures before the first success, so it is geometric. A family with one
parameter is a class with a few functions of plain numbers.
"""

# %%
# ``kl`` is the divergence, ``step`` the ``q`` that minimises ``kl(p, q) - slope * q``, ``fisher`` the Fisher information, and ``estimate``
# the maximum likelihood estimate from the mean of the samples.

import math

import matplotlib.pyplot as plt

import linkarms as la


class Geometric(la.families.ScalarFamily):
    """Failures before the first success, by the probability of success."""

    name = "geometric"
    domain = (0.0, 1.0)
    open_domain = True
    support = "a whole number >= 0"

    @staticmethod
    def kl(p, q):
        """Divergence between two geometric distributions."""
        if q <= 0.0 or q >= 1.0:
            return math.inf
        return math.log(p / q) + (1 - p) / p * math.log((1 - p) / (1 - q))

    @staticmethod
    def step(p, slope):
        """The q that minimises ``kl(p, q) - slope * q``."""
        b = 1 / p - slope
        return 2 / (b + math.sqrt(b * b + 4 * slope))

    @staticmethod
    def fisher(p):
        """Fisher information."""
        return 1 / (p * p * (1 - p))

    @staticmethod
    def estimate(mean):
        """Maximum likelihood estimate."""
        return 1 / (1 + max(mean, 1e-9))

    def contains(self, values):
        """Which samples are possible."""
        return ((values >= 0) & (values == values.round())).all(axis=1)

    def draw(self, rng, theta, size):
        """Simulated samples."""
        return rng.geometric(theta[0], (size, 1)) - 1.0


# %%
# ``check_family`` compares the functions with each other and with simulated samples. It finds a wrong sign at once.

la.families.check_family(Geometric(), [0.1, 0.4, 0.8])

# %%
# Then the family works like any other.

machines = la.Problem([0.1, 0.12, 0.5, 0.55], n_clusters=2, family=Geometric(), arms=["m1", "m2", "m3", "m4"])
result = la.cluster(machines, delta=0.05)
print(result)
la.plots.plot_arms(result, machines.parameters)
plt.show()
