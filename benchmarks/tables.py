"""A report as tables of words: for the screen and for the page in the docs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.growth import KINDS

__all__ = ["Table", "machine_table", "number", "spread_words", "tables", "targets_table"]


@dataclass(frozen=True)
class Table:
    """A title, the heads of the columns, the rows, and a remark below."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    remark: str = ""


def tables(report: dict[str, Any]) -> list[Table]:
    """Return the tables of a report; sections that were left out have none.

    Parameters
    ----------
    report : dict
        What `benchmarks.run.run` returned, or the same read from JSON.

    Returns
    -------
    list of Table
        Machine, times and ratios of a step, the paper's Table 2, growth, trials, start-up, targets.
    """
    found = [machine_table(report)]
    if report["step"] is not None:
        found += [_times(report["step"]), _ratios(report["step"]), _paper(report["paper"])]
    if report["growth"] is not None:
        found += [_growth(report["growth"], kind) for kind in KINDS]
    if report["trials"] is not None:
        found.append(_trials(report["trials"]))
    if report["startup"] is not None:
        found.append(_startup(report["startup"]))
    if report["targets"]:
        found.append(targets_table(report["targets"]))
    return found


def number(x: float | None) -> str:
    """Return three digits, more for large numbers."""
    if x is None:
        return "-"
    return f"{x:,.0f}" if abs(x) >= 100 else f"{x:.3g}"


def spread_words(values: dict[str, float] | None) -> str:
    """Return the median and, in brackets, the quartiles."""
    if values is None:
        return "-"
    return f"{number(values['median'])} ({number(values['low'])}-{number(values['high'])})"


def machine_table(report: dict[str, Any]) -> Table:
    """Return on what the figures were taken, and how."""
    m = report["machine"]
    versions = (f"{x} {m[x]}" for x in ("python", "numpy", "scipy", "linkarms"))
    words = ", ".join([m["cpu"], f"{m['cores']} cores", m["system"], *versions])
    row = (words, number(m["load_average"]), "quick" if report["quick"] else "full", str(report["seed"]))
    return Table("Machine", ("machine", "load at the start", "run", "seed"), [row])


def _times(section: dict[str, Any]) -> Table:
    rows = [
        (
            r["problem"],
            r["rule"],
            *(
                spread_words(r[key])
                for key in (
                    "microseconds",
                    "plain_numpy_microseconds",
                    "numpy_microseconds",
                    "loop_microseconds",
                )
            ),
            number(None if r["paper_milliseconds"] is None else 1e3 * r["paper_milliseconds"]),
        )
        for r in section["rows"]
    ]
    return Table(
        "One step: microseconds, median (quartiles)",
        (
            "problem",
            "rule",
            "linkarms",
            "(a) NumPy",
            "(a') NumPy that keeps",
            "(b) plain loop",
            "paper, ANOTHER MACHINE",
        ),
        rows,
        f"{section['rounds']} rounds of {section['steps_per_round']} steps, in turn, after {section['warm_up_samples_per_arm']} samples "
        "per arm on average. (a) finds partition and pairs for each sample, (a') keeps their indices while the partition stays the same. "
        "The last column is the paper's Table 2, measured by its authors on their machine.",
    )


def _ratios(section: dict[str, Any]) -> Table:
    rows = [
        (
            r["problem"],
            r["rule"],
            spread_words(r["plain_numpy_over_linkarms"]),
            spread_words(r["numpy_over_linkarms"]),
            spread_words(r["loop_over_linkarms"]),
            "-" if r["rule"] == "ebc-h" else spread_words(r["over_ebc_h"]),
            number(r["costs_per_step"]),
        )
        for r in section["rows"]
    ]
    columns = ("(a) / linkarms", "(a') / linkarms", "(b) / linkarms", "EBC / EBC-H", "costs per step")
    return Table(
        "One step: ratios taken round by round, and pair costs evaluated",
        ("problem", "rule", *columns),
        rows,
        "The target for NumPy is compared with (a).",
    )


def _paper(section: dict[str, Any]) -> Table:
    rows = [(rule, *map(number, times)) for rule, times in section["milliseconds"].items()]
    return Table(
        "The paper's Table 2: milliseconds, ANOTHER MACHINE",
        ("rule", *(f"M = {m}" for m in section["arms"])),
        rows,
        f"{section['source']}: not measured here.",
    )


def _growth(section: dict[str, Any], kind: str) -> Table:
    rows, remark = [], ""
    for r in section["rows"]:
        if r["kind"] != kind:
            continue
        size = (str(r["arms"]), str(r["clusters"]))
        if r["given_up"]:
            rows.append((*size, "given up", *6 * ("-",)))
            remark = f" Given up: the warm-up of this size or a smaller one took more than {number(section['patience_seconds'])} s."
            continue
        rows.append(
            (
                *size,
                *(spread_words(r[key]) for key in ("microseconds", "row_microseconds", "over_row")),
                number(r["costs_per_step"]),
                number(r["state_bytes"] / 1e6),
                f"{r['runs']} x {number(r['steps'] / r['runs'])}",
                f"{r['ends_with_wrong_clusters']} of {r['ends']}",
            )
        )
    columns = ("M", "K", "microseconds per step", "(c) one row", "step / (c)", "costs per step", "state, MB")
    return Table(
        f"Growth with the number of arms: {kind} separated clusters, {section['rule']}, d = 5",
        (*columns, "runs x steps", "wrong at the end"),
        rows,
        f"{section['rounds']} rounds, all sizes in turn (M = 5000 alone), {_stretch(section, kind)}.{remark}",
    )


def _stretch(section: dict[str, Any], kind: str) -> str:
    """Return which part of a run was timed, in words."""
    end = section["end_samples_per_arm"]
    words = f"from {section['warm_up_samples_per_arm']} to {end} samples per arm on average"
    for r in section["rows"]:
        if r["kind"] == kind and r.get("to_samples_per_arm", end) < 0.95 * end:
            words += f"; M = {r['arms']} only to {number(r['to_samples_per_arm'])}"
    return words


def _trials(section: dict[str, Any]) -> Table:
    rows = [
        (
            r["problem"],
            spread_words(r["milliseconds"]),
            spread_words(r["inside_milliseconds"]),
            number(r["samples_per_trial"]),
        )
        for r in section["rows"]
    ]
    return Table(
        f"Whole trials under the anytime rule, delta = {section['delta']:g}: milliseconds of the processor per trial",
        ("problem", "all of simulate", "the run alone", "samples per trial"),
        rows,
        f"{section['rounds']} rounds, the problems in turn. The run alone includes drawing its samples.",
    )


def _startup(section: dict[str, Any]) -> Table:
    whats = {
        "import linkarms": section["import_seconds"],
        "linkarms --help": section["help_seconds"],
        "ask and tell, the README's first example": section["first_answer_seconds"],
        **{f"la.cluster, {name}": x for name, x in section["cluster_seconds"].items()},
    }
    return Table(
        "Before the first answer: seconds",
        ("what", "wall time", "processor"),
        [(what, spread_words(x), number(x.get("processor"))) for what, x in whats.items()],
        "The import is timed inside the interpreter, everything else from the start of `python` to its end.",
    )


def targets_table(targets: list[dict[str, Any]]) -> Table:
    """Return what the figures have to show, and whether they do."""
    rows = [
        (
            t["what"],
            f"{'at least' if t['at_least'] else 'at most'} {number(t['limit'])} {t['unit']}",
            "not measured" if t["figure"] is None else f"{number(t['figure'])} {t['unit']}",
            "yes" if t["met"] else "NO",
        )
        for t in targets
    ]
    return Table("Targets", ("figure", "target", "measured", "met"), rows)
