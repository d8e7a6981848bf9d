"""The whole benchmark, or a part of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from linkarms._machine import machine
from linkarms._progress import Progress
from linkarms._validate import check_integer
from linkarms.bench._growth import measure_growth
from linkarms.bench._published import as_dict
from linkarms.bench._startup import measure_startup
from linkarms.bench._step import measure_step
from linkarms.bench._targets import judge
from linkarms.errors import InvalidInput

__all__ = ["SECTIONS", "run"]

Say = Callable[[float, str], None]
SECTIONS: dict[str, Callable[[bool, int, Say], dict[str, Any]]] = {
    "step": measure_step,
    "growth": measure_growth,
    "startup": measure_startup,
}


def run(
    only: str | None = None, *, quick: bool = False, seed: int = 0, progress: bool = False
) -> dict[str, Any]:
    """Measure, and hold the figures against the targets.

    Parameters
    ----------
    only : {"step", "growth", "startup"}, optional
        One section; all of them by default.
    quick : bool, default False
        Fewer sizes and rounds: less than a minute once everything is compiled.
    seed : int, default 0
        Fixes problems and samples; times vary all the same.
    progress : bool, default False
        Show progress on stderr.

    Returns
    -------
    dict
        Plain data, ready for JSON: ``quick``, ``seed``, ``machine``, ``step``, ``growth``, ``startup`` (None where left out),
        ``paper``, ``targets``.
    """
    if only is not None and only not in SECTIONS:
        raise InvalidInput(f"only={only!r} is no section; choose one of {', '.join(SECTIONS)}")
    number = check_integer("seed", seed, 0)
    names = list(SECTIONS) if only is None else [only]
    report: dict[str, Any] = {"quick": quick, "seed": number, "machine": machine()}
    with Progress("bench", enabled=progress) as bar:
        for name, measure in SECTIONS.items():
            at = names.index(name) if name in names else -1

            def say(fraction: float, text: str, at: int = at) -> None:
                bar.update((at + fraction) / len(names), text)

            report[name] = measure(quick, number, say) if name in names else None
    report["paper"] = as_dict()
    report["targets"] = judge(report)
    return report
