"""Figures 4 and 5: samples against measured error on real data, beside the paper's."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from linkarms.datasets import DATASETS
from linkarms.errors import DownloadError
from linkarms.paper._curve import AtError
from linkarms.paper._experiment import Experiment
from linkarms.paper._real_data import run_movielens, run_taxi
from linkarms.paper.reproduction._deviation import Deviation
from linkarms.paper.reproduction._piece import Piece
from linkarms.paper.reproduction._runs import Execution

__all__ = ["REFERENCE", "run_real_data", "where_to_get"]

Figure = Literal["figure4", "figure5"]
#: The rule whose samples the others' are divided by.
REFERENCE = "round-robin"
_EXPERIMENTS: dict[str, Callable[..., Experiment]] = {"figure4": run_taxi, "figure5": run_movielens}
_TITLES = {
    "figure4": "Taxi bookings: samples against measured error",
    "figure5": "MovieLens: samples against measured error",
}
_DATA = {
    "figure4": ("tlc-green-2025-01", "tlc-zones"),
    "figure5": ("movielens-hetrec", "movielens-latest-small"),
}
_OPTIONS = {"figure4": "taxi", "figure5": "movielens"}
#: Standard normal, 97.5%: the bootstrap's interval over twice this is a standard error.
_Z = 1.959964
#: Share of the bootstrap's curves that may miss an error.
_MISSED = 0.05


def where_to_get(figure: Figure) -> str:
    """What is missing, in one line."""
    join = " and " if figure == "figure4" else ", or "
    files = join.join(
        f"{' and '.join(DATASETS[name].files)} ({DATASETS[name].page})" for name in _DATA[figure]
    )
    name = _OPTIONS[figure]
    return f"{figure} needs public data; get {files}, put them into a folder, and give it as {name} (--{name} FOLDER)"


def run_real_data(
    figure: Figure, data: str | Path, trials: int | None, quick: bool, seed: int, execution: Execution
) -> Piece:
    """Figure 4 or 5 on the records in a folder."""
    if not Path(data).is_dir():
        raise DownloadError(f"{data}: there is no such folder; {where_to_get(figure)}")
    options: dict[str, Any] = {} if trials is None else {"trials": trials}
    found = _EXPERIMENTS[figure](
        data,
        seed=seed,
        quick=quick,
        n_jobs=execution.n_jobs,
        backend=execution.backend,
        store=execution.store,
        progress=execution.progress,
        **options,
    )
    if any(len(s.samples) < found.settings["trials"] for s in found.sweeps.values()):
        raise KeyboardInterrupt  # the finished chunks are kept
    rows = found.at_error()
    paper = found.paper_at_error()
    ratios = [_ratio(r, found, paper) for r in rows]
    return Piece(
        figure,
        _TITLES[figure],
        found,
        tuple(_deviations(figure, found, rows, paper)),
        {
            figure: [asdict(p) for p in found.points()],
            f"{figure}-at-error": ratios,
            f"{figure}-fit": [
                {k: v for k, v in asdict(f).items() if k not in ("quantiles", "model_quantiles")}
                for f in found.fit
            ],
        },
        {**found.settings, "arms": [str(a) for a in found.problem.arms], "choice": found.choice.rule},
        tuple(_remarks(found, ratios)),
    )


def _ratio(row: AtError, found: Experiment, paper: dict[str, tuple[float, ...]]) -> dict[str, Any]:
    i = found.targets.index(row.error)
    theirs = paper.get(row.rule, (math.nan,) * len(found.targets))[i]
    return {
        **asdict(row),
        "paper_samples": theirs,
        "paper_ratio": theirs / paper[REFERENCE][i],
        "trials": found.settings["trials"],
    }


def _deviations(
    figure: Figure, found: Experiment, rows: list[AtError], paper: dict[str, tuple[float, ...]]
) -> list[Deviation]:
    """Compare samples at equal error. The regions and users are not the paper's, so the numbers need not agree."""
    deviations = []
    for r in rows:
        theirs = paper.get(r.rule, (math.nan,) * len(found.targets))[found.targets.index(r.error)]
        if math.isnan(theirs) or math.isnan(r.samples):
            continue
        deviations.append(
            Deviation(
                figure,
                r.rule,
                f"error {r.error:g}",
                r.samples,
                (r.high - r.low) / (2 * _Z),
                int(found.settings["trials"]),
                theirs,
                None,
                100.0 * (r.samples / theirs - 1.0),
                math.nan,
            )
        )
    return deviations


def _remarks(found: Experiment, ratios: list[dict[str, Any]]) -> list[str]:
    words = [
        f"Arms: {found.choice.rule}; the paper names neither its regions nor its users, so the number of samples need not be the same.",
        "The threshold is swept: the paper's errors are far above any delta for which its threshold could be reached with so few samples.",
        _fit_words(found),
    ]
    for rule in found.sweeps:
        if rule != REFERENCE:
            words += _order(rule, [r for r in ratios if r["rule"] == rule])
    return words


def _fit_words(found: Experiment) -> str:
    worst = max(found.fit, key=lambda f: f.distance)
    return (
        f"The model does not fit the records: the distribution functions of {worst.arm} differ by {worst.distance:.2f} "
        "(Kolmogorov-Smirnov), the most of all arms."
    )


def _order(rule: str, rows: list[dict[str, Any]]) -> list[str]:
    """Whether a rule needs more or fewer samples than round robin, ours and theirs."""
    # an error that many of the bootstrap's curves do not reach is not judged
    known = [r for r in rows if not math.isnan(r["ratio"]) and r["missed"] < _MISSED]
    if not known:
        return [f"{rule}: too few runs reached an error of the table for a comparison."]
    fewer, more = (sum(r["ratio_high"] < 1 for r in known), sum(r["ratio_low"] > 1 for r in known))
    if fewer and not more:
        ours = "fewer samples than"
    elif more and not fewer:
        ours = "more samples than"
    else:
        ours = "neither clearly more nor clearly fewer samples than"
    low, high = min(r["ratio"] for r in known), max(r["ratio"] for r in known)
    text = f"{rule} needs {ours} round robin, {low:.2f} to {high:.2f} times as many"
    paper = [r["paper_ratio"] for r in rows if not math.isnan(r["paper_ratio"])]
    if paper:
        text += f"; in the paper {min(paper):.2f} to {max(paper):.2f} times"
    if rule == "ebc" and more and not fewer:
        text += (
            ". EBC samples in proportion to the average of all its weights so far, and within so few samples that is still close to its "
            "random start; ebc-uniform is the same rule from equal weights"
        )
    return [text + "."]
