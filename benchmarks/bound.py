"""How long ``lower_bound`` takes: ``python -m benchmarks.bound``."""

import statistics
import time

import linkarms as la

PROBLEMS = {
    "synthetic1 (M=6, d=2)": la.problems.synthetic1,
    "synthetic2 (M=6, d=1)": la.problems.synthetic2,
    "scaling (M=20, d=5)": lambda: la.problems.scaling(n_arms=20),
    "scaling (M=40, d=5)": lambda: la.problems.scaling(n_arms=40),
}
ROUNDS = 9


def measure(problem):
    """Return the seconds of each round after a first one, and the bracket."""
    seconds = []
    for _ in range(ROUNDS + 1):
        start = time.perf_counter()
        bound = la.lower_bound(problem.parameters, problem.n_clusters, problem.family)
        seconds.append(time.perf_counter() - start)
    return seconds[1:], bound


def main():
    """Print one line per problem."""
    for name, make in PROBLEMS.items():
        seconds, bound = measure(make())
        print(
            f"{name}: median {1e3 * statistics.median(seconds):.0f} ms, worst {1e3 * max(seconds):.0f} ms, "
            f"{bound.evaluations} cuts, {bound}",
            flush=True,
        )


if __name__ == "__main__":
    main()
