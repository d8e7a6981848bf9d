"""Samples that are all equal, or in units of very different size: what the evidence of unknown variances makes of them."""

import numpy as np
import pytest
from scipy.stats import binom
from tests.repeats import repeats

import linkarms as la

RIGHT = [["a", "b"], ["c"]]
RUNS, DELTA = repeats(40, 200), 0.05
MODES = [
    {"n_clusters": 2},
    {"n_clusters": None},
    {"distance_threshold": 0.6},
    {"n_clusters": 2, "tolerance": 0.05},
    {"n_clusters": 2, "family": "gaussian-unknown:shared"},
]


def arms(kind, rng):
    """Three sources; the second has the same number each time, or all have few different ones."""
    if kind == "constant":
        return {
            "a": lambda: rng.normal(0.0, 1.0),
            "b": lambda: 0.5,
            "c": lambda: rng.normal(1.3, 1.0),
        }
    if kind == "constant coordinate":
        return {
            name: (lambda m=m: np.array([rng.normal(m, 1.0), 7.0]))
            for name, m in zip("abc", (0, 0.5, 1.3), strict=True)
        }
    chances = zip("abc", (0.05, 0.15, 0.5), strict=True)
    return {name: (lambda p=p: float(rng.random() < p)) for name, p in chances}


def errors(kind, options):
    """How many of the runs stopped, and how many of them with the wrong clusters."""
    stopped = wrong = 0
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        result = la.cluster(arms(kind, rng), delta=DELTA, seed=seed, max_samples=400, **options)
        stopped += result.stopped
        wrong += result.stopped and sorted(map(sorted, result.clusters)) != RIGHT
    return stopped, wrong


@pytest.mark.filterwarnings("ignore::linkarms.errors.FamilySuggestion")
@pytest.mark.parametrize("options", MODES, ids=str)
def test_an_arm_with_equal_samples_breaks_no_promise(options):
    stopped, wrong = errors("constant", options)
    assert wrong <= binom.ppf(0.99, RUNS, DELTA)
    if "family" not in options:  # it may be anywhere
        assert stopped == 0


@pytest.mark.filterwarnings("ignore::linkarms.errors.FamilySuggestion")
@pytest.mark.parametrize("options", [MODES[0], MODES[-1]], ids=str)
def test_mostly_zeros_break_no_promise(options):
    _, wrong = errors("zeros", options)
    assert wrong <= binom.ppf(0.99, RUNS, DELTA)


@pytest.mark.parametrize("family", ["gaussian-unknown", "gaussian-unknown:coordinate"])
def test_a_column_that_is_constant_breaks_no_promise(family):
    assert errors("constant coordinate", {"n_clusters": 2, "family": family}) == (0, 0)


@pytest.mark.parametrize("options", [{}, {"shared": True}])
@pytest.mark.parametrize("more", [{"distance_threshold": 0.7}, {"n_clusters": 2}])
def test_equal_samples_say_no_more_than_nearly_equal_ones(options, more):
    samples = [[0.1, -0.2, 0.0], [0.5] * 12, [1.9, 2.1, 2.0]]
    if options:
        samples = [[0.0] * 3, [0.5] * 12, [1.9] * 3]
    rng = np.random.default_rng(4)
    values = []
    for noise in (0.0, 1e-9):
        run = la.BanditClusterer(
            arms=["a", "b", "c"], family=la.families.UnknownVariance(**options), delta=0.05, **more
        )
        for name, x in zip("abc", samples, strict=True):
            run.tell_many([name] * len(x), np.array(x) + noise * rng.normal(size=len(x)))
        values.append(run.result().evidence)
    assert values[0] <= values[1]
    assert values[0] < 0.0


@pytest.mark.parametrize("small", [1e-3, 1e-6, 1e-9])
def test_columns_of_very_different_units(small):
    """A column that counts for little in the distances does not matter, however small its unit is."""
    rng = np.random.default_rng(1)
    wide = {name: rng.normal(m, 1.0, (2000, 2)) for name, m in zip("abcd", (0.0, 0.4, 5.0, 5.3), strict=True)}
    ends = []
    for unit in (small, 1e-3 * small):
        result = la.cluster({name: x * [1.0, unit] for name, x in wide.items()}, 2, delta=0.05, seed=3)
        assert result.stopped
        assert result.clusters == [["a", "b"], ["c", "d"]]
        ends.append(result.samples)
    assert ends[0] == ends[1]


def run(n=12, family="gaussian-unknown", names="abcd", d=2, change=lambda name, x: x, **options):
    """A run with a million times too small a delta; ``change`` makes some of the samples singular."""
    rng = np.random.default_rng(1)
    c = la.BanditClusterer(2, list(names), d, family, delta=1e-300, **options)
    for name, mean in zip(names, (0.0, 0.4, 5.0, 5.3, 9.0, 9.9), strict=False):
        for _ in range(n):
            x = np.broadcast_to(change(name, rng.normal(mean, 1.0, d)), d)
            c.tell(name, x if d > 1 else float(x[0]))
    return c


def at(column, value):
    def change(name, x):
        x[column] = value(x)
        return x

    return change


WORDS = "{}, and as long as that is so the run does not stop; leave such {} out, tell numbers that are rounded less, or "


@pytest.mark.parametrize(
    ("settings", "seen", "out"),
    [
        (
            {"d": 1, "change": lambda name, x: 3.5 if name == "b" else x},
            "all samples of arm 'b' are equal",
            "arms",
        ),
        (
            {"d": 1, "change": lambda name, x: 3.5},
            "all samples of arms 'a', 'b', 'c' and 1 more are equal",
            "arms",
        ),
        ({"change": lambda name, x: 3.5 if name == "b" else x}, "all samples of arm 'b' are equal", "arms"),
        (
            {"family": "gaussian-unknown:isotropic", "change": lambda name, x: 3.5 if name == "b" else x},
            "all samples of arm 'b' are equal",
            "arms",
        ),
        (
            {"family": "gaussian-unknown:shared", "d": 1, "change": lambda name, x: 3.5},
            "all samples of arms 'a', 'b', 'c' and 1 more are equal",
            "arms",
        ),
        (
            {"change": at(1, lambda x: 7.0)},
            "coordinate 1 is constant in the samples of arms 'a', 'b', 'c' and 1 more",
            "columns",
        ),
        (
            {"family": "gaussian-unknown:coordinate", "d": 3, "change": lambda name, x: x * [1.0, 0.0, 0.0]},
            "coordinates 1 and 2 are constant in the samples of arms 'a', 'b', 'c' and 1 more",
            "columns",
        ),
        (
            {"change": at(1, lambda x: 3.0 * x[0] - 1.0)},
            "coordinate 1 follows from coordinate 0 in the samples of arms 'a', 'b', 'c' and 1 more",
            "columns",
        ),
        (
            {"d": 4, "n": 30, "change": at(3, lambda x: 1e6 * (x[0] - 2.0 * x[2]))},
            "coordinate 3 follows from coordinates 0 and 2 in the samples of arms 'a', 'b', 'c' and 1 more",
            "columns",
        ),
    ],
)
def test_a_run_that_cannot_stop_names_arms_and_columns(settings, seen, out):
    c = run(**settings)
    result = c.result()
    assert result.reason.startswith("no promise yet: still running; " + WORDS.format(seen, out))
    assert "heading for a tie" not in result.reason
    assert result.tie is None
    c.close("no more time")
    assert (
        "no more time; would not have stopped at any delta; " + WORDS.format(seen, out) in c.result().reason
    )


def test_few_different_samples_and_names_of_columns():
    kinds = {"a": "equal", "b": "few"}

    def change(name, x):
        if kinds.get(name) == "few":
            return np.array([1.0, 2.0, 3.0]) * (x[0] > 0.4)
        return 1.0 if name in kinds else x

    c = run(n=20, d=3, change=change)
    c.features = ("width", "height", "depth")
    assert (
        "all samples of arm 'a' are equal, column 'height' follows from column 'width' in the samples of arm 'b', and as long"
        in c.result().reason
    )


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"change": lambda name, x: x * [1.0, 1e-9]},  # units of very different size
        {"family": "gaussian-unknown:coordinate", "change": at(1, lambda x: x[0])},
        {"family": "gaussian-unknown:isotropic", "change": at(1, lambda x: 7.0)},
        {"family": "gaussian-unknown:shared", "d": 1, "change": lambda name, x: 3.5 if name == "b" else x},
        {"family": "gaussian", "change": lambda name, x: 3.5},
        {"n": 3, "d": 1, "change": lambda name, x: 3.5 if name == "b" else x},  # too early to say
        {"n": 2},
    ],
)
def test_other_runs_do_not(settings):
    assert "as long as that is so" not in run(**settings).result().reason


@pytest.mark.parametrize("d", [2, 3, 5])
@pytest.mark.parametrize("noise", [1e-9, 1e-7, 1e-2, 0.3])
def test_a_covariance_is_singular_where_the_core_says_so(d, noise):
    """The evidence of an arm whose covariance is singular for the core is minus its price, whatever its samples are."""

    def result(noise):
        rng = np.random.default_rng(d)
        return run(n=60, d=d, change=at(d - 1, lambda x: x[:-1].sum() + noise * rng.normal())).result()

    singular, other = result(0.0), result(noise)
    assert "as long as that is so" in singular.reason
    assert (
        ("as long as that is so" in other.reason) == (other.evidence == singular.evidence) == (noise < 1e-6)
    )


def test_on_the_command_line_and_on_the_page(tmp_path, capsys):
    from linkarms.campaign import Campaign, Trace, open_storage
    from linkarms.cli._app import run as command
    from linkarms.server._view import campaign_view

    home = open_storage(tmp_path / "runs.db")
    campaign = Campaign.create("dull", ["a", "b", "c"], 2, storage=home)
    rng = np.random.default_rng(0)
    campaign.add_many(["a", "b", "c"] * 12, [x for _ in range(12) for x in (0.25, *rng.normal(size=2))])
    words = "all samples of arm 'a' are equal, and as long as that is so the run does not stop"
    assert campaign_view(campaign, Trace("dull", home))["words"]["remark"].startswith(words)
    assert command(["campaign", "status", "dull", "--storage", str(tmp_path / "runs.db")]) == 0
    assert words in " ".join(capsys.readouterr().out.split())


def test_columns_of_which_one_follows_from_the_others_say_nothing():
    rng = np.random.default_rng(1)
    x = {name: rng.normal(m, 1.0, 500) for name, m in zip("abcd", (0.0, 0.4, 5.0, 5.3), strict=True)}
    run = la.BanditClusterer(2, list(x), n_features=2)
    for name, own in x.items():
        run.tell_many([name] * len(own), np.column_stack([own, 100.0 - own]))
    result = run.result()
    assert not result.stopped
    assert result.evidence < 0.0


@pytest.mark.parametrize("noise", [1e-2, 1e-4, 1e-5, 3e-6])
def test_columns_of_which_one_nearly_follows_from_the_others(noise):
    rng = np.random.default_rng(1)
    run = la.BanditClusterer(2, list("abcd"), n_features=3, delta=0.05)
    for _ in range(60):
        for name, mean in zip("abcd", (0.0, 0.4, 5.0, 5.3), strict=True):
            x = rng.normal(mean, 1.0, 3)
            x[2] = x[0] + x[1] + noise * rng.normal()
            if not run.done:
                run.tell(name, x)
    result = run.result()
    assert result.stopped
    assert result.clusters == [["a", "b"], ["c", "d"]]
