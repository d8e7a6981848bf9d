"""What a run returns."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkarms._witness import Tie, Witness, read_witness
from linkarms._words import plural
from linkarms.errors import InvalidInput

if TYPE_CHECKING:
    from linkarms.checks import Finding, ModelFit
    from linkarms.regions import Intervals

__all__ = ["Cut", "Known", "Result", "Tie", "Witness", "table_of", "would_stop_at"]


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


def table_of(result: Result) -> dict[str, list[Any]]:
    """Return the columns of `Result.to_frame`; arms without a sample have None as their estimates, and NaN as the ends of intervals."""
    columns: dict[str, list[Any]] = {
        "arm": list(result.arms),
        "cluster": result.labels.tolist(),
        "pulls": result.pulls.tolist(),
    }
    d = result.parameters.shape[1]
    for i in range(d):
        columns[f"parameter_{i}"] = result.parameters[:, i].tolist()
    if result.intervals is not None:
        for i in range(d):
            columns[f"low_{i}"], columns[f"high_{i}"] = result.intervals[:, i, :].T.tolist()
    return columns


@dataclass(frozen=True)
class Cut:
    """The single-linkage clusters at one number of clusters.

    Attributes
    ----------
    n_clusters : int
        K.
    labels : ndarray of int, shape (M,)
        Cluster of each arm, 0..K-1 in order of first appearance.

    Examples
    --------
    >>> import linkarms as la
    >>> result = la.cluster(la.Problem([0.0, 0.3, 9.0], n_clusters=2))
    >>> [(cut.n_clusters, cut.labels.tolist()) for cut in result.cuts]
    [(2, [0, 0, 1])]
    """

    n_clusters: int
    labels: NDArray[np.int64]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {"n_clusters": self.n_clusters, "labels": self.labels.tolist()}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Cut:
        """Read what `to_dict` returned."""
        return cls(int(data["n_clusters"]), np.array(data["labels"], dtype=np.int64))


@dataclass(frozen=True)
class Known:
    """Known cuts, with the interface of cuts that are computed on demand."""

    value: tuple[Cut, ...]

    def __call__(self) -> tuple[Cut, ...]:
        """Return them."""
        return self.value


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
        The estimates have equal edges at the cut, so their partition is not unique.
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
        Arms closer than this are joined, where that was given in place of a number of clusters.
    tolerance : float
        Differences of distances below this do not matter.
    costs : ndarray, shape (M,), or None
        What a sample of each arm costs; None where no costs were given.
    tie : Tie or None
        The gap that keeps the run from stopping, with an interval, and the samples that it would take. None after a stop, with a tolerance,
        under a rule of your own, and where arms without evidence keep the run from stopping: `reason` names them.

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
    costs: NDArray[np.float64] | None = None
    tie: Tie | None = None
    later_cuts: Callable[[], tuple[Cut, ...]] | None = field(default=None, repr=False, compare=False)

    @property
    def has_cuts(self) -> bool:
        """Whether the result has `cuts`: one that was stored with more than 200 arms does not."""
        return self.later_cuts is not None

    @property
    def has_quick_cuts(self) -> bool:
        """Whether `cuts` can be computed within some ten milliseconds."""
        return self.has_cuts and len(self.arms) <= 200

    @property
    def cuts(self) -> tuple[Cut, ...]:
        """Every cut into 2 to M - 1 clusters that is certified now, the fewest clusters first; computed when first asked for.

        With probability at least ``1 - delta``, every cut that is ever listed here is the true one, for all numbers of clusters and
        at all times together. So K may be chosen after seeing the data. This has a delta of its own: relying on `labels` of a run
        with a fixed K *and* on `cuts` means ``2 delta``.
        """
        if self.later_cuts is None:
            raise InvalidInput(
                f"this result of {len(self.arms)} arms was stored without its certified cuts; use that of a run in memory"
            )
        return self.later_cuts()

    @property
    def linkage_matrix(self) -> NDArray[np.float64]:
        """Single linkage of the estimates in the format of `scipy.cluster.hierarchy`, shape (M - 1, 4).

        Once every arm has a sample; before that `InvalidInput`.
        """
        from linkarms.linkage import linkage_matrix

        masked = np.ma.getmaskarray(self.parameters).any(axis=1)
        if masked.any():
            arm = self.arms[int(np.flatnonzero(masked)[0])]
            raise InvalidInput(
                f"arm {arm!r} has no sample, so there is no linkage of all arms yet; sample it first"
            )
        return linkage_matrix(np.ma.getdata(self.parameters))

    @property
    def cost(self) -> float:
        """What the samples cost in all: their number where no costs were given."""
        return float(self.samples if self.costs is None else self.pulls @ self.costs)

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

        With probability at least ``1 - delta`` all of them contain their parameters at all times. An arm without a sample has NaN.
        """
        return None if self.regions is None else self.regions.box

    def to_dict(self, *, cuts: bool = False) -> dict[str, Any]:
        """Return plain data for JSON: lists, numbers, strings; ``None`` for what is unknown or infinite.

        Parameters
        ----------
        cuts : bool, default False
            Also `cuts`, which take a while where there are hundreds of arms.
        """

        def finite(x: float) -> float | None:
            return float(x) if np.isfinite(x) else None

        names = [a if isinstance(a, (int, float, bool)) or a is None else str(a) for a in self.arms]
        by_arm = dict(zip(self.arms, names, strict=True))

        def pairs(found: Witness) -> dict[str, Any]:
            return {
                kind: None if pair is None else [by_arm[m] for m in pair]
                for kind, pair in (("intra", found.intra), ("inter", found.inter))
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
            "witness": None if self.witness is None else pairs(self.witness),
            "reason": self.reason,
            "ambiguous": self.ambiguous,
            "error_bound": self.error_bound,
            "distance_threshold": self.distance_threshold,
            "tolerance": self.tolerance,
            "cost": self.cost,
            "costs": None if self.costs is None else self.costs.tolist(),
            "tie": None if self.tie is None else pairs(self.tie.witness) | self.tie.to_dict(),
            **({"cuts": [cut.to_dict() for cut in self.cuts]} if cuts else {}),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Result:
        """Read what `to_dict` returned; ``None`` is infinite for evidence and threshold, and masked for parameters."""
        rows = [[np.nan if x is None else x for x in row] for row in data["parameters"]]
        parameters: NDArray[np.float64] = np.array(rows, dtype=np.float64).reshape(len(data["arms"]), -1)
        pairs, tie, cuts, costs = (data.get(name) for name in ("witness", "tie", "cuts", "costs"))
        read: dict[str, Any] = {f.name: data[f.name] for f in fields(cls) if f.name in data}
        read |= {name: np.array(data[name], dtype=np.int64) for name in ("labels", "pulls")}
        read |= {name: np.inf if data[name] is None else data[name] for name in ("evidence", "threshold")}
        read["arms"] = tuple(data["arms"])
        read["parameters"] = np.ma.masked_invalid(parameters) if np.isnan(parameters).any() else parameters
        read["witness"] = None if pairs is None else read_witness(pairs)
        read["tie"] = None if tie is None else Tie.from_dict(tie)
        read["costs"] = None if costs is None else np.array(costs, dtype=np.float64)
        if cuts is not None:
            read["later_cuts"] = Known(tuple(Cut.from_dict(cut) for cut in cuts))
        return cls(**read)

    def to_frame(self) -> Any:
        """Return one row per arm as a pandas, polars or pyarrow frame, the first of them that is installed.

        Columns: ``arm, cluster, pulls``; for each coordinate ``parameter_0``, and ``low_0`` and ``high_0``, the ends of its interval
        (`intervals`), where there is one.
        """
        from linkarms.arms import make_frame

        return make_frame(table_of(self))

    def _repr_html_(self) -> str:
        from linkarms.notebook import result_html

        return result_html(self)

    def __str__(self) -> str:
        price = "" if self.costs is None else f" that cost {self.cost:,.6g}"
        found, samples = plural(len(self.clusters), "cluster"), plural(self.samples, "sample")
        head = f"{found}, {samples}{price}: {self.reason}"
        clusters = [f"  {k}: {', '.join(map(str, c))}" for k, c in enumerate(self.clusters)]
        return "\n".join([head, *clusters, *(f"warning: {text}" for text in self.warnings)])
