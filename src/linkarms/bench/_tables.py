"""A report as tables of words: for the screen and for the page in the docs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from linkarms.bench._growth import KINDS

__all__ = ["Table", "tables"]


@dataclass(frozen=True)
class Table:
    """A title, the heads of the columns, the rows, and a remark below."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    remark: str = ""


def tables(report: dict[str, Any]) -> list[Table]:
    """The tables of a report; sections that were left out have none.

    Parameters
    ----------
    report : dict
        What `linkarms.bench.run` returned, or the same read from JSON.

    Returns
    -------
    list of Table
        Machine, times and ratios of a step, the paper's Table 2, growth, start-up, targets.
    """
    found = [_machine(report)]
    if report["step"] is not None:
        found += [_times(report["step"]), _ratios(report["step"]), _paper(report["paper"])]
    if report["growth"] is not None:
        found += [_growth(report["growth"], kind) for kind in KINDS]
    if report["startup"] is not None:
        found.append(_startup(report["startup"]))
    if report["targets"]:
        found.append(_targets(report["targets"]))
    return found


def _number(x: float | None) -> str:
    """Three digits, more for large numbers."""
    if x is None:
        return "-"
    return f"{x:,.0f}" if abs(x) >= 100 else f"{x:.3g}"


def _spread(values: dict[str, float] | None) -> str:
    """Median and, in brackets, the quartiles."""
    if values is None:
        return "-"
    return f"{_number(values['median'])} ({_number(values['low'])}-{_number(values['high'])})"


def _megabytes(count: int | None) -> str:
    return "-" if count is None else _number(count / 1e6)


def _machine(report: dict[str, Any]) -> Table:
    m = report["machine"]
    words = [
        m["cpu"],
        f"{m['cores']} cores",
        m["system"],
        *(f"{x} {m[x]}" for x in ("python", "numba", "numpy", "scipy")),
    ]
    how = "quick" if report["quick"] else "full"
    row = (", ".join(words), _number(m["load_average"]), how, str(report["seed"]))
    return Table("Machine", ("machine", "load at the start", "run", "seed"), [row])


def _times(section: dict[str, Any]) -> Table:
    rows = [
        (
            r["problem"],
            r["rule"],
            _spread(r["microseconds"]),
            _spread(r.get("plain_numpy_microseconds")),
            _spread(r["numpy_microseconds"]),
            _spread(r["loop_microseconds"]),
            _number(None if r["paper_milliseconds"] is None else 1e3 * r["paper_milliseconds"]),
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
        f"{section['rounds']} rounds of {section['steps_a_round']} steps, in turn, after "
        f"{section['warm_up_samples_of_each_arm']} samples of each arm on average. (a) finds partition and pairs anew for each sample, "
        "(a') keeps their indices while the partition stands. The last column is the paper's Table 2, measured by its authors on their "
        "machine.",
    )


def _ratios(section: dict[str, Any]) -> Table:
    rows = [
        (
            r["problem"],
            r["rule"],
            _spread(r.get("plain_numpy_over_linkarms")),
            _spread(r["numpy_over_linkarms"]),
            _spread(r["loop_over_linkarms"]),
            "-" if r["rule"] == "ebc-h" else _spread(r["over_ebc_h"]),
            _number(r["costs_a_step"]),
        )
        for r in section["rows"]
    ]
    return Table(
        "One step: ratios taken round by round, and pair costs evaluated",
        (
            "problem",
            "rule",
            "(a) / linkarms",
            "(a') / linkarms",
            "(b) / linkarms",
            "EBC / EBC-H",
            "costs a step",
        ),
        rows,
        "The target for NumPy is held against (a)."
        if "plain_numpy_over_linkarms" in section["rows"][0]
        else "",
    )


def _paper(section: dict[str, Any]) -> Table:
    rows = [(rule, *map(_number, times)) for rule, times in section["milliseconds"].items()]
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
            rows.append((*size, "given up", "-", "-", "-", "-", "-", "-"))
            remark = f" Given up: the warm-up of this size or a smaller one took more than {_number(section['patience_seconds'])} s."
        else:
            rows.append(
                (
                    *size,
                    _spread(r["microseconds"]),
                    _spread(r["row_microseconds"]),
                    _spread(r["over_row"]),
                    _number(r["costs_a_step"]),
                    _megabytes(r["state_bytes"]),
                    _covered(r),
                    # (older reports have one run of each size, looked at after each round)
                    f"{r.get('ends_with_wrong_clusters', r['rounds_with_wrong_clusters'])} of {r.get('ends', section['rounds'])}",
                )
            )
    return Table(
        f"Growth with the number of arms: {kind} separated clusters, {section['rule']}, d = 5",
        (
            "M",
            "K",
            "microseconds a step",
            "(c) one row",
            "step / (c)",
            "costs a step",
            "state, MB",
            "runs x steps",
            "wrong at the end",
        ),
        rows,
        f"{section['rounds']} rounds, all sizes in turn (M = 5000 alone), {_stretch(section, kind)}.{remark}",
    )


def _covered(row: dict[str, Any]) -> str:
    """Runs and the steps that were timed of each."""
    return f"{row['runs']} x {_number(row['steps'] / row['runs'])}" if "runs" in row else "-"


def _stretch(section: dict[str, Any], kind: str) -> str:
    """Which part of a run was timed, in words."""
    start, end = section["warm_up_samples_of_each_arm"], section.get("end_samples_of_each_arm")
    if end is None:
        return f"after {start} samples of each arm on average"
    words = f"from {start} to {end} samples of each arm on average"
    for r in section["rows"]:
        if r["kind"] == kind and r.get("to_samples_of_each_arm", end) < 0.95 * end:
            words += f"; M = {r['arms']} only to {_number(r['to_samples_of_each_arm'])}"
    return words


def _startup(section: dict[str, Any]) -> Table:
    rows = [("import linkarms", _spread(section["import_seconds"]))]
    for family, seconds in section["first_compile_seconds"].items():
        if seconds is not None:
            rows.append((f"import and first steps, {family}, nothing compiled yet", _number(seconds)))
            rows.append(
                (
                    f"import and first steps, {family}, from the cache",
                    _number(section["cached_seconds"][family]),
                )
            )
    return Table("Before the first step: seconds", ("what", "seconds"), rows)


def _targets(targets: list[dict[str, Any]]) -> Table:
    rows = [
        (
            t["what"],
            f"{'at least' if t['at_least'] else 'at most'} {_number(t['limit'])} {t['unit']}",
            "not measured" if t["figure"] is None else f"{_number(t['figure'])} {t['unit']}",
            "yes" if t["met"] else "NO",
        )
        for t in targets
    ]
    return Table("Targets", ("figure", "target", "measured", "met"), rows)
