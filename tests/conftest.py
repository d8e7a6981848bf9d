"""Shared settings: hypothesis without a deadline (the first example of a kernel compiles), derandomised so that CI does not flake."""

import os

from hypothesis import settings

os.environ.setdefault("LINKARMS_QUIET", "1")
settings.register_profile("linkarms", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("linkarms")
