"""The tables of the docs from the results of ``python -m evidence.anytime``."""

import numpy as np

import linkarms as la

#: Where the design says what the rule has to reach, and what the paper's rule takes at its best epsilon.
GOALS = {"synthetic 1": (360, 425, 540), "twenty arms": (760, None, None)}
#: The same for version 2.
GOALS_2 = {"synthetic 1": (212, 268, 378), "twenty arms": (480, None, None)}
PAPER = {"synthetic 1": (1179, 1229, 1327), "twenty arms": (14504, 14564, 14670)}


def mean(data, name):
    times = np.array(data[name]["times"], dtype=float)
    return times.mean(0), times.std(0, ddof=min(1, len(times) - 1)) / np.sqrt(len(times))


def with_error(value, error):
    return f"{value:.0f} ± {error:.0f}"


def tables(data):
    """All tables, as Markdown."""
    parts = [times(data), scales(data), slopes(data), sampling(data), versions(data)]
    return "\n\n".join(parts)


def times(data):
    lines = ["| instance | rule | delta = 0.1 | 0.01 | 1e-4 |", "|---|---|---|---|---|"]
    for name, paper in PAPER.items():
        lines.append(f"| {name} | paper, best epsilon | " + " | ".join(str(x) for x in paper) + " |")
        cells = [with_error(m, e) for m, e in zip(*mean(data, f"times/{name}"), strict=True)]
        lines.append("| | **anytime** | " + " | ".join(cells) + " |")
    cells = [with_error(m, e) for m, e in zip(*mean(data, "times/synthetic 1, EBC"), strict=True)]
    lines.append("| synthetic 1, EBC | anytime | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def scales(data):
    from evidence.anytime import SCALES

    lines = ["| instance | means times | grid | single values of c | grid / best |", "|---|---|---|---|---|"]
    for name in PAPER:
        for scale, (_, centres) in SCALES.items():
            grid = mean(data, f"scales/{name}/{scale:g}/grid")[0][0]
            single = {c: mean(data, f"scales/{name}/{scale:g}/{c:g}")[0][0] for c in centres}
            cells = ", ".join(f"{x:.0f} (c = {c:g})" for c, x in single.items())
            ratio = grid / min(single.values())
            lines.append(f"| {name} | {scale:g} | {grid:.0f} | {cells} | {ratio:.2f} |")
    return "\n".join(lines)


def version_1(data, name):
    """The experiment of version 1 on an instance that has the most trials."""
    return next(n for n in (f"version 1/{name}", f"times/{name}", f"sampling/{name}/ebc-h") if n in data)


def ratio(old, new):
    """The mean of ``new`` over that of ``old``, and its standard error from paired differences: one row per trial."""
    old, new = np.array(old, dtype=float), np.array(new, dtype=float)
    found = new.mean(0) / old.mean(0)
    return found, (new - found * old).std(0, ddof=1) / (np.sqrt(len(old)) * old.mean(0))


def version_ratio(data, name):
    """The same of version 2 over version 1 for each delta, in the trials that both have: these see the same samples."""
    old, new = data[version_1(data, name)]["times"], data[f"version 2/{name}"]["times"]
    both = min(len(old), len(new))
    return ratio(old[:both], new[:both])


def versions(data):
    """Both versions of the rule, side by side."""
    from evidence.anytime import ASKED, INSTANCES

    lines = ["| instance | version | delta = 0.1 | 0.01 | 1e-4 | ratio at 0.1 |", "|---|---|---|---|---|---|"]
    for name in [*INSTANCES, *ASKED]:
        found, error = version_ratio(data, name)
        for version, key in ((1, version_1(data, name)), (2, f"version 2/{name}")):
            cells = " | ".join(with_error(m, e) for m, e in zip(*mean(data, key), strict=True))
            share = f"{found[0]:.3f} ± {error[0]:.3f}" if version == 2 else ""
            lines.append(f"| {name if version == 1 else ''} | {version} | {cells} | {share} |")
    return "\n".join(lines)


#: Experiment, how the table of slopes calls it, instance.
ROWS = (
    ("version 1/slopes/synthetic 2", "synthetic 2, ebc-h", "synthetic 2"),
    ("version 2/slopes/synthetic 2", "synthetic 2, ebc-h, version 2", "synthetic 2"),
    ("version 1/slopes/without noise", "synthetic 2 without noise, ebc-h", "synthetic 2"),
    ("version 2/slopes/without noise", "synthetic 2 without noise, ebc-h, version 2", "synthetic 2"),
    ("version 2/slopes/Bernoulli", "Bernoulli, ebc-h, version 2", "Bernoulli"),
)


def slopes(data):
    from evidence.anytime import INSTANCES

    bound = la.lower_bound(la.problems.synthetic1().parameters, n_clusters=3)
    lines = ["| rule | from 50 to 100 | to 200 | to 400 | to 700 | T* |", "|---|---|---|---|---|---|"]
    levels = np.array([50.0, 100.0, 200.0, 400.0, 700.0])
    for rule in ("ebc-h", "ebc"):
        m, _ = mean(data, f"slopes/synthetic 1/{rule}")
        cells = " | ".join(f"{x:.2f}" for x in np.diff(m) / np.diff(levels))
        lines.append(f"| {rule} | {cells} | {bound.lower:.3f} |")
    cells = " | ".join(f"{x:.2f}" for x in np.diff(mean(data, "version 2/slopes")[0]) / np.diff(levels))
    lines.append(f"| ebc-h, version 2 | {cells} | {bound.lower:.3f} |")
    for key, words, name in ROWS:
        rises = np.diff(mean(data, key)[0]) / np.diff(levels)
        problem = INSTANCES[name]()
        least = la.lower_bound(problem.parameters, problem.n_clusters, problem.family).lower
        lines.append(f"| {words} | " + " | ".join(f"{x:.1f}" for x in rises) + f" | {least:.2f} |")
    return "\n".join(lines)


def sampling(data):
    from evidence._anytime_rules import RULES
    from evidence.anytime import INSTANCES

    lines = ["| instance | " + " | ".join(RULES) + " |", "|" + "---|" * (len(RULES) + 1)]
    for name in INSTANCES:
        cells = [with_error(*(x[0] for x in mean(data, f"sampling/{name}/{rule}"))) for rule in RULES]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
