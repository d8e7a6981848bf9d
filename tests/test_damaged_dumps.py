"""A damaged dump or snapshot is refused in one line, or gives a run that goes on; nothing crashes, nothing is allocated for it."""

import copy
import json
import math
import os
import tracemalloc
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.repeats import repeats

import linkarms as la
from linkarms.errors import InvalidDump, InvalidSample

F = la.families
RUNS = {
    "default": {},
    "version 1": {"stopping": la.stopping.Anytime(version=1)},
    "atboc": {"family": "gaussian", "sampling": "atboc"},
    "ebc": {"family": "gaussian", "sampling": "ebc"},
    "paper": {"family": "gaussian", "sampling": "lucbboc", "stopping": la.stopping.Paper(theta=(-9, 9))},
    "one variance": {"family": F.UnknownVariance(shared=True)},
    "bernoulli": {"family": "bernoulli"},
    "poisson": {"family": "poisson"},
    "exponential": {"family": "exponential"},
    "categorical": {"family": F.Categorical(3), "n_features": 3},
    "product": {"family": F.Product([F.Poisson(), F.Gaussian()]), "n_features": 2},
    "bounded": {"family": F.bounded(0.0, 9.0)},
}


def sample(name, arm, turn):
    """A sample of an arm of the run as it was before it was damaged."""
    run = FRESH[name]
    family, rng = run.families.families[arm], np.random.default_rng([arm, turn])
    if name == "categorical":
        return np.eye(3)[rng.integers(3)]
    theta = {"bernoulli": 0.2 + 0.15 * arm, "bounded": 1.0 + arm}.get(name, 0.5 + 2.0 * arm)
    return family.draw(rng, np.full(run.n_features, theta), 1)[0]


def fresh(name):
    return la.BanditClusterer(2, ["a", "b", "c", "d"], max_samples=10_000, delta=1e-4, **RUNS[name])


def make(name):
    run = fresh(name)
    for turn in range(5):
        run.tell_many(run.arms, [sample(name, arm, turn) for arm in range(4)])
    run.ask(2)
    return json.loads(run.dump())


FRESH = {name: fresh(name) for name in RUNS}
DUMPS = {name: make(name) for name in RUNS}
#: Mutations of each dump; LINKARMS_FUZZ=3000 for a long run. Steps of some families take longer.
EXAMPLES = int(os.environ.get("LINKARMS_FUZZ", repeats(45, 90)))
SLOW = {"categorical": 15, "product": 6, "bounded": 2}
NASTY = [
    None, True, False, 0, 1, -1, 7, 100, 2**31, 2**53, 2**63, 10**9, 10**30, 0.5, -0.5, 1e-300, 1e9, 1e60, 1e160, 1e308, "1e999",
    "", "no", "a", "gaussian", "x" * 20_000, [], [0], [[]], [[0.0]] * 3, {}, {"name": "gaussian"}, {"name": "poisson"},
]  # fmt: skip


def places(data, path=()):
    """Every place in plain data, the data itself included."""
    yield path
    if isinstance(data, (dict, list)):
        for key in data if isinstance(data, dict) else range(len(data)):
            yield from places(data[key], (*path, key))


def damaged(data, path, how, nasty):
    """A copy in which something is wrong at one place."""
    out = copy.deepcopy(data)
    *above, last = path
    holder = out
    for key in above:
        holder = holder[key]
    if how == "replace":
        holder[last] = copy.deepcopy(nasty)
    elif how == "remove":
        del holder[last]
    elif how == "swap" and isinstance(holder, list):
        other = holder[-1 - last]
        holder[last] = copy.deepcopy(other)
    elif how == "nest":
        holder[last] = [holder[last]]
    elif how == "grow" and isinstance(holder[last], list):
        holder[last] = holder[last] * 2
    elif how == "cut" and isinstance(holder[last], list):
        holder[last] = holder[last][:-1]
    elif how == "scale" and isinstance(holder[last], float):
        holder[last] *= -1e3
    return out


HOW = ("replace", "replace", "replace", "remove", "swap", "nest", "grow", "cut", "scale")


@pytest.mark.parametrize("name", RUNS)
def test_a_mutated_dump_is_refused_or_goes_on(name):
    whole = DUMPS[name]
    every = [path for path in places(whole) if path]

    @settings(max_examples=EXAMPLES // SLOW.get(name, 1))
    @given(st.sampled_from(every), st.sampled_from(HOW), st.sampled_from(NASTY), st.data())
    def mutate(path, how, nasty, data):
        blob = damaged(whole, path, how, nasty)
        if data.draw(st.booleans()):  # a second fault
            paths = [p for p in places(blob) if p]
            second = data.draw(st.sampled_from(paths))
            blob = damaged(blob, second, "replace", data.draw(st.sampled_from(NASTY)))
        refused = load_or_refuse(json.dumps(blob).replace('"1e999"', "1e999"), name)
        assert "\n" not in refused
        assert len(refused) < 1_000

    mutate()


def load_or_refuse(text, name):
    """What a damaged dump is refused with; empty if it is not, and then the run has to go on."""
    try:
        run = la.BanditClusterer.load(text)
    except InvalidDump as error:
        return str(error)
    for step in range(100):
        for arm in run.ask(1):
            with suppress(InvalidSample):  # the family is another one now
                run.tell(arm, sample(name, run.arms.index(arm), step))
    found = run.result()
    assert np.isfinite(run.means).all()
    assert not math.isnan(found.evidence)
    assert not math.isnan(found.threshold)
    assert not np.isnan(np.asarray(found.parameters)).any()
    assert la.BanditClusterer.load(run.dump()).dump() == run.dump()
    return ""


DAMAGES = {
    "a scale outside the grid": ("state.scale", 10**9, "scale"),
    "a scale just outside the grid": ("state.scale", 100, "scale"),
    "a count of 2**63": ("state.counts", [2**63, 5, 5, 5], r"state.counts\[0\] is 9223372036854775808"),
    "a negative count": ("state.counts", [-1, 5, 5, 5], r"state.counts\[0\] is -1, not a whole number from 0"),
    "arms by number": ("arms", 10**9, "dump.arms is 1000000000, not a list"),
    "a name twice": ("arms", ["a", "a", "b", "c"], "name twice"),
    "features": ("n_features", 10**9, "n_features is 1000000000, not a whole number from 1"),
    "features that the means do not have": ("n_features", 99_999, r"means\[0\] is .* not a list of length 99999"),
    "an infinite mean": ("state.means", [["1e999"], [0.0], [0.0], [0.0]], r"means\[0\]\[0\] is inf, not a number"),
    "means in words": ("state.means", [["1"], [0.0], [0.0], [0.0]], r"means\[0\]\[0\] is '1', not a number"),
    "stopped in words": ("stopped", "no", "stopped is 'no', not true or false"),
    "version 0": ("version", 0, "version is 0"),
    "version -1": ("version", -1, "version is -1"),
    "version true": ("version", True, "version is True"),
    "a late sample of nobody": ("late", [["zoe", [1.0]]], "'zoe', which is not an arm"),
    "a generator": ("state.rng.state.state", 2**200, "rng.state.state"),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGES)
def test_the_damages_that_were_found(name):
    path, value, words = DAMAGES[name]
    keys = path.split(".")
    blob = damaged(DUMPS["default"], keys, "replace", value)
    tracemalloc.start()
    with pytest.raises(InvalidDump, match=words) as caught:
        la.BanditClusterer.load(json.dumps(blob).replace('"1e999"', "1e999"))
    assert tracemalloc.get_traced_memory()[1] < 20e6
    tracemalloc.stop()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "blob", ["[" * 100_000, '{"a":' * 100_000, " " * (2**28 + 1), "9" * 10_000], ids=lambda b: b[:5]
)
def test_depth_and_size(blob):
    with pytest.raises(InvalidDump):
        la.BanditClusterer.load(blob)


def test_what_cannot_be_a_mean():
    for name, bad in (
        ("bernoulli", 1.5),
        ("poisson", -1.0),
        ("exponential", -0.1),
        ("bounded", 10.0),
        ("default", 1e40),
    ):
        dump = copy.deepcopy(DUMPS[name])
        dump["state"]["means"][2] = [bad]
        with pytest.raises(InvalidDump, match=r"means\[2\] is .* cannot give"):
            la.BanditClusterer.load(json.dumps(dump))
    dump = copy.deepcopy(DUMPS["categorical"])
    dump["state"]["means"][0] = [0.5, 0.5, 0.5]
    with pytest.raises(InvalidDump, match="cannot give"):
        la.BanditClusterer.load(json.dumps(dump))
    dump = copy.deepcopy(DUMPS["default"])
    dump["state"]["moments"][0][0] = 6.0
    with pytest.raises(InvalidDump, match=r"moments\[0\] .* which 5 samples cannot give"):
        la.BanditClusterer.load(json.dumps(dump))
    dump = copy.deepcopy(DUMPS["poisson"]) | {"stopped": True}
    dump["state"] |= {"counts": [0] * 4, "means": [[0.0]] * 4}
    with pytest.raises(InvalidDump, match="stopped is true, and some arm has no sample"):
        la.BanditClusterer.load(json.dumps(dump))


def test_a_damaged_snapshot_of_a_campaign_is_named(tmp_path):
    """The same schema: a campaign with a whole log says what is damaged, and is repaired."""
    from linkarms.campaign import Campaign, open_storage

    storage = open_storage(tmp_path / "runs.db")
    campaign = Campaign.create("lab", ["a", "b", "c"], 2, storage=storage)
    campaign.add_many(["a", "b", "c"] * 3, [float(i) for i in range(9)])
    campaign.status()
    with storage.write("lab") as tx:
        kept = campaign._computer.run.state()
        body = json.loads(kept.body)
        body["run"]["state"]["scale"] = 10**6
        tx.keep(kept._replace(body=json.dumps(body)))
    with pytest.raises(la.errors.StorageError, match=r"stored state .* damaged .*scale.*--repair"):
        Campaign.open("lab", storage=storage).status()
    assert Campaign("lab", storage).doctor(repair=True).repaired
    assert Campaign.open("lab", storage=storage).status().samples == 9
    storage.close()


def test_a_covariance_of_very_many_features_takes_no_memory():
    """A dump of 200 kB whose covariances would take 14 GB."""
    dump, d = copy.deepcopy(DUMPS["default"]), 30_000
    dump |= {"n_features": d, "families": [{"name": "gaussian-unknown", "covariance": "full"}] * 4}
    dump["state"]["means"] = [[0.0] * d] * 4
    with pytest.raises(InvalidDump, match="numbers are kept in all"):
        la.BanditClusterer.load(json.dumps(dump))
    with pytest.raises(la.errors.InvalidInput, match="gaussian-unknown:coordinate keeps fewer"):
        la.BanditClusterer(2, 4, n_features=d)
    with pytest.raises(la.errors.InvalidInput, match="numbers are kept in all"):
        la.BanditClusterer(2, 4, n_features=10**9, family="poisson")
