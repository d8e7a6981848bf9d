"""One version of linkarms in a process of its own: takes orders as lines of JSON, answers with times.

It runs under the other version too, so it uses only what both have. ``{"open": order}`` prepares a job, ``{"advance": true}`` runs a
round. An answer has ``nanoseconds``, by name, and ``work``: numbers that are the same where the same was done.
"""

from __future__ import annotations

import importlib.util
import json
import platform
import sys
import time
from inspect import signature
from typing import Any, Protocol

import numpy as np

import linkarms as la
from benchmarks import settings
from benchmarks.ours import Ours
from benchmarks.trials import Trials

__all__ = ["Round", "main", "open_job"]

#: Settings by name, as an order gives them.
_SETTINGS: dict[str, Any] = {
    "scaling": settings.scaling,
    "exponential": settings.exponential,
    "clusters": settings.clusters,
}


class Round(Protocol):
    """A job that has been prepared."""

    def advance(self) -> dict[str, Any]:
        """Run one round; return ``nanoseconds`` by name, and ``work``."""


class Steps:
    """Steps of one run after a warm-up."""

    def __init__(self, order: dict[str, Any]) -> None:
        name, *arguments = order["setting"]
        kind = Ours
        if importlib.util.find_spec("linkarms.engine._kernels") is not None:
            from benchmarks.beside.numba_run import NumbaRun

            kind = NumbaRun
        self.run, self.steps = kind(_SETTINGS[name](*arguments), order["rule"], order["seed"]), order["steps"]
        self.run.advance(order["warm_up"])

    def advance(self) -> dict[str, Any]:
        """Run the next steps."""
        elapsed = self.run.advance(self.steps)
        return {"nanoseconds": {"per step": elapsed}, "work": self.run.counts.tolist()}


class WholeTrials:
    """Trials under the anytime rule; the first few prepare the process."""

    def __init__(self, order: dict[str, Any]) -> None:
        rule = la.stopping.Anytime
        # the version that both have; the other linkarms may know no other
        stopping = rule(version=1) if "version" in signature(rule).parameters else rule()
        Trials(order["problem"], 2, order["seed"], stopping).advance()
        self.trials = Trials(order["problem"], order["trials"], order["seed"], stopping)

    def advance(self) -> dict[str, Any]:
        """Run the next trials."""
        whole = self.trials.advance()
        inside = 1e6 * self.trials.inside[-1]
        times = {"per trial, all of simulate": whole, "per trial, the run alone": inside}
        return {"nanoseconds": times, "work": self.trials.samples}


class Recorded:
    """``la.cluster`` on recorded arrays: 12 arms with 35,000 records each, of unknown variance, that do not stop."""

    def __init__(self, order: dict[str, Any]) -> None:
        rng = np.random.default_rng(order["seed"])
        means = np.repeat([0.0, 0.5, 1.0], 4) + 0.02 * np.arange(12)
        self.data = {f"arm {i}": mean + rng.standard_normal(35_000) for i, mean in enumerate(means)}
        self.samples, self.seed = order["samples"], order["seed"]
        self._cluster(200)

    def _cluster(self, samples: int) -> Any:
        return la.cluster(
            self.data,
            n_clusters=3,
            family="gaussian-unknown",
            delta=1e-12,
            seed=self.seed,
            max_samples=samples,
        )

    def advance(self) -> dict[str, Any]:
        """Run another call, with the next seed."""
        self.seed += 1
        start = time.process_time_ns()
        found = self._cluster(self.samples)
        elapsed = (time.process_time_ns() - start) / found.samples
        return {"nanoseconds": {"per sample": elapsed}, "work": np.asarray(found.pulls).tolist()}


_KINDS: dict[str, type[Steps] | type[WholeTrials] | type[Recorded]] = {
    "step": Steps,
    "trials": WholeTrials,
    "recorded": Recorded,
}


def open_job(order: dict[str, Any]) -> Round:
    """Prepare a job."""
    return _KINDS[order["kind"]](order)


def main() -> None:
    """Answer the lines of stdin until it ends."""
    answers, sys.stdout = sys.stdout, sys.stderr  # nothing else may write between the answers
    job: Round | None = None
    versions = {"linkarms": la.__version__, "python": platform.python_version(), "numpy": np.__version__}
    print(json.dumps(versions), file=answers, flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        answer: dict[str, Any] = {}
        if "open" in order:
            job = None  # its memory goes first
            job = open_job(order["open"])
        elif job is not None:
            answer = job.advance()
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
