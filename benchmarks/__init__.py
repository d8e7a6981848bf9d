"""Benchmarks: how fast a step is beside yardsticks, and the figures that the docs show; see benchmarks/README.md."""
