"""A campaign with simulated samples, for a first look at the page."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from linkarms.arms import SimulatedArms
from linkarms.campaign import Campaign
from linkarms.problem import problems
from linkarms.stopping import Paper

__all__ = ["demo"]

#: Seconds between two samples: some fifteen hundred take a minute or two.
_PACE = 0.05


@contextmanager
def demo(seed: int = 0) -> Iterator[Path]:
    """A temporary database with a campaign ``demo``: six arms in three clusters, fed by a thread until it stops.

    Every arm has a sample when this begins, so that there is a chart at once. The database is gone when it ends.

    Parameters
    ----------
    seed : int, default 0
        The same seed gives the same samples.
    """
    problem = problems.synthetic1()
    names = [f"zone {m + 1}" for m in range(problem.n_arms)]
    source = SimulatedArms(problem, seed)
    over = threading.Event()
    with tempfile.TemporaryDirectory(prefix="linkarms-demo-") as folder:
        path = Path(folder) / "demo.db"
        campaign = Campaign.create(
            "demo",
            names,
            problem.n_clusters,
            storage=path,
            n_features=source.n_features,
            family=problem.family,
            stopping=Paper(theta=(-5.0, 5.0), epsilon=0.01),
            seed=seed,
        )

        def feed(n: int) -> bool:
            tickets = campaign.ask(n, worker="simulation")
            values = [source.pull(names.index(ticket.arm)) for ticket in tickets]
            if tickets:
                campaign.tell_many(tickets, values)
            return bool(tickets)

        def go_on() -> None:
            while not over.wait(_PACE) and feed(1):
                pass

        feed(len(names))
        thread = threading.Thread(target=go_on, daemon=True)
        thread.start()
        try:
            yield path
        finally:
            over.set()
            thread.join()
            campaign.close()
