"""Closed bounds of evidence with unknown variances: no stop where some mean forbids it, and quick ones where none does."""

import math

import numpy as np
import pytest
from tests.oracles import evidence
from tests.oracles import unknown_variance as oracle
from tests.repeats import few

import linkarms as la

KINDS = {"full": "gaussian-unknown", "coordinate": "gaussian-unknown:coordinate"}


def run_of(family, samples, n_clusters=2):
    run = la.BanditClusterer(n_clusters, len(samples), samples[0].shape[1], family=family, delta=1e-80)
    for m, x in enumerate(samples):
        run.tell_many([m] * len(x), x)
    return run._engine.core


def moved_alone(kind, told, stay, u, v, a, b):
    """The evidence against a pair of pairs where one arm goes all the way and the others stay: never below the infimum.

    ``told`` are the sums of the samples, ``stay`` the evidence of each arm at its own mean.
    """
    mean = {m: told[m].mean for m in (u, v, a, b)}
    p, q = mean[u] - mean[v], mean[a] - mean[b]
    ratio = np.linalg.norm(p) / np.linalg.norm(q)
    shared = {u, v} & {a, b}
    ends = {a: mean[b] + ratio * q, b: mean[a] - ratio * q, u: mean[v] + p / ratio, v: mean[u] - p / ratio}
    least = math.inf
    for arm, end in ends.items():
        if arm in shared:
            continue
        gone = oracle.least(kind, told[arm], end, oracle.GRID)
        parts = [gone if m == arm else stay[m] for m in sorted(mean)]
        least = min(least, oracle.log_mixture(parts))
    return least


def highest_level(core, low, high, enough=-math.inf):
    """The highest level above the base at which the run stops, within a hundredth; or one below it that is not above ``enough``,
    as soon as the run does not stop there."""
    assert core.check(low)
    while high - low > 0.01 and high > enough:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if core.check(middle) else (low, middle)
    return low


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("each", [5, 12, 40])
@pytest.mark.parametrize("gap", [5.0, 17.0])
def test_levels_are_never_above_what_one_arm_alone_can_do(kind, each, gap):
    rng = np.random.default_rng([each, int(gap)])
    n_arms = 6
    centres = gap * (np.arange(n_arms) % 2)[:, None] * np.array([1.0, 0.3])
    samples = [c + rng.normal(size=(each + (m == 1), 2)) * [1.0, 0.6] for m, c in enumerate(centres)]
    core = run_of(KINDS[kind], samples)
    told = [oracle.sums(x) for x in samples]
    stay = [oracle.least(kind, x, x.mean, oracle.GRID) for x in told]
    most = evidence.statistic(lambda *piece: moved_alone(kind, told, stay, *piece), core.labels.tolist())
    base = core.threshold_base
    exactly = gap > 10.0 and kind == "full"  # far apart, one arm alone is what costs least
    enough = -math.inf if exactly else most - base
    found = highest_level(core, -50.0 - base, most + 20.0 - base, enough) + base
    assert found <= most + 0.01
    if exactly:
        assert found >= most - 0.1 * (1.0 + abs(most))


def test_one_variance_for_all_arms_is_ruled_out_safely():
    """With many arms nearly all pieces are ruled out by lengths: the same levels as by every piece."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n_arms, gap = 7, 2.0 + seed
        counts = rng.integers(2, 30, n_arms)
        samples = [rng.normal(gap * (m % 2), 1.0, (counts[m], 2)) for m in range(n_arms)]
        core = run_of("gaussian-unknown:shared", samples)
        if core.ambiguous:
            continue
        exact = evidence.statistic(
            lambda *piece, core=core: core.evidence_against(piece), core.labels.tolist()
        )
        base = core.threshold_base
        found = highest_level(core, -200.0 - base, exact + 20.0 - base) + base
        assert found == pytest.approx(exact, abs=0.02)


def test_a_stop_of_hundreds_of_vectors_is_decided_at_once():
    """All pieces come near the level at the same time, since the evidence of one arm levels off: proving each took minutes."""
    import time

    rng = np.random.default_rng(1)
    run = la.BanditClusterer(2, 300, 2)
    centres = 17.0 * (np.arange(300) % 2)[:, None] * np.array([0.0, 1.0])
    longest = 0.0
    while not run.done:
        assert run.n_samples < 300 * 60
        began = time.process_time()
        run.tell_many(range(300), centres + rng.normal(size=(300, 2)))
        longest = max(longest, time.process_time() - began)
    assert longest < 3.0
    assert run.result().labels.tolist() == [0, 1] * 150


@pytest.mark.parametrize(("gap", "n_features"), few([(2.5, 1), (6.0, 1), (30.0, 1), (6.0, 2)], every=2))
def test_with_many_arms_lengths_leave_out_nothing_that_forbids_a_stop(gap, n_features):
    """More than twenty arms: the level at which a run stops is the bottleneck over all pairs of pairs, each looked at by itself."""
    rng = np.random.default_rng([int(gap), n_features])
    n_arms = 21
    centres = np.zeros((n_arms, n_features))
    centres[:, 0] = gap * (np.arange(n_arms) % 3) + rng.uniform(-0.3, 0.3, n_arms)
    scale = rng.uniform(0.4, 1.5, n_arms)
    samples = [
        c + s * rng.normal(size=(int(rng.integers(4, 40)), n_features))
        for c, s in zip(centres, scale, strict=True)
    ]
    core = run_of("gaussian-unknown:isotropic", samples, n_clusters=3)
    wanted = evidence.statistic(lambda *piece: core.evidence_against(piece), core.labels.tolist())
    base = core.threshold_base
    assert highest_level(core, wanted - base - 3.0, wanted - base + 3.0) + base == pytest.approx(
        wanted, abs=0.02
    )
