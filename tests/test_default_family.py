"""No family given: real samples of unknown variance wherever samples come in; suggestions for whole numbers; old runs keep theirs."""

import json
import warnings

import numpy as np
import pytest
from tests.service_thread import local_service

import linkarms as la
from linkarms.campaign import Campaign
from linkarms.cli._app import run
from linkarms.errors import FamilySuggestion

#: Delays in minutes by carrier: means that differ by a few minutes, a standard deviation of 45.
DELAYS = {"AA": 0.4, "DL": 1.6, "UA": 3.5, "B6": 9.5, "EV": 15.8, "F9": 21.9}
PULL = {"a": [0.0, 0.4, -0.3], "b": [0.2, 0.5, -0.1], "c": [9.0, 9.4, 8.7]}


def delays(n=2_000, sd=45.0):
    rng = np.random.default_rng(18)
    return {name: mean + sd * rng.standard_normal(n) for name, mean in DELAYS.items()}


def family_of(dump):
    (spec,) = {json.dumps(s, sort_keys=True) for s in json.loads(dump)["families"]}
    return json.loads(spec)


def write_csv(path, data):
    lines = [f"{name},{x!r}" for name, values in data.items() for x in map(float, values)]
    path.write_text("\n".join(["arm,x", *lines]) + "\n")
    return path


def words(path, *more):
    return ["cluster", str(path), "--arm", "arm", "--value", "x", "-k", "2", *more]


def test_wide_samples_do_not_stop_a_run_early():
    """Variance 1 stops after a handful of samples, wrong more often than not; the default does not."""
    data = delays()
    truth = la.linkage.single_linkage([[x.mean()] for x in data.values()], 2)
    wrong, early = [], []
    for seed in range(10):
        result = la.cluster(data, 2, seed=seed, max_samples=1_500)
        wrong.append(result.stopped and result.labels.tolist() != truth.tolist())
        early.append(result.stopped and result.samples < 200)
        known = la.cluster(data, 2, seed=seed, max_samples=1_500, family="gaussian")
        assert known.stopped
        assert known.samples < 100
    assert not any(early)
    assert not any(wrong)


def test_wide_samples_are_clustered_where_the_gap_is_as_wide():
    rng = np.random.default_rng(2)
    data = {
        name: mean + 45.0 * rng.standard_normal(500)
        for name, mean in zip("abcd", (0, 20, 300, 330), strict=True)
    }
    result = la.cluster(data, 2)
    assert (result.stopped, result.labels.tolist()) == (True, [0, 0, 1, 1])


@pytest.mark.parametrize("source", ["arrays", "functions", "frame", "file", "clusterer", "campaign", "http"])
def test_every_way_in_has_the_default(source, tmp_path):
    seen = []

    def keep(c):
        seen.append(c.dump())

    if source == "arrays":
        la.cluster(PULL, 2, callback=keep)
    elif source == "functions":
        rng = np.random.default_rng(1)
        la.cluster([lambda m=m: rng.normal(m) for m in (0.0, 0.3, 9.0)], 2, callback=keep)
    elif source == "frame":
        frame = pytest.importorskip("pandas").DataFrame(
            [(name, x) for name, values in PULL.items() for x in values], columns=["arm", "x"]
        )
        la.cluster(frame, 2, arm="arm", value="x", callback=keep)
    elif source == "file":
        path = write_csv(tmp_path / "data.csv", PULL)
        la.cluster(la.arms.read_table(path), 2, arm="arm", value="x", callback=keep)
    elif source == "clusterer":
        seen.append(la.BanditClusterer(2, 3).dump())
    elif source == "campaign":
        Campaign.create("lab", ["a", "b", "c"], 2, storage=tmp_path / "runs.db").close()
        with Campaign.open("lab", tmp_path / "runs.db") as campaign:
            assert campaign.overview().families.families[0].name == "gaussian-unknown"
        return
    else:
        body = {"name": "lab", "arms": ["a", "b", "c"], "n_clusters": 2}
        with local_service(str(tmp_path / "runs.db")) as service:
            assert service.post("/api/v1/campaigns", json=body).status_code == 201
            nothing = body | {"name": "nothing", "family": None}
            assert service.post("/api/v1/campaigns", json=nothing).status_code == 201
            for name in ("lab", "nothing"):
                assert Campaign.open(name, service.storage).overview().families.unknown_variance
        return
    assert family_of(seen[-1]) == la.families.UnknownVariance().to_dict()


def test_parameters_keep_variance_one():
    problem = la.Problem([0.0, 0.4, 5.0], 2)
    assert problem.families[0].to_dict() == la.families.Gaussian().to_dict()
    seen = []
    la.cluster(problem, callback=lambda c: seen.append(c.dump()))
    assert family_of(seen[-1]) == la.families.Gaussian().to_dict()
    assert (
        la.psi([1, 1, 1], [0.0, 0.4, 5.0], 2).value == la.psi([1, 1, 1], [0.0, 0.4, 5.0], 2, "gaussian").value
    )


def test_the_paper_s_rule_asks_for_a_variance():
    with pytest.raises(la.errors.InvalidInput, match=r"needs a known variance .* 'gaussian:VARIANCE'"):
        la.BanditClusterer(2, 3, stopping=la.stopping.Paper(theta=(-5, 5)))


def test_an_old_dump_keeps_its_family():
    """Runs that were started when no family meant variance 1."""
    old = json.loads(la.BanditClusterer(2, ["a", "b", "c"], family="gaussian").dump())
    assert old["families"] == [{"name": "gaussian", "covariance": None}] * 3
    c = la.BanditClusterer.load(json.dumps(old))
    assert c.families.families[0].to_dict() == la.families.Gaussian().to_dict()
    c.tell_many(["a", "b", "c"] * 3, [0, 1, 8, 1, 0, 9, 0, 1, 8])  # and suggests nothing: a family was named
    assert json.loads(c.dump())["families"] == old["families"]


# -- suggestions ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("samples", "family"),
    [
        ([0, 1, 1], "bernoulli"),
        ([0.0, 0.0], "bernoulli"),
        ([0, 3, 1], "poisson"),
        ([[0, 1], [1, 0], [1, 0]], "categorical:2"),
        ([[0, 1], [1, 1]], "bernoulli"),
        ([[0, 4], [1, 1]], "bernoulli,poisson"),
        ([[2, 4], [1, 1]], "poisson"),
        ([51, 30, 200], "poisson"),
        ([181, 230, 195], None),  # rounded measurements rather than counts
        ([0.5, 1.0], None),
        ([-1.0, 2.0], None),
        ([[0, 4], [1, 1.5]], None),
    ],
)
def test_what_is_suggested(samples, family):
    text = la.families.suggestion(samples)
    if family is None:
        assert text is None
        return
    assert text.endswith(f"give the family {family!r}")
    d = np.array(samples).reshape(len(samples), -1).shape[1]
    chosen = la.families.resolve(family, 1, d).families[0]
    assert chosen.contains(np.array(samples, dtype=float).reshape(-1, d)).all()


def clicks():
    rng = np.random.default_rng(4)
    return {name: (rng.random(300) < p).astype(int) for name, p in (("a", 0.2), ("b", 0.25), ("c", 0.8))}


def test_yes_or_no_in_a_table_gets_one_suggestion():
    with pytest.warns(FamilySuggestion, match="'bernoulli'") as caught:
        guess = la.cluster(clicks(), 2, max_samples=200)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same = la.cluster(
            clicks(), 2, max_samples=200, family="gaussian-unknown"
        )  # chosen: nothing to suggest
        la.cluster(clicks(), 2, family="bernoulli")
    assert same.to_dict() == guess.to_dict()  # a suggestion, not a guess: the samples are treated alike


def test_ask_and_tell_gets_one_suggestion_before_anything_is_lost():
    c = la.BanditClusterer(2, ["a", "b", "c"])
    c.tell_many(["a", "b", "c"] * 2, [3, 2, 9, 4, 1, 8])
    before = c.dump()
    with pytest.warns(FamilySuggestion, match="'poisson'"):
        c.tell("a", 2)
    assert c.n_samples == 7
    c.tell("b", 2)
    again = la.BanditClusterer(2, ["a", "b", "c"])
    again.tell_many(["a", "b", "c"] * 2, [3, 2, 9, 4, 1, 8])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(FamilySuggestion):
            again.tell("a", 2)
        assert again.dump() == before  # a warning that raises is raised before the sample is taken in
        again.tell("a", 2)


def test_one_real_sample_is_enough_to_suggest_nothing():
    c = la.BanditClusterer(2, ["a", "b", "c"])
    c.tell_many(["a", "b", "c"] * 2, [3, 2, 9, 4, 1.5, 8])
    c.tell_many(["a", "b", "c"] * 2, [3, 2, 9, 4, 1, 8])
    assert c.n_samples == 12


def test_the_command_line_suggests_on_stderr(tmp_path, capsys):
    path = write_csv(tmp_path / "clicks.csv", clicks())
    run(words(path, "--json", "--max-samples", "30"))
    out, err = capsys.readouterr()
    assert json.loads(out)["samples"] == 30
    assert err.count("give --family bernoulli") == 1
    run(words(path, "--json", "--max-samples", "30", "-q"))
    out, err = capsys.readouterr()
    assert json.loads(out)["samples"] == 30
    assert err == ""
    run(words(path, "--family", "bernoulli", "--json", "--max-samples", "30"))
    assert "family" not in capsys.readouterr().err


def test_a_campaign_without_a_family_says_what_it_takes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    create = ["campaign", "create", "lab", "--arms", "a,b,c", "-k", "2"]
    assert run(create) == 0
    assert (
        "gaussian-unknown (real numbers of unknown variance); for 0 and 1 give --family bernoulli"
        in capsys.readouterr().out
    )
    assert run([*create[:2], "other", *create[3:], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "other"


def test_records_without_spread_are_refused():
    """They say nothing of their variance, so the run would go on for ever."""
    data = {"a": [1.5, 1.5], "b": [2.0, 2.5], "c": [9.0, 9.5]}
    with pytest.raises(la.errors.InvalidInput, match="records of arm 'a' are all equal"):
        la.cluster(data, 2)
    with pytest.raises(la.errors.InvalidInput, match="there is only one record of arm 'b', so its variance"):
        la.cluster({**data, "a": [1.0, 1.5], "b": [2.0]}, 2)
    assert la.cluster(data, 2, family="gaussian").stopped
    assert la.cluster(data, 2, family="gaussian-unknown:shared", max_samples=50).samples <= 50
    assert la.cluster(data, 3).stopped  # nothing to decide
    with pytest.raises(la.errors.InvalidInput, match="records of arm 'a' are all equal"):
        la.cluster(data, 2, replace=False)
    few = la.cluster({**data, "a": [1.5]}, 2, replace=False)  # uses them up, and ends
    assert (few.stopped, "exhausted" in few.reason) == (False, True)


@pytest.mark.parametrize("replace", [True, False])
def test_whether_records_are_equal_does_not_depend_on_rounding(replace):
    rng = np.random.default_rng(0)
    data = {name: rng.normal(m, size=50) for name, m in (("a", 0.0), ("b", 5.0), ("c", 0.0))}
    assert np.var([0.1] * 50) > 0.0
    with pytest.raises(la.errors.InvalidInput, match="records of arm 'd' are all equal"):
        la.cluster({**data, "d": [0.1] * 50}, 2, replace=replace)
    with pytest.raises(la.errors.InvalidInput, match=r"arm 'a' are too close together .* in a smaller unit"):
        la.cluster({name: x * 1e-162 for name, x in data.items()}, 2, replace=replace)
    assert la.cluster({name: x * 1e-30 for name, x in data.items()}, 2, replace=replace).stopped


@pytest.mark.parametrize("replace", [True, False])
def test_what_a_coordinate_without_spread_means(replace):
    """It gives no evidence where it has a variance of its own; a covariance must not be singular."""
    rng = np.random.default_rng(0)
    data = {name: rng.normal([m, 0.0], size=(60, 2)) for name, m in (("a", 0.0), ("b", 5.0), ("c", 0.0))}
    flat = {**data, "d": np.column_stack([rng.normal(size=60), np.ones(60)])}
    for family in ("gaussian-unknown", "gaussian-unknown:coordinate"):
        with pytest.raises(la.errors.InvalidInput, match="arm 'd' are all equal in coordinate 1, so its"):
            la.cluster(flat, 2, family=family, replace=replace)
    for family in ("gaussian-unknown:isotropic", "gaussian-unknown:shared"):
        assert la.cluster(flat, 2, family=family, replace=replace).stopped
    x = rng.normal(size=60)
    line = {**data, "d": np.column_stack([x, 3.0 * x])}
    with pytest.raises(
        la.errors.InvalidInput,
        match="covariance of the records of arm 'd' is singular: coordinate 1 follows from coordinate 0; leave it out",
    ):
        la.cluster(line, 2, replace=replace)
    assert la.cluster(line, 2, family="gaussian-unknown:coordinate", replace=replace, max_samples=9).samples
    units = {name: x * [1.0, 1e7] for name, x in data.items()}  # far apart: no reason to refuse
    assert la.cluster(units, 2, replace=replace, max_samples=9).samples == 9
    if replace:
        with pytest.raises(la.errors.InvalidInput, match="there are only 2 records of arm 'a'"):
            la.cluster({**data, "a": data["a"][:2]}, 2)
