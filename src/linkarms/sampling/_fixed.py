"""A fixed number of samples of each arm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linkarms._validate import check_count
from linkarms.sampling._rules import RoundRobin

if TYPE_CHECKING:
    from linkarms.stopping import StoppingRule

__all__ = ["FixedSize"]


class FixedSize(RoundRobin):
    """The same number of samples of each arm, then single linkage: the paper's FSS, printed there.

    Its own stop, ``stopping=None``, comes after ``size`` samples of each arm and promises nothing: how often it is wrong has to be
    measured. `linkarms.montecarlo.fixed_size_errors` measures many sizes at once.

    Parameters
    ----------
    size : int, default 100
        Samples of each arm.

    Examples
    --------
    >>> import linkarms as la
    >>> r = la.cluster(la.problems.synthetic1(), sampling=la.sampling.FixedSize(50), stopping=None, seed=1)
    >>> r.samples, r.reason
    (300, 'stopped: 50 samples of each arm were asked for; nothing is promised')
    """

    name = "fixed"
    baseline = True

    def __init__(self, size: int = 100) -> None:
        self.size = check_count("size", size)

    def own_stopping(self) -> StoppingRule:
        """Return a rule that stops after ``size`` samples of each arm."""
        from linkarms.stopping import SampleSize

        return SampleSize(self.size)

    def to_dict(self) -> dict[str, Any]:
        """Return name and size."""
        return {"name": self.name, "size": self.size}
