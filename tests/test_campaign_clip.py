"""Campaigns whose samples are clipped to a declared range: the log keeps what was measured, the clusterer counts the clipped samples."""

import json

import numpy as np
import pytest
from tests.service_thread import local_service

import linkarms as la
from linkarms.campaign import Campaign, Trace, open_storage
from linkarms.cli._app import run
from linkarms.client import Client
from linkarms.errors import Conflict, InvalidInput, InvalidSample

ARMS = ["jfk", "lga", "ewr"]


@pytest.fixture
def storage(tmp_path):
    opened = open_storage(tmp_path / "runs.db")
    yield opened
    opened.close()


def wild_samples(n=40):
    """Heavy-tailed samples of three arms, in turns: many lie outside (-30, 120)."""
    rng = np.random.default_rng(5)
    centres = np.array([0.0, 5.0, 70.0])
    names = [ARMS[i % 3] for i in range(3 * n)]
    return names, [float(centres[i % 3] + 40.0 * rng.standard_t(1.5)) for i in range(3 * n)]


def clusterer_of_clipped(names, values):
    """The same run by hand: a bounded family, told clipped samples."""
    c = la.BanditClusterer(2, ARMS, family="bounded:-30:120")
    c.tell_many(names, np.clip(values, -30.0, 120.0).tolist())
    return c


def test_it_counts_clipped_samples_and_stores_what_was_measured(storage):
    names, values = wild_samples()
    assert min(values) < -30.0
    assert max(values) > 120.0
    campaign = Campaign.create("delays", ARMS, 2, clip=(-30, 120), storage=storage)
    campaign.add_many(names, values)
    found, by_hand = campaign.result(), clusterer_of_clipped(names, values).result()
    assert found.parameters.tolist() == by_hand.parameters.tolist()
    assert (found.evidence, found.stopped, found.samples) == (
        by_hand.evidence,
        by_hand.stopped,
        by_hand.samples,
    )
    assert found.reason.endswith("these are clusters of the means of samples clipped to -30 .. 120")
    assert campaign.status().promise == found.reason
    assert campaign.status().clip == (-30.0, 120.0)
    assert [row["value"] for row in json.loads(campaign.export("json"))] == values
    # the replays see the same: the doctor, the trace, another process, the check of the model
    assert campaign.doctor().ok
    trace = Trace("delays", storage)
    trace.catch_up()
    assert trace.looks[-1].evidence == found.evidence
    assert Campaign.open("delays", storage).result().evidence == found.evidence
    assert {finding.kind for finding in campaign.check_model()} <= {"dependence", "drift"}


def test_a_told_sample_is_compared_as_it_was_measured(storage):
    campaign = Campaign.create("delays", ARMS, 2, clip=(-30, 120), storage=storage)
    (ticket,) = campaign.ask()
    receipt = campaign.tell(ticket, 500.0)
    assert campaign.tell(ticket, [500.0]) == receipt
    with pytest.raises(Conflict, match=r"another value, 500\.0"):
        campaign.tell(ticket, 120.0)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (float("nan"), "not finite"),
        (float("inf"), "not finite"),
        ("far", "not a number"),
        ([1.0, 2.0], "shape"),
    ],
)
def test_what_is_not_a_sample_is_refused_and_stores_nothing(storage, value, said):
    campaign = Campaign.create("delays", ARMS, 2, clip=(-30, 120), storage=storage)
    with pytest.raises(InvalidSample, match=said):
        campaign.add_many(["jfk", "lga"], [1.0, value])
    assert campaign.status().samples == 0


def test_numbers_of_arms_and_values_must_agree(storage):
    campaign = Campaign.create("delays", ARMS, 2, clip=(-30, 120), storage=storage)
    with pytest.raises(InvalidInput, match="2 arms and 1 values"):
        campaign.add_many(["jfk", "lga"], [1.0])
    with pytest.raises(InvalidInput, match="1 arms and 2 values"):
        campaign.add_many(["jfk"], [1.0, 2.0])


def test_vectors_and_a_family_of_choice(storage):
    vectors = Campaign.create("vectors", ARMS, 2, n_features=2, clip=(0, 10), storage=storage)
    vectors.add_many(ARMS, [[1.0, 20.0], [2.0, -3.0], [9.0, 9.0]])
    assert vectors.result().parameters.tolist() == [[1.0, 10.0], [2.0, 0.0], [9.0, 9.0]]
    chosen = Campaign.create("chosen", ARMS, 2, family="gaussian-unknown", clip=(0, 10), storage=storage)
    chosen.add("jfk", 99.0)
    assert chosen.result().parameters[0].tolist() == [10.0]


@pytest.mark.parametrize(
    "clip",
    [(5, 1), (1, 1), 7, (1, 2, 3), ("a", "b"), (0, float("inf")), (-1e300, 1e300), (-1e-300, 1e-300)],
)
def test_a_range_that_is_none_is_refused(storage, clip):
    with pytest.raises(InvalidInput, match=r"^clip") as caught:
        Campaign.create("delays", ARMS, 2, clip=clip, storage=storage)
    assert "covariance" not in str(caught.value)


def test_campaigns_without_a_range_are_stored_as_before(storage):
    campaign = Campaign.create("plain", ARMS, 2, storage=storage)
    with storage.read("plain") as reader:
        assert "clip" not in json.loads(reader.head.config)
    assert campaign.status().clip is None
    assert "clipped" not in campaign.result().reason


def test_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["campaign", "create", "delays", "--arms", "jfk,lga,ewr", "-k", "2", "--clip=-30:120"]) == 0
    assert "samples are clipped to -30 .. 120 before they are counted" in capsys.readouterr().out
    assert run(["campaign", "add", "delays", "lga", "900"]) == 0
    capsys.readouterr()
    assert run(["campaign", "status", "delays", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["clip"] == [-30.0, 120.0]
    assert run(["campaign", "status", "delays"]) == 0
    assert "samples clipped to -30 .. 120" in capsys.readouterr().out
    assert run(["campaign", "create", "x", "--arms", "a,b,c", "-k", "2", "--clip", "5:1"]) == 2
    assert "--clip 5:1 is empty" in capsys.readouterr().err


def test_over_http(storage):
    with local_service(storage) as service:
        url = f"http://127.0.0.1:{service.port}"
        with Client.create("delays", ARMS, 2, url=url, clip=(-30, 120)) as client:
            client.add_many(ARMS, [4.0, 900.0, -75.0])
            assert client.result().parameters.ravel().tolist() == [4.0, 120.0, -30.0]
            assert list(client.status().clip) == [-30.0, 120.0]
            view = service.get("/api/v1/campaigns/delays/view").json()
            assert view["status"]["clip"] == [-30.0, 120.0]
            assert [sample["value"] for sample in view["recent"]] == [[-75.0], [900.0], [4.0]]
        for clip, said in ([[5, 1], "clip=(5, 1) is empty"], [[1], "clip"], ["a", "clip"]):
            body = {"name": "x", "arms": ARMS, "n_clusters": 2, "clip": clip}
            answer = service.post("/api/v1/campaigns", json=body)
            assert answer.status_code == 422
            assert said in answer.json()["detail"]
