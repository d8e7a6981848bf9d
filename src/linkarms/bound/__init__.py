"""The lower bound on the number of samples: T*, as a certified bracket, and the weights that attain it."""

from linkarms.bound._bound import Active, Bound, lower_bound

__all__ = ["Active", "Bound", "lower_bound"]
