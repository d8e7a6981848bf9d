"""What audits have in common: many runs on hard instances, and the same with a weakened threshold that must be caught.

A chunk is ``[errors, unstopped, samples]`` of `CHUNK` runs, each a list with one number per delta; unstopped runs have used their budget.
The error rate of a promise must not be above delta (99% Clopper-Pearson, `linkarms.montecarlo.promise_is_broken`).
"""

import argparse
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import linkarms as la
from evidence._store import Store
from linkarms.montecarlo import error_interval, promise_is_broken

__all__ = ["CHUNK", "RATES", "AuditSeries", "is_broken", "markdown", "rates", "run_chunk", "total"]

CHUNK = 250


def run_chunk(problem, rule, deltas, seed, first, trials, max_samples):
    """Return the chunk of the given trials of EBC-H."""
    found = la.simulate(
        problem,
        "ebc-h",
        stopping=rule,
        deltas=deltas,
        trials=trials,
        seed=seed,
        max_samples=max_samples,
        first_trial=first,
    )["ebc-h"]
    times = found.stopping_times
    spent = np.where(times < 0, max_samples, times)
    return [a.sum(axis=0).tolist() for a in (found.errors, times < 0, spent)]


def total(chunks):
    """Return errors, unstopped runs and mean samples for each delta, and the number of runs."""
    errors, unstopped, samples = np.array(chunks).sum(axis=0)
    n = CHUNK * len(chunks)
    return errors, unstopped, samples / n, n


def is_broken(chunks, deltas):
    """Return, for each delta, whether the promise is broken."""
    errors, _, _, n = total(chunks)
    return [promise_is_broken(int(k), n, delta) for k, delta in zip(errors, deltas, strict=True)]


#: The columns of `rates`, after the name.
RATES = ["delta", "errors", "95% interval", "unstopped", "mean samples"]


def rates(name, chunks, deltas):
    """Return the first cells of a table's rows, one row per delta; the name stands in the first."""
    errors, unstopped, mean, n = total(chunks)
    rows = []
    for j, delta in enumerate(deltas):
        low, high = error_interval(int(errors[j]), n)
        cells = [name if j == 0 else "", f"{delta:g}", f"{errors[j]} of {n:,}"]
        rows.append([*cells, f"{low:.4f} to {high:.4f}", f"{unstopped[j]}", f"{mean[j]:.0f}"])
    return rows


def markdown(head, rows):
    """Return a table."""
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


@dataclass(frozen=True)
class AuditSeries:
    """Audits of one rule on several instances, kept in a JSON file.

    A new instance is one more entry of `instances`, and a raised number of trials is completed by another run: what is there is kept.
    Divisors of the threshold are tried in the order of `weaker` until the audit finds the rule broken at every delta.
    """

    path: Path
    command: str
    seed: int
    rule: la.stopping.StoppingRule
    instances: Mapping[str, Any]
    setting: Callable[[str], la.Problem]
    trials: int = 10_000
    fewer: Mapping[str, int] = field(default_factory=dict)  # where a run takes longer
    deltas: tuple[float, ...] = (0.1, 0.2)
    weaker: tuple[float, ...] = (4.0, 8.0, 16.0, 32.0, 64.0, 128.0)
    weak_trials: int = 1_000
    max_samples: int = 20_000
    bounds: bool = False  # the table has the information bound
    catch: int | None = None  # a weakened rule has to be caught at the first so many deltas; None: at all

    def run(self, name, factor, first, trials):
        """Return the chunk of the given trials, the threshold divided by ``factor``."""
        rule = la.stopping.weaken(self.rule, factor)
        return run_chunk(self.setting(name), rule, self.deltas, self.seed, first, trials, self.max_samples)

    def wanted(self, name):
        """Return how many runs the instance has to have."""
        return min(self.trials, self.fewer.get(name, self.trials))

    def broken(self, chunks):
        """Return, for each delta, whether the promise is broken."""
        return is_broken(chunks, self.deltas)

    def is_caught(self, chunks):
        """Return whether these are of a rule that the audit finds broken."""
        return all(self.broken(chunks)[: self.catch])

    def caught(self, entry):
        """Return the smallest divisor at which the audit found the rule broken; None if there is none."""
        found = [float(x) for x, chunks in entry["runs"].items() if float(x) > 1.0 and self.is_caught(chunks)]
        return min(found, default=None)

    def table(self, data):
        """Return the table of the docs."""
        head = ["instance", *RATES]
        head += ["information bound"] * self.bounds + ["threshold / X is caught; its error rate"]
        rows = []
        for name, entry in data["instances"].items():
            x = self.caught(entry)
            for j, cells in enumerate(rates(name, entry["runs"]["1"], self.deltas)):
                cells += [f"{entry['bound'][j]:.0f}"] if self.bounds else []
                if x is None:
                    cells.append("never")
                else:
                    weak, _, _, weak_n = total(entry["runs"][f"{x:g}"])
                    cells.append(f"X = {x:g}: {weak[j] / weak_n:.2f}")
                rows.append(cells)
        return markdown(head, rows)

    def complete(self, store, name, factor, trials, until=float("inf")):
        """Run what is missing, and return all chunks; begin nothing new after ``until``."""
        chunks = store.data["instances"][name]["runs"].setdefault(f"{factor:g}", [])
        start = time.monotonic()
        while len(chunks) * CHUNK < trials and time.monotonic() < until:
            chunks.append(self.run(name, factor, len(chunks) * CHUNK, CHUNK))
            store.save()
        if not chunks:
            return chunks
        errors, unstopped, mean, n = total(chunks)
        print(
            f"{name}, threshold / {factor:g}: {errors.tolist()} errors in {n}, {unstopped.tolist()} unstopped, mean "
            f"{mean.round(1).tolist()} samples, broken {self.broken(chunks)}, {time.monotonic() - start:.1f} s",
            flush=True,
        )
        return chunks

    def main(self, arguments=None):
        """Complete the file, or as much of it as there is time for."""
        parser = argparse.ArgumentParser(description=self.command)
        parser.add_argument("--trials", type=int, default=self.trials)
        parser.add_argument(
            "--seconds", type=float, default=float("inf"), help="begin nothing new after so long"
        )
        parser.add_argument("--only", default="", help="instances whose names contain this")
        options = parser.parse_args(arguments)
        until = time.monotonic() + options.seconds
        store = Store(self.path, self.command)
        store.data.update(seed=self.seed, chunk=CHUNK, deltas=list(self.deltas), max_samples=self.max_samples)
        for name in self.instances:
            if options.only not in name:
                continue
            entry = store.data.setdefault("instances", {}).setdefault(name, {"runs": {}})
            if self.bounds:
                entry["bound"] = information_bound(self.setting(name), self.deltas)
            for factor in self.weaker:
                chunks = self.complete(store, name, factor, self.weak_trials, until)
                if not chunks or self.is_caught(chunks):
                    break
            self.complete(store, name, 1.0, min(options.trials, self.wanted(name)), until)
        store.save()


def information_bound(problem, deltas):
    """Return the information bound for each delta, as if variances were known: to know them can only help."""
    known = [
        la.families.Gaussian(f.draw_variance) if isinstance(f, la.families.UnknownVariance) else f
        for f in problem.families
    ]
    bound = la.lower_bound(problem.parameters, problem.n_clusters, known)
    return [bound.samples(delta) for delta in deltas]
