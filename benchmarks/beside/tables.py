"""The comparison of two versions as tables of words."""

from __future__ import annotations

from typing import Any

from benchmarks.tables import Table, machine_table, spread_words

__all__ = ["judge", "tables"]


def judge(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Return for each row whether the ratio reaches its limit, and whether both versions did the same."""
    return [
        {
            "name": row["name"],
            "limit": row["limit"],
            "figure": row["ratio"]["median"],
            "met": row["limit"] is None or row["ratio"]["median"] >= row["limit"],
            "same_work": row.get("same_work", True),
        }
        for row in (*report["rows"], *report["startup"])
    ]


def tables(report: dict[str, Any]) -> list[Table]:
    """Return the machine and one line per figure."""
    name = report["name"]
    rows = []
    for row, target in zip((*report["rows"], *report["startup"]), judge(report), strict=True):
        in_ms = row["unit"] == "us" and row["this"]["median"] >= 1000.0
        unit, scale = ("ms", 1e-3) if in_ms else (row["unit"], 1.0)
        rows.append(
            (
                row["name"],
                unit,
                *(spread_words({k: scale * x for k, x in row[side].items()}) for side in ("this", "other")),
                spread_words(row["ratio"]),
                *(
                    ("-", "-")
                    if row["limit"] is None
                    else (f"{row['limit']:g}", "yes" if target["met"] else "NO")
                ),
            )
        )
    different = [t["name"] for t in judge(report) if not t["same_work"]]
    remark = "Both versions took the same samples, and pulled the same arms."
    if different:
        remark = f"Both versions took the same samples. They pulled other arms in: {'; '.join(different)}."
    return [
        machine_table(report),
        Table(
            f"This version beside the {name}: processor time, median (quartiles), in turns",
            ("what", "unit", "this", name, f"{name} / this", "at least", "met"),
            rows,
            f"{remark} Start-up is in seconds of wall time.",
        ),
    ]
