"""Pairs of pairs of arms, by the names of the arms: the least certain one, and one that heads for a tie."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from linkarms._words import MOST_SAMPLES, number_of_samples

__all__ = ["Tie", "Witness", "name_witness", "read_witness"]


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


def name_witness(pairs: Sequence[int], arms: Sequence[Hashable]) -> Witness:
    """Return the witness whose arms are at these places, the pair inside a cluster first; -1 for a pair that is missing."""
    u, v, a, b = (arms[m] if m >= 0 else None for m in pairs)
    return Witness((u, v) if pairs[0] >= 0 else None, (a, b) if pairs[2] >= 0 else None)


def read_witness(data: dict[str, Any]) -> Witness:
    """Read the two pairs of a dictionary; None where there is none."""
    return Witness(*(None if pair is None else (pair[0], pair[1]) for pair in (data["intra"], data["inter"])))


@dataclass(frozen=True)
class Tie:
    """The gap that decides a run: at 0 the arms of `witness` are tied, and no number of samples is enough.

    Attributes
    ----------
    witness : Witness
        The pair of pairs whose distances are compared; under a distance threshold the one pair whose distance is compared with it.
    gap : float
        By how much the pair from two clusters is farther apart than the pair inside one, by the estimates. Under a distance threshold: by
        how much it is farther apart than the threshold, or the pair inside a cluster closer.
    low, high : float
        Two standard errors to either side, not below 0.
    samples : float
        About how many samples the run takes in all if the gap is what it is estimated to be; infinite where it is 0.
    distance_threshold : float or None
        The distance threshold, where that was given in place of a number of clusters.

    Examples
    --------
    >>> from linkarms.result import Tie, Witness
    >>> print(Tie(Witness(("a", "b"), ("b", "c")), gap=0.02, low=0.0, high=0.3, samples=180_000.0))
    b and c are 0.02 (0 to 0.3) farther apart than a and b, and such a gap takes about 180,000 samples
    """

    witness: Witness
    gap: float
    low: float
    high: float
    samples: float
    distance_threshold: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data for JSON; None for what is infinite."""
        ends = {name: getattr(self, name) for name in ("gap", "low", "high", "samples")}
        plain = {name: x if math.isfinite(x) else None for name, x in ends.items()}
        return plain | {"distance_threshold": self.distance_threshold}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Tie:
        """Read what `Result.to_dict` says of a tie."""
        ends = {name: data[name] for name in ("gap", "low", "high", "samples")}
        known = {name: math.inf if x is None else float(x) for name, x in ends.items()}
        return cls(read_witness(data), **known, distance_threshold=data.get("distance_threshold"))

    def __str__(self) -> str:
        other = f"the distance threshold {self.distance_threshold:g}" if self.distance_threshold else ""
        intra, inter = (
            " and ".join(map(str, pair or ())) for pair in (self.witness.intra, self.witness.inter)
        )
        gap = f"{self.gap:.3g} ({self.low:.2g} to {self.high:.2g})"
        what = (
            f"{inter} are {gap} farther apart than {intra or other}"
            if inter
            else f"{intra} are {gap} closer than {other}"
        )
        if not math.isfinite(self.samples):
            return f"{what}, and a gap of 0 takes more samples than there are"
        about = "more than" if self.samples > MOST_SAMPLES else "about"
        return (
            f"{what}, and such a gap takes {about} {number_of_samples(float(f'{self.samples:.2g}'))} samples"
        )
