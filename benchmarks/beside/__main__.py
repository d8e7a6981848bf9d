"""This version beside another one: ``python -m benchmarks.beside PYTHON``, the interpreter that has the other version.

The full run writes benchmarks/beside.json and the tables of docs/benchmarks.md. The exit code is 1 where a limit is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from benchmarks import page
from benchmarks.beside.compare import compare
from benchmarks.beside.tables import judge, tables
from linkarms._progress import Progress
from linkarms.errors import LinkarmsError


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the tables, keep the figures; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.beside", description=__doc__)
    parser.add_argument("python", help="the interpreter that has the other version")
    parser.add_argument("--name", default="other", help="what the tables call it")
    parser.add_argument("--quick", action="store_true", help="a few minutes; writes nothing")
    parser.add_argument("--seed", type=int, default=0, help="fixes problems and samples")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write the figures to this .json file instead"
    )
    options = parser.parse_args(arguments)
    out = options.out or (None if options.quick else page.BESIDE)
    try:
        with Progress("beside") as bar:
            report = compare(options.python, quick=options.quick, seed=options.seed, say=bar.update)
    except LinkarmsError as error:
        parser.exit(2, f"{error}\n")
    report["name"] = options.name
    report["targets"] = judge(report)
    if out is not None:
        out.write_text(json.dumps(report, allow_nan=False, indent=1) + "\n", encoding="utf-8")
    if options.out is None and not options.quick:
        page.main()
    print(page.in_markdown(tables(report)))
    return 0 if all(t["met"] for t in report["targets"]) else 1


if __name__ == "__main__":
    sys.exit(main())
