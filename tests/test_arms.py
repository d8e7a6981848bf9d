from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from linkarms import errors
from linkarms.arms import ArmSource, CallableArms, RecordedArms, SimulatedArms, make_source


def drain(source, index, n):
    return np.array([source.pull(index) for _ in range(n)])


class Normal:
    """Stands in for a family: unit normal coordinates."""

    def __init__(self):
        self.sizes = []

    def draw(self, rng, theta, size):
        self.sizes.append(size)
        return rng.standard_normal((size, len(theta))) + theta


def problem(parameters, **extra):
    parameters = np.asarray(parameters, dtype=float)
    return SimpleNamespace(
        parameters=parameters, families=[Normal() for _ in parameters], n_clusters=2, **extra
    )


# -- recorded ------------------------------------------------------------------------------------------------


def test_without_replacement_every_record_is_used_exactly_once():
    data = {"a": np.arange(40.0), "b": np.arange(100.0, 107.0)}
    arms = RecordedArms(data, replace=False, seed=3)
    for index, name in enumerate(data):
        got = drain(arms, index, len(data[name])).ravel()
        assert sorted(got) == list(data[name])
        with pytest.raises(
            errors.ArmExhausted, match=rf"arm '{name}' .*all of its {len(data[name])} recorded"
        ):
            arms.pull(index)
    assert not np.array_equal(drain(RecordedArms(data, replace=False, seed=3), 0, 40).ravel(), data["a"])


def test_exhausting_one_arm_leaves_the_others():
    arms = RecordedArms({"a": [1.0], "b": [2.0, 3.0]}, replace=False)
    arms.pull(0)
    with pytest.raises(errors.ArmExhausted):
        arms.pull(0)
    assert sorted(drain(arms, 1, 2).ravel()) == [2.0, 3.0]


def test_with_replacement_is_uniform_over_the_records():
    arms = RecordedArms({"a": np.arange(8.0)}, seed=11)
    counts = np.bincount(drain(arms, 0, 8000).ravel().astype(int), minlength=8)
    assert stats.chisquare(counts).pvalue > 1e-3


@pytest.mark.parametrize("replace", [True, False])
def test_an_arm_does_not_depend_on_the_pulls_of_another(replace):
    data = {"a": np.arange(600.0), "b": np.arange(600.0)}
    one, two = (RecordedArms(data, replace=replace, seed=5) for _ in range(2))
    alone = drain(one, 0, 600)
    mixed = []
    for _ in range(600):
        two.pull(1)
        mixed.append(two.pull(0))
    assert np.array_equal(alone, mixed)
    assert not np.array_equal(alone, drain(one, 1, 600))
    assert not np.array_equal(alone, drain(RecordedArms(data, replace=replace, seed=6), 0, 600))


def test_recorded_vectors_keep_their_coordinates_together():
    records = np.column_stack([np.arange(50.0), -np.arange(50.0)])
    arms = RecordedArms({"a": records, "b": records[:3]})
    assert (arms.n_features, arms.n_arms, arms.n_records) == (2, 2, (50, 3))
    got = drain(arms, 0, 300)
    assert got.shape == (300, 2)
    assert np.array_equal(got[:, 0], -got[:, 1])


def test_variances_by_arm_and_coordinate():
    arms = RecordedArms({"a": [[1.0, 0.0], [3.0, 0.0], [5.0, 3.0]], "b": [[1.0, 1.0]]})
    assert arms.variances.tolist() == [[4.0, 3.0], [0.0, 0.0]]


def test_a_sample_is_a_copy():
    arms = RecordedArms({"a": [1.0]})
    arms.pull(0)[:] = 99.0
    assert arms.pull(0) == [1.0]


def test_recorded_names_become_plain_python():
    arms = RecordedArms({np.int64(3): [1], np.str_("x"): [True, False]})
    assert arms.names == (3, "x")
    assert [type(name) for name in arms.names] == [int, str]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "there are no arms"),
        ([1, 2], "a dict of arrays by arm, not list"),
        ({"a": []}, "arm 'a' has no samples"),
        ({"a": [1.0], "b": np.ones((2, 0))}, r"arm 'b' have shape \(2, 0\)"),
        ({"a": np.ones((2, 2, 2))}, r"arm 'a' have shape \(2, 2, 2\)"),
        ({"a": 3.0}, r"arm 'a' have shape \(\)"),
        ({"a": [1.0], "b": ["1.0"]}, "arm 'b' are not all numbers"),
        ({"a": [1.0, "x"]}, "arm 'a' are not all numbers"),
        ({"a": np.array([1.0, "x"], dtype=object)}, "arm 'a' are not all numbers"),
        ({"a": [1j]}, "arm 'a' are not all numbers"),
        ({"a": [[1.0], [1.0, 2.0]]}, "arm 'a' are not all numbers"),
        ({"a": np.array(["2020-01-01"], dtype="datetime64[D]")}, "arm 'a' are not all numbers"),
        ({"a": [1.0], "b": [1.0, np.nan, np.inf]}, "arm 'b': 2 of 3 samples are missing .* in row 1 "),
        ({"a": [1.0, None]}, "arm 'a': 1 of 2 samples are missing .* in row 1 "),
        ({"a": np.ma.masked_equal([1.0, 7.0, 2.0], 7.0)}, "arm 'a': 1 of 3 samples .* in row 1 "),
        ({"a": [[1.0, 2.0]], "b": [1.0]}, "arm 'b' has 1 numbers and one of arm 'a' has 2"),
    ],
)
def test_recorded_arms_say_what_is_wrong(data, message):
    with pytest.raises(errors.InvalidInput, match=message) as caught:
        RecordedArms(data)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("seed", [-1, 1.5, True, "0"])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(errors.InvalidInput, match=r"seed=.* whole number"):
        RecordedArms({"a": [1.0]}, seed=seed)


# -- callables -----------------------------------------------------------------------------------------------


def counting(start):
    state = iter(range(start, 10**6))
    return lambda: next(state)


def test_the_sample_that_told_n_features_is_not_lost():
    arms = CallableArms([counting(0), counting(100)])
    assert arms.n_features == 1
    assert arms.n_features == 1
    assert drain(arms, 0, 3).ravel().tolist() == [0, 1, 2]
    assert drain(arms, 1, 2).ravel().tolist() == [100, 101]


def test_n_features_is_learned_from_a_pull_too():
    calls = []
    arms = CallableArms({"a": lambda: calls.append("a") or (1, 2), "b": lambda: np.array([3.0, 4.0])})
    assert arms.pull(1).tolist() == [3.0, 4.0]
    assert (arms.n_features, calls) == (2, [])


def test_nothing_is_called_before_it_is_needed():
    arms = CallableArms([lambda: pytest.fail("called")], n_features=3)
    assert arms.n_features == 3
    assert arms.names == (0,)


def test_exceptions_of_a_callable_are_unchanged():
    def broken():
        raise ZeroDivisionError("the sensor fell off")

    with pytest.raises(ZeroDivisionError, match="the sensor fell off"):
        CallableArms({"a": broken}).n_features  # noqa: B018
    with pytest.raises(ZeroDivisionError, match="the sensor fell off"):
        CallableArms({"a": broken}, n_features=1).pull(0)


@pytest.mark.parametrize("value", ["1.0", None, [], [[1.0]], [1.0, "x"], {"a": 1}, 1j])
def test_what_is_no_sample_is_refused(value):
    with pytest.raises(errors.InvalidSample, match=r"arm 'a' returned .*one sample is a number") as caught:
        CallableArms({"a": lambda: value}).pull(0)
    assert "\n" not in str(caught.value)


def test_a_missing_number_is_left_to_the_run():
    assert np.isnan(CallableArms([lambda: np.nan]).pull(0))


def test_samples_of_another_length_are_refused():
    arms = CallableArms({"a": lambda: 1.0, "b": lambda: [1.0, 2.0]})
    arms.pull(0)
    with pytest.raises(errors.InvalidSample, match="arm 'b' returned 2 numbers where 1 were expected"):
        arms.pull(1)


def test_callables_are_checked():
    with pytest.raises(errors.InvalidInput, match="arm 1 is a float, not a function"):
        CallableArms([lambda: 1.0, 2.0])
    with pytest.raises(errors.InvalidInput, match="there are no arms"):
        CallableArms([])
    with pytest.raises(errors.InvalidInput, match="n_features=0 is out of range"):
        CallableArms([lambda: 1.0], n_features=0)


# -- simulated -----------------------------------------------------------------------------------------------


def test_simulated_arms_are_blocks_of_one_stream_an_arm():
    given = problem([[0.0, 0.0], [5.0, -5.0], [9.0, 9.0]], arms=("x", "y", "z"))
    arms = SimulatedArms(given, seed=7)
    got = drain(arms, 1, 300)
    rng = np.random.default_rng(np.random.SeedSequence(7).spawn(3)[1])
    blocks = [rng.standard_normal((256, 2)) for _ in range(2)]
    want = np.concatenate(blocks)[:300] + np.array([5.0, -5.0])
    assert np.array_equal(got, want)
    assert arms.names == ("x", "y", "z")
    assert [family.sizes for family in given.families] == [[], [256, 256], []]


def test_simulated_arms_without_names_are_numbered():
    arms = SimulatedArms(problem([1.0, 2.0]))
    assert (arms.names, arms.n_features) == ((0, 1), 1)


def test_a_problem_needs_one_family_an_arm():
    given = problem([1.0, 2.0])
    given.families.pop()
    with pytest.raises(errors.InvalidInput, match="2 arms and 1 families"):
        SimulatedArms(given)


# -- one way in ----------------------------------------------------------------------------------------------


def test_make_source_knows_what_it_is_given():
    source = RecordedArms({"a": [1.0]})
    assert make_source(source) is source
    assert type(make_source(problem([1.0, 2.0]), seed=1)) is SimulatedArms
    assert type(make_source({"a": [1.0], "b": np.ones(3)}, replace=False)) is RecordedArms
    assert type(make_source({"a": lambda: 1.0})) is CallableArms
    assert type(make_source([lambda: 1.0])) is CallableArms
    assert type(make_source((lambda: 1.0,))) is CallableArms


def test_make_source_passes_replace_and_seed_on():
    data = {"a": np.arange(50.0)}
    got = drain(make_source(data, replace=False, seed=9), 0, 50)
    assert np.array_equal(got, drain(RecordedArms(data, replace=False, seed=9), 0, 50))
    simulated = drain(make_source(problem([1.0, 2.0]), seed=9), 0, 5)
    assert np.array_equal(simulated, drain(SimulatedArms(problem([1.0, 2.0]), seed=9), 0, 5))


@pytest.mark.parametrize("arms", [3, object(), None])
def test_make_source_lists_what_it_takes(arms):
    with pytest.raises(errors.InvalidInput) as caught:
        make_source(arms)
    for word in ("dict or list of arrays", "functions", "pandas, polars or pyarrow", "Problem", "ArmSource"):
        assert word in str(caught.value)


def test_make_source_refuses_what_does_not_belong():
    with pytest.raises(errors.InvalidInput, match="columns of a frame or file, and these arms are neither"):
        make_source({"a": [1.0]}, arm="zone")
    with pytest.raises(errors.InvalidInput, match="replace=False is for recorded samples"):
        make_source([lambda: 1.0], replace=False)
    with pytest.raises(errors.InvalidInput, match="arm 'b' is a list, not a function"):
        make_source({"a": lambda: 1.0, "b": [1.0]})
    with pytest.raises(errors.InvalidInput, match="there are no arms"):
        make_source([])


@pytest.mark.parametrize(
    "source",
    [RecordedArms({"a": [1.0]}), CallableArms([lambda: 1.0]), SimulatedArms(problem([1.0]))],
    ids=lambda source: type(source).__name__,
)
@pytest.mark.parametrize("index", [-1, 1])
def test_an_arm_that_is_not_there(source, index):
    assert isinstance(source, ArmSource)
    with pytest.raises(errors.UnknownArm, match="no arm at place"):
        source.pull(index)


def test_importing_arms_is_light():
    code = (
        "import sys, linkarms.arms;print([m for m in ('numba', 'pandas', 'polars', 'pyarrow', 'narwhals', "
        "'matplotlib', 'scipy') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
