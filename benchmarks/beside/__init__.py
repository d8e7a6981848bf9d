"""This version of linkarms beside another one, on the same samples, in turns: ``python -m benchmarks.beside PYTHON``."""
