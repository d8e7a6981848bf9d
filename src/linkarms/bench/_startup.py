"""What is paid before the first step: the import, and the compilation of the kernels, each in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from linkarms.bench._clock import spread
from linkarms.errors import LinkarmsError

__all__ = ["measure_startup"]

_IMPORT = """
import time
start = time.perf_counter()
import linkarms
print(time.perf_counter() - start)
"""
_FIRST_STEPS = """
import time
start = time.perf_counter()
import linkarms as la
c = la.BanditClusterer(2, 3, family={family!r}, stopping=la.stopping.Paper(theta={theta!r}, epsilon=0.001))
for value in (0.5, 0.6, 4.0):
    c.tell(c.ask()[0], value)
c.ask()
print(time.perf_counter() - start)
"""
_FAMILIES = {"gaussian": (-9.0, 9.0), "exponential": (0.1, 9.0)}
_IMPORTS = {True: 5, False: 11}
_SECONDS_TO_WAIT = 1800


def measure_startup(quick: bool, seed: int, say: Callable[[float, str], None]) -> dict[str, Any]:
    """Seconds for the import, and from the import to the fourth ask: compiled for the first time, and taken from the cache.

    Parameters
    ----------
    quick : bool
        The import only.
    seed : int
        Not used: nothing is random here.
    say : callable
        Told the fraction of the work that is done, and what is going on.

    Returns
    -------
    dict
        ``import_seconds`` and, for each family, ``first_compile_seconds`` and ``cached_seconds`` (None with ``quick``).
    """
    say(0.0, "import")
    imports = np.array([_run(_IMPORT, {}) for _ in range(_IMPORTS[quick])])
    first: dict[str, float | None] = dict.fromkeys(_FAMILIES)
    cached: dict[str, float | None] = dict.fromkeys(_FAMILIES)
    for i, (family, theta) in enumerate(_FAMILIES.items()):
        if quick:
            continue
        say((i + 0.2) / len(_FAMILIES), f"first compilation, {family}")
        program = _FIRST_STEPS.format(family=family, theta=theta)
        with tempfile.TemporaryDirectory() as empty:
            first[family] = _run(program, {"NUMBA_CACHE_DIR": empty})
            cached[family] = _run(program, {"NUMBA_CACHE_DIR": empty})
    return {
        "import_seconds": spread(imports),
        "first_compile_seconds": first,
        "cached_seconds": cached,
    }


def _run(program: str, environment: dict[str, str]) -> float:
    """What the program prints, in a process of its own."""
    env = {**os.environ, "LINKARMS_QUIET": "1", **environment}
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=env,
        timeout=_SECONDS_TO_WAIT,
        check=False,
    )
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise LinkarmsError(
            f"a fresh process could not run linkarms ({last}); see whether `import linkarms` works"
        )
    return float(done.stdout)
