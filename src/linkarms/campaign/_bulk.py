"""Writing many tickets at once."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, text

from linkarms.campaign._schema import tickets
from linkarms.campaign._storage import TicketRow

__all__ = ["insert_tickets", "update_tickets"]

_CHANGING = ("state", "value", "told_at", "number")
# For SQLite without SQLAlchemy, which takes longer to prepare the parameters of a row than SQLite takes to write it.
_INSERT = (
    f"INSERT INTO {tickets.name} (campaign, {', '.join(TicketRow._fields)}) "
    f"VALUES (?{', ?' * len(TicketRow._fields)})"
)
_UPDATE = f"UPDATE {tickets.name} SET {', '.join(f'{name} = ?' for name in _CHANGING)} WHERE campaign = ? AND ticket = ?"

# PostgreSQL takes the rows as arrays in one statement, many times faster than one statement per row.
_TYPES = {"arm": "integer", "worker": "text", "state": "text", "value": "text"}
_ARRAYS = ", ".join(f"CAST(:{name} AS {_TYPES.get(name, 'bigint')}[])" for name in TicketRow._fields)
_NAMES = ", ".join(TicketRow._fields)
_INSERT_ARRAYS = text(
    f"INSERT INTO {tickets.name} (campaign, {_NAMES}) SELECT :campaign, u.* FROM unnest({_ARRAYS}) AS u"
)
_UPDATE_ARRAYS = text(
    f"UPDATE {tickets.name} AS t SET {', '.join(f'{name} = u.{name}' for name in _CHANGING)} "
    f"FROM unnest({_ARRAYS}) AS u ({_NAMES}) WHERE t.campaign = :campaign AND t.ticket = u.ticket"
)


def insert_tickets(connection: Connection, campaign: int, rows: Sequence[TicketRow]) -> None:
    """Add new tickets."""
    if connection.dialect.name == "postgresql":
        connection.execute(_INSERT_ARRAYS, _columns(campaign, rows))
    else:
        connection.exec_driver_sql(_INSERT, [(campaign, *row) for row in rows])


def update_tickets(connection: Connection, campaign: int, rows: Sequence[TicketRow]) -> None:
    """Update existing tickets."""
    if connection.dialect.name == "postgresql":
        connection.execute(_UPDATE_ARRAYS, _columns(campaign, rows))
        return
    changes = [(row.state, row.value, row.told_at, row.number, campaign, row.ticket) for row in rows]
    connection.exec_driver_sql(_UPDATE, changes)


def _columns(campaign: int, rows: Sequence[TicketRow]) -> dict[str, object]:
    columns = zip(*rows, strict=True)
    return {"campaign": campaign} | {
        name: list(column) for name, column in zip(TicketRow._fields, columns, strict=True)
    }
