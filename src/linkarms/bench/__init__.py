"""Benchmarks: our step beside the same step in NumPy, a plain compiled loop, and one row of distances; see docs/benchmarks.md."""

from linkarms.bench._run import SECTIONS, run
from linkarms.bench._tables import Table, tables
from linkarms.bench._targets import TARGETS, Target

__all__ = ["SECTIONS", "TARGETS", "Table", "Target", "run", "tables"]
