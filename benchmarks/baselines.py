"""ATBOC's step beside SLSQP, and the paper's Table 2: ``python -m benchmarks.baselines``; ``--quick`` for a look."""

import argparse
import statistics
import time

import numpy as np

import linkarms as la
from benchmarks._slsqp import slsqp_optimum
from linkarms.engine import Engine
from linkarms.paper import published

SIZES = (4, 8, 14, 20)
RULES = ("atboc", "ebc", "ebc-h", "lucbboc")
NEVER = la.stopping.Paper(theta=(-1000, 1000), epsilon=100.0)  # its threshold rises faster than the evidence


def atboc_beside_slsqp(n_arms, rounds, every, seed=0):
    """Return mean microseconds of the processor per round: our step, the optimum in it, SLSQP from equal and from the last weights.

    A step is everything that happens for one sample; the optimum in it is what it takes longer than EBC-H's. SLSQP solves the problem
    of every ``every``-th round, at the same estimates. The last number is the largest relative lead of its optimum over the value of
    our weights.
    """
    problem = la.problems.scaling(n_arms=n_arms)
    rng = np.random.default_rng(seed)
    rule = la.sampling.ATBOC()
    engine = Engine(problem.arm_families, problem.n_clusters, rule, NEVER, 0.1, rng)
    cold, warm, lead = [], [], 0.0
    last = np.full(n_arms, 1.0 / n_arms)

    def clocked(start):
        begin = time.thread_time()  # of the processor: other programs disturb it little
        result = slsqp_optimum(theta, labels, start)
        return result, 1e6 * (time.thread_time() - begin)

    for t in range(rounds):
        m = engine.choose()
        theta, labels = engine.core.estimates.copy(), engine.core.labels
        if t > 2 * n_arms and t % every == 0 and np.bincount(labels).max() <= 2:
            _, one = clocked(np.full(n_arms, 1.0 / n_arms))
            (last, value), two = clocked(last)
            cold.append(one)
            warm.append(two)
            lead = max(lead, value / rule.bracket[0] - 1.0)
        engine.observe(m, problem.parameters[m] + rng.standard_normal(problem.n_features))
    ours = run_times(n_arms, 5, rounds)
    return (
        ours["atboc"],
        ours["atboc"] - ours["ebc-h"],
        statistics.fmean(cold),
        statistics.fmean(warm),
        lead,
    )


def run_times(n_arms, trials, samples):
    """Return microseconds per sample of each rule, all on the paper's run-time problem."""
    problem = la.problems.scaling(n_arms=n_arms)
    found = {}
    for rule in RULES:
        s = la.simulate(problem, rule, stopping=NEVER, trials=trials, max_samples=samples)
        found[rule] = s[rule].microseconds_per_sample
    return found


def main():
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    rounds, every = (400, 40) if quick else (2000, 100)
    print(f"ATBOC, microseconds of the processor per round (mean of {rounds}; SLSQP: of every {every}th)")
    heads = ("step", "optimum", "SLSQP", "warm", "SLSQP/step", "warm/step", "SLSQP/optimum")
    print(f"{'arms':>5}" + "".join(f"{head:>15}" for head in heads) + "  lead")
    for n in SIZES:
        step, track, cold, warm, lead = atboc_beside_slsqp(n, rounds, every)
        numbers = (step, track, cold, warm, cold / step, warm / step, cold / track)
        print(f"{n:>5}" + "".join(f"{x:>15.0f}" for x in numbers) + f"  {lead:.1e}", flush=True)
    paper = published.run_times()
    print("\nTable 2 as ratios to EBC-H; in brackets the paper's, from its own programs and machine")
    print(f"{'arms':>5}" + "".join(f"{rule:>19}" for rule in RULES) + f"{'EBC-H, us':>12}")
    for n in SIZES:
        ours = run_times(n, 5 if quick else 20, 1000)
        cells = [
            f"{ours[rule] / ours['ebc-h']:.2f} ({paper[rule][n] / paper['ebc-h'][n]:.2f})" for rule in RULES
        ]
        print(f"{n:>5}" + "".join(f"{cell:>19}" for cell in cells) + f"{ours['ebc-h']:>12.1f}", flush=True)


if __name__ == "__main__":
    main()
