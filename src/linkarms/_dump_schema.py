"""The schema of a dump and of a snapshot, which is the part of it that changes: types, ranges, lengths, and what has to agree.

`check_dump` comes before anything is built: the sizes of a run are those of the lists in its dump. `check_state` knows the families, too.
New settings of a run need no entry here if its constructor checks them; new parts of the state do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkarms._schema import COUNT, Check, Damage, flag, many, maybe, numbers, record, text, whole
from linkarms._validate import LARGEST, LARGEST_NAME
from linkarms.families import Family
from linkarms.problem import MAX_ARMS

__all__ = ["check_dump", "check_state"]

#: The largest number of features.
_FEATURES = 100_000
#: The last knot of the grid of bounded samples; see cpp/family/knots.hpp.
_KNOTS = 360
#: Means of sufficient statistics, and sums of squares of samples of unknown variance, are below these.
_MEAN, _SQUARES = LARGEST**2, 1e80
_WORDS = text(10_000)
_SPEC = record({"name": text(1_000)})
_RNG = record(
    {"bit_generator": text(100)},
    {
        "state": record({}, {"state": whole(0, 2**128 - 1), "inc": whole(0, 2**128 - 1)}),
        "has_uint32": whole(0, 1),
        "uinteger": whole(0, 2**32 - 1),
    },
)


def _name(value: Any, where: str) -> None:
    """An arm's name."""
    if type(value) is str:
        _WORDS(value, where)
    elif type(value) is not bool:
        numbers(low=-LARGEST_NAME, high=LARGEST_NAME)(value, where)


def _knot(value: Any, where: str) -> None:
    """A place of the grid on which the samples of a bounded arm lie, and how many there are."""
    numbers(2, low=0.0, high=COUNT)(value, where)
    whole(0, _KNOTS)(value[0], f"{where}[0]")


def _snapshot(n_arms: int, n_features: int) -> dict[str, Check]:
    """The part of a dump that changes while the run goes on."""
    counts = numbers(n_arms, low=0, high=COUNT, integers=True)
    state = record(
        {
            "counts": counts,
            "pending": counts,
            "means": numbers(n_arms, n_features, low=-_MEAN, high=_MEAN),
            "weights": numbers(2, n_arms, low=0.0, high=COUNT),
            "rng": _RNG,
        },
        {
            "scale": whole(0, 10_000),
            "moments": numbers(n_arms, -1, low=-_SQUARES, high=_SQUARES),
            "knots": many(many(_knot), n_arms),
        },
    )
    return {"stopped": flag, "closed": maybe(_WORDS), "state": state}


def check_dump(data: dict[str, Any]) -> None:
    """Raise `Damage` unless the data of a whole dump can be what a run wrote."""
    record({"arms": many(_name), "n_features": whole(1, _FEATURES)})(data, "dump")
    n_arms, n_features = len(data["arms"]), data["n_features"]
    if not 1 <= n_arms <= MAX_ARMS:
        raise Damage(f"dump.arms are {n_arms} arms, not 1 to {MAX_ARMS}")
    if len(set(data["arms"])) != n_arms:
        raise Damage("dump.arms has a name twice")
    settings: dict[str, Check] = {
        "delta": numbers(low=0.0, high=1.0),
        "max_samples": maybe(whole(1)),
        "families": many(_SPEC, n_arms),
        "sampling": _SPEC,
        "stopping": _SPEC,
        "late": many(many(lambda value, where: None, 2)),
    }
    optional = {"n_clusters": maybe(whole(1, n_arms))}  # there are other questions than a number of clusters
    record(settings | _snapshot(n_arms, n_features), optional)(data, "dump")
    sample = numbers(n_features, low=-LARGEST, high=LARGEST)
    names = set(data["arms"])
    for i, (name, value) in enumerate(data["late"]):
        sample(value, f"dump.late[{i}]")
        if type(name) not in (str, int, float) or name not in names:
            raise Damage(f"dump.late[{i}] is of {name!r}, which is not an arm")


def check_state(snapshot: Any, families: list[Family], n_features: int) -> None:
    """Raise `Damage` unless a snapshot can be that of a run on arms of these families."""
    record(_snapshot(len(families), n_features))(snapshot, "run")
    state = snapshot["state"]
    counts, means = np.array(state["counts"]), np.array(state["means"], dtype=np.float64)
    for m, family in enumerate(families):
        inside = not means[m].any() if counts[m] == 0 else family.can_average(means[m : m + 1])[0]
        if not inside:
            raise Damage(
                f"run.state.means[{m}] is {means[m].tolist()}, which {counts[m]} samples of the {family.name} family cannot give"
            )
    for m, row in enumerate(state.get("moments", [])):
        predicted, squares, _, all_squares = (row + [0.0] * 4)[:4]
        if not (
            predicted == int(predicted) and 0 <= predicted <= counts[m] and min(squares, all_squares) >= 0.0
        ):
            raise Damage(f"run.state.moments[{m}] is {row[:4]}..., which {counts[m]} samples cannot give")
