"""While pulls are added to those that are pending, arms are chosen from a list of candidates: as if every search began from nothing."""

import numpy as np
import pytest

import linkarms as la

#: family, arms, clusters, dimension, how far apart, samples per arm
CASES = [
    ("gaussian", 40, 2, 2, 1.0, 60),
    ("gaussian", 60, 20, 2, 1.0, 30),
    ("gaussian", 30, 5, 1, 1.0, 60),
    ("gaussian-unknown", 36, 4, 1, 1.0, 60),
    ("gaussian", 12, 6, 3, 0.2, 200),
]


def started(family, n_arms, k, d, apart, told):
    """A run in which every arm has so many samples."""
    rng = np.random.default_rng(2)
    centres = apart * rng.normal(size=(k, d))[np.arange(n_arms) % k]
    run = la.BanditClusterer(k, n_arms, d, family=family)
    for _ in range(told):
        run.tell_many(range(n_arms), centres + rng.normal(size=(n_arms, d)))
    return run


@pytest.mark.parametrize("case", CASES)
def test_tickets_are_those_of_searches_from_nothing(case):
    run = started(*case)
    for ticket in range(300):
        if ticket % 4 == 0:  # a loaded run has kept nothing
            expected = la.BanditClusterer.load(run.dump()).ask()
            assert run.ask() == expected
        else:
            run.ask()
        if ticket % 97 == 50:  # weights fall again
            run.release(next(iter(run.pending)))
        if ticket == 200:  # samples arrive in between
            run.tell(0, np.zeros(case[3]))
