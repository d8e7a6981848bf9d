"""Two processes, one per version, that take turns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.beside.jobs import Job, jobs
from benchmarks.clock import interleave, ratio, spread
from linkarms._machine import machine
from linkarms.cli._startup import first_answer_seconds, import_seconds
from linkarms.errors import LinkarmsError

__all__ = ["Version", "compare"]

_ROOT = Path(__file__).parents[2]
_STARTS = {True: 3, False: 7}
#: Start-up figures: what, how it is measured in an interpreter, and the least ratio (None: only shown).
_STARTUP: tuple[tuple[str, Callable[..., float], float | None], ...] = (
    ("import linkarms", import_seconds, None),
    ("ask and tell, from the start of python", first_answer_seconds, 1.0),
)


class Version:
    """An installed linkarms in a process of its own; a context manager.

    Parameters
    ----------
    python : str
        Its interpreter.
    env : dict
        The environment variables of that process.
    """

    def __init__(self, python: str, env: dict[str, str]) -> None:
        self.python, self.env = python, env

    def __enter__(self) -> Version:
        words = [self.python, "-m", "benchmarks.beside.worker"]
        try:
            self.process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self.env, cwd=_ROOT
            )
        except OSError as error:
            raise LinkarmsError(
                f"cannot start {self.python}: {error.strerror}; give an interpreter"
            ) from error
        try:
            self.versions = self._answer()
        except BaseException:
            self._end(kill=True)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end(kill=kind is not None)

    def _end(self, kill: bool) -> None:
        """Close the pipes, which is the end of its orders, and wait; ``kill`` ends it in the middle of a job."""
        if kill:
            self.process.kill()
        with self.process:
            pass

    def order(self, **words: Any) -> dict[str, Any]:
        """Send an order; return the answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise LinkarmsError(f"{self.python} ended early; its message, if any, is above")
        found: dict[str, Any] = json.loads(line)
        return found


def compare(
    python: str,
    *,
    quick: bool = False,
    seed: int = 0,
    say: Callable[[float, str], None] = lambda fraction, text: None,
) -> dict[str, Any]:
    """Time both versions on the same jobs, in turns.

    Parameters
    ----------
    python : str
        The interpreter that has the other version.
    quick : bool, default False
        Fewer rounds and shorter runs.
    seed : int, default 0
        Fixes problems and samples.
    say : callable, optional
        Told the fraction of the work that is done, and what is going on.

    Returns
    -------
    dict
        Plain data: ``quick``, ``seed``, ``machine``, ``versions``, ``rows``, ``startup``.
    """
    theirs = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    report: dict[str, Any] = {"quick": quick, "seed": seed, "machine": machine()}
    with Version(sys.executable, dict(os.environ)) as this, Version(python, theirs) as other:
        report["versions"] = {"this": this.versions, "other": other.versions}
        todo = jobs(quick, seed)
        report["rows"] = []
        for i, job in enumerate(todo):
            say(i / (len(todo) + 1), job.name)
            report["rows"] += _in_turns(job, this, other)
        say(len(todo) / (len(todo) + 1), "start-up")
        report["startup"] = [
            {"name": name, "limit": limit, "unit": "s", **_starts(measure, this, other, _STARTS[quick])}
            for name, measure, limit in _STARTUP
        ]
    return report


def _in_turns(job: Job, this: Version, other: Version) -> list[dict[str, Any]]:
    """Return one row per figure of a job; both versions must have done the same."""
    versions = {"this": this, "other": other}
    answers: dict[str, list[dict[str, Any]]] = {name: [] for name in versions}

    def turn(name: str) -> float:
        answers[name].append(versions[name].order(advance=True))
        return 0.0

    for version in versions.values():
        version.order(open=job.order)
    interleave({name: lambda name=name: turn(name) for name in versions}, job.rounds)  # type: ignore[misc]
    same = [a["work"] for a in answers["this"]] == [a["work"] for a in answers["other"]]
    rows = []
    for figure in answers["this"][0]["nanoseconds"]:
        ours, theirs = (
            np.array([answer["nanoseconds"][figure] for answer in answers[name]]) / 1e3 for name in versions
        )
        rows.append(
            {
                "name": f"{job.name}, {figure}",
                "limit": job.limit,
                "unit": "us",
                **_pair(ours, theirs),
                "rounds": job.rounds,
                "same_work": same,
            }
        )
    return rows


def _starts(measure: Callable[..., float], this: Version, other: Version, rounds: int) -> dict[str, Any]:
    versions = {"this": this, "other": other}
    times = interleave({name: lambda v=v: measure(v.python, v.env) for name, v in versions.items()}, rounds)  # type: ignore[misc]
    return _pair(times["this"], times["other"])


def _pair(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> dict[str, Any]:
    return {"this": spread(ours), "other": spread(theirs), "ratio": ratio(theirs, ours)}
