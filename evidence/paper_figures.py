"""Mean stopping times of EBC and EBC-H on the paper's Figures 2 and 3: ``python -m evidence.paper_figures``.

Trial ``i`` of every curve has the seed (SEED, i); its stopping times for all ten deltas come from one trajectory. The stopping times
of all trials are kept, so that the suite can compute some of them again. ``python -m evidence.paper_figures --table`` prints the table of
the docs.
"""

import argparse
import math
import time
from pathlib import Path

import numpy as np

import linkarms as la
from evidence._store import Store
from linkarms.paper import published

SEED, CHUNK = 20260, 10
COMMAND = "python -m evidence.paper_figures"
HERE = Path(__file__)
LEVELS = list(published.curve("figure2", "ebc", (-5, 5), 0.01).x)
#: figure -> curve -> (problem, Theta, epsilon)
CURVES = {
    "figure2": {
        "1000 0.1": ("synthetic1", (-500, 500), 0.1),
        "1000 0.01": ("synthetic1", (-500, 500), 0.01),
        "10 0.01": ("synthetic1", (-5, 5), 0.01),
    },
    "figure3": {
        "1000": ("synthetic2", (0.1, 1000), 0.001),
        "50": ("synthetic2", (0.1, 50), 0.001),
    },
}
RULES = ("ebc", "ebc-h")
#: Our trials.
TRIALS = {"figure2": 200, "figure3": 100}
MAX_SAMPLES = 200_000


def curves():
    return [(figure, curve, rule) for figure in CURVES for curve in CURVES[figure] for rule in RULES]


def run(figure, curve, rule, trials):
    """Stopping times of the given trials, one row per trial and one column a level."""
    from linkarms.montecarlo._trial import run_trial

    name, theta, epsilon = CURVES[figure][curve]
    problem = getattr(la.problems, name)()
    stop = la.stopping.Paper(theta=theta, epsilon=epsilon)
    sampling = la.sampling.resolve_sampling(rule)
    deltas = tuple(math.exp(-x) for x in LEVELS)
    rows, wrong = [], 0
    for i in trials:
        trial = run_trial(
            problem, sampling, stop, deltas, np.random.SeedSequence(SEED, spawn_key=(i,)), MAX_SAMPLES
        )
        rows.append([int(x) for x in trial.stopped_at])
        wrong += int(trial.wrong.sum())
    return rows, wrong


def compare(data):
    """Our means beside the paper's: one row per curve, rule and level."""
    rows = []
    for figure, curve, rule in curves():
        times = np.array(data[figure][f"{rule} {curve}"]["times"], dtype=float)
        _, theta, epsilon = CURVES[figure][curve]
        paper = published.curve(figure, rule, theta, epsilon)
        for j, (level, theirs) in enumerate(zip(paper.x, paper.samples, strict=True)):
            ours = times[:, j].mean()
            spread = times[:, j].std(ddof=1)
            error = spread * math.sqrt(1 / len(times) + 1 / paper.trials)
            rows.append(
                {
                    "figure": figure,
                    "curve": curve,
                    "rule": rule,
                    "level": level,
                    "ours": ours,
                    "paper": theirs,
                    "deviation": ours / theirs - 1,
                    "standard_errors": (ours - theirs) / error,
                    "trials": len(times),
                    "unstopped": int((times[:, j] < 0).sum()),
                }
            )
    return rows


def table(data):
    head = "| figure | Theta side | epsilon | rule | log(1/delta) | linkarms | paper | difference | in standard errors |"
    lines = [head, "|---|---|---|---|---|---|---|---|---|"]
    for r in compare(data):
        _, theta, epsilon = CURVES[r["figure"]][r["curve"]]
        side = f"[{theta[0]:g}, {theta[1]:g}]"
        lines.append(
            f"| {r['figure'][-1]} | {side} | {epsilon:g} | {r['rule']} | {r['level']:g} | {r['ours']:.0f} | {r['paper']:.0f} "
            f"| {100 * r['deviation']:+.1f}% | {r['standard_errors']:+.1f} |"
        )
    return "\n".join(lines)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", action="store_true", help="print the table of the docs and stop")
    options = parser.parse_args(arguments)
    store = Store(HERE.with_suffix(".json"), COMMAND)
    if options.table:
        print(table(store.data))
        return
    store.data.update(seed=SEED, levels=LEVELS, max_samples=MAX_SAMPLES)
    for figure, curve, rule in curves():
        entry = store.data.setdefault(figure, {}).setdefault(f"{rule} {curve}", {"times": [], "errors": 0})
        while len(entry["times"]) < TRIALS[figure]:
            start = time.perf_counter()
            first = len(entry["times"])
            rows, wrong = run(figure, curve, rule, range(first, min(first + CHUNK, TRIALS[figure])))
            entry["times"] += rows
            entry["errors"] += wrong
            store.save()
            print(
                f"{figure} {curve} {rule}: {len(entry['times'])} trials, {time.perf_counter() - start:.1f} s",
                flush=True,
            )
    print(table(store.data))


if __name__ == "__main__":
    main()
