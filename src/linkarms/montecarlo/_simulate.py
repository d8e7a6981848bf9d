"""`simulate`: many seeded trials of several rules on one problem."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

import numpy as np

from linkarms._progress import Progress
from linkarms._validate import check_delta, check_integer
from linkarms.errors import InvalidInput
from linkarms.montecarlo._result import RuleResult, Simulation
from linkarms.montecarlo._trial import Trial, run_trial
from linkarms.problem import Problem
from linkarms.sampling import SamplingRule, resolve_sampling
from linkarms.stopping import StoppingRule, resolve_stopping

__all__ = ["simulate"]

Rules = str | SamplingRule | Sequence[str | SamplingRule] | Mapping[str, str | SamplingRule]


def simulate(
    problem: Problem,
    rules: Rules = "ebc-h",
    *,
    stopping: StoppingRule | str | None = ...,  # type: ignore[assignment]
    deltas: Sequence[float] = (0.05,),
    trials: int = 100,
    seed: int = 0,
    max_samples: int = 10**6,
    n_jobs: int = 1,
    backend: str = "local",
    progress: bool = False,
) -> Simulation:
    """Run seeded trials of sampling rules on a problem with known parameters.

    A trial's samples depend on the seed, its number and the arm alone: not on the rule, the number of threads, or which other trials
    are run. Ctrl-C returns the trials finished so far.

    Parameters
    ----------
    problem : Problem
        The true parameters.
    rules : str, SamplingRule, a sequence of them, or a dict name -> rule
        The sampling rules to compare.
    stopping : StoppingRule
        When to stop.
    deltas : sequence of float
        Promised error probabilities; one trajectory serves all where the rule does not look at delta.
    trials, seed, max_samples : int
        How many trials, from which seed, of at most how many samples each.
    n_jobs : int, default 1
        Threads; -1 for one a core. The kernels run without the interpreter's lock.
    backend : {"local"}
        Where trials run.
    progress : bool, default False
        Show progress on stderr.

    Returns
    -------
    Simulation
        ``s["ebc-h"].stopping_times``, ``.errors``, and ``s.summary()``.

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
            f"problem={problem!r} is no Problem; make one with linkarms.Problem(parameters, n_clusters)"
        )
    if backend != "local":
        raise InvalidInput(f"backend={backend!r} is unknown; 'local' is the only one in this version")
    named = _name_rules(rules)
    stop = resolve_stopping(stopping)
    levels = tuple(check_delta(d, "deltas") for d in deltas)
    if not levels:
        raise InvalidInput("deltas are empty; give at least one error probability")
    n_trials = check_integer("trials", trials, 1)
    budget = check_integer("max_samples", max_samples, 1)
    threads = os.cpu_count() or 1 if n_jobs == -1 else check_integer("n_jobs", n_jobs, 1)
    stop.check(problem.arm_families)
    root = np.random.SeedSequence(check_integer("seed", seed, 0))
    seeds = [np.random.SeedSequence(root.entropy, spawn_key=(i,)) for i in range(n_trials)]
    work = [(name, i) for i in range(n_trials) for name in named]

    def one(job: tuple[str, int]) -> Trial:
        return run_trial(problem, named[job[0]], stop, levels, seeds[job[1]], budget)

    with Progress("simulating", enabled=progress) as bar:
        found = _run(one, work, threads, bar)
    complete = [i for i in range(n_trials) if all((name, i) in found for name in named)]
    return Simulation(
        {name: _gather([found[name, i] for i in complete], levels) for name in named}, len(complete)
    )


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
        raise InvalidInput(f"rules={rules!r} are no rules; give names, instances, or a dict name -> rule")
    if not named:
        raise InvalidInput("there are no rules; give at least one, 'ebc-h' say")
    return named


def _run(
    one: object, work: list[tuple[str, int]], threads: int, bar: Progress
) -> dict[tuple[str, int], Trial]:
    """Run the jobs, a few ahead of the threads; on Ctrl-C keep what is finished."""
    found: dict[tuple[str, int], Trial] = {}
    queue = iter(work)
    running: dict[Future[Trial], tuple[str, int]] = {}
    pool = ThreadPoolExecutor(threads)

    def feed() -> None:
        while len(running) < 2 * threads:
            job = next(queue, None)
            if job is None:
                return
            running[pool.submit(one, job)] = job  # type: ignore[arg-type]

    try:
        feed()
        while running:
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                found[running.pop(future)] = future.result()
            feed()
            bar.update(len(found) / len(work), f"{len(found)} of {len(work)} trials")
    except KeyboardInterrupt:
        bar.update(1.0, "interrupted: keeping the trials finished so far")
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return found


def _gather(trials: list[Trial], deltas: tuple[float, ...]) -> RuleResult:
    samples = sum(t.samples for t in trials)
    shape = (len(trials), len(deltas))
    return RuleResult(
        deltas,
        np.array([t.stopped_at for t in trials], dtype=np.int64).reshape(shape),
        np.array([t.wrong for t in trials], dtype=bool).reshape(shape),
        1e6 * sum(t.seconds for t in trials) / samples if samples else 0.0,
    )
