"""The compiled step and what holds it."""

from linkarms.engine._engine import Engine

__all__ = ["Engine"]
