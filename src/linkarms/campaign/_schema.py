"""The tables, and the number of their schema."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    inspect,
    select,
    text,
)

from linkarms.campaign._storage import OPEN
from linkarms.errors import NewerSchema, StorageError

__all__ = [
    "SCHEMA",
    "campaigns",
    "computed",
    "log",
    "make_tables",
    "only_one",
    "schema",
    "schema_number",
    "tickets",
]

#: Increased by one whenever the tables change; a database with a larger number is refused.
SCHEMA = 2

_metadata = MetaData()

schema = Table("linkarms_schema", _metadata, Column("number", Integer, nullable=False))

campaigns = Table(
    "linkarms_campaigns",
    _metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(100), nullable=False, unique=True),
    Column("version", BigInteger, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("config", Text, nullable=False),
    Column("account", Text, nullable=False),
)

log = Table(
    "linkarms_log",
    _metadata,
    Column("campaign", Integer, ForeignKey("linkarms_campaigns.id"), primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("at", BigInteger, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("worker", Text),
    Column("key", Text),
    Column("request", String(64)),
    Column("body", Text, nullable=False),
    Column("digest", String(64), nullable=False),
    UniqueConstraint("campaign", "key", name="linkarms_log_key"),
)

tickets = Table(
    "linkarms_tickets",
    _metadata,
    Column("campaign", Integer, ForeignKey("linkarms_campaigns.id"), primary_key=True),
    Column("ticket", BigInteger, primary_key=True, autoincrement=False),
    Column("arm", Integer, nullable=False),
    Column("worker", Text),
    Column("state", String(16), nullable=False),
    Column("expires_at", BigInteger),
    Column("value", Text),
    Column("told_at", BigInteger),
    Column("number", BigInteger),
    sqlite_with_rowid=False,
)
computed = Table(
    "linkarms_computed",
    _metadata,
    Column("campaign", Integer, ForeignKey("linkarms_campaigns.id"), primary_key=True),
    Column("kind", String(16), primary_key=True),
    Column("retractions", BigInteger, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("body", Text, nullable=False),
)
# told tickets are many and open ones few: an index of the open ones alone stays small
_is_open = text(f"state = '{OPEN}'")
Index(
    "linkarms_tickets_open",
    tickets.c.campaign,
    tickets.c.expires_at,
    sqlite_where=_is_open,
    postgresql_where=_is_open,
)


def schema_number(connection: Connection, shown: str) -> int | None:
    """Return the schema number of the database, None if it has no tables of linkarms; `NewerSchema` if it is too large."""
    if not inspect(connection).has_table(schema.name):
        return None
    numbers = connection.execute(select(schema.c.number)).scalars().all()
    if len(numbers) != 1 or not isinstance(numbers[0], int) or numbers[0] < 1:
        found = ", ".join(str(number) for number in numbers[:3]) or "none"
        raise StorageError(
            f"{shown} has the schema number {found}, but valid numbers are 1 to {SCHEMA}; it is damaged: restore a copy"
        )
    if numbers[0] > SCHEMA:
        raise NewerSchema(
            f"{shown} has schema {numbers[0]} and this linkarms reads schema {SCHEMA}; upgrade linkarms"
        )
    return numbers[0]


def only_one(connection: Connection) -> None:
    """Wait until nobody else creates or changes tables; SQLite has one writer at a time anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('linkarms'))"))


def make_tables(connection: Connection, shown: str) -> None:
    """Create the tables where there are none; safe when several do it at once."""
    only_one(connection)
    if schema_number(connection, shown) is None:
        _metadata.create_all(connection)
        connection.execute(schema.insert().values(number=SCHEMA))
