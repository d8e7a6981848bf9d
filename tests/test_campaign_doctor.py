"""The doctor finds whatever is not as the log says, and names the first difference."""

import sqlite3

import pytest

import linkarms as la
from linkarms.campaign import Campaign
from linkarms.errors import StorageError

PAPER = la.stopping.Paper(theta=(-10, 10))


@pytest.fixture
def path(tmp_path):
    """A campaign with something of each kind in its log."""
    file = tmp_path / "runs.db"
    now = [1_000.0]
    with Campaign.create(
        "lab",
        ["a", "b", "c"],
        2,
        storage=file,
        stopping=PAPER,
        lease=10,
        clock=lambda: now[0],
        family="gaussian",
    ) as lab:
        first = lab.ask(4, worker="w", key="k")
        lab.tell_many(first[:2], [0.125, 0.5])
        lab.release(first[2])
        lab.add("c", 5.0)
        lab.ask(2, lease=1_000)
        now[0] += 20
        lab.tell(first[3], 0.75)
        lab.retract(first[0], "spilled")
        lab.compute()
        assert lab.doctor().ok
        assert {e.kind for e in lab.history()} == {
            "create",
            "ask",
            "tell",
            "release",
            "add",
            "expire",
            "retract",
        }
    return file


def change(path, statement):
    with sqlite3.connect(path) as connection:
        assert connection.execute(statement).rowcount > 0
    connection.close()


ACCOUNT = "UPDATE linkarms_campaigns SET account = replace(account, '{}', '{}')"
COMPUTED = "UPDATE linkarms_computed SET body = replace(body, '{}', '{}') WHERE kind = '{}'"
#: What is changed behind the log's back, and what the doctor says.
CHANGES = {
    "UPDATE linkarms_log SET body = replace(body, '0.125', '0.126')": "log entry 3 (tell) was changed",
    "UPDATE linkarms_log SET at = at + 1 WHERE seq = 4": "log entry 4 (release) was changed",
    "UPDATE linkarms_log SET worker = 'v' WHERE seq = 2": "log entry 2 (ask) was changed",
    "DELETE FROM linkarms_log WHERE seq = 5": "log entry 5 is missing; the next one is 6",
    "DELETE FROM linkarms_log WHERE seq = 9": "the number of log entries: 9 is stored, the log gives 8",
    "UPDATE linkarms_tickets SET state = 'told' WHERE ticket = 3": "ticket 3, state: 'told' is stored, the log gives 'released'",
    "UPDATE linkarms_tickets SET value = '[0.6]' WHERE ticket = 2": "ticket 2, value: '[0.6]' is stored, the log gives '[0.5]'",
    "DELETE FROM linkarms_tickets WHERE ticket = 5": "ticket 5 is in the log, and it is not stored",
    "INSERT INTO linkarms_tickets (campaign, ticket, arm, state) VALUES (1, 99, 0, 'open')": "ticket 99 is stored, and the log",
    ACCOUNT.format('"told":3', '"told":4'): "account.states.told: 4 is stored, the log gives 3",
    ACCOUNT.format('"expirations":1', '"expirations":0'): "account.expirations: 0 is stored, the log gives 1",
    ACCOUNT.format("{", ""): "the account of the tickets cannot be read",
    "UPDATE linkarms_campaigns SET account = '{\"next_expiry\":1}'": "account: {} is stored",
    COMPUTED.format(
        "[0.5]", "[0.5000000000000001]", "state"
    ): "state.run.state.means[1][0]: 0.5000000000000001 is stored, the log gives 0.5",
    COMPUTED.format('"scale"', '"scalp"', "state"): "state.run.state: {",
    COMPUTED.format("{", "", "state"): "the stored state cannot be read",
    COMPUTED.format('"samples":3', '"samples":4', "figures"): "figures.result.samples: 4 is stored",
    COMPUTED.format("{", "", "figures"): "the stored figures cannot be read",
    "UPDATE linkarms_computed SET version = 99": "the stored state of entry 99 does not belong to this log",
    "UPDATE linkarms_computed SET retractions = 0": "the stored state of entry 8 does not belong to this log",
    "UPDATE linkarms_campaigns SET digest = 'x'": "the digest of the log: x is stored",
    "UPDATE linkarms_campaigns SET config = replace(config, '\"lease\":10', '\"lease\":11')": "the settings differ",
}


@pytest.mark.parametrize(("statement", "found"), CHANGES.items())
def test_the_first_difference_is_named(path, statement, found):
    change(path, statement)
    with Campaign("lab", la.campaign.open_storage(path)) as lab:
        checkup = lab.doctor()
    assert not checkup.ok
    assert checkup.difference.startswith(found)


#: What can be rebuilt from the log.
REPAIRABLE = [
    statement for statement in CHANGES if "linkarms_log" not in statement and "SET digest" not in statement
]


@pytest.mark.parametrize("statement", REPAIRABLE)
def test_what_differs_is_rebuilt_from_the_log(path, statement):
    with Campaign.open("lab", storage=path) as lab:
        before = lab.export("csv"), lab.history(), lab.status()
    change(path, statement)
    with Campaign("lab", la.campaign.open_storage(path)) as lab:
        found = lab.doctor()
        repaired = lab.doctor(repair=True)
        assert (repaired.ok, repaired.repaired, repaired.difference) == (True, True, found.difference)
        assert lab.doctor(repair=True) == lab.doctor()
        assert lab.doctor().ok
    with Campaign.open("lab", storage=path) as lab:
        after = lab.export("csv"), lab.history(), lab.status()
        assert after == before
        lab.tell(lab.ask(1)[0], 1.0)
        assert lab.doctor().ok


@pytest.mark.parametrize("statement", [s for s in CHANGES if s not in REPAIRABLE])
def test_a_log_that_is_not_whole_is_not_repaired(path, statement):
    """Nothing is written: whoever has a backup still has all that there is."""
    change(path, statement)
    content = dump(path)
    with Campaign("lab", la.campaign.open_storage(path)) as lab:
        found = lab.doctor(repair=True)
        assert not found.ok
        assert not found.repaired
        assert found == lab.doctor()
    assert dump(path) == content


def dump(path):
    connection = sqlite3.connect(path)
    try:
        return list(connection.iterdump())
    finally:
        connection.close()


def test_a_damaged_state_is_named_and_its_repair_keeps_every_sample(storage):
    """On both databases: the log is whole, the state is not."""
    settings = {"storage": storage, "stopping": PAPER, "family": "gaussian", "delta": 1e-300}
    with Campaign.create("lab", ["a", "b", "c"], 2, **settings) as lab:
        receipts = lab.add_many(["a", "b", "c"] * 20, [0.1, 0.2, 5.0] * 20)
        lab.retract(receipts[0].ticket, "spilled")
        expected = lab.status()
        with lab.storage._begin(write=True) as connection:
            connection.exec_driver_sql("UPDATE linkarms_computed SET body = '{' || body")
    with Campaign.open("lab", storage=storage) as lab:
        for look in (lab.status, lambda: lab.ask(1)):
            with pytest.raises(StorageError, match=r"state .* is damaged .*doctor NAME --repair"):
                look()
        lab.add("a", 0.3)  # samples are taken all the same
        assert lab.doctor(repair=True).repaired
        assert lab.status().samples == expected.samples + 1
        assert lab.doctor().ok


def test_a_repair_begins_again_if_somebody_tells_meanwhile(path, monkeypatch):
    from linkarms.campaign import _doctor

    change(path, COMPUTED.format("{", "", "state"))
    other, told = Campaign.open("lab", storage=path), []
    real = _doctor._repair

    def repair(*given):
        if len(told) < 2:
            told.append(other.add("a", 1.0))
        return real(*given)

    monkeypatch.setattr(_doctor, "_repair", repair)
    with Campaign("lab", la.campaign.open_storage(path)) as lab:
        assert lab.doctor(repair=True).samples == 6
        assert lab.doctor().ok
        monkeypatch.setattr(_doctor, "_repair", lambda *_: False)
        change(path, COMPUTED.format("{", "", "state"))
        with pytest.raises(StorageError, match="others keep changing the campaign 'lab'"):
            lab.doctor(repair=True)
    other.close()


def test_a_chain_that_was_mended_is_caught_by_the_state(path):
    """Whoever changes a sample in the log and all digests after it still has to change tickets and state."""
    from linkarms.campaign._session import chained
    from linkarms.campaign._storage import Entry

    connection = sqlite3.connect(path)
    rows = connection.execute(
        "SELECT seq, at, kind, worker, key, request, body, digest FROM linkarms_log ORDER BY seq"
    ).fetchall()
    before = ""
    for row in rows:
        entry = Entry(*row)
        entry = entry._replace(body=entry.body.replace("0.5]", "0.25]"))
        before = chained(before, entry)
        connection.execute(
            "UPDATE linkarms_log SET body = ?, digest = ? WHERE seq = ?", (entry.body, before, entry.seq)
        )
    connection.execute("UPDATE linkarms_campaigns SET digest = ?", (before,))
    connection.commit()
    with Campaign.open("lab", storage=path) as lab:
        assert lab.doctor().difference == "ticket 2, value: '[0.5]' is stored, the log gives '[0.25]'"
        connection.execute("UPDATE linkarms_tickets SET value = '[0.25]' WHERE ticket = 2")
        connection.commit()
        connection.close()
        assert "means[1][0]: 0.5 is stored, the log gives 0.25" in lab.doctor().difference


def test_entries_that_contradict_each_other(path):
    """A log with a sound chain that says what cannot be: a ticket told twice."""
    from linkarms.campaign._session import Session

    with Campaign.open("lab", storage=path) as lab, lab.storage.write("lab") as tx:
        head = tx.head
        session = Session(tx, None, (), head.at, head.version, head.digest)
        session.log("tell", {"samples": [[2, 1, [0.5]]]})
        tx.save(session.version, session.at, session.digest, head.account)
    with Campaign.open("lab", storage=path) as lab:
        assert lab.doctor().difference == "log entry 10 makes ticket 2 told, which is told"


def test_progress_is_reported(path):
    seen = []
    with Campaign.open("lab", storage=path) as lab:
        lab.doctor(progress=lambda part, text: seen.append((part, text)))
    assert seen[-1] == (1.0, "entry 9 of 9")


def test_another_version_is_named(path, monkeypatch):
    from linkarms.campaign import _doctor

    monkeypatch.setattr(_doctor, "__version__", "9.9")
    change(path, "UPDATE linkarms_tickets SET arm = 2 WHERE ticket = 1")
    with Campaign.open("lab", storage=path) as lab:
        found = lab.doctor().difference
    assert found.startswith("ticket 1, arm: 2 is stored, the log gives 0 (linkarms ")
    assert "this is 9.9" in found


def test_what_another_version_decided_is_not_repaired(path):
    """A state that can be read and differs may be right by the formulas of its time."""
    change(path, COMPUTED.format(f'"linkarms":"{la.__version__}"', '"linkarms":"0.0.7"', "state"))
    with Campaign.open("lab", storage=path) as lab:
        assert lab.doctor().ok
    change(path, COMPUTED.format("[0.5]", "[0.5000000000000001]", "state"))
    content = dump(path)
    with Campaign.open("lab", storage=path) as lab:
        found = lab.doctor(repair=True)
    assert not found.ok
    assert "(linkarms 0.0.7 computed it and this is " in found.difference
    assert dump(path) == content
    change(path, COMPUTED.format("{", "", "state"))
    with Campaign.open("lab", storage=path) as lab:
        assert lab.doctor(repair=True).repaired
