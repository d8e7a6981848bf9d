"""The alternatives to a partition: psi, the cheapest one and its certificate."""

from linkarms.alternatives._psi import Psi, is_alternative, psi, solve_psi

__all__ = ["Psi", "is_alternative", "psi", "solve_psi"]
