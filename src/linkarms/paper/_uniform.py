"""EBC from uniform weights: why EBC's random start matters where samples are few."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkarms.sampling import EBC

__all__ = ["UniformStartEBC"]


class UniformStartEBC(EBC):
    """EBC whose first weights ``w(0)`` are equal instead of drawn from the simplex.

    EBC samples in proportion to the average of all its weights so far, and these move slowly: the gradient of psi is of the
    size of a squared distance between parameters, the step ``c / sqrt(t)``. On a problem that is decided within a hundred
    samples, what is averaged is still close to ``w(0)``. A ``w(0)`` drawn uniformly from the simplex gives some arm very few
    samples, and that costs more than the steps gain.

    Examples
    --------
    >>> import numpy as np
    >>> from linkarms.paper import UniformStartEBC
    >>> UniformStartEBC().initial_weights(4, np.random.default_rng(0)).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """

    name = "ebc-uniform"

    def initial_weights(self, n_arms: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return equal weights."""
        return np.full(n_arms, 1.0 / n_arms)
