"""Put the tables of the evidence into the docs: ``python -m evidence.fill_tables``."""

import json
from pathlib import Path

from benchmarks import anytime as steps
from benchmarks import goals as goal_steps
from benchmarks import million
from benchmarks import variance as variance_steps

from evidence import (
    _anytime_tables,
    aligned_audits,
    aligned_infima,
    aligned_processes,
    audits,
    bounded,
    bounded_audits,
    exact_stops,
    gap_audits,
    goals,
    goals_brute_force,
    one_sided_audits,
    one_sided_infima,
    one_sided_processes,
    real_stops,
    service_fuzz,
    service_soak,
    supermartingales,
    variance_audits,
    versions,
    watched_runs,
)

ROOT = Path(__file__).parents[1]
#: page, name of the table, evidence, what makes the table
TABLES = (
    ("anytime.md", "audits", ROOT / "evidence" / "audits.json", audits.SERIES.table),
    ("anytime.md", "supermartingales", ROOT / "evidence" / "supermartingales.json", supermartingales.table),
    *(
        ("anytime.md", name, ROOT / "evidence" / "anytime.json", getattr(_anytime_tables, name))
        for name in ("times", "scales", "slopes", "sampling", "versions")
    ),
    ("anytime.md", "both versions", ROOT / "evidence" / "versions.json", versions.table),
    ("anytime.md", "aligned audits", ROOT / "evidence" / "aligned_audits.json", aligned_audits.table),
    ("anytime.md", "aligned infima", ROOT / "evidence" / "aligned_infima.json", aligned_infima.table),
    (
        "anytime.md",
        "aligned processes",
        ROOT / "evidence" / "aligned_processes.json",
        aligned_processes.table,
    ),
    *(
        ("anytime.md", f"one-sided {name}", ROOT / "evidence" / f"one_sided_{name}.json", make)
        for name, make in (
            ("infima", one_sided_infima.table),
            ("processes", one_sided_processes.table),
            ("audits", one_sided_audits.SERIES.table),
        )
    ),
    ("anytime.md", "steps", ROOT / "benchmarks" / "anytime.json", lambda data: steps.table(data["rows"])),
    ("families.md", "bounded", ROOT / "evidence" / "bounded.json", bounded.table),
    (
        "families.md",
        "variance steps",
        ROOT / "benchmarks" / "variance.json",
        lambda data: variance_steps.table(data["rows"]),
    ),
    (
        "anytime.md",
        "bounded audits",
        ROOT / "evidence" / "bounded_audits.json",
        bounded_audits.SERIES.table,
    ),
    ("benchmarks.md", "million", ROOT / "benchmarks" / "million.json", million.table),
    ("exact.md", "stops", ROOT / "evidence" / "exact_stops.json", exact_stops.table),
    ("without-k.md", "gap audits", ROOT / "evidence" / "gap_audits.json", gap_audits.SERIES.table),
    ("without-k.md", "watched runs", ROOT / "evidence" / "watched_runs.json", watched_runs.table),
    (
        "without-k.md",
        "brute force",
        ROOT / "evidence" / "goals_brute_force.json",
        goals_brute_force.table,
    ),
    (
        "without-k.md",
        "goal steps",
        ROOT / "benchmarks" / "goals.json",
        lambda data: goal_steps.table(data["rows"]),
    ),
    (
        "anytime.md",
        "variance audits",
        ROOT / "evidence" / "variance_audits.json",
        variance_audits.SERIES.table,
    ),
    ("it-does-not-stop.md", "goals", ROOT / "evidence" / "goals.json", goals.SERIES.table),
    ("real-data.md", "stops", real_stops.STORE, real_stops.table),
    ("what-it-survives.md", "fuzz", ROOT / "evidence" / "service_fuzz.json", service_fuzz.table),
    ("what-it-survives.md", "soak", ROOT / "evidence" / "service_soak.json", service_soak.table),
)


def filled(page, name, table, text):
    """Return the text of a page with one of its tables."""
    begin = f"<!-- table: {name} -->\n"
    if text.count(begin) != 1:
        raise ValueError(f"{page} needs one line {begin.strip()}")
    before, rest = text.split(begin)
    return f"{before}{begin}{table}\n<!-- /table -->{rest.split('<!-- /table -->', 1)[1]}"


def main():
    """Fill every page in place."""
    for page, name, path, table in TABLES:
        target = ROOT / "docs" / page
        target.write_text(filled(page, name, table(json.loads(path.read_text())), target.read_text()))


if __name__ == "__main__":
    main()
