"""The page *The paper, reproduced*, from the numbers in evidence/reproduction: tables by the package, pictures drawn here."""

import csv
import json
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure
from sphinx.application import Sphinx

from linkarms.paper import Deviation, Piece, Reproduction, published, reproduce
from linkarms.paper.reproduction import Limit
from linkarms.plots import cluster_color, plot_linkage_steps
from linkarms.plots._markdown import markdown_page
from linkarms.plots._style import close

DATA = Path(__file__).parents[2] / "evidence" / "reproduction"
COMMAND = (
    "linkarms reproduce all --trials ebc=100,ebc-h=100,atboc=100,lucbboc=200 --seed 20260 "
    "--taxi TAXI --movielens MOVIELENS --out evidence/reproduction"
)


def number(text: str) -> float | str | None:
    """Return a cell of a table as what it was before it was written."""
    try:
        return float(text) if text else None
    except ValueError:
        return text


def read_table(path: Path) -> list[dict[str, float | str | None]]:
    """Return the rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return [{key: number(cell) for key, cell in row.items()} for row in csv.DictReader(file)]


def read_deviation(row: dict) -> Deviation:
    """Return a deviation as `Deviation.to_dict` wrote it."""
    kept = {key: row[key] for key in row if key not in ("limit_percent", "limit_standard_errors", "verdict")}
    for key in ("standard_error", "standard_errors"):
        kept[key] = float("nan") if kept[key] is None else kept[key]
    limit = (
        None if row["limit_percent"] is None else Limit(row["limit_percent"], row["limit_standard_errors"])
    )
    return Deviation(**kept, limit=limit)


def read_reproduction() -> Reproduction:
    """Return the reproduction that evidence/reproduction holds, without the runs behind it."""
    data = json.loads((DATA / "report.json").read_text("utf-8"))
    pieces = {}
    for name, piece in data["pieces"].items():
        tables = {path.stem: read_table(path) for path in sorted(DATA.glob(f"{name}*.csv"))}
        found = tuple(map(read_deviation, piece["deviations"]))
        pieces[name] = Piece(
            name, piece["title"], None, found, tables, piece["settings"], tuple(piece["remarks"])
        )
    return Reproduction(pieces, data["not_run"], data["settings"], data["machine"])


def draw_stopping_times(rows: list[dict]) -> Figure:
    """Draw samples at the stop against log(1/delta), ours with 95% bands and the paper's dashed."""
    figure = Figure(figsize=(8, 5.5), dpi=100, layout="constrained")
    ax = figure.add_subplot()
    curves: dict[tuple, list[dict]] = {}
    for row in rows:
        key = (row["rule"], row["theta_high"], row["epsilon"], row["parameter"])
        curves.setdefault(key, []).append(row)
    for i, (key, points) in enumerate(curves.items()):
        x, mean = [p["log_inverse_delta"] for p in points], [p["mean"] for p in points]
        half = [1.96 * (p["standard_error"] or 0.0) for p in points]
        label = ", ".join(
            f"{part:g}" if isinstance(part, float) else str(part) for part in key if part is not None
        )
        ax.plot(x, mean, "o-", markersize=4, color=cluster_color(i), label=label)
        low, high = zip(*((m - h, m + h) for m, h in zip(mean, half, strict=True)), strict=True)
        ax.fill_between(x, low, high, color=cluster_color(i), alpha=0.2, linewidth=0)
        ax.plot(x, [p["paper"] for p in points], "--", color=cluster_color(i), linewidth=1)
    ax.set_xlabel("log(1 / delta)")
    ax.set_ylabel("samples at the stop")
    ax.legend(fontsize=8, title="rule, theta, epsilon; dashed: the paper", title_fontsize=8)
    return figure


def draw_error_curve(name: str, rows: list[dict]) -> Figure:
    """Draw samples against the measured error, ours with 95% intervals and the paper's dashed."""
    figure = Figure(figsize=(8, 5), dpi=100, layout="constrained")
    ax = figure.add_subplot()
    rules = list(dict.fromkeys(row["rule"] for row in rows))
    for i, rule in enumerate(rules):
        mine = [row for row in rows if row["rule"] == rule and row["error"]]
        error = [row["error"] for row in mine]
        spread = [[e - row["error_low"] for e, row in zip(error, mine, strict=True)]]
        spread.append([row["error_high"] - e for e, row in zip(error, mine, strict=True)])
        ax.errorbar(
            [r["samples"] for r in mine],
            error,
            spread,
            fmt="o-",
            markersize=3,
            color=cluster_color(i),
            label=rule,
        )
    for curve in published.curves(name):
        colour = cluster_color(rules.index(curve.rule)) if curve.rule in rules else "grey"
        ax.plot(curve.samples, [2.718281828459045**-x for x in curve.x], "--", color=colour, linewidth=1)
    ax.set_yscale("log")
    ax.set_xlabel("samples")
    ax.set_ylabel("measured error")
    ax.legend(fontsize=8, title="dashed: the paper", title_fontsize=8)
    return figure


def write_page(app: Sphinx) -> None:
    """Write reproduction.md and its pictures beside the other pages; git ignores them."""
    folder = Path(app.srcdir) / "reproduction"
    folder.mkdir(exist_ok=True)
    found = read_reproduction()
    with matplotlib.rc_context({"svg.hashsalt": "linkarms"}):
        drawn = {
            "figure1": plot_linkage_steps(reproduce("figure1")["figure1"].content),
            "figure2": draw_stopping_times(found["figure2"].tables["figure2"]),
            "figure3": draw_stopping_times(found["figure3"].tables["figure3"]),
            "figure4": draw_error_curve("figure4", found["figure4"].tables["figure4"]),
            "figure5": draw_error_curve("figure5", found["figure5"].tables["figure5"]),
        }
        for name, figure in drawn.items():
            figure.savefig(folder / f"{name}.png")
            close(figure)  # else the first example of the gallery shows it
    pictures = {name: [f"{name}.png"] for name in drawn}
    page = Path(app.srcdir) / "reproduction.md"
    page.write_text(markdown_page(found, pictures, "reproduction", COMMAND), "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the page before the sources are read."""
    app.connect("builder-inited", write_page, priority=1)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
