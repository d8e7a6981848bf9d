"""From the tables of an older linkarms to those of this one."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection, insert, select, text, update

from linkarms.campaign._schema import SCHEMA, campaigns, computed, only_one, schema, schema_number
from linkarms.campaign._storage import STATE

__all__ = ["upgrade"]


def upgrade(connection: Connection, shown: str) -> None:
    """Bring the tables to the schema of this linkarms, in one transaction that writes; safe when several do it at once."""
    only_one(connection)
    if schema_number(connection, shown) == 1:
        _from_1_to_2(connection)
        connection.execute(update(schema).values(number=SCHEMA))


def _from_1_to_2(connection: Connection) -> None:
    """Schema 1 had one text for the account and the state, written with every change."""
    connection.execute(text(f"ALTER TABLE {campaigns.name} RENAME COLUMN snapshot TO account"))
    computed.create(connection)
    columns = ("id", "version", "at", "config", "account")
    for number, version, at, config, snapshot in connection.execute(
        select(*(campaigns.c[name] for name in columns))
    ).all():
        account, state = _split(config, snapshot)
        connection.execute(update(campaigns).where(campaigns.c.id == number).values(account=account))
        if state is not None:
            row = {"campaign": number, "kind": STATE, "version": version, "at": at, **state}
            connection.execute(insert(computed).values(row))


def _split(config: str, snapshot: str) -> tuple[str, dict[str, Any] | None]:
    """Return account and state. What is damaged stays as it is for the doctor; a state can be computed again."""
    try:
        data = json.loads(snapshot)
        account, run = data["account"], data["run"]
        run["state"]["pending"] = [0] * len(account["pending"])
        states = account["states"]
        body = {"linkarms": json.loads(config)["linkarms"], "told": account["told"]}
        body |= {"kept": states["told"], "run": run}
        state = {
            "retractions": int(states["retracted"]),
            "body": json.dumps(body, allow_nan=False, separators=(",", ":")),
        }
        return json.dumps(account, separators=(",", ":")), state
    except (ValueError, KeyError, TypeError, RecursionError):
        return snapshot, None
