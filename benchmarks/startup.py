"""What is paid before the first sample, each figure in processes of its own."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.clock import spread
from linkarms.cli._startup import first_answer_seconds, fresh_process, import_seconds

__all__ = ["FAMILIES", "measure_startup"]

_HELP = ["-c", "from linkarms.cli import main; main()", "--help"]
#: ``la.cluster`` on three arms, in words of Python: the family, and the samples of the arms.
_CLUSTER = """
import numpy as np
import linkarms as la

rng = np.random.default_rng(0)
family, draw = {family}, {draw}
found = la.cluster({{i: draw(i) for i in range(3)}}, n_clusters=2, family=family, delta=0.1, seed=0, max_samples=400)
print(found)
"""
_UNIT, _RATE, _MEAN = "(0.0, 0.2, 6.0)[i]", "(1.0, 1.1, 9.0)[i]", "(1.0, 1.2, 12.0)[i]"
_SHARE = "(0.1, 0.15, 0.9)[i]"
FAMILIES = {
    "gaussian": ("'gaussian'", f"lambda i: rng.normal({_UNIT}, 1.0, 400)"),
    "gaussian, d = 2": (
        "la.families.Gaussian([[1.0, 0.3], [0.3, 2.0]])",
        f"lambda i: rng.normal({_UNIT}, 1.0, (400, 2))",
    ),
    "gaussian-unknown": ("'gaussian-unknown'", f"lambda i: rng.normal({_UNIT}, 1.0, 400)"),
    "bounded": ("'bounded:0:1'", f"lambda i: rng.uniform(0.0, 0.1, 400) + {_SHARE} - 0.05"),
    "bernoulli": ("'bernoulli'", f"lambda i: rng.binomial(1, {_SHARE}, 400)"),
    "poisson": ("'poisson'", f"lambda i: rng.poisson({_MEAN}, 400)"),
    "exponential": ("'exponential'", f"lambda i: rng.exponential(1.0 / {_RATE}, 400)"),
    "gamma": ("'gamma:2'", f"lambda i: rng.gamma(2.0, 1.0 / {_RATE}, 400)"),
    "categorical": (
        "'categorical:3'",
        f"lambda i: rng.multinomial(1, [{_SHARE}, 0.95 - {_SHARE}, 0.05], 400)",
    ),
    "product": (
        "la.families.Product([la.families.Gaussian(), la.families.Poisson()])",
        f"lambda i: np.column_stack([rng.normal({_UNIT}, 1.0, 400), rng.poisson({_MEAN}, 400)])",
    ),
}
_ROUNDS = {True: 3, False: 7}


def measure_startup(quick: bool, seed: int, say: Callable[[float, str], None]) -> dict[str, Any]:
    """Return the seconds of the import, of ``linkarms --help``, and of first answers.

    Parameters
    ----------
    quick : bool
        Fewer processes.
    seed : int
        Not used: nothing is random here.
    say : callable
        Told the fraction of the work that is done, and what is going on.

    Returns
    -------
    dict
        ``import_seconds``, inside the interpreter; and of whole processes ``help_seconds``, ``first_answer_seconds`` (the README's first
        example) and, for each family, ``cluster_seconds``. Those of processes have ``processor`` besides median and quartiles of the
        wall time: the median of their processor time.
    """
    calls: dict[str, Callable[[], object]] = {
        "help": lambda: fresh_process(_HELP),
        "answer": first_answer_seconds,
    }
    for name, (family, draw) in FAMILIES.items():
        words = ["-c", _CLUSTER.format(family=family, draw=draw)]
        calls[name] = lambda words=words: fresh_process(words)  # type: ignore[misc]
    imports: list[float] = []
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for r in range(_ROUNDS[quick]):
        say(r / _ROUNDS[quick], "start-up")
        imports.append(import_seconds())
        for name, call in calls.items():
            times[name].append(_wall_and_processor(call))
    found = {name: _both(pairs) for name, pairs in times.items()}
    return {
        "import_seconds": spread(np.array(imports)),
        "help_seconds": found.pop("help"),
        "first_answer_seconds": found.pop("answer"),
        "cluster_seconds": found,
    }


def _wall_and_processor(call: Callable[[], object]) -> tuple[float, float]:
    """Return the wall seconds of a call, and the processor seconds of the processes that it started and that have ended."""
    before = os.times()
    start = time.perf_counter()
    call()
    seconds, after = time.perf_counter() - start, os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return seconds, used


def _both(pairs: list[tuple[float, float]]) -> dict[str, float]:
    wall, processor = np.array(pairs).T
    return {**spread(wall), "processor": float(np.median(processor))}
