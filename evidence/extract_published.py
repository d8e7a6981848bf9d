"""Read the paper's plotted coordinates and tables from its LaTeX source: ``python -m evidence.extract_published PAPER.tex``.

It writes the CSV files of `linkarms.paper.published`, which are kept in the package: nobody needs to run this again
unless the paper changes. The source does not say how many runs are behind a curve. `TRIALS` was found from its decimals:
the total of all runs has to be a whole number, and so has the number of errors in Figures 4 and 5. The suite checks both.
"""

import argparse
import csv
import re
from pathlib import Path

HERE = Path(__file__).parents[1] / "src" / "linkarms" / "paper" / "published"
FIGURES = {"gaussian": "figure2", "bernoulli": "figure3", "taxi": "figure4", "movielens": "figure5"}
RULES = {
    "FSS": "fixed",
    "RR": "round-robin",
    "EBC": "ebc",
    "EBC-H": "ebc-h",
    "ATBOC": "atboc",
    "LUCBBOC": "lucbboc",
}
#: Theta of Figures 2 and 3 by the volume in the legend, from the text.
THETA = {"1000^2": (-500, 500), "10^2": (-5, 5), "1000": (0.1, 1000), "50": (0.1, 50)}
#: Runs behind a curve; none where the decimals do not tell (fixed sizes in Figure 4).
TRIALS = {
    "figure2": {"lucbboc": 200, "atboc": 100, "ebc": 100, "ebc-h": 300},
    "figure3": {"ebc 1000": 78, "ebc 50": 34, "ebc-h": 300},
    "figure4": {"round-robin": 1000, "ebc": 500, "ebc-h": 498},
    "figure5": {"fixed": 1000, "round-robin": 1000, "ebc": 500, "ebc-h": 1000},
}


def read_figures(text):
    """Rows of each figure: rule, Theta, epsilon, trials, x, samples."""
    found = {}
    for axis in re.findall(r"\\begin\{axis\}(.*?\\label\{fig:\w+\})", text, re.DOTALL):
        label = re.search(r"\\label\{fig:(\w+)\}", axis)[1]
        if label not in FIGURES:
            continue
        legend = re.search(r"\\legend\{(.*?)\}\s*\\end\{axis\}", axis, re.DOTALL)[1]
        names = [" ".join(n.split()) for n in legend.split(",")]
        plots = re.findall(r"\\addplot\[[^\]]*\]\s*coordinates\s*\{(.*?)\}", axis, re.DOTALL)
        assert len(names) == len(plots), (label, names, len(plots))
        found[FIGURES[label]] = [
            row for n, p in zip(names, plots, strict=True) for row in read_plot(FIGURES[label], n, p)
        ]
    return found


def read_plot(figure, name, plot):
    rule = RULES[re.match(r"[A-Z]+(-H)?", name)[0]]
    volume = re.search(r"\|\\Theta\|=([\d^]+)", name)
    epsilon = re.search(r"\\epsilon=([\d.]+)", name)
    low, high = THETA[volume[1]] if volume else ("", "")
    eps = epsilon[1] if epsilon else (0.001 if volume else "")
    known = TRIALS[figure]
    trials = known.get(f"{rule} {volume[1]}" if volume else rule, known.get(rule, ""))
    points = re.findall(r"\(\s*([\d.]+)\s*,\s*([\d.]+)\s*\)", plot)
    return [[rule, low, high, eps, trials, x, y] for x, y in points]


def read_table(text, label):
    """Cells of a table, row by row."""
    body = re.search(
        r"\\begin\{tabular\}\{[^}]*\}((?:(?!\\begin\{tabular\}).)*?)\\label\{" + label, text, re.DOTALL
    )[1]
    rows = [r.split("&") for r in re.findall(r"(?:\\hline)?\s*([^\\]*(?:\\(?!\\|hline)[^\\]*)*)\\\\", body)]
    return [[c.strip() for c in row] for row in rows if len(row) > 1]


def read_slopes(text):
    """Slopes of Figures 2 (Table 1) and 3 (in the text): figure, rule, epsilon, numerical, theoretical."""
    rows = []
    for name, numerical, theory in read_table(text, "Table: slope")[1:]:
        epsilon = re.search(r"\\epsilon=([\d.]+)", name)
        rule = "lower-bound" if name.startswith("Lower") else RULES[re.match(r"[A-Z]+(-H)?", name)[0]]
        rows.append(["figure2", rule, epsilon[1] if epsilon else "", numerical.strip("-"), theory.strip("-")])
    said = r"slope of EBC \(\$([\d.]+)\$\) and EBC-H \(\$([\d.]+)\$\).*?lower bound slope \(\$([\d.]+)\$\)"
    ebc, heuristic, bound = re.search(said, text).groups()
    rows += [["figure3", "lower-bound", "", "", bound], ["figure3", "ebc-h", 0.001, heuristic, ""]]
    return [*rows, ["figure3", "ebc", 0.001, ebc, ""]]


def read_run_times(text):
    """Table 2: rule, arms, milliseconds."""
    head, *rows = read_table(text, "Table: complexity")
    return [[RULES[row[0]], arms, ms] for row in rows for arms, ms in zip(head[1:], row[1:], strict=True)]


def write(name, head, rows):
    with (HERE / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *rows])
    print(f"{name}.csv: {len(rows)} rows")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path, help="the paper's LaTeX file")
    options = parser.parse_args(arguments)
    text = options.source.read_text("utf-8")
    for figure, rows in sorted(read_figures(text).items()):
        write(figure, ["rule", "theta_low", "theta_high", "epsilon", "trials", "x", "samples"], rows)
    write("slopes", ["figure", "rule", "epsilon", "numerical", "theoretical"], read_slopes(text))
    write("run_times", ["rule", "arms", "milliseconds"], read_run_times(text))


if __name__ == "__main__":
    main()
