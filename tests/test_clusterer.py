"""ask, tell, release, batches, budgets, dump and load."""

import json
import subprocess
import sys
import time

import numpy as np
import pytest

import linkarms as la
from linkarms import errors
from linkarms import families as f

PAPER = la.stopping.Paper(theta=(-10, 10), epsilon=0.05)
TRUTH = np.array([(-1, -1), (-1, -2), (1, 1), (2, 2), (3, -3), (3.5, -3)], dtype=float)


def make(**changes):
    options = {
        "n_clusters": 3,
        "arms": 6,
        "n_features": 2,
        "family": "gaussian",
        "stopping": PAPER,
        "seed": 3,
    } | changes
    return la.BanditClusterer(**options)


def sample(rng, arm):
    return TRUTH[arm] + rng.standard_normal(2)


def feed(c, rng, n):
    for _ in range(n):
        if c.done:
            return
        (arm,) = c.ask()
        c.tell(arm, sample(rng, arm))


@pytest.mark.parametrize("sampling", ["ebc", "ebc-h", "round-robin"])
def test_a_whole_run(sampling):
    c, rng = make(sampling=sampling), np.random.default_rng(1)
    feed(c, rng, 10**5)
    r = c.result()
    assert r.stopped
    assert c.done
    assert r.labels.tolist() == [0, 0, 1, 1, 2, 2]
    assert r.samples == r.pulls.sum() == c.n_samples
    assert r.evidence >= r.threshold
    assert c.ask(3) == []
    assert "at most 0.05" in r.reason
    assert len(r.to_frame()) == 6


def test_ask_and_tell_is_the_same_as_the_compiled_trial():
    from linkarms.montecarlo._trial import run_trial

    problem = la.problems.synthetic1()
    for rule in ("ebc", "ebc-h", "round-robin"):
        seed = np.random.SeedSequence(9)
        trial = run_trial(problem, la.sampling.resolve_sampling(rule), PAPER, (0.05,), seed, 10**5)
        streams = [np.random.default_rng(np.random.SeedSequence(9, spawn_key=(i,))) for i in range(7)]
        blocks = [problem.families[m].draw(streams[m], problem.parameters[m], 256 * 40) for m in range(6)]
        c = make(sampling=rule)
        c._engine.rng = streams[6]
        told = c._engine.to_dict()
        told["weights"][0] = c._engine.sampling.initial_weights(6, streams[6]).tolist()
        c._engine.restore(told)
        used = [0] * 6
        while not c.done:
            (arm,) = c.ask()
            c.tell(arm, blocks[arm][used[arm]])
            used[arm] += 1
        assert c.n_samples == trial.stopped_at[0]


def test_every_arm_is_pulled_once_first_also_in_a_batch():
    c = make()
    assert c.ask(6) == [0, 1, 2, 3, 4, 5]
    assert c.pending == dict.fromkeys(range(6), 1)
    assert len(c.ask(4)) == 4


def test_forced_exploration():
    c, rng = make(), np.random.default_rng(0)
    feed(c, rng, 600)
    pulls = c.result().pulls
    assert pulls.min() >= np.floor(np.sqrt(c.n_samples / 6)) - 1


def test_pending_pulls_never_enter_the_statistic():
    c, rng = make(), np.random.default_rng(2)
    feed(c, rng, 60)
    before, blob = c.result(), json.loads(c.dump())
    batch = c.ask(25)
    after = c.result()
    assert (after.evidence, after.threshold, after.samples) == (
        before.evidence,
        before.threshold,
        before.samples,
    )
    np.testing.assert_array_equal(after.parameters, before.parameters)
    assert len(set(batch)) > 1  # a batch spreads out
    for arm in batch:
        c.release(arm)
    assert json.loads(c.dump()) == blob


def test_tells_in_any_order_give_the_same_evidence():
    c, d = make(), make()
    rng = np.random.default_rng(4)
    batch = c.ask(30)
    assert d.ask(30) == batch
    values = [sample(rng, arm) for arm in batch]
    # the arms in another order; within an arm the order is kept, so that running means are equal bit for bit
    shuffled = rng.permutation(6)
    order = sorted(range(30), key=lambda i: shuffled[batch[i]])
    for arm, value in zip(batch, values, strict=True):
        c.tell(arm, value)
    d.tell_many([batch[i] for i in order], [values[i] for i in order])
    assert c.result().evidence == d.result().evidence
    assert c.result().threshold == pytest.approx(d.result().threshold, rel=1e-15)
    assert c.pending == d.pending == {}
    assert c.ask(5) == d.ask(5)


def test_unasked_samples_count_and_release_needs_a_pending_pull():
    c = make()
    c.tell(5, [3.0, -3.0])
    assert c.n_samples == 1
    with pytest.raises(errors.UnknownArm, match="no pending pull"):
        c.release(5)
    (arm,) = c.ask()
    c.release(arm)
    assert c.pending == {}


def test_max_samples_ends_the_run_without_a_promise():
    c, rng = make(max_samples=20), np.random.default_rng(1)
    assert len(c.ask(50)) == 20
    for arm in list(c.pending):
        while c.pending.get(arm):
            c.tell(arm, sample(rng, arm))
    r = c.result()
    assert c.done
    assert not r.stopped
    assert "no promise: max_samples=20 is used up" in r.reason


def test_what_is_told_after_the_stop_is_kept_and_changes_nothing():
    c, rng = make(), np.random.default_rng(1)
    feed(c, rng, 10**5)
    before = c.result()
    c.tell(0, [100.0, 100.0])
    after = c.result()
    assert c.late == [(0, [100.0, 100.0])]
    assert after.to_dict() == before.to_dict()
    assert la.BanditClusterer.load(c.dump()).late == c.late


def test_the_run_stops_in_the_middle_of_a_batch():
    c, rng = make(delta=0.5), np.random.default_rng(5)
    while True:
        batch = c.ask(200)
        c.tell_many(batch, [sample(rng, a) for a in batch])
        if c.done:
            break
    assert c.n_samples + len(c.late) == 200 * -(-c.n_samples // 200)
    assert c.late


@pytest.mark.parametrize("sampling", ["ebc", "ebc-h"])
@pytest.mark.parametrize("when", [0, 3, 17, 200])
def test_dump_and_load_go_on_bit_for_bit(sampling, when):
    c, rng = make(sampling=sampling), np.random.default_rng(8)
    feed(c, rng, when)
    pending = c.ask(2)
    d = la.BanditClusterer.load(c.dump())
    assert d.pending == c.pending
    state = rng.bit_generator.state
    for run in (c, d):
        rng.bit_generator.state = state
        for arm in pending:
            run.tell(arm, sample(rng, arm))
        feed(run, rng, 300)
    assert c.dump() == d.dump()
    assert c.result().to_dict() == d.result().to_dict()


_CONTINUE = """
import json, sys
import numpy as np
import linkarms as la
blob, samples = json.load(sys.stdin)
c = la.BanditClusterer.load(blob)
for value in samples:
    (arm,) = c.ask()
    c.tell(arm, value)
print(json.dumps([c.dump(), c.ask(3)]))
"""


@pytest.mark.parametrize("family", ["exponential", "gaussian"])
def test_dump_and_load_in_a_new_process(family):
    options = {"theta": (0.1, 50), "epsilon": 0.01}
    c = la.BanditClusterer(
        2, ["x", "y", "z"], family=family, sampling="ebc", stopping=la.stopping.Paper(**options), seed=11
    )
    rng = np.random.default_rng(0)
    for _ in range(40):
        (arm,) = c.ask()
        c.tell(arm, rng.exponential())
    samples = rng.exponential(size=50).tolist()
    done = subprocess.run(
        [sys.executable, "-c", _CONTINUE],
        input=json.dumps([c.dump(), samples]),
        capture_output=True,
        text=True,
        check=True,
    )
    theirs, asked = json.loads(done.stdout)
    for value in samples:
        (arm,) = c.ask()
        c.tell(arm, value)
    assert theirs == c.dump()
    assert asked == c.ask(3)


BAD = {
    "unknown arm": (lambda c: c.tell(9, [0, 0]), errors.UnknownArm, "no arm 9"),
    "unhashable arm": (lambda c: c.tell([], [0, 0]), errors.UnknownArm, "no arm"),
    "wrong shape": (lambda c: c.tell(0, 1.0), errors.InvalidSample, "shape"),
    "not finite": (lambda c: c.tell(0, [0, np.nan]), errors.InvalidSample, "not finite"),
    "infinite": (lambda c: c.tell(0, [0, np.inf]), errors.InvalidSample, "not finite"),
    "text": (lambda c: c.tell(0, "many"), errors.InvalidSample, "not a number"),
    "digits": (
        lambda c: c.tell(0, ["1.5", 0]),
        errors.InvalidSample,
        r"\['1\.5', 0\] of arm 0 is not a number",
    ),
    "bytes": (lambda c: c.tell_many([0, 1], [[0, 0], b"1"]), errors.InvalidSample, "b'1' of arm 1 is not"),
    "a date": (lambda c: c.tell(0, np.datetime64("2020")), errors.InvalidSample, "is not a number"),
    "lengths": (lambda c: c.tell_many([0, 1], [[0, 0]]), errors.InvalidInput, "one value for each arm"),
    "second of a batch": (
        lambda c: c.tell_many([0, 1], [[0, 0], [0, np.nan]]),
        errors.InvalidSample,
        "not finite",
    ),
    "ask nothing": (lambda c: c.ask(0), errors.InvalidInput, "n=0"),
    "ask half": (lambda c: c.ask(1.5), errors.InvalidInput, "whole number"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_one_clear_line_and_changes_nothing(name):
    call, error, words = BAD[name]
    c, rng = make(), np.random.default_rng(1)
    feed(c, rng, 20)
    before = c.dump()
    with pytest.raises(error, match=words) as caught:
        call(c)
    assert isinstance(caught.value, errors.LinkarmsError)
    assert "\n" not in str(caught.value)
    assert c.dump() == before


SUPPORT = [
    ("exponential", -1.0),
    ("bernoulli", 0.5),
    ("poisson", 1.5),
    (f.bounded(0, 1), 2.0),
    (f.Gamma(2.0), -0.1),
]


@pytest.mark.parametrize(("family", "value"), SUPPORT)
def test_a_sample_outside_the_support_is_refused(family, value):
    theta = (0.1, 0.9)
    c = la.BanditClusterer(2, 3, family=family, stopping=la.stopping.Paper(theta, 0.01))
    with pytest.raises(errors.InvalidSample, match="outside the support"):
        c.tell(0, value)
    assert c.n_samples == 0


CONSTRUCTOR = {
    "no rule at all": ({"stopping": ...}, "unknown"),
    "own stop": ({"stopping": None}, "none"),
    "paper by name": ({"stopping": "paper"}, "theta"),
    "unknown stopping": ({"stopping": "soon"}, "unknown"),
    "unknown sampling": ({"sampling": "greedy"}, "ebc-h"),
    "K too large": ({"n_clusters": 7}, "choose 1 to 6"),
    "K zero": ({"n_clusters": 0}, "from 1 to 6"),
    "K text": ({"n_clusters": "3"}, "whole number"),
    "delta 0": ({"delta": 0.0}, "delta"),
    "delta 1": ({"delta": 1}, "delta"),
    "delta nan": ({"delta": float("nan")}, "delta"),
    "no arms": ({"arms": []}, "arms"),
    "same names": ({"arms": list("aabcde")}, "name of its own"),
    "family": ({"family": "cauchy"}, "unknown"),
    "gamma": ({"family": "gamma"}, "SHAPE"),
    "families": ({"family": ["gaussian"] * 5}, "one per arm"),
    "seed": ({"seed": -1}, "seed"),
    "features": ({"n_features": 0}, "n_features"),
    "budget": ({"max_samples": 0}, "max_samples"),
    "budget beyond counting": (
        {"max_samples": 2**60},
        f"max_samples={2**60} is out of range; give a whole number from 1 to {2**53}",
    ),
    "nan name": ({"arms": [float("nan"), 1, 2, 3, 4, 5]}, "the name of arm 0 .* is not a finite number"),
    "infinite name": (
        {"arms": [1, -float("inf"), 2, 3, 4, 5]},
        "the name of arm 1 .* is not a finite number",
    ),
    "large name": ({"arms": [1, 2, 10**400, 3, 4, 5]}, "the name of arm 2 .* from -1e[+]300 to 1e[+]300"),
}


@pytest.mark.parametrize("name", CONSTRUCTOR)
def test_bad_arguments(name):
    changes, words = CONSTRUCTOR[name]
    with pytest.raises(errors.InvalidInput, match=words) as caught:
        make(**changes)
    assert "\n" not in str(caught.value)


DAMAGE = {
    "no json": (lambda d: "{", "JSON"),
    "nan": (lambda d: json.dumps(d | {"delta": float("nan")}), "JSON"),
    "other": (lambda d: "[]", "not a dump"),
    "newer": (lambda d: json.dumps(d | {"version": 99}), "upgrade"),
    "missing": (lambda d: json.dumps({k: v for k, v in d.items() if k != "state"}), "damaged"),
    "short": (lambda d: json.dumps(d | {"state": d["state"] | {"counts": [1]}}), "damaged"),
    "family": (lambda d: json.dumps(d | {"families": [{"name": "cauchy"}] * 6}), "unknown family"),
    "rule": (lambda d: json.dumps(d | {"sampling": {"name": "mine"}}), "sampling"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_dump_is_refused(name):
    damage, words = DAMAGE[name]
    with pytest.raises(errors.InvalidDump, match=words):
        la.BanditClusterer.load(damage(json.loads(make().dump())))


def test_a_rule_that_fails_leaves_the_state_as_it_was():
    class Broken(la.stopping.StoppingRule):
        name = "broken"

        def threshold(self, view, delta):
            if view.t == 12:
                raise RuntimeError("no")
            return np.inf

    c, rng = make(stopping=Broken()), np.random.default_rng(0)
    feed(c, rng, 11)
    before = c.dump()
    with pytest.raises(RuntimeError):
        c.tell_many([0, 1], [[0, 0], [0, 0]])
    assert c.dump() == before


@pytest.mark.parametrize("sampling", ["ebc", "ebc-h"])
def test_bernoulli_arms_that_have_only_failed(sampling):
    for seed in range(8):
        c = la.BanditClusterer(n_clusters=2, arms=5, family="bernoulli", sampling=sampling, seed=seed)
        for _ in range(20):
            for arm in c.ask(1):
                c.tell(arm, 0)
        assert not c.done


def test_a_hundred_thousand_arms_are_refused_at_once(tmp_path):
    """One error that names the limit, before anything is allocated: the pairs of so many would take 200 GB."""
    samples = {f"arm {i}": [float(i % 2)] for i in range(100_000)}
    for refused in (
        lambda: la.BanditClusterer(2, 100_000),
        lambda: la.BanditClusterer(2, 10**12),
        lambda: la.BanditClusterer(2, list(samples)),
        lambda: la.cluster(samples, n_clusters=2),
    ):
        began = time.process_time()
        with pytest.raises(errors.TooLarge, match="takes at most 10000 arms: leave some out") as caught:
            refused()
        assert time.process_time() - began < 2.0
        assert "\n" not in str(caught.value)


def test_a_table_of_a_hundred_thousand_arms(tmp_path, capsys):
    from linkarms.cli._app import run

    table = tmp_path / "x.csv"
    table.write_text("name,x\n" + "".join(f"a{i},{i % 2}\n" for i in range(100_000)))
    assert run(["cluster", str(table), "--arm", "name", "--value", "x", "-k", "2", "--quiet"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "there are 100000 arms" in err
    assert err.count("\n") == 1
