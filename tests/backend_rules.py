"""Rules and families that worker processes import: some count, some raise, some kill the process they run in."""

import math
import os
import signal

import numpy as np

import linkarms as la


class Fewest(la.sampling.SamplingRule):
    """Pull the arm with the fewest samples."""

    name = "fewest"

    def choose(self, view):
        return int(np.argmin(view.counts + view.pending))


class Counting(Fewest):
    """Keeps something in itself: how often it was asked decides what it answers."""

    name = "counting"

    def __init__(self):
        self.asked = 0

    def choose(self, view):
        self.asked += 1
        return self.asked // 7 % view.n_arms


class Complaint(Exception):
    """Pickle cannot read it again: its __init__ does not take its own args."""

    def __init__(self, code, text):
        super().__init__(f"{code}: {text}")
        self.code = code


class Complaining(Fewest):
    name = "complaining"

    def choose(self, view):
        if view.t == 30:
            raise Complaint(7, "thirty is enough") from ZeroDivisionError("the reason")
        return super().choose(view)


class Recording(Fewest):
    """Remembers the estimates of each trial after 20 samples, for `Killing`."""

    name = "recording"
    seen: list = []  # noqa: RUF012

    def choose(self, view):
        if view.t == 20:
            self.seen.append(view.estimates.tobytes())
        return super().choose(view)


class Killing(Fewest):
    """Kills its worker in the trial with these estimates: once if there is a marker, always otherwise; never its author's process."""

    name = "killing"

    def __init__(self, estimates, marker=None):
        self.estimates, self.marker, self.author = estimates, marker, os.getpid()

    def choose(self, view):
        if (
            view.t == 20
            and os.getpid() != self.author
            and view.estimates.tobytes() == self.estimates
            and not (self.marker and os.path.exists(self.marker))
        ):
            if self.marker:
                open(self.marker, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().choose(view)


class Waiting(la.families.ScalarFamily):
    """Waiting times by their rate, as a family of a user's own."""

    name, domain, open_domain, support = "waiting", (0.0, math.inf), True, "numbers > 0"

    @staticmethod
    def kl(p, q):
        return q / p - 1.0 - math.log(q / p) if q > 0.0 else math.inf

    @staticmethod
    def step(p, slope):
        return 1.0 / (1.0 / p - slope)

    @staticmethod
    def slope_limit(p):
        return 1.0 / p

    @staticmethod
    def fisher(p):
        return 1.0 / (p * p)

    @staticmethod
    def estimate(mean):
        return 1.0 / mean

    def draw(self, rng, theta, size):
        return rng.exponential(1.0 / theta[0], (size, 1))


class Moody(Waiting):
    """Its divergence fails, inside the core."""

    name = "moody"

    @staticmethod
    def kl(p, q):
        raise ZeroDivisionError("not today")
