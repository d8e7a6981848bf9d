"""The paper's Figures 4 and 5 on real data: ``python -m evidence.real_data taxi FOLDER`` and ``... movielens FOLDER``.

The data are not part of the project; `linkarms.datasets.fetch` says where to get them. Results go to ``evidence/real_data/``
as CSV files and to ``docs/images/`` as pictures. ``python -m evidence.real_data table taxi`` prints the table of the docs from
the stored results.
"""

import argparse
import csv
import dataclasses
from pathlib import Path

from linkarms.paper import paper_at_error, run_movielens, run_taxi
from linkarms.plots import plot_error_curve, plot_fit

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "evidence" / "real_data"
#: Name -> experiment and trials.
EXPERIMENTS = {"taxi": (run_taxi, 400), "movielens": (run_movielens, 1000)}

#: Results -> the paper's figure.
FIGURES = {"taxi": "figure4", "movielens": "figure5", "hetrec": "figure5"}


def rows(name, table):
    """A stored table, as dicts of text."""
    with (RESULTS / f"{name}-{table}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def table(name):
    """Samples at equal error, one row per rule and one column an error, with the ratio to round robin below."""
    found = rows(name, "at-error")
    errors = list(dict.fromkeys(r["error"] for r in found))
    lines = ["| rule | " + " | ".join(f"error {e}" for e in errors) + " |", "|---" * (1 + len(errors)) + "|"]
    for rule in dict.fromkeys(r["rule"] for r in found):
        cells = []
        for r in (r for r in found if r["rule"] == rule):
            if not r["samples"]:
                cells.append("not reached")
                continue
            cell = f"{float(r['samples']):.0f} ({float(r['low']):.0f} to {float(r['high']):.0f})"
            if rule != "round-robin" and r["ratio"]:
                cell += f"; x {float(r['ratio']):.2f} ({float(r['ratio_low']):.2f} to {float(r['ratio_high']):.2f})"
            cells.append(cell)
        lines.append(f"| {rule} | " + " | ".join(cells) + " |")
    theirs = paper_at_error(FIGURES[name], [float(e) for e in errors])
    for rule, row in theirs.items():
        cells = [
            "not plotted"
            if x != x
            else f"{x:.0f}" + ("" if rule == "round-robin" or r != r else f"; x {x / r:.2f}")
            for x, r in zip(row, theirs["round-robin"], strict=True)
        ]
        lines.append(f"| the paper's {rule} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=[*EXPERIMENTS, "table"])
    parser.add_argument("folder", help="where the data are; after `table`, the experiment")
    parser.add_argument("--trials", type=int)
    parser.add_argument("--name", help="of the results; that of the experiment by default")
    parser.add_argument("--store", help="a folder that keeps finished trials")
    options = parser.parse_args(arguments)
    if options.what == "table":
        print(table(options.folder))
        return
    run, trials = EXPERIMENTS[options.what]
    found = run(options.folder, trials=options.trials or trials, n_jobs=2, progress=True, store=options.store)
    found = dataclasses.replace(found, name=options.name or found.name)
    print(found)
    found.to_csv(RESULTS)
    for name, plot in (("error", plot_error_curve), ("fit", plot_fit)):
        plot(found).figure.savefig(ROOT / "docs" / "images" / f"{found.name}-{name}.png", dpi=100)


if __name__ == "__main__":
    main()
