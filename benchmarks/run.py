"""The whole benchmark, or one section of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.growth import measure_growth
from benchmarks.paper import as_dict
from benchmarks.startup import measure_startup
from benchmarks.step import measure_step
from benchmarks.targets import judge
from benchmarks.trials import measure_trials
from linkarms._machine import machine
from linkarms._progress import Progress

__all__ = ["SECTIONS", "run"]

Say = Callable[[float, str], None]
SECTIONS: dict[str, Callable[[bool, int, Say], dict[str, Any]]] = {
    "step": measure_step,
    "growth": measure_growth,
    "trials": measure_trials,
    "startup": measure_startup,
}


def run(
    only: str | None = None, *, quick: bool = False, seed: int = 0, progress: bool = False
) -> dict[str, Any]:
    """Measure, and compare the figures with the targets.

    Parameters
    ----------
    only : {"step", "growth", "trials", "startup"}, optional
        One section; all of them by default.
    quick : bool, default False
        Fewer sizes and rounds: about a minute.
    seed : int, default 0
        Fixes problems and samples; times vary all the same.
    progress : bool, default False
        Show progress on stderr.

    Returns
    -------
    dict
        Plain data, ready for JSON: ``quick``, ``seed``, ``machine``, the sections (None where left out), ``paper``, ``targets``.
    """
    names = list(SECTIONS) if only is None else [only]
    report: dict[str, Any] = {"quick": quick, "seed": seed, "machine": machine()}
    with Progress("benchmarks", enabled=progress) as bar:
        for name, measure in SECTIONS.items():
            at = names.index(name) if name in names else -1

            def say(fraction: float, text: str, at: int = at) -> None:
                bar.update((at + fraction) / len(names), text)

            report[name] = measure(quick, seed, say) if name in names else None
    report["paper"] = as_dict()
    report["targets"] = judge(report)
    return report
