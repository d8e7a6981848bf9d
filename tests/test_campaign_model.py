"""Every operation, in random order and from two objects in turn, against a model that keeps everything in lists."""

import os
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test
from tests.campaign_machine import Machine
from tests.repeats import few, repeats


@pytest.fixture
def memory(storage):
    """The same, and an SQLite file in memory where the system has a place for that: thousands of commits need no disk."""
    place = Path("/dev/shm")
    if "://" in storage or not os.access(place, os.W_OK):
        yield storage
        return
    with tempfile.TemporaryDirectory(dir=place) as folder:
        yield f"{folder}/runs.db"


def walk(machine, data):
    """Come to everything that the tests want to have seen, whatever this version of hypothesis draws."""
    for step in (
        machine.create,
        lambda: machine.forget(data, 2),
        lambda: machine.answer(data, 2),  # in the order of asking it waits for the first
        lambda: machine.answer(data, 1),
        lambda: machine.past_the_stop(data),
        lambda: machine.retract_late(data),
        lambda: machine.measure(data, 2),
    ):
        step()
        machine.the_status_is_the_models()
        machine.the_trace_counts_the_same()
        machine.the_log_gives_the_state()


def explore(machine, examples):
    """Random walks, and one along a set path."""

    @settings(max_examples=1)
    @given(st.data())
    def along_a_path(data):
        walking = machine()
        try:
            walk(walking, data)
        finally:
            walking.teardown()

    along_a_path()
    run_state_machine_as_test(machine, settings=settings(max_examples=examples, stateful_step_count=35))


@pytest.mark.parametrize("part", few([1, 4, 6], every=2))  # seeds: in parts, so that none takes long
def test_every_operation_does_what_the_model_does(memory, part):
    seen = Counter()
    machine = seed(part)(type("OnStorage", (Machine,), {"url": memory, "seen": seen}))
    explore(machine, repeats(7, 10) if "://" in memory else repeats(8, 14))
    # a test that never gets that far would show nothing
    assert all(
        seen[what] for what in ("stopped", "late", "retracted and late", "expired", "answered late")
    ), seen


def test_the_same_where_samples_count_in_the_order_of_asking(memory):
    seen = Counter()
    machine = seed(2)(type("InOrder", (Machine,), {"url": memory, "seen": seen, "in_order": True}))
    explore(machine, repeats(4, 6) if "://" in memory else repeats(6, 9))
    assert all(seen[what] for what in ("stopped", "late", "held back", "expired", "answered late")), seen
