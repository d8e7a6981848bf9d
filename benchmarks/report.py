"""`result` and `tell_many` at 1000 arms under the default rule: ``python -m benchmarks.report``.

Every arm is told once per round. After some rounds `result` is asked for, as a page of the service does, and its processor time counts;
the samples since the last such look are told in batches of one per arm. The table is in docs/anytime.md.
"""

import argparse
import time
from pathlib import Path

import numpy as np

import linkarms as la
from benchmarks._keep import keep

HERE = Path(__file__).with_suffix(".json")
#: Rounds after which `result` is asked for.
LOOKS = (1, 2, 4, 10, 30, 50)
#: Family, dimension, clusters, and how far apart their centres are in standard deviations of a sample.
CASES = [
    (family, d, k, apart)
    for family, d in (
        ("gaussian-unknown", 1),
        ("gaussian-unknown", 2),
        ("gaussian-unknown:coordinate", 2),
        ("gaussian-unknown:isotropic", 2),
        ("gaussian-unknown:shared", 2),
        ("gaussian", 2),
    )
    for k in (2, 10, 300)
    for apart in (8.0, 1.0)
]
#: The largest `result` in seconds (issue 19).
LIMITS = {2: 0.5, 10: 0.1, 300: 0.1}


def reported(family, d, k, apart, n_arms=1000, looks=LOOKS, seed=1):
    """Return seconds of each `result`, milliseconds per sample told before it, and the samples at the stop or None."""
    rng = np.random.default_rng(seed)
    run = la.BanditClusterer(k, n_arms, d, family=family)
    centres = apart * rng.normal(size=(k, d))[np.arange(n_arms) % k]
    told, seconds, per_sample = 0, [], []
    for rounds in looks:
        began = time.process_time()
        for _ in range(rounds - told):
            run.tell_many(range(n_arms), centres + rng.normal(size=(n_arms, d)))
        per_sample.append(1e3 * (time.process_time() - began) / ((rounds - told) * n_arms))
        told = rounds
        began = time.process_time()
        run.result()
        seconds.append(time.process_time() - began)
    return seconds, per_sample, run.n_samples if run.result().stopped else None


def measure(n_arms, looks):
    """Return one row per case."""
    rows = []
    for family, d, k, apart in CASES:
        seconds, per_sample, stopped = reported(family, d, k, apart, n_arms, looks)
        rows.append(
            {
                "family": family,
                "features": d,
                "clusters": k,
                "apart": apart,
                "looks": list(looks),
                "result_s": [round(x, 4) for x in seconds],
                "tell_ms": [round(x, 4) for x in per_sample],
                "limit_s": LIMITS[k],
                "stopped": stopped,
            }
        )
        print(rows[-1], flush=True)
    return rows


def table(rows):
    """Return the rows as Markdown."""
    lines = [
        "| family | d | K | apart | `result()`, longest, s | at most, s | `tell_many` per sample, longest, ms |",
        "|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        longest = f"{max(r['result_s']):.3f} | {r['limit_s']:g} | {max(r['tell_ms']):.3f}"
        lines.append(f"| {r['family']} | {r['features']} | {r['clusters']} | {r['apart']:g} | {longest} |")
    return "\n".join(lines)


def main(arguments=None):
    """Measure, write, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arms", type=int, default=1000)
    parser.add_argument("--looks", type=int, nargs="+", default=list(LOOKS))
    given = parser.parse_args(arguments)
    rows = measure(given.arms, given.looks)
    if given.arms == 1000 and tuple(given.looks) == LOOKS:
        keep(HERE, "python -m benchmarks.report", rows)
    print(table(rows))


if __name__ == "__main__":
    main()
