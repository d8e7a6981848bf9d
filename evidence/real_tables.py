"""The command line on tables as they are, default options: ``python -m evidence.real_tables [--servers FILE] [--ratings FILE]``.

Penguins and flights ship with the package, wine comes with scikit-learn, the load of ten AWS servers (Numenta Anomaly Benchmark) is a
file with the columns ``series`` and ``value``, and the ratings of three users with the same favourite number are from MovieLens's
``ratings.csv``: nine different numbers, many of them equal. Each run is ``linkarms cluster FILE --drop-missing --seed N --json`` with
a number of clusters and a limit of samples, and no family. An error is a run that stopped with another partition than that of the means
of all records. ``--table`` prints the table of the docs.
"""

import argparse
import contextlib
import io
import json
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from evidence._store import Store
from linkarms import datasets, linkage
from linkarms.arms import make_source
from linkarms.cli._app import run as command_line

RUNS, LIMIT = 200, 20_000
COMMAND = "python -m evidence.real_tables --servers nab_aws_cpu_10servers.csv.gz --ratings ratings.csv"
HERE = Path(__file__)
#: Table -> column of the arm, column of the value, K.
TABLES = {
    "penguins by species, bill depth": ("species", "bill_depth_mm", 2),
    "wine by class, alcohol": ("target", "alcohol", 2),
    "flights by origin, arrival delay": ("origin", "arr_delay", 2),
    "servers, CPU load": ("series", "value", 3),
    "ratings by user": ("userId", "rating", 2),
}
USERS = (54, 214, 609)


def path_of(name, folder, servers=None, ratings=None):
    """Return the file of a table; None where it is not given."""
    if name.startswith("wine"):
        from sklearn.datasets import load_wine

        path = Path(folder) / "wine.csv"
        load_wine(as_frame=True).frame.to_csv(path, index=False)
        return path
    if name.startswith("ratings"):
        if ratings is None:
            return None
        path, table = Path(folder) / "ratings.csv", pd.read_csv(ratings)
        table[table["userId"].isin(USERS)].to_csv(path, index=False)
        return path
    return servers if name.startswith("servers") else datasets.sample_file(name.split()[0])


def truth(name, path):
    """Return the arms and the labels of the means of all records."""
    arm, value, k = TABLES[name]
    source = make_source(path, arm=arm, value=value, drop_missing=True)
    means = np.array([x.mean(axis=0) for x in source.records])
    return list(source.names), linkage.single_linkage(means, k)[0].tolist()


def run(name, path, seed):
    """Return whether the run stopped, its samples, its labels and what it says."""
    arm, value, k = TABLES[name]
    words = [
        "cluster",
        str(path),
        "--arm",
        arm,
        "--value",
        value,
        "-k",
        str(k),
        "--drop-missing",
        "--seed",
        str(seed),
    ]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        command_line([*words, "--max-samples", str(LIMIT), "--json", "--quiet"])
    answer = json.loads(out.getvalue())
    return {key: answer[key] for key in ("stopped", "samples", "labels", "reason")} | {
        "warnings": len(answer["warnings"])
    }


def summary(data, name):
    """Return runs, stopped ones, wrong ones, and mean samples of those that stopped."""
    runs, right = data[name]["runs"], data[name]["labels"]
    stopped = [r for r in runs if r["stopped"]]
    wrong = sum(r["labels"] != right for r in stopped)
    return (
        len(runs),
        len(stopped),
        wrong,
        float(np.mean([r["samples"] for r in stopped])) if stopped else None,
    )


def table(data):
    """Return the table of the docs."""
    lines = [
        "| table | stopped | wrong (99% interval) | mean samples | runs with warnings |",
        "|---|---|---|---|---|",
    ]
    for name in TABLES:
        if name in data:
            runs, stopped, wrong, samples = summary(data, name)
            interval = stats.binomtest(wrong, runs).proportion_ci(0.99)
            warned = sum(r["warnings"] > 0 for r in data[name]["runs"])
            lines.append(
                f"| {name} | {stopped} of {runs} | {wrong} ({interval.low:.3f} to {interval.high:.3f}) | "
                f"{'' if samples is None else f'{samples:,.0f}'} | {warned} |"
            )
    return "\n".join(lines)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--servers", type=Path, help="the file of the servers; without it their runs are left as they are"
    )
    parser.add_argument("--ratings", type=Path, help="MovieLens's ratings.csv; the same without it")
    parser.add_argument("--table", action="store_true", help="print the table of the docs")
    options = parser.parse_args(argv)
    store = Store(HERE.with_suffix(".json"), COMMAND)
    if options.table:
        print(table(store.data))
        return
    with tempfile.TemporaryDirectory() as folder:
        for name in TABLES:
            path = path_of(name, folder, options.servers, options.ratings)
            if path is None:
                continue
            if name not in store.data:
                arms, labels = truth(name, path)
                store.data[name] = {"arms": arms, "labels": labels, "runs": []}
            runs = store.data[name]["runs"]
            while len(runs) < RUNS:
                runs += [run(name, path, seed) for seed in range(len(runs), len(runs) + 10)]
                store.save()
            print(name, summary(store.data, name), flush=True)


if __name__ == "__main__":
    main()
