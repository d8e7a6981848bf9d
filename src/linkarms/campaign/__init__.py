"""Campaigns: clustering runs that live in a database, survive crashes, and are fed by several people or machines at once.

`Campaign` is the way in. `Storage` is the contract of a database, and `linkarms.campaign.conformance` tests it.
"""

from linkarms.campaign._campaign import Campaign, open_storage
from linkarms.campaign._limits import LIMITS, Limits
from linkarms.campaign._overview import Overview, Sample
from linkarms.campaign._records import Checkup, Event, Receipt, Status, Ticket
from linkarms.campaign._storage import STATES, Entry, Head, Reader, Storage, TicketRow, Transaction
from linkarms.campaign._trace import Look, Trace

__all__ = [
    "LIMITS",
    "STATES",
    "Campaign",
    "Checkup",
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
    "open_storage",
]
