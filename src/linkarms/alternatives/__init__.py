"""The alternatives to a partition: psi, the cheapest one and its certificate."""

from linkarms.alternatives._closure import Closure
from linkarms.alternatives._exact import psi, solve_psi_exact
from linkarms.alternatives._psi import Psi, is_alternative, named_pair, solve_psi
from linkarms.alternatives._separate import separate

__all__ = [
    "Closure",
    "Psi",
    "is_alternative",
    "named_pair",
    "psi",
    "separate",
    "solve_psi",
    "solve_psi_exact",
]
