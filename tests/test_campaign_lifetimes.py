"""Lifetimes that are told when they end: what counts in which order, and the setting on the command line and over HTTP."""

import heapq
import json

import numpy as np
import pytest
from scipy import stats
from tests.service_thread import local_service
from tests.test_campaign_order import ARMS, create, told_by_hand

from linkarms.campaign._order import Order
from linkarms.campaign._storage import Entry
from linkarms.cli._app import run
from linkarms.client import Client
from linkarms.errors import Conflict, InvalidInput


def lifetimes(campaign, n, seed, workers=4):
    """Several workers measure ``n`` lifetimes and tell each one when it ends.

    Returns the samples in the order of asking, the same in the order in which they ended, and the results after each of them.
    """
    rng = np.random.default_rng(seed)
    running, asked, ended, results = [], {}, [], []

    def begin(now):
        (ticket,) = campaign.ask()
        asked[ticket.id] = (ticket.arm, rng.exponential(3.0 if ticket.arm == "arc" else 1.0))
        heapq.heappush(running, (now + asked[ticket.id][1], ticket.id))

    for _ in range(workers):
        begin(0.0)
    while running:
        now, ticket = heapq.heappop(running)
        campaign.tell(ticket, asked[ticket][1])
        ended.append(asked[ticket])
        results.append(campaign.result())
        if len(asked) < n:
            begin(now)
    return [asked[i] for i in sorted(asked)], ended, results


def test_lifetimes_told_when_they_end(tmp_path):
    """Without the setting, what counts is what ended first, so the values decide; with it, what was asked for first."""
    with create(tmp_path / "runs.db", name="told", in_order=False) as campaign:
        asked, ended, results = lifetimes(campaign, 20, seed=1)
        assert ended != asked
        for n, result in enumerate(results, start=1):
            assert result.to_dict() == told_by_hand(ended[:n]).result().to_dict()
    with create(tmp_path / "runs.db", name="asked") as campaign:
        asked, ended, results = lifetimes(campaign, 20, seed=2)
        assert ended != asked
        for n, result in enumerate(results, start=1):
            assert result.samples <= n
            assert result.to_dict() == told_by_hand(asked[: result.samples]).result().to_dict()
        assert len({result.samples for result in results}) > 5
        assert results[-1].samples == 20


def entry(seq, kind, **body):
    return Entry(seq, seq, kind, None, None, None, json.dumps(body), "")


def first_counted(order, values, arms):
    """The first sample that counts if every sample is told when it ends: its arm and its value."""
    for seq, i in enumerate(np.argsort(values), start=1):
        counted = order.take(entry(seq, "tell", samples=[[int(i) + 1, arms[i], float(values[i])]]))
        if counted:
            return counted[0]
    raise AssertionError("every ticket was told")


def test_the_first_sample_that_counts_is_an_ordinary_one():
    """Two arms with one exponential lifetime each. In the order of asking, the first sample that counts has the arm's distribution. In the
    order told it is the shorter one: below the median with probability 3/4. So it is if only the order within each arm is kept, because
    the value decides which arm comes first. An exact binomial test at level 1e-6, with 2,000 runs, tells them apart.

    The likelihood ratio 2 exp(-x) of rate 2 has mean 1 for an ordinary sample, and 4/3 for the shorter of two. It is at most 2, so by
    Hoeffding's inequality a mean of 2,000 is 1/6 off with probability at most exp(-27).
    """
    rng, n = np.random.default_rng(8), 2_000
    draws = rng.exponential(size=(n, 2))
    first = {
        in_order: np.array([first_counted(Order(in_order), x, [0, 1])[1] for x in draws])
        for in_order in (True, False)
    }
    below = {in_order: int((x < np.log(2.0)).sum()) for in_order, x in first.items()}
    assert abs(np.mean(2.0 * np.exp(-first[True])) - 1.0) < 1 / 6
    assert np.mean(2.0 * np.exp(-first[False])) > 1.0 + 1 / 6
    assert stats.binomtest(below[True], n, 0.5).pvalue > 1e-6
    assert stats.binomtest(below[False], n, 0.5, alternative="greater").pvalue < 1e-6
    assert stats.binomtest(below[False], n, 0.75).pvalue > 1e-6


def test_on_the_command_line(tmp_path, capsys):
    at = ["--storage", str(tmp_path / "runs.db")]

    def words(*args, code=0):
        assert run(["campaign", *args, *at]) == code
        got = capsys.readouterr()
        return got.out if code == 0 else got.err

    made = words(
        "create", "lamps", "--arms", ",".join(ARMS), "-k", "2", "--family", "exponential", "--in-order"
    )
    assert "samples count in the order of asking" in made
    words("ask", "lamps", "-n", "3")
    words("tell", "lamps", "3", "40")
    words("tell", "lamps", "2", "1.5")
    assert "2 samples wait until ticket 1 is told or released: neon 1, arc 1\n" in words("status", "lamps")
    status = json.loads(words("status", "lamps", "--json"))
    assert (status["in_order"], status["held"], status["awaited"]) == (True, {"neon": 1, "arc": 1}, 1)
    refused = words("add", "lamps", "led", "1.0", code=2)
    assert refused.startswith("linkarms: this campaign counts samples in the order of asking")
    assert refused.count("\n") == 1
    words("release", "lamps", "1")
    assert "wait until" not in words("status", "lamps")
    assert "is sound" in words("doctor", "lamps")


def test_over_http(tmp_path):
    with local_service(tmp_path / "runs.db") as service:
        url = service.server.url
        with Client.create("lamps", ARMS, 2, url=url, family="exponential", in_order=True) as lamps:
            tickets = lamps.ask(3)
            lamps.tell(tickets[2], 40.0)
            status = lamps.status()
            assert (status.in_order, status.held, status.awaited) == (True, {"arc": 1}, 1)
            with pytest.raises(Conflict, match="ask for a ticket and tell its sample"):
                lamps.add("led", 1.0)
            lamps.tell_many(tickets[:2], [7.0, 1.5])
            assert (lamps.status().samples, lamps.status().held) == (3, {})
            assert lamps.doctor().ok
        with pytest.raises(InvalidInput, match="in_order: Input should be a valid boolean"):
            Client.create("other", ARMS, 2, url=url, in_order="yes")
        with Client.create("other", ARMS, 2, url=url) as other:
            assert not other.status().in_order
