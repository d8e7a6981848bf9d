"""Put the kept figures into docs/benchmarks.md: ``python -m benchmarks.page``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.beside.tables import tables as beside_tables
from benchmarks.tables import Table, tables

HERE = Path(__file__).parent
RESULTS, BESIDE = HERE / "results.json", HERE / "beside.json"
PAGE = HERE.parent / "docs" / "benchmarks.md"
BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"
BESIDE_BEGIN, BESIDE_END = "<!-- beside:begin -->", "<!-- beside:end -->"


def markdown(report: dict[str, Any]) -> str:
    """Return the tables of a report."""
    return in_markdown(tables(report))


def in_markdown(content: Iterable[Table]) -> str:
    """Return tables, each with its title and the remark below it."""
    parts = []
    for table in content:
        lines = [f"**{table.title}**", "", _line(table.columns), _line("---" for _ in table.columns)]
        lines += [_line(row) for row in table.rows]
        parts.append("\n".join(lines))
        if table.remark:
            parts.append(table.remark)
    return "\n\n".join(parts)


def fill(page: str, text: str, begin: str = BEGIN, end: str = END) -> str:
    """Return the page with the text between its two marks."""
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(begin) > page.index(end):
        raise ValueError(f"the page needs one {begin} and, after it, one {end}")
    before, after = page[: page.index(begin)], page[page.index(end) :]
    return f"{before}{begin}\n\n{text}\n\n{after}"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def filled(page: str) -> str:
    """Return the page with the tables of both kept reports."""
    report, beside = (json.loads(path.read_text(encoding="utf-8")) for path in (RESULTS, BESIDE))
    page = fill(page, markdown(report))
    return fill(page, in_markdown(beside_tables(beside)), BESIDE_BEGIN, BESIDE_END)


def main() -> None:
    """Fill the page in place."""
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
