"""Every operation, in random order and from two objects in turn, against a model that keeps everything in lists."""

import os
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import seed, settings
from hypothesis.stateful import run_state_machine_as_test
from tests.campaign_machine import Machine


@pytest.fixture
def memory(storage):
    """The same, and an SQLite file in memory where the system has a place for that: thousands of commits need no disk."""
    place = Path("/dev/shm")
    if "://" in storage or not os.access(place, os.W_OK):
        yield storage
        return
    with tempfile.TemporaryDirectory(dir=place) as folder:
        yield f"{folder}/runs.db"


@pytest.mark.parametrize("part", [1, 4])  # seeds: two halves, so that neither takes long
def test_every_operation_does_what_the_model_does(memory, part):
    seen = Counter()
    machine = seed(part)(type("OnStorage", (Machine,), {"url": memory, "seen": seen}))
    examples = 15 if "://" in memory else 20
    run_state_machine_as_test(machine, settings=settings(max_examples=examples, stateful_step_count=35))
    # a test that never gets that far would show nothing
    assert all(
        seen[what] for what in ("stopped", "late", "retracted and late", "expired", "answered late")
    ), seen


def test_the_same_where_samples_count_in_the_order_of_asking(memory):
    seen = Counter()
    machine = seed(2)(type("InOrder", (Machine,), {"url": memory, "seen": seen, "in_order": True}))
    examples = 6 if "://" in memory else 9
    run_state_machine_as_test(machine, settings=settings(max_examples=examples, stateful_step_count=35))
    assert all(seen[what] for what in ("stopped", "late", "held back", "expired", "answered late")), seen
