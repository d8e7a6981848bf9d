"""Sweeps of the level, and curves of samples against error."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import optimize, stats

import linkarms as la
from linkarms.errors import InvalidInput
from linkarms.paper import (
    EvidenceLevel,
    Sweep,
    UniformStartEBC,
    _sweep,
    compare_at_error,
    curve_points,
    paper_at_error,
    run_sweep,
    samples_at_error,
)

PROBLEM = la.Problem([[0.0, 0.0], [0.4, 0.0], [3.0, 0.0], [3.0, 0.7], [0.0, 4.0]], 3)
LEVELS = [0.05, 0.3, 1.0, 3.0]


class PythonLevel(EvidenceLevel):
    """The same rule, asked in Python after every sample."""

    def native(self, families):
        return None


@pytest.mark.parametrize("rule", ["round-robin", "ebc", "ebc-h"])
def test_the_compiled_level_is_the_plain_one(rule):
    deltas = [math.exp(-x) for x in LEVELS]
    ours, plain = (
        la.simulate(PROBLEM, rule, stopping=stop((-2.0, 3.5)), deltas=deltas, trials=6, seed=2)[rule]
        for stop in (EvidenceLevel, PythonLevel)
    )
    assert np.array_equal(ours.stopping_times, plain.stopping_times)
    assert np.array_equal(ours.errors, plain.errors)
    assert np.all(np.diff(ours.stopping_times, axis=1) >= 0)


def test_the_level_is_that_of_psi():
    """Step by step through `BanditClusterer`, with psi from the public function at the estimates."""
    level = 0.8
    c = la.BanditClusterer(
        3,
        arms=5,
        n_features=2,
        delta=math.exp(-level),
        sampling="round-robin",
        stopping=EvidenceLevel((-9, 9)),
        seed=1,
        family="gaussian",
    )
    rng = np.random.default_rng(4)
    x = [[] for _ in range(5)]
    while not c.done:
        (arm,) = c.ask()
        x[arm].append(rng.normal(PROBLEM.parameters[arm]))
        c.tell(arm, x[arm][-1])
        if all(x):
            z = la.psi([len(s) for s in x], [np.mean(s, axis=0) for s in x], 3, refine=False).value
            assert c.done == (z >= level)
    assert c.n_samples > 5


def test_a_sweep_is_chunks_of_simulations():
    s = run_sweep(
        PROBLEM,
        ["fixed", "ebc-h", "round-robin"],
        levels=LEVELS,
        sizes=[2, 9],
        theta=(-9, 9),
        trials=30,
        seed=7,
    )
    assert list(s) == ["fixed", "ebc-h", "round-robin"]
    assert s["ebc-h"].samples.shape == s["ebc-h"].wrong.shape == (30, 4)
    assert s["fixed"].samples.tolist() == [[10, 45]] * 30
    assert s["fixed"].levels.tolist() == [2, 9]
    seed = int(np.random.SeedSequence((7, 1)).generate_state(1, np.uint64)[0] >> np.uint64(1))
    deltas = [math.exp(-x) for x in LEVELS]
    second = la.simulate(
        PROBLEM, "ebc-h", stopping=EvidenceLevel((-9, 9)), deltas=deltas, trials=5, seed=seed
    )
    assert np.array_equal(s["ebc-h"].samples[25:], second["ebc-h"].stopping_times)
    shorter = run_sweep(
        PROBLEM, ["ebc-h"], levels=LEVELS, sizes=[], theta=(-9, 9), trials=27, seed=7, n_jobs=2
    )
    assert np.array_equal(shorter["ebc-h"].samples, s["ebc-h"].samples[:27])


def test_a_broken_sweep_goes_on(tmp_path, monkeypatch):
    options = {"levels": LEVELS, "sizes": [3], "theta": (-9, 9), "seed": 1, "store": tmp_path}
    rules = {"fixed": "fixed", "mine": UniformStartEBC()}
    first = run_sweep(PROBLEM, rules, trials=25, **options)
    run = _sweep._Plan.run
    ran = []
    monkeypatch.setattr(_sweep._Plan, "run", lambda plan, i: ran.append(i) or run(plan, i))
    both = run_sweep(PROBLEM, rules, trials=50, **options)
    assert ran == [1]
    assert np.array_equal(both["mine"].samples[:25], first["mine"].samples)
    run_sweep(PROBLEM, rules, trials=25, **(options | {"seed": 2}))  # other settings, other chunks
    run_sweep(PROBLEM, {"fixed": "fixed", "mine": UniformStartEBC(2.0)}, trials=25, **options)
    assert ran == [1, 0, 0]
    for path in tmp_path.glob("*/00000.json"):
        path.write_text('{"mine": ')
    with pytest.raises(InvalidInput, match=r"00000\.json: damaged"):
        run_sweep(PROBLEM, rules, trials=25, **options)


def test_an_interrupted_sweep_keeps_whole_chunks(monkeypatch):
    run = _sweep._Plan.run
    monkeypatch.setattr(_sweep._Plan, "run", lambda plan, i: run(plan, i) if i < 1 else None)
    s = run_sweep(PROBLEM, ["round-robin"], levels=[0.1], sizes=[], theta=(-9, 9), trials=75)
    assert len(s["round-robin"].samples) == 25
    monkeypatch.setattr(_sweep._Plan, "run", lambda plan, i: None)
    with pytest.raises(KeyboardInterrupt):
        run_sweep(PROBLEM, ["round-robin"], levels=[0.1], sizes=[], theta=(-9, 9), trials=75)


def test_progress_is_shown_when_asked(capsys, monkeypatch):
    options = {"levels": [0.1], "sizes": [], "theta": (-9, 9), "trials": 50}
    run_sweep(PROBLEM, ["round-robin"], **options)
    assert "trials" not in capsys.readouterr().err
    monkeypatch.setattr(
        "linkarms._progress.Progress.update", lambda bar, share, text: bar.say(f"{share} {text}")
    )
    run_sweep(PROBLEM, ["round-robin"], progress=True, title="demo", **options)
    assert "demo: 1.0 50 of 50 trials" in capsys.readouterr().err


@pytest.mark.parametrize("levels", [[], [0.0, 1.0], [2.0, 1.0], [1.0, 1.0]])
def test_levels_are_checked(levels):
    with pytest.raises(InvalidInput, match="levels"):
        run_sweep(PROBLEM, ["ebc"], levels=levels, sizes=[], theta=(-9, 9), trials=1)


def test_rules_are_checked():
    with pytest.raises(InvalidInput, match="no rules"):
        run_sweep(PROBLEM, [], levels=[1.0], sizes=[], theta=(-9, 9), trials=1)
    with pytest.raises(InvalidInput, match="unknown"):
        run_sweep(PROBLEM, ["nonsense"], levels=[1.0], sizes=[], theta=(-9, 9), trials=1)


def test_uniform_start():
    assert UniformStartEBC().initial_weights(4, np.random.default_rng(0)).tolist() == [0.25] * 4


def test_points_have_exact_intervals():
    times = np.array([[5, 7], [6, -1], [9, 12], [4, 10]])
    wrong = np.array([[1, 1], [0, 0], [0, 0], [0, 1]], dtype=bool)
    first, second = curve_points("r", Sweep(np.array([1.0, 2.0]), times, wrong, 50))
    assert (first.samples, first.errors, first.error, first.unstopped) == (6.0, 1, 0.25, 0)
    half = stats.sem([5, 6, 9, 4]) * stats.t.isf(0.025, 3)
    assert (first.samples_low, first.samples_high) == pytest.approx((6 - half, 6 + half))
    # Clopper-Pearson by its definition: the p for which so few, or so many, errors have probability 0.025
    low = optimize.brentq(lambda p: stats.binom.sf(0, 4, p) - 0.025, 1e-9, 1)
    high = optimize.brentq(lambda p: stats.binom.cdf(1, 4, p) - 0.025, 0, 1)
    assert (first.error_low, first.error_high) == pytest.approx((low, high))
    assert (second.unstopped, second.errors, second.trials) == (
        1,
        3,
        4,
    )  # the one without an answer is no right one
    assert second.samples == (7 + 50 + 12 + 10) / 4
    one = curve_points("r", Sweep(np.array([1.0]), np.array([[3]]), np.array([[False]]), 50))[0]
    assert one.samples == 3
    assert math.isnan(one.samples_low)


def test_samples_at_an_error():
    error, samples = np.array([0.5, 0.25, 0.3, 0.05, 0.0]), np.array([10.0, 20.0, 30.0, 50.0, 80.0])
    assert samples_at_error(error, samples, 0.5, 0.01) == 10.0
    assert samples_at_error(error, samples, 0.25, 0.01) == 20.0
    # halfway in the logarithm between 0.5 and 0.25
    assert samples_at_error(error, samples, 0.5 / math.sqrt(2), 0.01) == pytest.approx(15.0)
    # after the bump: from (30, 0.25) to (50, 0.05)
    share = math.log(0.25 / 0.1) / math.log(0.25 / 0.05)
    assert samples_at_error(error, samples, 0.1, 0.01) == pytest.approx(30 + 20 * share)
    share = math.log(0.05 / 0.02) / math.log(0.05 / 0.01)
    assert samples_at_error(error, samples, 0.02, 0.01) == pytest.approx(50 + 30 * share)
    assert math.isnan(samples_at_error(error, samples, 0.6, 0.01))
    assert math.isnan(samples_at_error(error, samples, 0.005, 0.01))


def test_the_papers_curves_are_read_off_alike():
    """Error 0.3 lies between two plotted points: straight lines by hand; round robin's curve begins below an error of 0.4."""
    found = paper_at_error("figure4", [0.3, 0.4])
    x = math.log(1 / 0.3)
    assert found["fixed"][0] == pytest.approx(1001 + 500 * (x - 1.118) / (1.372 - 1.118))
    assert found["ebc"][0] == pytest.approx(
        617.6 + (841.814 - 617.6) * (x - 1.0441241) / (1.30933332 - 1.0441241)
    )
    assert math.isnan(found["round-robin"][1])


def exponential_sweep(trials, scale, seed):
    """Errors of probability exp(-n / scale) at n samples: log(1/error) is linear in n."""
    n = np.arange(1, 30) * 10
    rng = np.random.default_rng(seed)
    wrong = rng.random((trials, 1)) < np.exp(-n / scale)
    return Sweep(n.astype(float), np.tile(n, (trials, 1)), wrong, 1000)


def test_rules_are_compared_at_equal_error():
    """The truth, scale log(1/error), is known; intervals of 99.99% over fixed seeds hold it, and the ratio's holds 2."""
    sweeps = {"round-robin": exponential_sweep(800, 40.0, 1), "slow": exponential_sweep(800, 80.0, 2)}
    rows = compare_at_error(sweeps, [0.3, 0.1], confidence=0.9999, resamples=2000)
    assert [(r.rule, r.error) for r in rows] == [
        ("round-robin", 0.3),
        ("round-robin", 0.1),
        ("slow", 0.3),
        ("slow", 0.1),
    ]
    for r in rows:
        scale = 80.0 if r.rule == "slow" else 40.0
        assert r.low < scale * math.log(1 / r.error) < r.high
        assert r.low <= r.samples <= r.high
        assert r.high - r.low < 0.5 * r.samples
        assert r.missed == 0
    assert rows[2].ratio_low < 2 < rows[2].ratio_high
    assert rows[2].ratio_low > 1
    assert rows[0].ratio == 1
    assert compare_at_error(sweeps, [0.3], seed=3) == compare_at_error(sweeps, [0.3], seed=3)


def test_trials_that_do_not_get_there_count():
    whole = exponential_sweep(200, 40.0, 1)
    cut = Sweep(whole.levels, whole.samples.copy(), whole.wrong.copy(), 1000)
    cut.samples[:3, 8:] = -1  # from 90 samples on: an error of 0.015 that stays
    cut.wrong[:3, 8:] = False
    near, far = compare_at_error({"r": cut}, [0.3, 0.01])
    assert near.samples == compare_at_error({"r": whole}, [0.3])[0].samples
    assert math.isnan(far.samples)
    assert math.isnan(near.ratio)  # no round robin to compare with
    last = curve_points("r", cut)[-1]
    assert last.errors == whole.wrong[3:, -1].sum() + 3
    assert last.samples == pytest.approx((197 * 290 + 3 * 1000) / 200)


def test_the_error_falls_with_the_level():
    """On a problem with known clusters, 100 trials: the chance that the counts are out of order is below 1e-6 by their size."""
    s = run_sweep(PROBLEM, ["round-robin"], levels=[0.02, 5.0], sizes=[], theta=(-9, 9), trials=100, seed=3)
    first, last = s["round-robin"].wrong.sum(axis=0)
    assert first > 30
    assert last < 5
    assert all(a <= b for a, b in pairwise(s["round-robin"].samples.mean(axis=0)))
