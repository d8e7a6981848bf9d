"""What a run returns."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from linkarms.checks import Finding, ModelFit
    from linkarms.regions import Intervals

__all__ = ["Result", "Witness", "would_stop_at"]


def would_stop_at(error_bound: float, ended: bool = False) -> str:
    """Say in words at which delta a run would stop now, or would have stopped; rounded up to two digits.

    Examples
    --------
    >>> would_stop_at(0.2049)
    'would stop at delta = 0.21'
    >>> would_stop_at(1.0, ended=True)
    'would not have stopped at any delta'
    """
    would = "have stopped" if ended else "stop"
    if error_bound >= 1.0:
        return f"would not {would} at any delta"
    if error_bound <= 0.0:
        return f"would {would} at any delta"
    unit = 10.0 ** (math.floor(math.log10(error_bound)) - 1)
    return f"would {would} at delta = {math.ceil(error_bound / unit * (1.0 - 1e-9)) * unit:.2g}"


@dataclass(frozen=True)
class Witness:
    """The least certain pair of pairs, by the names of the arms.

    ``intra`` is a pair inside one cluster and ``inter`` a pair from two clusters. The partition would be another one if
    the arms of ``intra`` were at least as far apart as those of ``inter``; no other such change is as well supported by
    the samples. Under a distance threshold there is only one of the pairs, the other is None: its arms might be closer, or
    farther apart, than the threshold.

    Examples
    --------
    >>> print(Witness(("a", "b"), ("b", "c")))
    a and b (together) against b and c (apart)
    """

    intra: tuple[Hashable, Hashable] | None
    inter: tuple[Hashable, Hashable] | None

    def __str__(self) -> str:
        words = []
        if self.intra is not None:
            words.append(f"{self.intra[0]} and {self.intra[1]} (together)")
        if self.inter is not None:
            words.append(f"{self.inter[0]} and {self.inter[1]} (apart)")
        return " against ".join(words)


@dataclass(frozen=True)
class Result:
    """The clusters, and what is known about them.

    Attributes
    ----------
    labels : ndarray of int, shape (M,)
        Cluster of each arm, 0..K-1 in order of first appearance. Before every arm has a sample: all ``-1`` unless K is 1
        or M.
    arms : tuple
        The names of the arms, in the order of `labels`.
    stopped : bool
        The stopping rule fired: the labels are wrong with probability at most `delta`. When false there is no promise.
    delta : float
        The promised error probability.
    samples : int
        Samples used by the answer, of all arms together.
    pulls : ndarray of int, shape (M,)
        Samples of each arm.
    parameters : ndarray, shape (M, d)
        The estimates. Arms without a sample are masked (the array is then a masked array).
    evidence, threshold : float
        The statistic of the stopping rule and the level it has to reach.
    witness : Witness or None
        The least certain pair of pairs.
    reason : str
        Why the run stopped, or why it has not, in words.
    ambiguous : bool
        The estimates have equal edges at the cut, so that their partition is not unique.
    error_bound : float or None
        The smallest delta at which the rule would stop now, 1 if there is none below 1; None for a rule that is asked in
        Python. For each delta fixed beforehand, the chance that a wrong partition is ever named while this is at most
        delta, is at most delta. It is not the probability that these labels are wrong: see docs/what-if-i-stop-early.md.
    fit : ModelFit or None
        The samples beside their families, for `checks` and `linkarms.plots.plot_fit`.
    regions : Intervals or None
        What `intervals` is computed from.
    features : tuple of str or None
        Names of the coordinates, where the samples came from columns with names.
    distance_threshold : float or None
        The distance from which on arms are not joined, where that was given in place of a number of clusters.
    tolerance : float
        Differences of distances below this do not matter.

    Examples
    --------
    >>> import linkarms as la
    >>> result = la.cluster(la.problems.synthetic1(), delta=0.1)
    >>> result.stopped, result.labels.tolist(), result.clusters
    (True, [0, 0, 1, 1, 2, 2], [[0, 1], [2, 3], [4, 5]])
    >>> result.samples == int(result.pulls.sum())
    True
    """

    labels: NDArray[np.int64]
    arms: tuple[Hashable, ...]
    stopped: bool
    delta: float
    samples: int
    pulls: NDArray[np.int64]
    parameters: NDArray[np.float64]
    evidence: float
    threshold: float
    witness: Witness | None
    reason: str
    ambiguous: bool = False
    error_bound: float | None = None
    fit: ModelFit | None = field(default=None, repr=False, compare=False)
    regions: Intervals | None = field(default=None, repr=False, compare=False)
    features: tuple[str, ...] | None = None
    distance_threshold: float | None = None
    tolerance: float = 0.0

    @property
    def clusters(self) -> list[list[Hashable]]:
        """The names of the arms of each cluster."""
        known = [int(k) for k in self.labels]
        return [
            [arm for arm, label in zip(self.arms, known, strict=True) if label == k]
            for k in range(max(known, default=-1) + 1)
        ]

    @property
    def checks(self) -> tuple[Finding, ...]:
        """What in the samples contradicts the family, with what it means and what to use instead; see `linkarms.checks`.

        Empty where nothing does. A run looks at the first 2,000 samples of each arm, or at all records of a table.
        """
        return () if self.fit is None else self.fit.findings

    @property
    def warnings(self) -> list[str]:
        """The `checks` in words, one line each."""
        return [str(finding) for finding in self.checks]

    @property
    def intervals(self) -> NDArray[np.float64] | None:
        """Confidence intervals of the parameters, shape (M, d, 2); None where the family has none.

        With probability at least ``1 - delta`` all of them hold their parameters at all times. An arm without a sample has NaN.
        """
        return None if self.regions is None else self.regions.box

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: lists, numbers, strings; ``None`` for what is unknown or infinite."""

        def finite(x: float) -> float | None:
            return float(x) if np.isfinite(x) else None

        names = [a if isinstance(a, (int, float, bool)) or a is None else str(a) for a in self.arms]
        by_arm = dict(zip(self.arms, names, strict=True))
        witness = None
        if self.witness is not None:
            witness = {
                kind: None if pair is None else [by_arm[m] for m in pair]
                for kind, pair in (("intra", self.witness.intra), ("inter", self.witness.inter))
            }
        return {
            "labels": self.labels.tolist(),
            "arms": names,
            "clusters": [[by_arm[m] for m in group] for group in self.clusters],
            "stopped": self.stopped,
            "delta": self.delta,
            "samples": self.samples,
            "pulls": self.pulls.tolist(),
            "parameters": self.parameters.tolist(),
            "evidence": finite(self.evidence),
            "threshold": finite(self.threshold),
            "witness": witness,
            "reason": self.reason,
            "ambiguous": self.ambiguous,
            "error_bound": self.error_bound,
            "distance_threshold": self.distance_threshold,
            "tolerance": self.tolerance,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Result:
        """Read what `to_dict` returned; ``None`` is infinite for evidence and threshold, and masked for parameters."""
        rows = [[np.nan if x is None else x for x in row] for row in data["parameters"]]
        parameters: NDArray[np.float64] = np.array(rows, dtype=np.float64).reshape(len(data["arms"]), -1)
        pairs = data["witness"]
        read: dict[str, Any] = {f.name: data[f.name] for f in fields(cls) if f.name in data}
        read |= {name: np.array(data[name], dtype=np.int64) for name in ("labels", "pulls")}
        read |= {name: np.inf if data[name] is None else data[name] for name in ("evidence", "threshold")}
        read["arms"] = tuple(data["arms"])
        read["parameters"] = np.ma.masked_invalid(parameters) if np.isnan(parameters).any() else parameters
        read["witness"] = (
            None
            if pairs is None
            else Witness(
                *(None if pair is None else (pair[0], pair[1]) for pair in (pairs["intra"], pairs["inter"]))
            )
        )
        return cls(**read)

    def to_frame(self) -> Any:
        """Return one row per arm as a pandas, polars or pyarrow frame, the first of them that is installed.

        Columns: ``arm, cluster, pulls``; for each coordinate ``parameter_0``, and ``low_0`` and ``high_0``, the ends of its interval
        (`intervals`), where there is one.
        """
        from linkarms.arms import make_frame

        columns: dict[str, Any] = {
            "arm": list(self.arms),
            "cluster": self.labels.tolist(),
            "pulls": self.pulls.tolist(),
        }
        d = self.parameters.shape[1]
        for i in range(d):
            columns[f"parameter_{i}"] = self.parameters[:, i].tolist()
        if self.intervals is not None:
            for i in range(d):
                columns[f"low_{i}"], columns[f"high_{i}"] = self.intervals[:, i, :].T.tolist()
        return make_frame(columns)

    def _repr_html_(self) -> str:
        from linkarms.notebook import result_html

        return result_html(self)

    def __str__(self) -> str:
        head = f"{len(self.clusters)} clusters, {self.samples} samples: {self.reason}"
        clusters = [f"  {k}: {', '.join(map(str, c))}" for k, c in enumerate(self.clusters)]
        return "\n".join([head, *clusters, *(f"warning: {text}" for text in self.warnings)])
