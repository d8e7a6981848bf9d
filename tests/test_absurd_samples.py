"""Samples that are finite and absurd: each family refuses what is beyond its limit, and computes nothing but numbers up to it."""

import math

import numpy as np
import pytest

import linkarms as la
from linkarms.errors import InvalidInput, InvalidSample

F = la.families
#: Families, with how samples at the limit look: signs do not matter, whole numbers, or positive numbers.
FAMILIES = {
    "gaussian": (F.Gaussian(), 1, "any"),
    "gaussian, small variance": (F.Gaussian(1e-12), 1, "any"),
    "gaussian, smallest variance": (F.Gaussian(1e-100), 1, "any"),
    "gaussian, largest variance": (F.Gaussian(1e104), 1, "any"),
    "gaussian, covariance": (F.Gaussian([[1.0, 0.3], [0.3, 2.0]]), 2, "any"),
    "gaussian, three features": (F.Gaussian(), 3, "any"),
    "bounded": (F.bounded(-1e50, 1e50), 1, "any"),
    "unknown variance": (F.UnknownVariance(), 1, "any"),
    "one unknown variance": (F.UnknownVariance(shared=True), 1, "any"),
    "unknown variance, three features": (F.UnknownVariance(), 3, "any"),
    "poisson": (F.Poisson(), 1, "whole"),
    "exponential": (F.Exponential(), 1, "positive"),
    "exponential by mean": (F.Exponential("mean"), 1, "positive"),
    "gamma": (F.Gamma(2.0), 1, "positive"),
    "product": (F.Product([F.Poisson(), F.Gaussian()]), 2, "whole"),
}
SHARES = {
    "any": (1.0, -1.0, 1e-3, 0.5, 1e-90),
    "whole": (1.0, 0.5, 0.0, 1e-3, 0.25),
    "positive": (1.0, 0.5, 1e-3, 1e-90, 1e-300),
}


def extreme(kind, limit, arm, turn, d):
    """A sample of this arm at, or far below, the limit."""
    shares = SHARES[kind]
    x = [limit * shares[(arm + turn + i) % len(shares)] for i in range(d)]
    return [float(math.floor(v)) for v in x] if kind == "whole" else x


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("name", FAMILIES)
def test_at_the_limit_everything_is_a_number(name, version):
    family, d, kind = FAMILIES[name]
    run = la.BanditClusterer(
        2, 4, n_features=d, family=family, stopping=la.stopping.Anytime(version=version), delta=1e-9
    )
    for turn in range(15):
        for arm in range(4):
            run.tell(arm, extreme(kind, family.limit, arm, turn, d))
        for arm in run.ask(2):
            run.release(arm)
        found = run.result()
        levels = (found.evidence, found.threshold, *run.evidence_and_threshold())
        assert not any(math.isnan(x) for x in levels)
        assert np.isfinite(run.means).all()
        assert np.isfinite(run.moments).all()
        assert not np.isnan(np.asarray(found.parameters)).any()
        again = la.BanditClusterer.load(run.dump())  # a dump refuses NaN
        assert again.dump() == run.dump()


@pytest.mark.parametrize("name", FAMILIES)
def test_beyond_the_limit_it_is_refused_and_nothing_changes(name):
    family, d, kind = FAMILIES[name]
    run = la.BanditClusterer(2, 3, n_features=d, family=family)
    good = extreme(kind, 1.0, 0, 0, d)
    run.tell_many([0, 1, 2], [good] * 3)
    before = run.dump()
    for absurd in (math.nextafter(family.limit, math.inf), 1.7e308, -1.7e308, 10**400, 10**5000):
        bad = [absurd] * d
        for arms, values in (([0], [bad]), ([0, 1], [good, bad]), ([0, 1], [bad, good])):
            with pytest.raises(InvalidSample, match=r"too large for (the arithmetic|a floating)") as caught:
                run.tell_many(arms, values)
            assert "\n" not in str(caught.value)
            assert len(str(caught.value)) < 300
            assert run.dump() == before


def test_the_cases_that_were_found():
    """NaN means, a crash in the core, and a run that never ended."""
    run = la.BanditClusterer(2, 3, family="gaussian")
    with pytest.raises(InvalidSample, match=r"1.7e\+308 of arm 0 .* -1e\+50 to 1e\+50"):
        run.tell_many([0, 0, 1, 2], [1.7e308, -1.7e308, 0.0, 1.0])
    assert run.n_samples == 0
    run = la.BanditClusterer(2, 3, family=F.UnknownVariance())
    with pytest.raises(InvalidSample, match=r"1e\+160 .* gaussian-unknown .* -1e\+30 to 1e\+30"):
        run.tell(0, 1e160)


def told(unit, arms, family="gaussian-unknown", d=1):
    """A run of four arms; the samples of some of them are in a small unit."""
    rng, run = np.random.default_rng(1), la.BanditClusterer(2, 4, n_features=d, family=family)
    for _ in range(60):
        for arm, mean in enumerate((0.0, 1.0, 5.0, 6.3)):
            run.tell(arm, (unit if arm in arms else 1.0) * rng.normal(mean, size=d))
    return run.result()


@pytest.mark.parametrize(
    ("family", "d"), [("gaussian-unknown", 1), ("gaussian-unknown", 2), ("gaussian-unknown:shared", 1)]
)
def test_a_small_unit_changes_nothing(family, d):
    plain = told(1.0, range(4), family, d)
    for unit in (1e-20, 1e-55, 1e29):
        small = told(unit, range(4), family, d)
        assert (small.stopped, small.samples, small.clusters) == (True, plain.samples, plain.clusters)
        assert small.error_bound == pytest.approx(plain.error_bound, rel=1e-3)


@pytest.mark.parametrize("unit", [1e-90, 1e-158, 1e-320])
def test_a_unit_that_is_too_small_counts_as_0(unit):
    for arms in ((0,), (2,), (0, 1)):  # some arms alone
        mixed, zeros = told(unit, arms), told(0.0, arms)
        assert (mixed.stopped, mixed.samples, mixed.evidence) == (
            zeros.stopped,
            zeros.samples,
            zeros.evidence,
        )
    r = told(unit, range(4))
    assert (r.stopped, r.error_bound, r.parameters.any()) == (False, 1.0, False)


@pytest.mark.parametrize("family", ["gaussian", F.UnknownVariance(), None])
def test_recorded_samples_and_measured_ones(family):
    bad = {"a": [0.0, 1.7e308, -1.7e308], "b": [1.0, 2.0, 3.0], "c": [5.0, 6.0, 7.0]}
    with pytest.raises(InvalidSample, match="too large for the arithmetic"):
        la.cluster(bad, n_clusters=2, family=family, replace=True)
    with pytest.raises(InvalidInput, match="not all numbers"):
        la.cluster(bad | {"a": [0.0, 10**400]}, n_clusters=2, family=family)
    for absurd in (1e200, 10**400):
        measured = {"a": lambda absurd=absurd: absurd, "b": lambda: 1.0, "c": lambda: 2.0}
        with pytest.raises(InvalidSample, match=r"too large|returned 1000"):
            la.cluster(measured, n_clusters=2, family=family)


def test_parameters_and_variances_have_limits_too():
    with pytest.raises(InvalidInput, match=r"parameters\[1, 0\]=1e\+200 is too large"):
        la.Problem([0.0, 1e200, 1.0], n_clusters=2)
    for variance in (1e-300, 1e300):
        with pytest.raises(InvalidInput, match="give variances from 1e-100 to 1e\\+104"):
            F.Gaussian(variance)
        with pytest.raises(InvalidInput, match="give variances from"):
            F.Gaussian([[variance, 0.0], [0.0, variance]])


@pytest.mark.parametrize("absurd", ["1.7e308", "-1e160", "1" + "0" * 400, "1e400"])
def test_over_http_and_on_the_command_line(tmp_path, capsys, absurd):
    from tests.service_thread import local_service

    from linkarms.campaign import Campaign
    from linkarms.cli._app import run

    storage = str(tmp_path / "runs.db")
    with Campaign.create("lab", ["a", "b", "c"], 2, family=F.UnknownVariance(), storage=storage) as lab:
        lab.add_many(["a", "b", "c"], [0.0, 1.0, 5.0])
        assert run(["campaign", "add", "lab", "a", "--storage", storage, "--", absurd]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.count("\n") == 1
        with local_service(storage) as client:
            body = f'{{"samples": [{{"arm": "a", "value": {absurd}}}]}}'
            answer = client.post(
                "/api/v1/campaigns/lab/add", content=body, headers={"content-type": "application/json"}
            )
            assert answer.status_code == 422
            assert client.get("/api/v1/campaigns/lab").json()["samples"] == 3
        assert lab.status().tickets["told"] == 3
    table = tmp_path / "x.csv"
    table.write_text("arm,x\n" + "".join(f"{arm},{x}\n" for arm in "abc" for x in (0.5, absurd)))
    assert run(["cluster", str(table), "--arm", "arm", "--value", "x", "-k", "2", "--quiet"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
