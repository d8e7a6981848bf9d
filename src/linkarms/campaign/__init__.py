"""Campaigns: clustering runs in a database that survive crashes and are fed by several people or machines at once.

`Campaign` is the entry point. `Storage` is the contract of a database, and `linkarms.campaign.conformance` tests it.

How it computes, for callers that build a service on it:

* The log is the truth. `Campaign.tell`, `add` and `release` append to it in one short transaction and compute nothing. What they
  returned is on disk.
* Everything else follows from the log: the state of the clusterer, the stop, the figures. It is computed between transactions, never
  inside one, from the entries in their order. So every process that computes up to an entry finds the same stop at the same sample.
* Computed results are stored beside the log, with the last entry that they include, and replace only older ones. If they are missing or
  behind, they are computed again. A retraction stores the state without the retracted sample in its own transaction.
* `Campaign.ask` and `status` count all samples first. ``status(wait=False)``, ``result(wait=False)`` and ``overview(wait=False)`` compute
  nothing and do not wait: they answer from the last computation, whichever process did it; `Status.age` and `Status.waiting` say how
  far behind it is. `Campaign.compute` makes a newer one and stores it; a service calls it in a worker, with a `Campaign` object of its
  own, so `ask` does not wait for the evidence.
* ``storage.read(name, known=True)`` costs one query; its ``head`` has ``version``, which moves with the log, and ``figures_version``,
  which moves with `compute`.
"""

from linkarms.campaign._backup import backup
from linkarms.campaign._campaign import Campaign
from linkarms.campaign._limits import LIMITS, Limits
from linkarms.campaign._open import open_storage
from linkarms.campaign._overview import Overview, Sample
from linkarms.campaign._records import Checkup, Event, Receipt, Status, Ticket
from linkarms.campaign._storage import STATES, Computed, Entry, Head, Reader, Storage, TicketRow, Transaction
from linkarms.campaign._trace import Look, Trace

__all__ = [
    "LIMITS",
    "STATES",
    "Campaign",
    "Checkup",
    "Computed",
    "Entry",
    "Event",
    "Head",
    "Limits",
    "Look",
    "Overview",
    "Reader",
    "Receipt",
    "Sample",
    "Status",
    "Storage",
    "Ticket",
    "TicketRow",
    "Trace",
    "Transaction",
    "backup",
    "open_storage",
]
