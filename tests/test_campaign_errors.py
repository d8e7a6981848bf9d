"""Bad input of each kind: one clear error, nothing stored, nothing lost."""

import re
from pathlib import Path

import numpy as np
import pytest

import linkarms as la
from linkarms.campaign import LIMITS, Campaign
from linkarms.errors import InvalidInput, InvalidSample, LinkarmsError, NotFound, TooLarge, UnknownArm

PAPER = la.stopping.Paper(theta=(0.1, 20))


@pytest.fixture
def gaps(storage):
    """Waiting times of three arms, one ticket open, one sample told."""
    with Campaign.create(
        "gaps", ["a", "b", "c"], 2, storage=storage, family="exponential", stopping=PAPER
    ) as lab:
        lab.tell(lab.ask(2)[0], 1.5)
        yield lab


def whole(campaign):
    return campaign.status(), campaign.history(), campaign.export("json")


BAD = {
    "nan": (lambda c: c.tell(2, float("nan")), InvalidSample, "is not finite"),
    "infinite": (lambda c: c.add("a", float("inf")), InvalidSample, "is not finite"),
    "two numbers": (lambda c: c.tell(2, [1.0, 2.0]), InvalidSample, r"shape \(2,\)"),
    "no number": (lambda c: c.tell(2, "much"), InvalidSample, "is not a number"),
    "nothing": (lambda c: c.tell(2, None), InvalidSample, "the sample"),
    "outside the support": (
        lambda c: c.tell(2, -0.5),
        InvalidSample,
        "outside the support of the exponential",
    ),
    "in a batch": (lambda c: c.add_many(["a", "b"], [1.0, -1.0]), InvalidSample, "outside the support"),
    "unknown arm": (lambda c: c.add("z", 1.0), UnknownArm, "there is no arm 'z'"),
    "arm of another kind": (lambda c: c.add(["a"], 1.0), UnknownArm, "there is no arm"),
    "unknown ticket": (lambda c: c.tell(3, 1.0), NotFound, "there is no ticket 3"),
    "release of an unknown ticket": (lambda c: c.release(3), NotFound, "there is no ticket 3"),
    "retraction of an unknown ticket": (lambda c: c.retract(3, "why"), NotFound, "there is no ticket 3"),
    "ticket of another kind": (lambda c: c.tell("2", 1.0), InvalidInput, "is not a whole number"),
    "ticket 0": (lambda c: c.tell(0, 1.0), InvalidInput, "out of range"),
    "huge ticket": (lambda c: c.tell(2**63, 1.0), InvalidInput, "out of range"),
    "true as a ticket": (lambda c: c.release(True), InvalidInput, "is not a whole number"),
    "ask for none": (lambda c: c.ask(0), InvalidInput, "out of range"),
    "ask for too many": (lambda c: c.ask(LIMITS.batch + 1), TooLarge, "at most 10000"),
    "no samples": (lambda c: c.tell_many([], []), InvalidInput, "out of range"),
    "too many samples": (lambda c: c.add_many(["a"] * 10_001, [1.0] * 10_001), TooLarge, "at most 10000"),
    "lists of two lengths": (lambda c: c.tell_many([2], [1.0, 2.0]), InvalidInput, "one value for each"),
    "arms and values": (lambda c: c.add_many(["a", "b"], [1.0]), InvalidInput, "one value for each arm"),
    "lease of no time": (lambda c: c.ask(1, lease=0), InvalidInput, "lease=0"),
    "lease for ever": (lambda c: c.ask(1, lease=float("inf")), InvalidInput, "lease=inf"),
    "empty worker": (lambda c: c.ask(1, worker=""), InvalidInput, "worker"),
    "worker with a line end": (lambda c: c.ask(1, worker="a\nb"), InvalidInput, "control character"),
    "worker with a zero": (lambda c: c.add("a", 1.0, worker="a\0"), InvalidInput, "control character"),
    "worker that is no Unicode": (lambda c: c.ask(1, worker="\ud800"), InvalidInput, "control character"),
    "long key": (lambda c: c.ask(1, key="k" * 201), TooLarge, "201 characters"),
    "no reason": (lambda c: c.retract(1, ""), InvalidInput, "reason"),
    "long reason": (lambda c: c.retract(1, "r" * 1_001), TooLarge, "1001 characters"),
    "unknown format": (lambda c: c.export("xlsx"), InvalidInput, "choose one of csv, json, parquet"),
    "no directory": (lambda c: c.export("csv", "/nowhere/at/all.csv"), InvalidInput, "there is no directory"),
    "a directory": (lambda c: c.export("csv", "/"), InvalidInput, "this is a directory"),
    "history before the beginning": (lambda c: c.history(after=-1), InvalidInput, "out of range"),
    "history beyond the last entry": (lambda c: c.history(after=2**70), InvalidInput, "out of range"),
}


@pytest.mark.parametrize(("call", "kind", "words"), BAD.values(), ids=BAD)
def test_one_clear_error_and_nothing_stored(gaps, call, kind, words):
    before = whole(gaps)
    with pytest.raises(kind, match=words) as caught:
        call(gaps)
    assert isinstance(caught.value, LinkarmsError)
    assert "\n" not in str(caught.value)
    assert whole(gaps) == before
    gaps.tell(2, 1.0)
    assert gaps.status().samples == 2


CREATE = {
    "path": {"name": "../up"},
    "slash": {"name": "a/b"},
    "backslash": {"name": "a\\b"},
    "dots": {"name": ".."},
    "hidden": {"name": ".hidden"},
    "dash": {"name": "-rf"},
    "empty": {"name": ""},
    "zero": {"name": "a\0"},
    "line end": {"name": "a\n"},
    "letters of others": {"name": "ä"},
    "long name": {"name": "x" * 101},
    "no text": {"name": 7},
    "no arms": {"arms": []},
    "number of arms": {"arms": 3},
    "one text": {"arms": "abc"},
    "numbers as arms": {"arms": [1, 2, 3]},
    "arms twice": {"arms": ["a", "a", "b"]},
    "empty arm": {"arms": ["a", "", "b"]},
    "arm with a tab": {"arms": ["a\tb", "c", "d"]},
    "clusters": {"n_clusters": 4},
    "delta": {"delta": 1.5},
    "family": {"family": "os.system"},
    "sampling": {"sampling": "os:system"},
    "stopping": {"stopping": "subprocess.run"},
    "lease": {"lease": -1},
    "seed": {"seed": -1},
}


@pytest.mark.parametrize("change", CREATE.values(), ids=CREATE)
def test_a_campaign_that_cannot_be_created(tmp_path, change):
    good = {
        "name": "lab",
        "arms": ["a", "b", "c"],
        "n_clusters": 2,
        "stopping": PAPER,
        "family": "exponential",
    }
    path = tmp_path / "x.db"
    with pytest.raises(InvalidInput) as caught:
        Campaign.create(**{**good, **change}, storage=path)
    assert "\n" not in str(caught.value)
    assert not path.exists()
    if "name" in change:
        Campaign.create(**good, storage=path).close()
        with pytest.raises(InvalidInput):
            Campaign.open(change["name"], storage=path)


def test_sizes_beyond_the_limits(tmp_path):
    path = tmp_path / "x.db"
    for arms, more in (([f"a{i}" for i in range(1_001)], {}), (["a", "b", "c"], {"n_features": 101})):
        with pytest.raises(TooLarge, match="at most"):
            Campaign.create("lab", arms, 2, storage=path, stopping=PAPER, family="gaussian", **more)
    with pytest.raises(TooLarge, match="at most 200"):
        Campaign.create("lab", ["a" * 201, "b", "c"], 2, storage=path, stopping=PAPER, family="gaussian")
    assert not path.exists()


def test_the_docs_state_the_limits():
    page = (Path(__file__).parents[1] / "docs" / "campaigns.md").read_text()
    table = page.split("| limit | |")[1].split("They are")[0]
    shown = [int(n.replace(",", "")) for n in re.findall(r"\| ([\d,]+) \|", table)]
    assert shown == [
        LIMITS.arms,
        LIMITS.features,
        LIMITS.batch,
        LIMITS.open_tickets,
        100,
        LIMITS.text,
        LIMITS.reason,
    ]
    assert LIMITS.lease == 10 * 366 * 86_400


def test_open_tickets_have_a_limit(tmp_path, monkeypatch):
    from linkarms.campaign import _operations

    monkeypatch.setattr(_operations, "LIMITS", LIMITS._replace(open_tickets=5))
    with Campaign.create(
        "lab", ["a", "b", "c"], 2, storage=tmp_path / "x.db", stopping=PAPER, family="exponential"
    ) as lab:
        first = lab.ask(4)
        with pytest.raises(TooLarge, match="4 tickets are open and 2 more are requested"):
            lab.ask(2)
        lab.release(first[0])
        assert len(lab.ask(2)) == 2


class Mine(la.stopping.StoppingRule):
    name = "mine"

    def threshold(self, view, delta):
        return -np.log(delta)


class MyGaussian(la.families.Gaussian):
    name = "my-gaussian"


class OtherPaper(la.stopping.Paper):
    """Of the same name, and another rule."""

    def log_volume(self, families):
        return 0.0


OWN = {
    "rule": {"stopping": Mine()},
    "family": {"family": MyGaussian()},
    "namesake": {"stopping": OtherPaper(theta=(-9, 9))},
    "part": {"family": la.families.Product([la.families.Gaussian(), MyGaussian()]), "n_features": 2},
}


@pytest.mark.parametrize("own", OWN.values(), ids=OWN)
def test_classes_of_ones_own_are_refused(tmp_path, own):
    settings = {"family": "gaussian", "stopping": la.stopping.Paper(theta=(-9, 9))} | own
    path = tmp_path / "x.db"
    with pytest.raises(InvalidInput, match="a campaign takes only families and rules of linkarms"):
        Campaign.create("lab", ["a", "b", "c"], 2, storage=path, **settings)
    assert not path.exists()


def test_a_budget_that_nobody_can_count_is_refused(tmp_path):
    path = tmp_path / "x.db"
    with pytest.raises(
        InvalidInput, match=f"^max_samples={2**70} is out of range; give a whole number from 1"
    ):
        Campaign.create("lab", ["a", "b", "c"], 2, storage=path, max_samples=2**70)
    assert not path.exists()


def test_stored_names_are_never_imported(tmp_path):
    """A database that was tampered with cannot make linkarms load code."""
    import sqlite3
    import sys

    path = tmp_path / "x.db"
    Campaign.create("lab", ["a", "b", "c"], 2, storage=path, stopping=PAPER, family="exponential").close()
    sys.modules.pop("this", None)
    for old in ('\\"exponential\\"', '\\"paper\\"', '\\"ebc-h\\"'):
        with sqlite3.connect(path) as connection:
            (kept,) = connection.execute("SELECT config FROM linkarms_campaigns").fetchone()
            assert old in kept
            connection.execute("UPDATE linkarms_campaigns SET config = ?", (kept.replace(old, '\\"this\\"'),))
        with pytest.raises(la.errors.StorageError, match="the settings of the campaign are damaged"):
            Campaign.open("lab", storage=path)
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE linkarms_campaigns SET config = ?", (kept,))
        connection.close()
    assert "this" not in sys.modules


def test_unknown_campaigns(storage):
    Campaign.create("lab", ["a", "b", "c"], 2, storage=storage, stopping=PAPER, family="exponential").close()
    with pytest.raises(NotFound, match="there is no campaign 'bal'"):
        Campaign.open("bal", storage=storage)


def test_errors_are_told_apart_for_the_service():
    kinds = [
        la.errors.NotFound,
        la.errors.Conflict,
        la.errors.TooLarge,
        la.errors.InvalidInput,
        la.errors.StorageError,
    ]
    for kind in kinds:
        assert not any(issubclass(kind, other) for other in kinds if other is not kind)
