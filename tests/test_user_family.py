"""A family that the package does not ship, from the recipe of `ScalarFamily`: compiled and in plain Python."""

import ctypes
import doctest
import itertools
import math
import subprocess
import sys

import numba
import numpy as np
import pytest
from scipy import LowLevelCallable, optimize

import linkarms as la
from linkarms.errors import CallbackError, InvalidDump, InvalidInput
from linkarms.families import check_family


def recipe():
    """The class of the examples in `ScalarFamily`'s own documentation."""
    space = {"__name__": __name__}
    for example in doctest.DocTestParser().get_examples(la.families.ScalarFamily.__doc__):
        if "Geometric" not in space:
            exec(example.source, space)
    return space["Geometric"]


Geometric = recipe()


Plain = Geometric
two, one = numba.cfunc("float64(float64, float64)"), numba.cfunc("float64(float64)")


class Compiled(Plain):
    compiled = True
    kl, step = two(Plain.kl), two(Plain.step)
    fisher, estimate = one(Plain.fisher), one(Plain.estimate)


BOTH = [Compiled(), Plain()]
POINTS = [0.05, 0.3, 0.5, 0.9]
STOP = la.stopping.Paper(theta=(0.02, 0.98), epsilon=0.002)


@pytest.mark.parametrize("family", BOTH)
def test_recipe_passes_its_check(family):
    assert (Compiled.compiled, Plain.compiled) == (True, False)
    check_family(family, POINTS)
    assert family.information(0.25) == pytest.approx(1 / (0.0625 * 0.75))
    assert family.mle(3.0) == pytest.approx([0.25])
    # the divergence, from the probabilities of 0, 1, 2, ...
    n = np.arange(3000)
    p, q = (x * (1 - x) ** n for x in (0.2, 0.3))
    assert family.kl(0.2, 0.3) == pytest.approx(np.sum(p[:1500] * np.log(p[:1500] / q[:1500])), rel=1e-10)


def test_every_kind_of_compiled_function_is_taken():
    ctypes_kl = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)(Plain.kl)
    for kl in (two(Plain.kl), ctypes_kl, LowLevelCallable(ctypes_kl), LowLevelCallable(two(Plain.kl).ctypes)):
        family = type("Other", (Compiled,), {"kl": kl})()
        assert family.scalar().kl(0.2, 0.3) == Plain.kl(0.2, 0.3)


def altered(**functions):
    return type("Altered", (Plain,), functions)()


def draw_with(shift, flat=False):
    return lambda self, rng, theta, size: rng.geometric(theta[0], size if flat else (size, 1)) + shift


MISTAKES = [
    ("kl", altered(kl=staticmethod(lambda p, q: Plain.kl(p, q) + 0.01))),
    ("step", altered(kl=staticmethod(lambda p, q: Plain.kl(q, p) if 0 < q < 1 else math.inf))),
    ("step", altered(step=staticmethod(lambda p, slope: Plain.step(p, 1.05 * slope)))),
    ("step", altered(step=staticmethod(lambda p, slope: Plain.step(p, -slope)))),
    ("fisher", altered(fisher=staticmethod(lambda p: 1 / (p * (1 - p))))),
    ("estimate", altered(estimate=staticmethod(lambda mean: 1 / (1.2 + mean)))),
    ("estimate", altered(draw=draw_with(0.0))),  # counts the success, too
    ("draw", altered(draw=draw_with(-1.5))),
    ("draw", altered(draw=draw_with(-1.0, flat=True))),
]


@pytest.mark.parametrize(("what", "family"), MISTAKES)
def test_check_catches_mistakes(what, family):
    with pytest.raises(InvalidInput, match=rf"geometric\.{what}"):
        check_family(family, POINTS)


class Cosine(la.families.ScalarFamily):
    """A Gaussian with variance 1 whose samples are kept by the wrong function: consistent, but not an exponential family in it."""

    name, domain, open_domain = "tilted", (-math.inf, math.inf), True
    kl = staticmethod(lambda p, q: math.cosh(p - q) - 1.0)
    step = staticmethod(lambda p, slope: p + math.asinh(slope))
    fisher = staticmethod(lambda p: 1.0)
    estimate = staticmethod(lambda mean: mean)

    def draw(self, rng, theta, size):
        return rng.normal(theta[0], 1.0, (size, 1))


def test_check_catches_what_is_no_exponential_family_and_clipped_estimates():
    for family, points in (
        (Cosine(), [-1.0, 0.0, 2.0]),
        (altered(estimate=staticmethod(lambda mean: min(Plain.estimate(mean), 0.95))), POINTS),
        (altered(estimate=staticmethod(lambda mean: max(Plain.estimate(mean), 0.04))), POINTS),
    ):
        with pytest.raises(
            InvalidInput, match="is not an exponential family, or its estimate is clipped"
        ) as caught:
            check_family(family, points)
        assert "\n" not in str(caught.value)


SHIPPED = [
    (la.families.Gaussian(2.0), [-1.0, 0.0, 3.0]),
    (la.families.Exponential(), [0.3, 1.0, 5.0]),
    (la.families.Exponential("mean"), [0.3, 1.0, 5.0]),
    (la.families.Poisson(), [0.3, 1.0, 7.0]),
    (la.families.Bernoulli(), [0.1, 0.5, 0.8]),
]


@pytest.mark.parametrize(("family", "points"), SHIPPED, ids=[repr(f) for f, _ in SHIPPED])
def test_shipped_families_pass_the_same_check(family, points):
    check_family(family, points)


def test_what_a_family_lacks_is_named():
    class Empty(la.families.ScalarFamily):
        name = "empty"

        def draw(self, rng, theta, size):
            return np.zeros((size, 1))

    class Slow(Compiled):
        step = staticmethod(lambda p, slope: Plain.step(p, slope))

    class Wrong(Compiled):
        step = one(Plain.fisher)

    with pytest.raises(InvalidInput, match="no function 'kl'"):
        la.psi([1, 1, 1], [0.1, 0.2, 0.3], 2, Empty())
    with pytest.raises(InvalidInput, match=r"Slow.step .*is a Python function.*compiled=False") as caught:
        la.psi([1, 1, 1], [0.1, 0.2, 0.3], 2, Slow())
    assert "\n" not in str(caught.value)
    with pytest.raises(InvalidInput, match=r"Wrong.step .*double\(double, double\)"):
        la.psi([1, 1, 1], [0.1, 0.2, 0.3], 2, Wrong())
    with pytest.raises(InvalidInput, match="at least three"):
        check_family(Geometric(), [0.5])
    with pytest.raises(InvalidInput, match="user's own"):
        la.families.Product([Geometric(), la.families.Poisson()])


def brute_psi(weights, theta, labels, kls):
    """Every pair of pairs and every sign, one convex program each; exact where clusters have one or two arms."""
    pairs = list(itertools.combinations(range(len(theta)), 2))
    best = math.inf
    for (u, v), (a, b) in itertools.product(pairs, pairs):
        if labels[u] != labels[v] or labels[a] == labels[b]:
            continue
        for s, t in itertools.product((1, -1), repeat=2):
            row = np.zeros(len(theta))
            np.add.at(row, [u, v, a, b], [s, -s, -t, t])
            found = optimize.minimize(
                lambda x: sum(w * kl(p, q) for w, kl, p, q in zip(weights, kls, theta, x, strict=True)),
                theta,
                bounds=[(1e-4, 1 - 1e-4)] * len(theta),
                constraints=[
                    {"type": "ineq", "fun": lambda x, r=row: r @ x},
                    {"type": "ineq", "fun": sign(t, a, b)},
                ],
                options={"ftol": 1e-13, "maxiter": 500},
            )
            if found.success and row @ found.x > -1e-9:
                best = min(best, found.fun)
    return best


def sign(t, a, b):
    return lambda x: t * (x[a] - x[b])


@pytest.mark.parametrize("seed", range(4))
def test_psi_compiled_plain_and_brute(seed):
    rng = np.random.default_rng(seed)
    weights, theta = rng.dirichlet(np.ones(4)), np.array([0.1, 0.16, 0.6, 0.72]) + rng.uniform(-0.02, 0.02, 4)
    fast, slow = (la.psi(weights, theta, 2, family) for family in BOTH)
    assert fast.value == pytest.approx(slow.value, rel=1e-12)
    assert fast.kl == pytest.approx(slow.kl, rel=1e-9)
    assert fast.exact
    assert fast.value == pytest.approx(brute_psi(weights, theta, [0, 0, 1, 1], [Plain.kl] * 4), rel=1e-6)
    # one list with shipped families
    bernoulli = la.families.Bernoulli()
    mixed = la.psi(weights, theta, 2, [Geometric(), bernoulli, Plain(), la.families.Gaussian(0.5)])
    kls = [Plain.kl, bernoulli.kl, Plain.kl, lambda p, q: (p - q) ** 2]
    assert mixed.value == pytest.approx(brute_psi(weights, theta, [0, 0, 1, 1], kls), rel=1e-6)


@pytest.mark.parametrize(
    ("family", "parameters"), [(Geometric(), [0.1, 0.13, 0.5, 0.58, 0.9]), (Plain(), [0.1, 0.2, 0.8])]
)
def test_clusters_are_found(family, parameters):
    problem = la.Problem(parameters, 3 if len(parameters) == 5 else 2, family)
    result = la.cluster(problem, stopping=STOP, seed=5, max_samples=60_000)
    assert result.stopped
    assert result.labels.tolist() == problem.labels.tolist()
    error = np.abs(result.parameters[:, 0] - parameters) * np.sqrt(
        result.pulls * [family.fisher(p) for p in parameters]
    )
    assert np.all(error < 5.0)


def test_dump_needs_the_family():
    c = la.BanditClusterer(2, 3, family=Geometric(), stopping=STOP)
    c.tell_many([0, 1, 2, 0], [5, 4, 0, 7])
    with pytest.raises(InvalidDump, match="family="):
        la.BanditClusterer.load(c.dump())
    again = la.BanditClusterer.load(c.dump(), family=Geometric())
    assert again.dump() == c.dump()
    assert again.ask(3) == c.ask(3)
    mixed = la.BanditClusterer(2, 3, family=[Geometric(), "poisson", "bernoulli"], stopping=STOP)
    mixed.tell_many([0, 1, 2], [5, 4, 0])
    assert la.BanditClusterer.load(mixed.dump(), family=Geometric()).dump() == mixed.dump()


class Fragile(Plain):
    broken: tuple[str, ...] = ()  # names of the functions that raise


def fragile(name):
    def function(*arguments):
        if name in Fragile.broken:
            raise ZeroDivisionError(f"{name} is broken")
        return getattr(Plain, name)(*arguments)

    return staticmethod(function)


for _name in ("kl", "step", "fisher", "estimate"):
    setattr(Fragile, _name, fragile(_name))


@pytest.fixture(params=[("kl",), ("step",), ("fisher",), ("estimate",), ("kl", "step", "fisher", "estimate")])
def breakage(request):
    yield request.param
    Fragile.broken = ()


def test_exceptions_of_callbacks(breakage):
    c = la.BanditClusterer(2, 3, family=Fragile(), stopping=STOP)
    c.tell_many([0, 1, 2, 0], [5, 4, 0, 7])
    before = c.dump()
    for act in (lambda: c.tell(1, 3), lambda: c.tell_many([1, 2, 0], [3, 1, 4])):
        Fragile.broken = breakage
        with pytest.raises(CallbackError, match="is broken") as caught:
            act()
        assert isinstance(caught.value.__cause__, ZeroDivisionError)
        Fragile.broken = ()
        assert c.dump() == before
    evidence = c.evidence_and_threshold()
    # what was raised is not raised a second time, and the run goes on as if nothing had happened
    c.tell(1, 3)
    other = la.BanditClusterer.load(before, family=Fragile())
    assert other.evidence_and_threshold() == evidence
    other.tell(1, 3)
    assert other.dump() == c.dump()


def test_check_family_passes_exceptions_on(breakage):
    Fragile.broken = breakage
    family = Fragile()
    with pytest.raises(CallbackError, match="is broken"):
        check_family(family, POINTS)
    Fragile.broken = ()
    check_family(family, POINTS)


class Naive(la.families.ScalarFamily):
    """Bernoulli, as it is written down first: 0 * log(0) is NaN."""

    name, support, domain, compiled = "naive", "0 or 1", (0.0, 1.0), True

    @numba.cfunc("float64(float64, float64)", error_model="numpy")
    def kl(p, q):
        return p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))

    @numba.cfunc("float64(float64, float64)", error_model="numpy")
    def step(p, slope):
        b = 1 - slope
        return 2 * p / (b + math.sqrt(b * b + 4 * slope * p))

    @numba.cfunc("float64(float64)", error_model="numpy")
    def fisher(p):
        return 1 / (p * (1 - p))

    def draw(self, rng, theta, size):
        return (rng.random((size, 1)) < theta[0]).astype(float)


def returning(value):
    return staticmethod(lambda *numbers: value)


REFUSED = [
    (Naive(), r"Naive\.kl\(0, 0\) returned nan; it must return a number"),
    (type("Open", (Naive,), {"open_domain": True})(), r"gives 0, which is not in the domain \(0, 1\)"),
    (altered(estimate=returning(1.5)), r"Altered\.estimate gives 1\.5, which is not in the domain"),
    (altered(kl=returning(-1.0)), r"kl\(.*, .*\) returned -1; it must return at least 0"),
    (altered(kl=returning(math.inf)), r"kl\(.*\) returned inf; it must return 0"),
    (altered(kl=staticmethod(lambda p, q: 0.0 if p == q else math.inf)), "where step"),
    (altered(fisher=returning(-1.0)), r"fisher\(.*\) returned -1; it must return at least 0"),
    *(
        (altered(**{name: returning(math.nan)}), rf"{name}\(.*\) returned nan")
        for name in ("kl", "step", "fisher", "estimate", "slope_limit", "inflection")
    ),
    (altered(statistics=lambda self, values: values * math.nan), r"Altered\.statistics returned nan"),
]


@pytest.mark.parametrize(("family", "words"), REFUSED)
@pytest.mark.parametrize("goal", [{"n_clusters": 2}, {"distance_threshold": 0.2}])
def test_what_a_function_may_not_return_is_refused_and_nothing_is_lost(family, words, goal):
    c = la.BanditClusterer(arms=3, family=family, **goal)
    before = c.dump()
    with pytest.raises(CallbackError, match=words) as caught:
        c.tell_many([0, 1, 2] * 2, [0, 1, 0] * 2)
    assert "\n" not in str(caught.value)
    assert (c.dump(), c.n_samples, c.done) == (before, 0, False)


def test_check_family_tries_the_estimates_at_the_ends_of_the_support():
    for family, words in REFUSED[:2]:
        with pytest.raises(CallbackError, match=words):
            check_family(family, [0.1, 0.4, 0.9])


def test_rounding_below_zero_is_no_divergence():
    family = altered(kl=staticmethod(lambda p, q: Plain.kl(p, q) - 1e-12))
    assert family.scalar().kl(0.3, 0.3) == 0.0


def test_a_rule_that_returns_nan_is_named():
    class Unsure(la.stopping.StoppingRule):
        name = "unsure"

        def __init__(self):
            self.found = {"statistic": 1.0, "threshold": 2.0}

        def statistic(self, view):
            return self.found["statistic"]

        def threshold(self, view, delta):
            return self.found["threshold"]

    for what in ("statistic", "threshold"):
        rule = Unsure()
        c = la.BanditClusterer(2, 3, family="gaussian", stopping=rule)
        c.tell_many([0, 1, 2], [0.0, 1.0, 5.0])
        rule.found[what] = math.nan
        with pytest.raises(CallbackError, match=rf"Unsure\.{what} returned nan after 4 samples"):
            c.tell(0, 1.0)
        assert c.n_samples == 3


HANGING = """
import math, linkarms as la
class Mean(la.families.ScalarFamily):
    name, domain, open_domain, broken = "mean", (0.0, math.inf), True, False
    kl = staticmethod(lambda t, x: 1 / (not Mean.broken) * (math.log(x / t) + t / x - 1) if x > 0.0 else math.inf)
    step = staticmethod(lambda t, s: 2 * t / (1 + math.sqrt(max(1 - 4 * s * t, 0.0))))
    fisher = staticmethod(lambda t: 1 / (t * t))
    inflection = staticmethod(lambda t: 2 * t)
    draw = lambda self, rng, theta, size: rng.exponential(theta[0], (size, 1))
theta, families = [1, 1.3, 9, 9.5, 30], (Mean(), la.families.Exponential("mean"))
la.families.check_family(families[0], [0.5, 1.0, 3.0])
print(*(la.psi([1] * 5, theta, 3, f).value for f in families))
Mean.broken = True
try:
    la.psi([1] * 5, theta, 3, families[0])
except la.errors.CallbackError as error:
    print(type(error.__cause__).__name__)
"""


def test_a_broken_function_ends_the_search():
    # beyond the inflection the divergence is searched by branch and bound, which NaN must not keep alive
    run = subprocess.run([sys.executable, "-c", HANGING], capture_output=True, text=True, timeout=120)
    values, cause = run.stdout.splitlines()
    plain, shipped = map(float, values.split())
    assert plain == pytest.approx(shipped, rel=1e-8)
    assert cause == "ZeroDivisionError"
