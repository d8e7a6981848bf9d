"""Put the kept figures into docs/benchmarks.md: ``python -m benchmarks.page [RESULTS.json]``."""

import argparse
import json
import sys
from pathlib import Path

from linkarms.bench import tables

HERE = Path(__file__).parent
RESULTS = HERE / "results.json"
PAGE = HERE.parent / "docs" / "benchmarks.md"
BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"


def markdown(report):
    """The tables of a report."""
    parts = []
    for table in tables(report):
        lines = [f"**{table.title}**", "", _line(table.columns), _line("---" for _ in table.columns)]
        lines += [_line(row) for row in table.rows]
        parts.append("\n".join(lines))
        if table.remark:
            parts.append(table.remark)
    return "\n\n".join(parts)


def fill(page, report):
    """The page with the report's tables between its two marks."""
    if page.count(BEGIN) != 1 or page.count(END) != 1 or page.index(BEGIN) > page.index(END):
        raise ValueError(f"the page needs one {BEGIN} and, after it, one {END}")
    before, after = page[: page.index(BEGIN)], page[page.index(END) :]
    return f"{before}{BEGIN}\n\n{markdown(report)}\n\n{after}"


def _line(cells):
    return f"| {' | '.join(cells)} |"


def main(arguments=None):
    """Fill the page in place."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", nargs="?", type=Path, default=RESULTS)
    path = parser.parse_args(arguments).results
    if not path.is_file():
        sys.exit(f"there is no {path}; make it with: linkarms bench --out {path}")
    report = json.loads(path.read_text(encoding="utf-8"))
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), report), encoding="utf-8")


if __name__ == "__main__":
    main()
