"""How fast a step is beside yardsticks, how it grows, trials, start-up: ``python -m benchmarks [--quick]``.

The full run writes benchmarks/results.json and the tables of docs/benchmarks.md. The exit code is 1 if a target is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from benchmarks import page
from benchmarks.run import SECTIONS, run


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the tables, keep the figures; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="about a minute; writes nothing")
    parser.add_argument("--only", choices=list(SECTIONS), help="one section; writes nothing")
    parser.add_argument("--seed", type=_seed, default=0, help="fixes problems and samples")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write the figures to this .json file instead"
    )
    options = parser.parse_args(arguments)
    whole = not options.quick and options.only is None
    out = options.out or (page.RESULTS if whole else None)
    if out is not None and not out.parent.is_dir():
        parser.error(f"--out {out}: there is no directory {out.parent}")
    report = run(options.only, quick=options.quick, seed=options.seed, progress=True)
    if out is not None:
        out.write_text(json.dumps(report, allow_nan=False, indent=1) + "\n", encoding="utf-8")
    if options.out is None and whole:
        page.main()
    print(page.markdown(report))
    return 0 if all(t["met"] for t in report["targets"]) else 1


def _seed(word: str) -> int:
    number = int(word)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{number} is negative; give a number from 0 on")
    return number


if __name__ == "__main__":
    sys.exit(main())
