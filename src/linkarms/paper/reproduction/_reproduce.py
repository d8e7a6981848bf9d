"""`reproduce`: one call for each figure and table of the paper, or for all."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, cast, get_args

from linkarms._machine import machine
from linkarms._progress import Progress
from linkarms._validate import check_count, check_integer
from linkarms.errors import InvalidInput
from linkarms.montecarlo._pools import check_backend
from linkarms.montecarlo._simulate import Backend
from linkarms.paper.published import curves
from linkarms.paper.reproduction._linkage_steps import run_figure1
from linkarms.paper.reproduction._measured_error import run_real_data, where_to_get
from linkarms.paper.reproduction._piece import Piece, Reproduction
from linkarms.paper.reproduction._run_times import run_table2
from linkarms.paper.reproduction._runs import Execution
from linkarms.paper.reproduction._stopping_times import Trials, run_stopping_times, run_table1

__all__ = ["PIECES", "reproduce"]

PieceName = Literal["figure1", "figure2", "figure3", "figure4", "figure5", "table1", "table2"]
PIECES: tuple[str, ...] = get_args(PieceName)
Say = Callable[[float, str], None]


def reproduce(
    what: str | Sequence[str] = "all",
    *,
    trials: Trials = None,
    quick: bool = False,
    seed: int = 0,
    n_jobs: int = 1,
    backend: Backend = "local",
    taxi: str | Path | None = None,
    movielens: str | Path | None = None,
    store: str | Path | None = None,
    progress: bool = False,
) -> Reproduction:
    """Run the paper's experiments and compare its numbers with ours.

    Parameters
    ----------
    what : str or sequence of str, default "all"
        ``"figure1"`` to ``"figure5"``, ``"table1"``, ``"table2"``, some of them, or all.
    trials : int or dict of str to int, optional
        Runs behind each curve; by default the paper's, curve by curve. A dict gives them by rule for Figures 2 and 3, for a rule
        that is slow. Table 2 takes at most five of each.
    quick : bool, default False
        Few trials: minutes instead of an hour. Table 2 and the real data are cut short, too.
    seed, n_jobs, backend
        As for `linkarms.simulate`. Table 2 is always timed one run at a time, here.
    taxi, movielens : str or Path, optional
        Folders with the data of Figures 4 and 5. Without one, the figure is among ``not_run`` of ``"all"``; if it was asked for by
        name, that is an error.
    store : str or Path, optional
        A folder that keeps finished trials: the same call continues where it was interrupted, and runs nothing twice.
    progress : bool, default False
        Show progress on stderr.

    Returns
    -------
    Reproduction
        ``r["figure2"].deviations``, ``r.agrees``, ``r.to_csv(folder)``; `linkarms.plots.write_report` makes a page of it.

    Examples
    --------
    >>> from linkarms.paper import reproduce
    >>> r = reproduce("figure1")
    >>> print(r)
    figure1: the same as the paper's
    >>> r["figure1"].content.steps[-1]
    ((1, 2), (3, 4), (5, 6))
    """
    wanted, everything = _names(what)
    _check_trials(trials)
    others = None if isinstance(trials, Mapping) else trials
    check_integer("seed", seed, 0)
    if n_jobs != -1:
        check_integer("n_jobs", n_jobs, 1)
    check_backend(backend)
    folders = {"figure4": taxi, "figure5": movielens}
    without = [name for name in wanted if name in folders and folders[name] is None]
    if without and not everything:
        raise InvalidInput(where_to_get(cast(Any, without[0])))
    not_run = {name: where_to_get(cast(Any, name)) for name in without}
    pieces: dict[str, Piece] = {}
    execution = Execution(n_jobs=n_jobs, store=None if store is None else Path(store), progress=progress)
    run: dict[str, Callable[[Execution], Piece]] = {
        "figure1": lambda m: run_figure1(),
        "figure2": lambda m: run_stopping_times("figure2", trials, quick, seed, m),
        "figure3": lambda m: run_stopping_times("figure3", trials, quick, seed, m),
        "figure4": lambda m: run_real_data("figure4", str(taxi), others, quick, seed, m),
        "figure5": lambda m: run_real_data("figure5", str(movielens), others, quick, seed, m),
        "table1": lambda m: run_table1(trials, quick, seed, m),
        "table2": lambda m: run_table2(others, quick, seed, m),
    }
    with _one_cluster(backend, n_jobs) as where:
        execution = replace(execution, backend=where)
        for name in (n for n in wanted if n not in not_run):
            # the experiments on real data have a bar of their own, and a terminal shows one at a time
            with Progress(name, enabled=progress and name not in folders) as bar:
                pieces[name] = run[name](replace(execution, say=bar.update))
                bar.say(pieces[name].answer)
    settings = {
        "what": list(wanted),
        "trials": dict(trials) if isinstance(trials, Mapping) else trials,
        "quick": quick,
        "seed": seed,
    }
    shown = {k: v for k, v in machine().items() if k not in ("cores", "load_average", "system")}
    return Reproduction(pieces, not_run, settings, shown)


def _check_trials(trials: Trials) -> None:
    if isinstance(trials, Mapping):
        known = {c.rule for figure in ("figure2", "figure3") for c in curves(cast(Any, figure))}
        for rule, n in trials.items():
            if rule not in known:
                raise InvalidInput(
                    f"trials of {rule!r}: no curve of Figures 2 and 3 has this rule; choose from {', '.join(sorted(known))}"
                )
            check_count(f"trials of {rule}", n)
    elif trials is not None:
        check_count("trials", trials)


def _names(what: str | Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """The pieces in the order of the paper, and whether it is all of them."""
    names = [what] if isinstance(what, str) else list(what)
    for name in names:
        if name not in (*PIECES, "all"):
            raise InvalidInput(f"there is no {name!r} in the paper; choose from {', '.join(PIECES)}, or all")
    if not names:
        raise InvalidInput(f"nothing to reproduce; choose from {', '.join(PIECES)}, or all")
    everything = "all" in names
    return tuple(p for p in PIECES if everything or p in names), everything


@contextlib.contextmanager
def _one_cluster(backend: Backend, n_jobs: int) -> Iterator[Backend]:
    """Trials come in many small simulations: a Dask cluster or connection is opened once for all of them."""
    if not isinstance(backend, str) or backend == "local":
        yield backend
        return
    import os

    from linkarms.montecarlo._dask import DaskPool

    pool = DaskPool(backend, cast(Any, None), (os.cpu_count() or 1) if n_jobs == -1 else n_jobs)
    try:
        yield pool.client
    finally:
        pool.close()
