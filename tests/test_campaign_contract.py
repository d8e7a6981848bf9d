"""Both databases keep the contract of a storage, and one that breaks it is caught."""

import pytest

from linkarms.campaign import _bulk, _sqlite, _transaction, conformance, open_storage
from linkarms.errors import StorageError


def test_both_databases_keep_the_contract(storage):
    assert len(conformance.check_storage(lambda: open_storage(storage))) == len(conformance._CHECKS)


def _forgets_to_lock(monkeypatch):
    def begin(connection):
        connection.execute("BEGIN")

    monkeypatch.setattr(_sqlite, "_begin_immediate", begin)


def _loses_changes_of_tickets(monkeypatch):
    monkeypatch.setattr(_transaction, "update_tickets", lambda *_: None)


def _stores_half(monkeypatch):
    def insert(connection, campaign, rows):
        _bulk.insert_tickets(connection, campaign, rows)
        connection.commit()
        connection.begin()

    monkeypatch.setattr(_transaction, "insert_tickets", insert)


def _rounds_times(monkeypatch):
    def insert(connection, campaign, rows):
        rows = [row._replace(told_at=row.told_at and int(float(row.told_at))) for row in rows]
        _bulk.insert_tickets(connection, campaign, rows)

    monkeypatch.setattr(_transaction, "insert_tickets", insert)


def _ignores_versions(monkeypatch):
    any_version = _transaction.update(_transaction.campaigns).values(
        version=_transaction.bindparam("new_version")
    )
    monkeypatch.setattr(_transaction, "_SAVE", any_version)


def _keeps_what_is_older(monkeypatch):
    kinds = (_transaction.computed.c.kind == _transaction.bindparam("of_kind"),)
    values = {name: _transaction.bindparam(f"new_{name}") for name in _transaction.Computed._fields[1:]}
    monkeypatch.setattr(
        _transaction, "_KEEP", _transaction.update(_transaction.computed).where(*kinds).values(values)
    )


def _shifts_every_lease(monkeypatch):
    monkeypatch.setattr(_transaction, "_IS_OPEN", _transaction.literal(True))


@pytest.mark.parametrize(
    "fault",
    [
        _forgets_to_lock,
        _loses_changes_of_tickets,
        _stores_half,
        _rounds_times,
        _ignores_versions,
        _keeps_what_is_older,
        _shifts_every_lease,
    ],
    ids=lambda f: f.__name__,
)
def test_a_storage_that_breaks_the_contract_is_caught(fault, monkeypatch, tmp_path):
    fault(monkeypatch)
    with pytest.raises((conformance.NotConforming, StorageError)):
        conformance.check_storage(lambda: open_storage(tmp_path / "x.db"))
