"""Arms whose samples cost different amounts: sampling, lower bound, plan, results (math.md 9)."""

import itertools
import json

import numpy as np
import pytest
from linkarms._core.testing import project_simplex
from scipy import optimize

import linkarms as la
from linkarms import errors
from linkarms.cli._app import run

LINE = [0.0, 0.6, 4.0, 4.9]


def plain_pieces(theta, labels):
    """Squared coefficients and squared gaps of every pair against every pair, both orders of each; Gaussian arms on a line."""
    squares, gaps = [], []
    pairs = list(itertools.combinations(range(len(theta)), 2))
    for (u, v), (a, b) in itertools.product(pairs, pairs):
        if labels[u] != labels[v] or labels[a] == labels[b]:
            continue
        for s, t in itertools.product((1, -1), (1, -1)):
            kappa = np.zeros(len(theta))
            for m, sign in ((u, s), (v, -s), (a, -t), (b, t)):
                kappa[m] += sign
            missing = max(-(kappa @ theta), 0.0)
            # t (lam_a - lam_b) may be negative: the constraint |.| >= t (.) is then weaker, and another t is the right one
            if t * (theta[a] - theta[b]) > 0:
                squares.append(kappa**2)
                gaps.append(missing**2)
    return np.array(squares), np.array(gaps)


def plain_psi(w, pieces):
    """psi of Gaussian arms on a line in clusters of at most two arms."""
    squares, gaps = pieces
    return np.min(gaps / (2 * (squares @ (1 / w))))


@pytest.mark.parametrize("seed", range(12))
def test_the_projection_against_a_quadratic_program(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    x, k = rng.standard_normal(n) * rng.choice([0.1, 1.0, 5.0]), np.exp(rng.normal(size=n))
    found = project_simplex(x, k)
    assert found @ k == pytest.approx(1.0, abs=1e-12)
    assert (found >= 0.0).all()
    program = optimize.minimize(
        lambda y: np.sum((y - x) ** 2),
        np.full(n, 1 / k.sum()),
        jac=lambda y: 2 * (y - x),
        bounds=[(0, None)] * n,
        constraints={"type": "eq", "fun": lambda y: y @ k - 1, "jac": lambda y: k},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 300},
    )
    assert found == pytest.approx(program.x, abs=2e-6)


def test_the_projection_of_huge_entries_and_of_equal_costs():
    x = np.array([1e300, 1.0, 1e300, np.inf])
    assert project_simplex(x, np.array([1.0, 2.0, 2.0, 4.0])).tolist() == [0.0, 0.0, 0.0, 0.25]
    rng = np.random.default_rng(3)
    for y in rng.standard_normal((50, 6)):
        assert project_simplex(y, np.ones(6)) == pytest.approx(project_simplex(y), abs=1e-14)


@pytest.mark.parametrize("seed", range(6))
def test_t_star_against_a_plain_maximisation(seed):
    """1/T* = max psi(w) over sum k w = 1, psi by enumeration, the maximum by SLSQP from several starts."""
    rng = np.random.default_rng(seed)
    theta = np.cumsum(rng.uniform([0, 0.3, 2, 0.3], [0.1, 1, 4, 1]))
    k = np.exp(rng.normal(size=4))
    problem = la.Problem(theta, 2)
    bound = la.lower_bound(theta, 2, costs=k)
    assert bound.closed
    pieces = plain_pieces(theta, problem.labels)

    def objective(z):  # the epigraph: w, and the level that all pieces reach
        return -z[-1]

    best = 0.0
    for start in rng.dirichlet(np.ones(4), 8):
        w0 = start / k
        found = optimize.minimize(
            objective,
            np.append(w0, plain_psi(w0, pieces)),
            bounds=[(1e-9, None)] * 4 + [(0, None)],
            constraints=[
                {"type": "eq", "fun": lambda z: z[:4] @ k - 1},
                {"type": "ineq", "fun": lambda z: plain_psi(z[:4], pieces) - z[4]},
            ],
            method="SLSQP",
        )
        w = np.maximum(found.x[:4], 1e-12)
        best = max(best, plain_psi(w / (w @ k), pieces))
    assert best <= 1.0 / bound.lower * (1 + 1e-6)
    assert best >= 0.99 / bound.upper
    w = bound.weights / (bound.weights @ k)
    assert 1.0 / plain_psi(w, pieces) == pytest.approx(bound.upper, rel=1e-6)


def test_equal_costs_change_only_the_unit():
    plain, priced = la.lower_bound(LINE, 2), la.lower_bound(LINE, 2, costs=[3.0] * 4)
    assert priced.upper == pytest.approx(3.0 * plain.upper, rel=1e-3)
    assert priced.samples(0.1) == pytest.approx(3.0 * plain.samples(0.1), rel=1e-3)
    assert "in cost" in str(priced)
    for rule in ("ebc-h", "ebc"):
        runs = [
            la.cluster(la.Problem(LINE, 2, costs=costs), sampling=rule, seed=3)
            for costs in (None, [1.0] * 4, [7.0] * 4)
        ]
        assert runs[1].pulls.tolist() == runs[2].pulls.tolist()
        assert runs[0].samples == pytest.approx(runs[1].samples, rel=0.02)
        assert runs[2].cost == 7.0 * runs[2].samples
        assert runs[0].cost == runs[0].samples


@pytest.mark.parametrize("rule", ["ebc-h", "ebc"])
def test_expensive_arms_are_spared(rule):
    """The mean cost is lower than that of a run that does not know the costs, by many standard errors."""
    costs = np.array([8.0, 1.0, 1.0, 8.0])
    spent = np.array(
        [
            [
                la.cluster(la.Problem(LINE, 2, costs=k), sampling=rule, seed=seed, delta=1e-6).pulls @ costs
                for k in (None, costs)
            ]
            for seed in range(30)
        ]
    )
    saved = spent[:, 0] - spent[:, 1]
    assert saved.mean() > 4.0 * saved.std(ddof=1) / np.sqrt(len(saved))
    assert spent[:, 1].mean() < 0.9 * spent[:, 0].mean()


def test_ebc_settles_at_the_shares_of_the_bound():
    """With delta so small that the run is long, the cost per unit of log(1/delta) comes near T*."""
    costs = np.array([8.0, 1.0, 1.0, 8.0])
    bound = la.lower_bound(LINE, 2, costs=costs)
    problem = la.Problem(LINE, 2, costs=costs)
    deltas = (1e-100, 1e-250)
    for rule in ("ebc", "ebc-h"):
        found = la.simulate(problem, rule, deltas=deltas, trials=8, seed=1)[rule]
        assert found.costs.shape == found.stopping_times.shape
        slope = np.diff(found.costs.mean(axis=0))[0] / (150 * np.log(10))
        assert slope < 1.15 * bound.upper
        assert slope > 0.9 * bound.lower


def test_simulation_and_plan_in_cost():
    costs = {"a": 2.0, "b": 1.0, "c": 1.0, "d": 5.0}
    plan = la.plan(
        LINE,
        2,
        delta=0.1,
        sampling=["ebc-h", "atboc"],
        stopping="anytime",
        arms=list(costs),
        trials=5,
        costs=costs,
    )
    assert plan.rows[0].mean >= plan.samples
    assert "mean cost" in plan.table()[0]
    assert "does not take costs" in plan.rows[1].note
    plain = la.plan(LINE, 2, delta=0.1, sampling="ebc-h", stopping="anytime", trials=5)
    assert plain.bound.costs is None
    assert plan.to_dict()["bound"]["costs"] == list(costs.values())


def test_a_run_with_costs_goes_on_after_a_dump():
    rng = np.random.default_rng(4)
    one = la.BanditClusterer(2, list("abcd"), sampling="ebc", costs={"a": 3, "b": 1, "c": 2, "d": 1}, seed=2)
    for _ in range(40):
        (arm,) = one.ask()
        one.tell(arm, rng.normal(LINE["abcd".index(arm)]))
    two = la.BanditClusterer.load(one.dump())
    assert two.costs.tolist() == [3, 1, 2, 1]
    for _ in range(60):
        asked = one.ask(), two.ask()
        assert asked[0] == asked[1]
        value = rng.normal(LINE["abcd".index(asked[0][0])])
        one.tell(asked[0][0], value)
        two.tell(asked[0][0], value)
    assert json.loads(one.dump()) == json.loads(two.dump())
    assert one.result().to_dict()["cost"] == one.result().pulls @ [3, 1, 2, 1]


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        ([1, 2, 3], "costs have shape (3,); give one number per arm, 4 in all"),
        ([1, 2, 0, 4], "costs: arm 'c' costs 0; give finite numbers above 0"),
        ([1, 2, np.inf, 4], "arm 'c' costs inf"),
        ([1, 2, 1e51, 4], "costs: arm 'c' costs 1e+51; give finite numbers above 0, from 1e-50 to 1e+50"),
        ([1, 2, 1e-51, 4], "arm 'c' costs 1e-51"),
        ({"a": 1, " a": 2, "b": 1, "c": 1, "d": 1}, "costs: 'a' and ' a' are the same arm 'a'; name it once"),
        ([1, 2, 1e-15, 4], "costs range from 1e-15 to 4"),
        ([1e-300, 1, 1e300, 4], "costs: arm 'a' costs 1e-300"),
        (np.longdouble("1e4000") * np.arange(1, 5), "costs: arm 'a' costs inf"),
        ({"a": 1, "b": 1, "c": 1}, "costs: arm 'd' has no cost"),
        ({"a": 1, "b": 1, "c": 1, "d": 1, "e": 1}, "costs: 'e' is not an arm"),
        (["x"] * 4, "costs are not numbers"),
    ],
)
def test_bad_costs_are_refused(costs, words):
    with pytest.raises(errors.InvalidInput) as caught:
        la.BanditClusterer(2, list("abcd"), costs=costs)
    assert words in str(caught.value)


def test_costs_by_the_text_of_names_that_are_numbers(tmp_path, capsys):
    """The command line and JSON have names only as text."""
    assert la.BanditClusterer(2, [1, 2.5, "c"], costs={"1": 3, "2.5": 4, "c": 5}).costs.tolist() == [3, 4, 5]
    assert la.BanditClusterer(2, [1, "1", 2], costs={"1": 3, 1: 4, 2: 5}).costs.tolist() == [4, 3, 5]
    with pytest.raises(errors.InvalidInput, match=r"costs: 1\.0 is not an arm"):
        la.BanditClusterer(2, ["1", "2", "3"], costs={1.0: 3, "2": 4, "3": 5})
    table = tmp_path / "table.csv"
    table.write_text("id,x\n" + "".join(f"{m},{10 * m + i % 3}\n" for m in (1, 2, 3) for i in range(40)))
    words = ["cluster", str(table), "--arm", "id", "--value", "x", "-k", "2", "--max-samples", "40", "-q"]
    run([*words, "--json", "--costs", "1=1,2=2,3=3"])
    assert json.loads(capsys.readouterr().out)["costs"] == [1, 2, 3]
    for costs, said in (
        ("1=1,2=2,1=3", "--costs 1=3: '1' has a cost already"),
        ("1=1e308,2=1,3=1", "1e+308"),
    ):
        assert run([*words, "--json", "--costs", costs]) == 2
        assert said in capsys.readouterr().err


def test_rules_that_do_not_take_costs_refuse_them():
    with pytest.raises(errors.InvalidInput, match="'lucbboc' does not take costs"):
        la.BanditClusterer(2, 4, family="gaussian", sampling="lucbboc", costs=[1, 1, 1, 2])
