"""Dumps and campaigns of the old version are read, say what they said, and go on as they did; see tests/recorded."""

import shutil
import sqlite3

import numpy as np
import pytest
from tests.recorded import UNIT
from tests.recorded.adapter import Run
from tests.recorded.campaigns import DATABASE, NOW, load_campaigns
from tests.recorded.dumps import load_dumps
from tests.recorded.geometric import Geometric
from tests.recorded.replay import PATHS, close, tie

import linkarms as la
from linkarms.campaign import Campaign

#: Numbers of results; see tests/recorded/replay.py. Pairs of vectors are searched until the bracket is 3e-8 wide.
TOLERANCE, VECTORS = 2e-9, 3e-8
DUMPS = list(load_dumps())
CAMPAIGNS = {c.name: c for c in load_campaigns()}


def check_result(result, recorded, tolerance=TOLERANCE):
    found = result.to_dict()
    for key in ("labels", "arms", "clusters", "stopped", "delta", "samples", "pulls", "ambiguous"):
        assert found[key] == recorded[key], key
    for key in ("evidence", "threshold"):
        if recorded[key] is None:
            assert found[key] is None
        else:
            assert close(recorded[key], found[key], tolerance), key
    mine, theirs = np.array(found["parameters"], float), np.array(recorded["parameters"], float)
    np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", sorted({d.spec.name.split()[0] for d in DUMPS}))
def test_a_dump_of_the_old_version_goes_on(kind):
    tolerance = VECTORS if kind.startswith(("categorical", "product")) else TOLERANCE
    for dumped in DUMPS:
        spec = dumped.spec
        if spec.name.split()[0] != kind:
            continue
        own = Geometric() if kind == "geometric" else None
        run = la.BanditClusterer.load(dumped.blob, family=own)
        check_result(run.result(), dumped.before, tolerance)
        follow = True
        for arm, sample in zip(dumped.asks, dumped.samples, strict=True):
            view = Run(spec, run)
            chosen = view.choose()
            if chosen != arm and follow:
                assert tie(view, arm, chosen), spec
                follow = spec.sampling["name"] not in PATHS
            view.pend(arm)
            run.tell(arm, np.array(sample) * UNIT)
        check_result(run.result(), dumped.after, tolerance)


def test_late_samples_and_the_reason_of_the_end_are_kept():
    named = {
        d.spec.name: la.BanditClusterer.load(d.blob) for d in DUMPS if d.spec.name in ("closed", "stopped")
    }
    assert named["stopped"].late == [(0, [0.25]), (1, [0.5])]
    assert named["stopped"].result().stopped
    assert named["closed"].done
    assert "the probe is lost" in named["closed"].result().reason


def test_every_sampling_and_stopping_rule_has_a_dump():
    assert {d.spec.sampling["name"] for d in DUMPS} == set(la.sampling._resolve._SHIPPED)
    assert {d.spec.stopping["name"] for d in DUMPS} == set(la.stopping._resolve._SHIPPED)


@pytest.fixture
def database(tmp_path):
    return shutil.copy(DATABASE, tmp_path / "campaigns.db")


def test_the_campaigns_of_the_old_version_are_all_there(database):
    assert Campaign.names(database) == sorted(CAMPAIGNS)


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_a_campaign_of_the_old_version_goes_on(name, database):
    recorded = CAMPAIGNS[name]
    with Campaign.open(name, database, clock=lambda: NOW) as campaign:
        checkup = campaign.doctor()
        assert checkup.ok, checkup.difference
        status = campaign.status().to_dict()
        for key in (
            "samples",
            "pulls",
            "pending",
            "tickets",
            "late",
            "done",
            "stopped",
            "conditional",
            "version",
        ):
            assert status[key] == recorded.status[key], key
        check_result(campaign.result(), recorded.result)
        for arm, sample in zip(recorded.asks, recorded.samples, strict=True):
            (ticket,) = campaign.ask()
            assert ticket.arm == arm
            campaign.tell(ticket, (np.array(sample) * UNIT).tolist())
        check_result(campaign.result(), recorded.after)
        assert campaign.doctor().ok


def test_the_database_is_of_the_old_version():
    with sqlite3.connect(f"file:{DATABASE}?mode=ro&immutable=1", uri=True) as connection:
        tables = [
            name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")
        ]
        text = "".join(str(row) for table in tables for row in connection.execute(f"select * from {table}"))
    connection.close()
    assert '"linkarms": "0.1.0"' in text or '"linkarms":"0.1.0"' in text
