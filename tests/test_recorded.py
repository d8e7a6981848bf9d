"""Recorded runs are repeated, by their samples; how is in tests/recorded/replay.py."""

from dataclasses import replace

import numpy as np
import pytest
from tests.recorded import TELL, Spec, load, names
from tests.recorded.adapter import Run
from tests.recorded.replay import SCALAR, TOLERANCE, replay, tie
from tests.repeats import LONG


def told(samples, **spec) -> Run:
    """A run of Gaussian arms on a line, told ``samples[m]`` of each arm."""
    n = len(samples)
    rules = {"sampling": {"name": "ebc-h"}, "stopping": {"name": "anytime"}} | spec
    run = Run(Spec("line", {"name": "gaussian"}, n, 1, 2, delta=0.1, seed=0, parameters=[], **rules))
    for m, x in enumerate(samples):
        run.observe(m, np.array([x]))
    return run


def test_a_tie_is_told_from_another_choice():
    # the alternatives that join 1 and 2 and part 0 from 1, or 2 from 3, are mirror images
    run = told([0.0, 1.0, 10.0, 11.0])
    assert run.choose() == 1
    assert [tie(run, m, 1) for m in range(4)] == [False, True, True, False]
    assert not tie(told([0.0, 1.0, 10.0, 11.01]), 1, 2)
    assert not tie(told([0.0, 1.0, 10.0, 11.0], sampling={"name": "round-robin"}), 2, 0)


@pytest.mark.parametrize("rule", ["ebc-h", "ebc", "round-robin"])
def test_a_replay_notices_what_differs(rule):
    recording = next(
        r
        for r in load("gaussian")
        if r.spec.sampling["name"] == rule and r.spec.stopping["name"] == "anytime" and r.stops
    )
    last = recording.snapshots[-1]
    at = max(i for i, event in enumerate(recording.events) if event != TELL)
    other = (recording.events[at] + 1) % recording.spec.n_arms
    changes = [
        {"psi": [*recording.psi[:-1], recording.psi[-1] * (1.0 + 1e-10)]},
        {"events": [*recording.events[:at], other, *recording.events[at + 1 :]]},
        {"stops": recording.stops[1:]},
        {"labels": recording.labels[::-1]},
        {"snapshots": [replace(last, evidence=last.evidence + 1e-10)]},
        {"snapshots": [replace(last, threshold=last.threshold + 1e-10)]},
        {"snapshots": [replace(last, kl={m: 1.001 * x for m, x in last.kl.items()})]},
    ]
    assert replay(recording, 1e-12) == []
    for change in changes:
        assert len(replay(replace(recording, **change), 1e-12)) == 1, change


def _title(spec) -> str:
    return f"{spec.name}, M={spec.n_arms}, {spec.sampling['name']}, {spec.stopping['name']}"


#: Recordings that the native core does not repeat: in d = 3 the bound of products was improved (see Changed decisions).
CHANGED = ("product-3",)


#: Files with many arms or slow families are replayed in parts, so that tests can share the work and none takes long.
PARTS = {"many-gaussian": 16, "many-exponential": 16, "categorical": 12, "product": 2}


#: Slow recordings that only the long form replays, by their places in the file. Of 1000 arms, the two families have the same six kinds
#: (well or badly separated, times EBC-H and anytime, EBC-H and paper, EBC and paper): each is kept of one family at least.
LONG_ONLY = {"many-exponential": {43, 44, 45, 46}, "many-gaussian": {47}, "categorical": {7}}


@pytest.mark.parametrize(("file", "part"), [(f, p) for f in names() for p in range(PARTS.get(f, 1))])
def test_a_recorded_run_is_repeated(file, part):
    wrong, parts = {}, PARTS.get(file, 1)
    for i, recording in enumerate(load(file, part, parts)):
        slow = part + i * parts in LONG_ONLY.get(file, ())
        assert not slow or recording.spec.n_arms == 1000 or recording.spec.name == "categorical chain"
        if recording.spec.name.startswith(CHANGED) or (slow and not LONG):
            continue
        found = replay(recording, TOLERANCE.get(file, SCALAR))
        if found:
            wrong[_title(recording.spec)] = found[:3]
    assert not wrong
