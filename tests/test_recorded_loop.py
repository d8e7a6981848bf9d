"""Recorded samples inside the core: the same run as one pull at a time."""

import numpy as np
import pytest

import linkarms as la
from linkarms.arms import RecordedArms
from linkarms.errors import InvalidInput, InvalidSample

FAMILIES = [
    "gaussian-unknown",
    "gaussian-unknown:shared",
    "gaussian",
    "exponential",
    "poisson",
    "bounded:0:20",
]


def records(family, d, n=600):
    rng = np.random.default_rng(5)
    means = np.array([2.0, 2.5, 5.0, 5.4, 9.0])
    if family == "poisson":
        return {name: rng.poisson(m, (n, d)).astype(float) for name, m in zip("abcde", means, strict=True)}
    if family == "exponential":
        return {name: rng.exponential(m, (n, d)) for name, m in zip("abcde", means, strict=True)}
    return {name: np.clip(rng.normal(m, 1.0, (n, d)), 0, 20) for name, m in zip("abcde", means, strict=True)}


def run(data, family, *, callback=None, **options):
    settings = {"sampling": "ebc-h", "max_samples": 900, "replace": True, "stopping": "anytime"} | options
    replace = settings.pop("replace")
    source = RecordedArms(data, replace=replace, seed=3)
    c = la.BanditClusterer(3, list(data), source.n_features, family, seed=3, **settings)
    try:
        c.fit(source, callback)
    except la.errors.ArmExhausted as error:
        c.close(str(error))
    return c, source


def slow(_):
    """A callback that wants every sample, so that the loop runs in Python."""


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("replace", [True, False])
def test_same_run_as_the_python_loop(family, replace):
    for d, sampling, most in ((1, "ebc-h", 600), (1, "ebc", 300), (2, "ebc-h", 40)):
        data = records(family, d)
        fast, slow_run = (
            run(data, family, sampling=sampling, replace=replace, max_samples=most, callback=callback)
            for callback in (None, slow)
        )
        assert fast[0].dump() == slow_run[0].dump()
        # and the source is in the same place
        assert all(fast[1].upcoming(m).tolist() == slow_run[1].upcoming(m).tolist() for m in range(5))


def test_other_rules_too():
    data = records("gaussian", 1)
    paper = la.stopping.Paper(theta=(-5, 25))
    for options in ({"sampling": "atboc"}, {"sampling": "lucbboc", "stopping": None}, {"stopping": paper}):
        options = {"max_samples": 300, **options}
        assert (
            run(data, "gaussian", **options)[0].dump()
            == run(data, "gaussian", callback=slow, **options)[0].dump()
        )


def test_an_arm_that_runs_out_ends_the_run():
    data = {name: x[:20] for name, x in records("gaussian-unknown", 1).items()}
    fast, slow_run = (run(data, "gaussian-unknown", replace=False, callback=c)[0] for c in (None, slow))
    assert fast.dump() == slow_run.dump()
    assert "is exhausted: all of its 20 recorded samples are used" in fast.result().reason
    assert fast.pending == {}


def test_looks_come_when_they_were_asked_for():
    class Every100:
        next_look = 100

        def __init__(self):
            self.seen = []

        def __call__(self, c):
            self.seen.append(c.n_samples)
            self.next_look = c.n_samples + 100

    watch = Every100()
    c, _ = run(
        records("gaussian", 1),
        "gaussian",
        callback=watch,
        max_samples=350,
        stopping="anytime",
        sampling="round-robin",
    )
    assert watch.seen[-1] == c.n_samples
    assert watch.seen[:-1] == list(range(100, c.n_samples, 100))
    history = la.plots.HistoryRecorder()
    expected = la.plots.HistoryRecorder()
    run(records("gaussian", 1), "gaussian", callback=history)
    run(records("gaussian", 1), "gaussian", callback=lambda c: expected(c))
    assert history.history == expected.history


def test_bad_records_are_refused_before_the_first_sample():
    data = records("poisson", 1)
    data["c"][17] = 2.5
    with pytest.raises(
        InvalidSample, match=r"the sample 2\.5 of arm 'c' is outside the support of the poisson"
    ):
        la.cluster(data, 3, family="poisson")


def test_fit_on_something_else_says_what_to_do():
    c = la.BanditClusterer(2, ["a", "b", "c"])
    with pytest.raises(
        InvalidInput, match=r"fit takes a source of samples, not a dict; call linkarms\.cluster"
    ):
        c.fit({"a": [1.0], "b": [2.0], "c": [3.0]})
    assert c.n_samples == 0


def shuffled(data, seed=3):
    return RecordedArms({name: data[name] for name in "cabed"}, seed=seed)


class Alike(la.arms.ArmSource):
    """Simulated arms by name, in an order of their own; one sample per pull."""

    names = ("c", "a", "b", "e", "d")
    n_features = 1

    def __init__(self):
        self.rng = np.random.default_rng(1)

    def pull(self, index):
        return self.rng.normal(
            [dict(zip("abcde", (2.0, 2.5, 5.0, 5.4, 9.0), strict=True))[self.names[index]]]
        )


@pytest.mark.parametrize("callback", [None, slow])
def test_arms_of_a_source_are_found_by_name(callback):
    data = records("gaussian", 1)
    c = la.BanditClusterer(3, list("abcde"), family="gaussian").fit(shuffled(data), callback)
    r = c.result()
    assert r.clusters == [["a", "b"], ["c", "d"], ["e"]]
    assert np.allclose(r.parameters.ravel(), [2.0, 2.5, 5.0, 5.4, 9.0], atol=1.0)
    # what the checks look at is in the order of the run, too
    assert all(np.array_equal(x, data[name]) for x, name in zip(r.fit.samples, "abcde", strict=True))


def test_a_loaded_run_finds_the_arms_of_another_source():
    data = records("gaussian", 1)
    c = la.BanditClusterer(3, list("abcde"), family="gaussian", max_samples=20)
    c.fit(RecordedArms(data))
    c = la.BanditClusterer.load(c.dump())
    c.max_samples = None
    assert c.fit(shuffled(data)).result().clusters == [["a", "b"], ["c", "d"], ["e"]]


def test_so_are_those_of_a_source_that_is_not_recorded():
    c = la.BanditClusterer(3, list("abcde"), family="gaussian").fit(Alike())
    assert c.result().clusters == [["a", "b"], ["c", "d"], ["e"]]
    assert la.cluster(Alike(), 3, family="gaussian").clusters == [["c", "d"], ["a", "b"], ["e"]]


def test_positions_count_where_the_run_was_given_a_number():
    c = la.BanditClusterer(3, 5, family="gaussian").fit(shuffled(records("gaussian", 1)))
    assert c.result().clusters == [[0, 4], [1, 2], [3]]

    class Bare:
        def pull(self, index):
            return float(index % 2)

    assert la.BanditClusterer(2, ["a", "b", "c"], family="gaussian:0.01").fit(Bare()).result().clusters == [
        ["a", "c"],
        ["b"],
    ]


@pytest.mark.parametrize(
    ("arms", "d", "message"),
    [
        (list("abcd"), 1, "the source has 5 arms and the run 4; give a source of the same arms"),
        (list("abcdef"), 1, "the source has 5 arms and the run 6; give a source of the same arms"),
        (4, 1, "the source has 5 arms and the run 4; give a source of the same arms"),
        (
            list("abcdx"),
            1,
            "arm 'x' of the run is not in the source, whose arms are 'c', 'a', 'b', 'e', 'd'; give the run those names",
        ),
        (5, 2, r"a sample of the source has 1 number\(s\) and one of the run 2; give the run n_features=1"),
    ],
)
@pytest.mark.parametrize("kind", ["recorded", "pulled"])
def test_a_source_of_other_arms_is_refused(arms, d, message, kind):
    c = la.BanditClusterer(3, arms, d, family="gaussian")
    with pytest.raises(InvalidInput, match=f"^{message}$"):
        c.fit(shuffled(records("gaussian", 1)) if kind == "recorded" else Alike())
    assert (c.n_samples, c.pending) == (0, {})


def test_a_sample_that_is_refused_leaves_no_pending_pull():
    class Odd(Alike):
        def pull(self, index):
            return np.zeros(2)

    c = la.BanditClusterer(3, list("abcde"), family="gaussian")
    with pytest.raises(InvalidSample, match="has shape"):
        c.fit(Odd())
    assert c.pending == {}


def test_progress_is_shown(capsys, monkeypatch):
    monkeypatch.setattr("linkarms._progress.Progress.update", lambda self, share, text: self.say(text))
    la.cluster(records("gaussian", 1), 3, family="gaussian", progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) > 3
    assert all("samples, evidence" in line for line in lines)
