"""The random streams of a trial's arms, and the samples drawn from them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.random.bit_generator import ISeedSequence

from linkarms import _core
from linkarms.families import Family, Gaussian
from linkarms.problem import Problem

__all__ = ["BLOCK", "Seed", "Streams"]

#: Samples drawn at a time. For some families another number gives other samples for the same seed.
BLOCK = 256
#: The first of them where each sample is drawn after the other: many trials need few.
_FIRST = 128

_WORD = 2**32
_ROUND = 2**128
_FACTOR = 0x2360ED051FC65DA44385DF649FCCF645  # of PCG64's step


class Seed(NamedTuple):
    """What a `numpy.random.SeedSequence` is made of."""

    entropy: int
    spawn_key: tuple[int, ...]

    def child(self, i: int) -> np.random.SeedSequence:
        """Return a child by its key, not by spawn(): a seed then gives the same children however often it is used."""
        return np.random.SeedSequence(self.entropy, spawn_key=(*self.spawn_key, i))


def _words(number: int) -> list[int]:
    """Return a number as NumPy's SeedSequence takes it: 32 bits at a time, the lowest first."""
    out = [number % _WORD]
    while number >= _WORD:
        number //= _WORD
        out.append(number % _WORD)
    return out


def _draws_in_order(family: Family) -> bool:
    """Return whether a family draws the same samples in two parts as at once."""
    return type(family) is Gaussian and (family.covariance is None or family.covariance.ndim < 2)


class _Unseeded(ISeedSequence):
    """Seeds generators whose state is set before they are used; a tenth of the time of a real seed."""

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
        return np.zeros(n_words, dtype=dtype)


class Streams:
    """The samples of the arms, in blocks, of one trial after another: one random stream per arm, so all rules see the same samples.

    The stream of arm ``m`` is that of `numpy.random.default_rng` with the m-th child of the trial's seed. Generators are used again for
    the next trial: to make one takes NumPy 30 us.

    Parameters
    ----------
    problem : Problem
        The parameters.

    Attributes
    ----------
    samples : ndarray, shape (M, BLOCK, d)
        The sufficient statistics of the samples.
    used : ndarray, shape (M,)
        How many of them have been used, or are not there.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.samples = np.empty((problem.n_arms, BLOCK, problem.n_features))
        self.used = np.empty(problem.n_arms, dtype=np.int64)
        unseeded: Any = _Unseeded()  # NumPy's types know only SeedSequence
        self._rngs = [np.random.Generator(np.random.PCG64(unseeded)) for _ in range(problem.n_arms)]
        self._first = [_FIRST if _draws_in_order(family) else BLOCK for family in problem.families]
        self._sizes = list(self._first)
        self._standard = all(type(f) is Gaussian and f.covariance is None for f in problem.families)
        self._own = all(type(family).__module__.startswith("linkarms.") for family in problem.families)

    def begin(self, seed: Seed) -> None:
        """Go to the start of a trial."""
        if self._own:
            words = _words(seed.entropy)
            words += [0] * (4 - len(words))
            for i in seed.spawn_key:
                words += _words(i)
            for m, rng in enumerate(self._rngs):
                a, b, c, d = _core.seed_words([*words, m])
                step = (c << 65 | d << 1 | 1) % _ROUND
                state = ((a << 64 | b) + step) * _FACTOR + step
                rng.bit_generator.state = {
                    "bit_generator": "PCG64",
                    "state": {"state": state % _ROUND, "inc": step},
                    "has_uint32": 0,
                    "uinteger": 0,
                }
        else:  # a user's family may spawn generators, which needs the sequence itself
            for m in range(len(self._rngs)):
                self._rngs[m] = np.random.default_rng(seed.child(m))
        self._sizes = list(self._first)
        self.used[:] = BLOCK

    def fill(self) -> None:
        """Draw the first samples of every arm."""
        if not self._standard:
            for m in range(len(self._rngs)):
                self.refill(m)
            return
        first = self.samples[:, BLOCK - _FIRST :]  # the same as by `refill`, in fewer calls of NumPy
        for rng, own in zip(self._rngs, first, strict=True):
            rng.standard_normal(out=own)
        first += self.problem.parameters[:, None]
        self.used[:] = BLOCK - _FIRST
        self._sizes = [BLOCK - _FIRST] * len(self._rngs)

    def refill(self, arm: int) -> None:
        """Draw the next samples of an arm that has no more: the first few, the rest of that block, then whole blocks."""
        family, size = self.problem.families[arm], self._sizes[arm]
        drawn = family.draw(self._rngs[arm], self.problem.parameters[arm], size)
        self.samples[arm, BLOCK - size :] = family.statistics(drawn)
        self.used[arm] = BLOCK - size
        self._sizes[arm] = BLOCK - size or BLOCK
