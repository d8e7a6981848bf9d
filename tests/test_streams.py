"""The random streams of trials are NumPy's, drawn in blocks of any size."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linkarms as la
from linkarms import _core
from linkarms.montecarlo._streams import BLOCK, Seed, Streams


@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=9))
def test_the_words_of_a_seed_are_those_of_numpy(words):
    expected = np.random.SeedSequence(words).generate_state(4, np.uint64)
    assert list(_core.seed_words(words)) == expected.tolist()


class Spawning(la.families.Gaussian):
    """A user's family that needs the seed of its generator."""

    def draw(self, rng, theta, size):
        return super().draw(rng.spawn(1)[0], theta, size)


@pytest.mark.parametrize(
    "family",
    ["gaussian", "gaussian:4", la.families.Gaussian([[2.0, 0.5], [0.5, 1.0]]), Spawning()],
)
def test_samples_are_those_of_a_stream_per_arm(family):
    problem = la.Problem([[0.0, 0.0], [0.0, 1.0], [9.0, 0.0]], 2, family=family)
    streams = Streams(problem)
    for seed in (Seed(0, (0,)), Seed(3, (2**33,)), Seed(2**150 + 1, (7, 1))):
        streams.begin(seed)
        streams.fill()
        filled = streams.samples.copy()
        for m in range(3):
            rng = np.random.default_rng(seed.child(m))
            expected = [problem.families[m].draw(rng, problem.parameters[m], BLOCK) for _ in range(3)]
            found = [filled[m, streams.used[m] :]]
            streams.used[m] = BLOCK
            while sum(map(len, found)) < 3 * BLOCK:
                streams.refill(m)
                found.append(streams.samples[m, streams.used[m] :].copy())
                streams.used[m] = BLOCK
            np.testing.assert_array_equal(np.concatenate(found), np.concatenate(expected))
