"""What both versions are timed on; plain data, because it is sent to their processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Job", "jobs"]


@dataclass(frozen=True)
class Job:
    """One row, or two, of the comparison.

    Attributes
    ----------
    name : str
        What is timed, in words.
    order : dict
        What the processes are told: ``kind`` is ``"step"``, ``"trials"`` or ``"recorded"``; the rest depends on it.
    rounds : int
        How many rounds.
    limit : float
        The least ratio of the other version's time to ours.
    """

    name: str
    order: dict[str, Any]
    rounds: int
    limit: float = 1.0


def jobs(quick: bool, seed: int) -> list[Job]:
    """Return the jobs: fewer rounds and shorter runs with ``quick``."""
    rounds = 7 if quick else 15
    found = [
        Job(
            f"{rule.upper()}, {words}",
            _step(setting, rule, 50 * arms, 2000 if quick else 4000, seed),
            rounds,
        )
        for setting, words, arms in (
            (["scaling", 4], "M = 4", 4),
            (["scaling", 20], "M = 20", 20),
            (["exponential"], "exponential, M = 6", 6),
        )
        for rule in ("ebc-h", "ebc")
    ]
    for problem, words, trials in (
        ("synthetic1", "Synthetic 1", 50 if quick else 400),
        ("synthetic2", "Synthetic 2", 5 if quick else 20),
    ):
        order = {"kind": "trials", "problem": problem, "trials": trials, "seed": seed}
        found.append(Job(f"anytime rule, {words}", order, rounds, 2.0 if problem == "synthetic1" else 1.0))
    order = {"kind": "recorded", "samples": 2000 if quick else 20_000, "seed": seed}
    found.append(Job("la.cluster on recorded arrays", order, 3 if quick else 5, 10.0))
    for arms in (1000, 5000):
        for kind in ("well", "badly"):
            # from 3 to 5 samples per arm; quick: 5000 arms from their first sample on
            start = arms if quick and arms == 5000 else 3 * arms
            parts = 5 if quick else 11
            steps = 100 if quick else 2 * arms // parts
            setting = ["clusters", arms, kind, seed]
            found.append(
                Job(
                    f"EBC-H, M = {arms}, {kind} separated", _step(setting, "ebc-h", start, steps, seed), parts
                )
            )
    return found


def _step(setting: list[Any], rule: str, warm_up: int, steps: int, seed: int) -> dict[str, Any]:
    return {
        "kind": "step",
        "setting": setting,
        "rule": rule,
        "warm_up": warm_up,
        "steps": steps,
        "seed": seed,
    }
