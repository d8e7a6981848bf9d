"""What is paid before the first sample: the import, and the time to a first answer, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping

from linkarms.errors import LinkarmsError

__all__ = ["first_answer_seconds", "fresh_process", "import_seconds"]

_IMPORT = """
import time
start = time.perf_counter()
import linkarms
print(time.perf_counter() - start)
"""
#: The first example of the README.
_FIRST_ANSWER = """
import numpy as np
import linkarms as la

rng = np.random.default_rng(0)
truth = {"ada": 0.0, "ben": 0.4, "cy": 5.0, "dot": 5.3}
c = la.BanditClusterer(n_clusters=2, arms=list(truth), family="gaussian", delta=0.05)
while not c.done:
    for arm in c.ask(4):
        c.tell(arm, rng.normal(truth[arm]))
print(c.result())
"""
_SECONDS_TO_WAIT = 1800


def import_seconds(python: str = sys.executable, env: Mapping[str, str] | None = None) -> float:
    """Return the seconds of ``import linkarms`` in a new interpreter."""
    return float(fresh_process(["-c", _IMPORT], python, env)[1])


def first_answer_seconds(python: str = sys.executable, env: Mapping[str, str] | None = None) -> float:
    """Return the seconds from the start of a new interpreter to the end of the README's first example."""
    return fresh_process(["-c", _FIRST_ANSWER], python, env)[0]


def fresh_process(
    words: list[str], python: str = sys.executable, env: Mapping[str, str] | None = None
) -> tuple[float, str]:
    """Run a new interpreter; return its seconds and what it printed.

    Parameters
    ----------
    words : list of str
        The arguments of the interpreter.
    python : str, optional
        The interpreter; by default this one.
    env : mapping, optional
        The environment variables; by default those of this process.
    """
    start = time.perf_counter()
    done = subprocess.run(
        [python, *words],
        capture_output=True,
        text=True,
        env=dict(os.environ if env is None else env),
        timeout=_SECONDS_TO_WAIT,
        check=False,
    )
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise LinkarmsError(
            f"a new process of {python} failed ({last}); check that `import linkarms` works there"
        )
    return seconds, done.stdout
