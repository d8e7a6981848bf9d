"""`simulate`: many seeded trials of several rules on one problem."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from linkarms._progress import Progress
from linkarms._validate import check_count, check_delta, check_integer
from linkarms.errors import InvalidInput
from linkarms.montecarlo._chunks import Chunks
from linkarms.montecarlo._pools import check_backend, open_pool
from linkarms.montecarlo._result import BackendError, RuleResult, Simulation
from linkarms.montecarlo._run import run_chunks
from linkarms.montecarlo._task import Task
from linkarms.montecarlo._trial import Trial
from linkarms.problem import Problem
from linkarms.sampling import SamplingRule, resolve_sampling
from linkarms.stopping import StoppingRule, resolve_stopping

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["simulate"]

Backend: TypeAlias = "str | Executor | Client"
Rules = str | SamplingRule | Sequence[str | SamplingRule] | Mapping[str, str | SamplingRule]


def simulate(
    problem: Problem,
    rules: Rules = "ebc-h",
    *,
    stopping: StoppingRule | str | None = "anytime",
    deltas: Sequence[float] = (0.05,),
    trials: int = 100,
    seed: int = 0,
    max_samples: int = 10**6,
    n_jobs: int = 1,
    backend: Backend = "local",
    chunk_size: int | None = None,
    first_trial: int = 0,
    progress: bool = False,
) -> Simulation:
    """Run seeded trials of sampling rules on a problem with known parameters.

    A trial's samples depend on the seed, its number and the arm alone: not on the rule, the backend, the number of workers, or which
    other trials are run. Ctrl-C returns the trials finished so far.

    Parameters
    ----------
    problem : Problem
        The true parameters.
    rules : str, SamplingRule, a sequence of them, or a dict name -> rule
        The sampling rules to compare.
    stopping : str, StoppingRule or None, default "anytime"
        When to stop; None for the own stop of each rule.
    deltas : sequence of float
        Promised error probabilities; one trajectory is used for all of them if the rule does not depend on delta.
    trials, seed, max_samples : int
        How many trials, from which seed, of at most how many samples each.
    n_jobs : int, default 1
        Threads of ``"local"``, whose kernels run without the interpreter's lock, or processes of ``"dask"``; -1 for one per core. An
        executor and a cluster set their own number.
    backend : str, concurrent.futures.Executor or distributed.Client, default "local"
        Where trials run: ``"local"``, in threads; ``"dask"``, in processes of this machine; ``"tcp://host:port"``, the Dask cluster
        of this scheduler; a client of a Dask cluster; an executor. Your own client or executor is not shut down.
    chunk_size : int, optional
        Trials (of one rule) sent to a worker at a time; by default as many as take half a second.
    first_trial : int, default 0
        The number of the first trial: a long simulation can be run in parts, which together have the same trials as the whole.
    progress : bool, default False
        Show progress on stderr.

    Returns
    -------
    Simulation
        ``s["ebc-h"].stopping_times``, ``.errors``, and ``s.summary()``.

    Raises
    ------
    linkarms.montecarlo.BackendError
        Workers were lost for good; the finished trials are in its ``simulation``. An exception from your own rule is raised as it is,
        wherever the trial ran.

    Examples
    --------
    >>> import linkarms as la
    >>> stop = la.stopping.Paper(theta=(-5, 5), epsilon=0.05)
    >>> s = la.simulate(la.problems.synthetic1(), ["ebc-h"], stopping=stop, deltas=[0.1, 1e-4], trials=5, seed=1)
    >>> s["ebc-h"].stopping_times.shape, int(s["ebc-h"].errors.sum())
    ((5, 2), 0)
    """
    if not isinstance(problem, Problem):
        raise InvalidInput(
            f"problem={problem!r} is not a Problem; make one with linkarms.Problem(parameters, n_clusters)"
        )
    check_backend(backend)
    named = _name_rules(rules)
    stops = tuple(resolve_stopping(stopping, rule) for rule in named.values())
    levels = tuple(check_delta(d, "deltas") for d in deltas)
    if not levels:
        raise InvalidInput("deltas are empty; give at least one error probability")
    n_trials = check_count("trials", trials)
    budget = check_count("max_samples", max_samples)
    jobs = os.cpu_count() or 1 if n_jobs == -1 else check_integer("n_jobs", n_jobs, 1)
    size = None if chunk_size is None else check_count("chunk_size", chunk_size)
    for stop in stops:
        stop.check(problem.arm_families)
    first = check_count("first_trial", first_trial, 0)
    task = Task(problem, tuple(named.values()), stops, levels, check_integer("seed", seed, 0), budget, first)
    found: dict[int, Trial] = {}
    with Progress("simulating", enabled=progress) as bar:
        try:
            with open_pool(backend, task, jobs) as pool:
                run_chunks(pool, Chunks(n_trials * len(named), size), found, len(named), bar)
        except BackendError as error:
            error.simulation = _gather(found, list(named), levels, first)
            raise
        except KeyboardInterrupt:
            pass  # a second one, or one before the first trial: what there is, is returned
    return _gather(found, list(named), levels, first)


def _name_rules(rules: Rules) -> dict[str, SamplingRule]:
    if isinstance(rules, (str, SamplingRule)):
        rules = [rules]
    if isinstance(rules, Mapping):
        named = {str(name): resolve_sampling(rule) for name, rule in rules.items()}
    elif isinstance(rules, Iterable):
        resolved = [resolve_sampling(rule) for rule in rules]
        named = {rule.name: rule for rule in resolved}
        if len(named) < len(resolved):
            raise InvalidInput("two rules have the same name; give them as a dict, name -> rule")
    else:
        raise InvalidInput(
            f"rules={rules!r} is not a list of rules; give names, instances, or a dict name -> rule"
        )
    if not named:
        raise InvalidInput("there are no rules; give at least one, for example 'ebc-h'")
    return named


def _gather(found: dict[int, Trial], names: list[str], deltas: tuple[float, ...], first: int) -> Simulation:
    """The trials that every rule has finished."""
    n = len(names)
    numbers = sorted(job // n for job in found if job % n == 0)
    numbers = [i for i in numbers if all(i * n + r in found for r in range(n))]
    results = {name: _stack([found[i * n + r] for i in numbers], deltas) for r, name in enumerate(names)}
    return Simulation(results, first + np.array(numbers, dtype=np.int64))


def _stack(trials: list[Trial], deltas: tuple[float, ...]) -> RuleResult:
    samples = sum(t.samples for t in trials)
    shape = (len(trials), len(deltas))
    return RuleResult(
        deltas,
        np.array([t.stopped_at for t in trials], dtype=np.int64).reshape(shape),
        np.array([t.wrong for t in trials], dtype=bool).reshape(shape),
        1e6 * sum(t.seconds for t in trials) / samples if samples else 0.0,
        np.array([t.costs for t in trials]).reshape(shape)
        if any(t.costs is not None for t in trials)
        else None,
    )
