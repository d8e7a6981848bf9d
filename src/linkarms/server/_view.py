"""What the page shows of a campaign, as plain data; all numbers are computed by the library."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from linkarms._words import plural
from linkarms.campaign import Campaign, Look, Overview, Status, Trace
from linkarms.campaign._report import CONDITIONAL
from linkarms.plots import ArmsInfo, arms_info, dendrogram_info
from linkarms.regions import confidence_radii
from linkarms.result import Result, would_stop_at
from linkarms.server._forecast import forecast

__all__ = ["PATIENCE", "campaign_view", "progress_of", "view_of"]

#: Points of a curve that the page draws: more would not be seen.
_POINTS = 400
#: Directions in which the outline of a region is found; fewer where there are many arms.
_OUTLINE = 24
#: Seconds that one look may spend on replaying a long log.
PATIENCE = 0.5


def progress_of(status: Status) -> float:
    """Return evidence over threshold, from 0 to 1; 1 if done."""
    if status.done:
        return 1.0
    if status.evidence is None or status.threshold is None or status.threshold <= 0.0:
        return 0.0
    return min(max(status.evidence / status.threshold, 0.0), 0.999)


def campaign_view(campaign: Campaign, trace: Trace) -> dict[str, Any]:
    """Return everything that the page shows of one campaign; the trace is updated as far as possible in half a second."""
    return view_of(campaign.overview(), trace.catch_up(PATIENCE), trace.looks)


def view_of(
    seen: Overview, replayed: float, looks: list[Look], warnings: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the same of an overview and of looks of a trace, which has replayed this part of the log.

    ``warnings`` say where the samples contradict the family.
    """
    status, result = seen.status, seen.result
    return {
        "status": status.to_dict(),
        "progress": progress_of(status),
        "words": _words(status, result, looks) | {"warnings": list(warnings)},
        "arms": _arms(seen),
        "dendrogram": _dendrogram(result),
        "evidence": _evidence(looks, status, replayed),
        "recent": [sample.to_dict() for sample in seen.recent],
        "tickets": [ticket.to_dict() for ticket in seen.open_tickets],
    }


def _arms(seen: Overview) -> dict[str, Any]:
    info = arms_info(seen.result)
    outlines = _outlines(seen, info)
    return {
        "axes": list(info.axes),
        "names": list(info.arms),
        "labels": list(info.labels),
        "points": _plain(info.points),
        "regions": outlines,
        "links": [list(link) for link in info.links],
        "missing": list(info.missing),
        "level": 1.0 - seen.status.delta,
    }


def _outlines(seen: Overview, info: ArmsInfo) -> list[Any]:
    """Return for each arm the two ends of its interval, or the corners of its region; None where it is unbounded."""
    flat, known = len(info.axes) == 1, ~np.ma.getmaskarray(seen.result.parameters).any(axis=1)
    n = 2 if flat else _OUTLINE if len(info.arms) <= 100 else _OUTLINE // 2
    angles = np.arange(n) * (2.0 * np.pi / n)
    spokes = np.column_stack([np.cos(angles), np.sin(angles)])[:, : len(info.axes)]
    pulls = seen.result.pulls
    radii = confidence_radii(
        seen.families, pulls, seen.means, spokes @ info.directions, seen.status.delta, seen.moments
    )[known]
    corners = info.points[:, None, :] + radii[:, :, None] * spokes[None, :, :]
    found: list[Any] = []
    for around in corners:
        if not np.isfinite(around).all():
            found.append(None)
        else:
            found.append(sorted(around[:, 0].tolist()) if flat else around.tolist())
    return found


def _dendrogram(result: Result) -> dict[str, Any]:
    info = dendrogram_info(result, cuts=result.has_quick_cuts)
    merges = [list(merge) for merge in info.merges]
    return {
        "arms": list(info.arms),
        "labels": list(info.labels),
        "merges": merges,
        "cut": info.cut,
        "certified": [list(c) for c in info.certified],
    }


def _evidence(looks: list[Look], status: Status, replayed: float) -> dict[str, Any]:
    kept = _thinned(looks)
    guess = None if status.done else forecast(looks)
    return {
        "samples": [look.samples for look in kept],
        "evidence": [_finite(look.evidence) for look in kept],
        "threshold": [_finite(look.threshold) for look in kept],
        "error_bound": [look.error_bound for look in kept],
        "replayed": replayed,
        "changed": _last_change(looks),
        "forecast": None if guess is None else vars(guess),
    }


def _thinned(looks: list[Look]) -> list[Look]:
    """At most `_POINTS` looks, evenly spread over the samples, with the first and the last."""
    if len(looks) <= _POINTS:
        return looks
    samples = np.array([look.samples for look in looks])
    wanted = np.linspace(samples[0], samples[-1], _POINTS)
    return [looks[i] for i in np.unique(np.searchsorted(samples, wanted))]


def _last_change(looks: list[Look]) -> int | None:
    """Return after how many samples the clusters became what they are now."""
    for earlier, later in zip(reversed(looks[:-1]), reversed(looks), strict=False):
        if earlier.labels != later.labels:
            return later.samples
    return looks[0].samples if looks else None


def _words(status: Status, result: Result, looks: list[Look]) -> dict[str, Any]:
    """Say what is known, what is uncertain and when the run will be done, for a reader who does not know the paper."""
    reason, _, condition = status.promise.partition(f"; {CONDITIONAL}")
    missing = [arm for arm, n in status.pulls.items() if n == 0]
    remark = reason.partition("; ")[2]  # why the rule cannot stop, where it cannot
    if status.stopped:  # in the rule's own words: some promise nothing
        known, remark = f"Done: {reason.removeprefix('stopped: ')}.", ""
    elif status.done:
        known, remark = (
            f"Ended without a promise: {plural(len(status.clusters), 'cluster')}, as a guess.",
            reason,
        )
    elif missing:
        known, remark = f"Nothing yet: {len(missing)} of {len(status.arms)} arms have no sample.", ""
    else:
        known = (
            f"The best guess so far is {plural(len(status.clusters), 'cluster')}. Nothing is promised yet."
        )
    doubt = None
    if result.witness is not None and not status.stopped:
        intra, inter = result.witness.intra, result.witness.inter
        together = f"{inter[0]} and {inter[1]} could still belong together" if inter else ""
        apart = f"{intra[0]} and {intra[1]}" if intra else ""
        if together and apart:
            doubt = f"{together}, and {apart} apart."
        else:
            doubt = f"{together}." if together else f"{apart} could still be apart."
    return {
        "known": known,
        "doubt": doubt,
        "bound": _bound(status),
        "when": _when(status, looks),
        "remark": remark,
        "condition": CONDITIONAL + condition if condition else "",
    }


def _bound(status: Status) -> str | None:
    """Return the delta at which the run would stop now, or would have stopped, in words; None if that is not known."""
    if status.error_bound is None or status.threshold is None or status.stopped:
        return None
    return would_stop_at(status.error_bound, ended=status.done)


def _when(status: Status, looks: list[Look]) -> str:
    if status.done:
        return "Nothing more to measure."
    guess = forecast(looks)
    if guess is None:
        return "Too early for a forecast."
    span = "" if guess.low == guess.high else f" (stop at {guess.low:,} to {guess.high:,} in all)"
    return f"About {max(guess.middle - status.samples, 1):,} more samples{span}."


def _plain(points: Any) -> list[list[float]]:
    return [[float(x) for x in point] for point in points]


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
