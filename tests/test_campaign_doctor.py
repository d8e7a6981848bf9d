"""The doctor finds whatever is not as the log says, and names the first difference."""

import sqlite3

import pytest

import linkarms as la
from linkarms.campaign import Campaign

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


SNAPSHOT = "UPDATE linkarms_campaigns SET snapshot = replace(snapshot, '{}', '{}')"
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
    SNAPSHOT.format(
        "[0.5]", "[0.5000000000000001]"
    ): "snapshot.run.state.means[1][0]: 0.5000000000000001 is stored, the log gives 0.5",
    SNAPSHOT.format('"told":3', '"told":4'): "snapshot.account.states.told: 4 is stored, the log gives 3",
    SNAPSHOT.format(
        '"expirations":1', '"expirations":0'
    ): "snapshot.account.expirations: 0 is stored, the log gives 1",
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


def test_a_chain_that_was_mended_is_caught_by_the_state(path):
    """Whoever changes a sample in the log and all digests after it still has to change the state."""
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
    connection.close()
    with Campaign.open("lab", storage=path) as lab:
        assert "means[1][0]: 0.5 is stored, the log gives 0.25" in lab.doctor().difference


def test_entries_that_contradict_each_other(path):
    """A log with a sound chain that says what cannot be: a ticket told twice."""
    from linkarms.campaign._session import Session

    with Campaign.open("lab", storage=path) as lab, lab.storage.write("lab") as tx:
        head = tx.head
        session = Session(tx, None, head.at, head.version, head.digest)
        session.log("tell", {"samples": [[2, 1, [0.5]]]})
        tx.save(session.version, session.at, session.digest, head.snapshot)
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
