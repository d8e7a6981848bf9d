"""Checks of the storage contract. Authors of a storage for another database run `check_storage` on it."""

from __future__ import annotations

import threading
import time

from linkarms.campaign._conformance import (
    BIG,
    TEXT,
    Make,
    NotConforming,
    a_repair_replaces_what_it_should,
    advance,
    computed_texts_never_go_back,
    create,
    demand,
    entry,
    leases_are_shifted,
    refused,
)
from linkarms.campaign._storage import OPEN, RELEASED, TOLD, Entry, Storage, TicketRow
from linkarms.errors import Conflict, NotFound, StorageError

__all__ = ["NotConforming", "check_storage"]


def check_storage(make: Make) -> list[str]:
    """Run every check and return their names; `NotConforming` at the first that fails.

    Parameters
    ----------
    make : callable
        Returns a new storage object at each call, all of them on the same database, which is empty at first.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from linkarms.campaign import open_storage
    >>> from linkarms.campaign.conformance import check_storage
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "empty.db"
    >>> len(check_storage(lambda: open_storage(path))) >= 12
    True
    """
    done = []
    for check in _CHECKS:
        name = check.__name__.strip("_").replace("_", " ")
        made: list[Storage] = []

        def remembered(made: list[Storage] = made) -> Storage:
            made.append(make())
            return made[-1]

        try:
            check(remembered)
        except NotConforming as error:
            raise NotConforming(f"{name}: {error}") from error
        finally:
            for storage in made:
                storage.close()
        done.append(name)
    return done


def _a_campaign_is_found_again(make: Make) -> None:
    create(make(), "b")
    create(make(), "a")
    other = make()
    demand(other.names() == ["a", "b"], f"names() gives {other.names()}")
    with other.read("a") as reader:
        head = reader.head
        entries = list(reader.entries())
    demand(head.account == "account 1" and head.config == "config", "the head is another one")
    demand(
        (head.version, head.at, head.created_at, head.digest) == (1, 1_001, 1_001, "d1"),
        "the head is another one",
    )
    demand(entries == [entry(1, kind="create")], "the first entry is another one")


def _unknown_and_taken_names_are_refused(make: Make) -> None:
    with refused(NotFound, "reading an unknown campaign"), make().read("unknown"):
        pass
    with refused(NotFound, "writing an unknown campaign"), make().write("unknown"):
        pass
    with refused(Conflict, "a name that is taken"):
        create(make(), "a")


def _texts_and_numbers_are_exact(make: Make) -> None:
    entry = Entry(1, BIG, "create", TEXT, TEXT, "r", TEXT * 1_000, "d")
    make().create("exact", TEXT, TEXT * 1_000, entry)
    row = TicketRow(BIG, 7, TEXT, TOLD, BIG, TEXT, BIG + 1, BIG + 2)
    with make().write("exact") as tx:
        tx.insert_tickets([row])
    with make().read("exact") as reader:
        demand(list(reader.entries()) == [entry], "an entry came back changed")
        demand(list(reader.tickets()) == [row], "a ticket came back changed")
        demand(reader.head.account == TEXT * 1_000, "the account came back changed")
        demand(reader.head.at == BIG, "a time came back changed")


def _what_is_committed_is_seen_by_others(make: Make) -> None:
    first, second = make(), make()
    create(first, "commit")
    with first.write("commit") as tx:
        advance(tx)
    with second.write("commit") as tx:
        demand(tx.head.version == 2 and tx.head.account == "account 2", "a commit is not seen by a writer")
    with second.read("commit") as reader:
        demand(len(list(reader.entries())) == 2, "a commit is not seen by a reader")


def _what_fails_leaves_nothing(make: Make) -> None:
    storage = make()
    create(storage, "abort")
    with refused(ZeroDivisionError, "an error inside a transaction"), storage.write("abort") as tx:
        tx.insert_tickets([TicketRow(1, 0, None, OPEN, 5)])
        advance(tx)
        raise ZeroDivisionError
    with make().read("abort") as reader:
        left = (
            reader.head.version,
            reader.head.account,
            len(list(reader.entries())),
            list(reader.tickets()),
        )
    demand(left == (1, "account 1", 1, []), "a failed transaction left something behind")
    with storage.write("abort") as tx:
        advance(tx)


def _numbers_and_keys_are_unique(make: Make) -> None:
    storage = make()
    for name in ("keys", "keys-2"):
        create(storage, name)
        with storage.write(name) as tx:
            advance(tx, key="k")
    with refused(Conflict, "a key that is taken"), storage.write("keys") as tx:
        advance(tx, key="k")
    with refused(Conflict, "an entry number that is taken"), storage.write("keys") as tx:
        tx.append(entry(2))
    with storage.read("keys") as reader:
        found = reader.find_key("k")
        demand(found == entry(2, "k"), "find_key gives another entry")
        demand(reader.find_key("other") is None, "find_key finds what is not there")


def _a_stale_version_is_refused(make: Make) -> None:
    storage = make()
    create(storage, "stale")
    with refused(StorageError, "saving over a newer version"), storage.write("stale") as tx:
        tx.save(2, 1_002, "d2", "account 2")
        tx.save(2, 1_002, "d2", "account 2")
    with storage.read("stale") as reader:
        demand(reader.head.version == 1, "a refused save was stored")


def _a_known_config_is_left_out(make: Make) -> None:
    storage = make()
    create(storage, "known")
    for known, config in ((True, ""), (False, "config")):
        with storage.read("known", known) as reader:
            demand(reader.head.config == config, f"known={known} gives the config {reader.head.config!r}")
            demand(reader.head.account == "account 1", f"known={known} gives another account")
        with storage.write("known", known) as tx:
            demand(tx.head.config == config, f"known={known} gives the config {tx.head.config!r}")


def _long_logs_come_in_order(make: Make) -> None:
    storage = make()
    create(storage, "long")
    with storage.write("long") as tx:
        for seq in range(2, 2_503):
            tx.append(entry(seq, kind=("release" if seq % 10 == 0 else "tell", "ask")[seq % 2]))
        tx.save(2_502, 4_000, "d", "s")
    with storage.read("long") as reader:
        demand([e.seq for e in reader.entries()] == list(range(1, 2_503)), "entries are lost or out of order")
        demand([e.seq for e in reader.entries(after=2_500)] == [2_501, 2_502], "entries(after) is wrong")
        odd = [e.seq for e in reader.entries(kinds=("ask",))]
        demand(odd == list(range(3, 2_503, 2)), "entries(kinds) is wrong")
        even = [e.seq for e in reader.entries(2_000, ("tell", "add", "release"))]
        demand(even == list(range(2_002, 2_503, 2)), "entries with several kinds are wrong or out of order")


def _tickets_are_found_and_changed(make: Make) -> None:
    storage = make()
    create(storage, "tickets")
    rows = [TicketRow(i, i % 3, f"w{i}", OPEN, 10 * i) for i in range(1, 1_501)]
    with storage.write("tickets") as tx:
        tx.insert_tickets(rows)
        told = [row._replace(state=TOLD, value="[0.5]", told_at=7, number=row.ticket) for row in rows[:3]]
        tx.update_tickets([*told, rows[4]._replace(state=RELEASED)])
        demand(tx.next_expiry() == 40, "a transaction does not see its own changes")
    with make().read("tickets") as reader:
        demand(list(reader.tickets([3, 1, 99_999])) == [told[0], told[2]], "tickets(numbers) is wrong")
        demand(
            list(reader.tickets(range(1, 1_501)))[4:] == [rows[4]._replace(state=RELEASED), *rows[5:]],
            "tickets are wrong",
        )
        demand(len(list(reader.tickets())) == 1_500, "tickets() is not complete")
        demand(reader.overdue(70) == [rows[3], rows[5], rows[6]], "overdue is wrong")
        demand(reader.overdue(39) == [] and reader.next_expiry() == 40, "next_expiry is wrong")
    with refused(Conflict, "a ticket number that is taken"), storage.write("tickets") as tx:
        tx.insert_tickets([rows[0]])


def _a_read_sees_one_state(make: Make) -> None:
    reading, writing = make(), make()
    create(reading, "view")
    with reading.read("view") as reader:
        demand(reader.head.version == 1, "the head is another one")
        with writing.write("view") as tx:  # readers do not hold up writers
            advance(tx)
        demand(len(list(reader.entries())) == 1, "a read sees what was committed after it began")


def _writers_wait_for_each_other(make: Make) -> None:
    first, second = make(), make()
    create(first, "wait")
    seen: list[int] = []
    started = threading.Event()

    def write() -> None:
        started.set()
        with second.write("wait") as tx:
            seen.append(tx.head.version)

    thread = threading.Thread(target=write)
    with first.write("wait") as tx:
        thread.start()
        started.wait()
        time.sleep(0.3)
        demand(not seen, "two writers are inside at once")
        with make().read("wait") as reader:
            demand(reader.head.version == 1, "a reader sees what is not committed")
        advance(tx)
    thread.join(60)
    demand(seen == [2], f"the second writer saw {seen or 'nothing'}, not what the first one wrote")


def _nothing_is_lost_between_threads(make: Make) -> None:
    shared = make()
    create(shared, "threads")
    failed: list[BaseException] = []

    def work(storage: Storage) -> None:
        try:
            for _ in range(10):
                with storage.write("threads") as tx:
                    advance(tx)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(s,)) for s in (shared, shared, shared, make(), make())]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    demand(not failed, f"a writer failed: {failed[:1]}")
    with shared.read("threads") as reader:
        demand(reader.head.version == 51, f"{51 - reader.head.version} changes were lost")
        demand([e.seq for e in reader.entries()] == list(range(1, 52)), "entries were lost")


def _the_clock_goes_on(make: Make) -> None:
    storage = make()
    create(storage, "clock")
    before = storage.now()
    with storage.read("clock") as reader, make().read("clock") as later:
        demand(isinstance(before, int) and before <= reader.now <= later.now, "the clock goes back")


def _a_closed_storage_opens_again(make: Make) -> None:
    storage = make()
    create(storage, "close")
    storage.close()
    storage.close()
    with storage.write("close") as tx:
        advance(tx)
    demand(storage.check() is None, "check() finds fault with a sound database")


_CHECKS = (
    _a_campaign_is_found_again,
    _unknown_and_taken_names_are_refused,
    _texts_and_numbers_are_exact,
    _what_is_committed_is_seen_by_others,
    _what_fails_leaves_nothing,
    _numbers_and_keys_are_unique,
    _a_stale_version_is_refused,
    _a_known_config_is_left_out,
    computed_texts_never_go_back,
    leases_are_shifted,
    a_repair_replaces_what_it_should,
    _long_logs_come_in_order,
    _tickets_are_found_and_changed,
    _a_read_sees_one_state,
    _writers_wait_for_each_other,
    _nothing_is_lost_between_threads,
    _the_clock_goes_on,
    _a_closed_storage_opens_again,
)
