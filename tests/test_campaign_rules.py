"""Campaigns of every kind: rules, families, budgets, and problems with one answer."""

import json

import numpy as np
import pytest

import linkarms as la
from linkarms.campaign import Campaign, _run

ARMS = ["ada", "ben", "cy", "dot"]
TRUTH = dict(zip(ARMS, [0.0, 0.4, 5.0, 5.3], strict=True))
PAPER = la.stopping.Paper(theta=(-10, 10))


@pytest.mark.parametrize("sampling", ["ebc", "ebc-h", "round-robin"])
def test_another_process_goes_on_bit_for_bit(storage, sampling, monkeypatch):
    """Two objects that take turns, each loading what the other computed, do as one object that never loads."""
    monkeypatch.setattr(_run, "_WORTH", (1, 0.0))
    rng = np.random.default_rng(4)
    settings = {"storage": storage, "stopping": PAPER, "sampling": sampling, "delta": 1e-9, "seed": 3}
    alone = Campaign.create("alone", ARMS, 2, family="gaussian", **settings)
    turns = [
        Campaign.create("turns", ARMS, 2, family="gaussian", **settings),
        Campaign.open("turns", storage=storage),
    ]
    for i in range(40):
        n = int(rng.integers(1, 4))
        one, other = alone.ask(n), turns[i % 2].ask(n)
        assert [t.arm for t in one] == [t.arm for t in other]
        values = [rng.normal(TRUTH[t.arm]) for t in one]
        alone.tell_many(one, values)
        turns[(i + 1) % 2].tell_many(other, values)
    assert alone.status().samples == turns[0].status().samples > 40
    with alone.storage.read("alone") as a, alone.storage.read("turns") as b:
        states = [reader.computed("state") for reader in (a, b)]
        assert states[0].version == a.head.version == b.head.version
    assert states[0].body == states[1].body
    assert turns[0].doctor().ok
    for campaign in (alone, *turns):
        campaign.close()


@pytest.mark.parametrize("rule", ["ebc", "ebc-h", "lucbboc", "round-robin"])
def test_asking_changes_nothing_but_what_is_pending(rule):
    """A replay takes the arms from the log: choosing them must not move the state."""
    c = la.BanditClusterer(2, ARMS, stopping=PAPER, sampling=rule, seed=1, family="gaussian")
    c.tell_many(ARMS, [0.0, 0.5, 5.0, 5.5])
    before = c.snapshot()
    c.ask(5)
    c.set_pending([0] * 4)
    assert c.snapshot() == before


@pytest.mark.parametrize("rule", ["atboc", "lma", "maxgap-elim"])
def test_rules_with_a_memory_are_refused(tmp_path, rule):
    """Their choices move something that no operation in the log says."""
    path = tmp_path / "runs.db"
    with pytest.raises(la.errors.InvalidInput, match="keeps state between choices"):
        Campaign.create("lab", ARMS, 2, storage=path, stopping=PAPER, sampling=rule, family="gaussian")
    assert not path.exists()


def test_vectors_and_other_families(storage):
    with Campaign.create(
        "points",
        ["a", "b", "c"],
        2,
        storage=storage,
        n_features=2,
        family=la.families.Gaussian(0.25),
        stopping=la.stopping.Paper(theta=(-9, 9)),
    ) as points:
        points.tell_many(points.ask(3), [[0.0, 0.1], [1 / 3, -0.1], [5.0, 5.0]])
        rows = json.loads(points.export("json"))
        assert [row["value_0"] for row in rows] == [0.0, 1 / 3, 5.0]
        assert points.doctor().ok
    with Campaign.create(
        "gaps",
        ["a", "b", "c"],
        2,
        storage=storage,
        family="exponential",
        stopping=la.stopping.Paper(theta=(0.1, 9)),
    ) as gaps:
        gaps.add_many(["a", "b", "c"], [1.0, 1.5, 0.2])
        assert gaps.result().parameters[:, 0] == pytest.approx([1.0, 1 / 1.5, 5.0])
    assert Campaign.names(storage) == ["gaps", "points"]


def test_trivial_problems_are_done_at_once(storage):
    with Campaign.create("one", ["a", "b"], 1, storage=storage, stopping=PAPER, family="gaussian") as one:
        assert one.ask(1) == []
        one.add("a", 1.0)
        assert one.status().late == 1
        assert one.result().stopped
        assert one.doctor().ok


def test_a_key_of_an_empty_ask_stays_empty(storage):
    lab = Campaign.create(
        "budget", ARMS, 2, storage=storage, stopping=PAPER, max_samples=2, family="gaussian"
    )
    held = lab.ask(2)
    assert lab.ask(1, key="none") == []
    lab.release(held[0])
    assert lab.ask(1, key="none") == []
    assert len(lab.ask(1, key="some")) == 1
    lab.close()
