"""Aligned evidence against one piece: the mixture by quadrature, the certificate by brute force."""

import numpy as np
import pytest
from scipy import optimize, special
from tests.oracles import aligned as oracle
from tests.repeats import repeats

from linkarms._core import testing as core

GRID = [0.5 * 3.0**j for j in range(9)]
RULE = {"grid": GRID, "ratio": 24.0, "isotropic": 0.05}


def random_piece(rng, arms, d, spread=1.0):
    """Means, counts and variances of a piece that the means are outside of."""
    while True:
        x = rng.normal(size=(arms, d))
        a = 0 if arms == 3 else 3
        x[1] = x[0] + 0.5 * rng.normal(size=d)
        x[2] = x[a] + 2.0 * rng.normal(size=d) * spread
        if oracle.slack(x) < 0.0:
            counts = np.round(np.exp(rng.uniform(np.log(5), np.log(150), size=arms)))
            return x, counts, np.exp(rng.normal(size=arms) * 0.2)


def piece_of(x, counts, variances, **rule):
    return core.AlignedPiece(x, counts, variances, **{**RULE, **rule})


def arms_of(d):
    return (3, 4, 3, 4) if d == 1 else (3, 4, 3, 3)


def test_the_one_sided_mean_is_that_of_scipy_everywhere():
    z = np.concatenate([np.linspace(-40, 12, 521), [-1e8, -1e4, 1e4, 1e100]])
    value, slope, curvature = np.array([core.one_sided(v) for v in z]).T
    ratio = np.sqrt(2.0 / np.pi) / special.erfcx(-z / np.sqrt(2.0))
    near = np.abs(z) <= 40.0
    assert value[near] == pytest.approx((np.log(2.0) + special.log_ndtr(z) + z * z / 2)[near], abs=1e-12)
    assert slope[near] == pytest.approx((z + ratio)[near], rel=1e-12, abs=2e-14)
    far = z < -1e3
    x = -z[far]  # the asymptotic series, where its next term is below the last place
    assert slope[far] == pytest.approx((1 - 2 / x**2 + 10 / x**4) / x, rel=1e-14)
    assert curvature[far] == pytest.approx((1 - 6 / x**2 + 50 / x**4) / x**2, rel=1e-13)
    assert value[z == 1e100] == 0.5e200
    # each is the derivative of the one before, and the curvature rises from 0 to 1
    step = np.diff(z[:521])
    assert np.diff(value[:521]) / step == pytest.approx((slope[1:521] + slope[:520]) / 2, abs=5e-4)
    assert np.diff(slope[:521]) / step == pytest.approx((curvature[1:521] + curvature[:520]) / 2, abs=5e-4)
    assert np.all(np.diff(curvature[:521]) >= 0)
    assert curvature[0] > 0
    assert curvature[520] <= 1.0


def test_the_table_of_it_is_close():
    z = np.concatenate(
        [np.random.default_rng(1).uniform(-13, 13, 3000), [-12.0, 12.0, np.nextafter(12, 0), -1e3, 1e9]]
    )
    exact, found = (np.array([f(v) for v in z]) for f in (core.one_sided, core.one_sided_table))
    scale = 1.0 + np.abs(exact)
    for column, tolerance in enumerate((1e-11, 1e-9, 1e-7)):
        assert (np.abs(found - exact) / scale)[:, column].max() < tolerance


def arm_by_quadrature(w, n, count, variance, c, tight):
    """log of the mean likelihood ratio of shifts h n + xi, h ~ |N(0, v/c)|, xi ~ N(0, v/tight) or none."""
    x, weight = np.polynomial.hermite_e.hermegauss(80)
    h, weight_h = x[x > 0], 2.0 * weight[x > 0]
    # the half line by Gauss-Legendre: Hermite's nodes do not see its end
    x1, w1 = np.polynomial.legendre.leggauss(200)
    h = 6.0 * (x1 + 1.0)
    weight_h = 6.0 * w1 * 2.0 * np.exp(-h * h / 2.0) / np.sqrt(2.0 * np.pi)
    shift = np.sqrt(variance / c) * h[:, None] * n
    if tight is None:
        parts, mass = [shift], weight_h
    else:
        axes = np.meshgrid(*[x] * len(n), indexing="ij")
        xi = np.sqrt(variance / tight) * np.stack([a.ravel() for a in axes], axis=-1)
        masses = np.prod(
            np.stack([a.ravel() for a in np.meshgrid(*[weight / weight.sum()] * len(n), indexing="ij")]),
            axis=0,
        )
        parts, mass = [shift[:, None, :] + xi], weight_h[:, None] * masses
    delta = parts[0]
    ratio = count / variance * (delta @ w - 0.5 * np.sum(delta * delta, axis=-1))
    return np.log(np.sum(mass * np.exp(ratio)))


@pytest.mark.parametrize(("arms", "d"), [(3, 1), (4, 1), (3, 2), (4, 2)])
def test_the_mixture_is_the_integral_that_it_is_said_to_be(arms, d):
    rng = np.random.default_rng(arms + 10 * d)
    grid, ratio, eta = [2.0, 9.0], 4.0, 0.2
    for _ in range(repeats(1, 3)):
        x = rng.normal(size=(arms, d))
        lam = x + 0.3 * rng.normal(size=(arms, d))
        counts, variances = rng.integers(1, 9, size=arms).astype(float), rng.uniform(0.5, 2.0, size=arms)
        n = oracle.directions(lam)
        inter = (0, 2) if arms == 3 else (2, 3)
        total = 0.0
        for c in grid:
            aligned, plain = 0.0, []
            for m in range(arms):
                w = x[m] - lam[m]
                if not np.any(n[m]):  # no direction: on a line, e being f
                    assert d == 1
                else:
                    tight = ratio * c if m in inter and d > 1 else None
                    aligned += arm_by_quadrature(w, n[m], counts[m], variances[m], c, tight)
                k = counts[m]
                free, size = (w @ w, d) if m in inter else ((w @ n[m]) ** 2, 1)
                plain.append(k**2 * free / (2 * variances[m] * (k + c)) - size / 2 * np.log1p(k / c))
            total += (
                (1 - eta) / 2 * np.exp(aligned)
                + eta / 4 * np.exp(sum(plain))
                + eta / 4 * np.exp(sum(plain[m] for m in inter))
            )
        piece = piece_of(x, counts, variances, grid=grid, ratio=ratio, isotropic=eta)
        assert piece.log_evidence(lam) == pytest.approx(np.log(total), abs=1e-9)
        assert oracle.log_evidence(lam, x, counts, variances, grid, ratio, eta) == pytest.approx(
            np.log(total), abs=1e-9
        )


def test_the_evidence_at_the_truth_has_mean_one():
    """The mean over the samples' means, by the trapezoidal rule, which is exact here to many places."""
    grid, counts, variances = [1.5], np.array([2.0, 3.0, 1.0]), np.ones(3)
    for lam in ([0.0, 1.0, -0.7], [0.0, 1.0, 0.7]):
        theta = np.array(lam)[:, None]
        sd = np.sqrt(1.0 / counts + 1.0 / 1.5)  # of the widest component
        axes = [np.linspace(-8, 8, 41) * s for s in sd]
        total = 0.0
        mesh = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
        log_density = np.sum(-0.5 * counts * mesh**2 + 0.5 * np.log(counts / (2 * np.pi)), axis=1)
        cell = np.prod([a[1] - a[0] for a in axes])
        for shift, density in zip(mesh, log_density, strict=True):
            x = theta + shift[:, None]
            total += np.exp(piece_of(x, counts, variances, grid=grid).log_evidence(theta) + density) * cell
        assert total == pytest.approx(1.0, abs=1e-7)


def test_conjugates_are_minima_and_never_above():
    rng = np.random.default_rng(3)
    for _ in range(60):
        arms, d = int(rng.integers(3, 5)), int(rng.integers(1, 4))
        x, counts, variances = random_piece(rng, arms, d)
        g = rng.dirichlet(np.full(27, 0.3))
        t = float(rng.normal() * 10.0)
        constant, found = piece_of(x, counts, variances).conjugates(g.tolist(), t)
        # the same blend by hand
        widest = 18 + int(np.argmax(g[18:]))
        floor = max(g[widest], 1e-9)
        g = np.where(g < np.repeat([1e-3, 1e-5], [9, 18]), 0.0, g)
        g[widest] = floor
        g /= g.sum()
        inter = (0, 2) if arms == 3 else (2, 3)
        mass = np.repeat(np.log([0.95 / 9, 0.025 / 9, 0.025 / 9]), 9)
        by_hand = np.sum(g[g > 0] * (mass - np.log(np.where(g > 0, g, 1.0)))[g > 0])
        for m in range(arms):
            turns = m in inter and d > 1

            def psi(y, m=m, turns=turns, g=g, counts=counts, variances=variances, inter=inter):
                out = 0.0
                for j, c in enumerate(GRID):
                    n, v = counts[m], variances[m]
                    rest = n * 24 * c / (n + 24 * c) if turns else n
                    z = rest * y / np.sqrt(v * (rest + c))
                    out += g[j] * (np.log(2.0) + special.log_ndtr(z) + z * z / 2)
                    quad = g[j] * n**2 / (n + 24 * c) if turns else 0.0
                    quad += (g[18 + j] + (g[9 + j] if m in inter else 0.0)) * n**2 / (n + c)
                    out += quad * y * y / (2 * v)
                return out

            value, y, _ = found[m]
            best = optimize.minimize_scalar(
                lambda y, psi=psi, t=t: psi(y) - t * y, bracket=(y - 0.3, y + 0.2), tol=1e-12
            )
            assert best.fun - 2e-9 <= value <= best.fun + 1e-9
            assert psi(y) - t * y == pytest.approx(best.fun, abs=2e-9)
            for j, c in enumerate(GRID):
                n = counts[m]
                rest = n * 24 * c / (n + 24 * c) if turns else n
                by_hand -= g[j] * (
                    0.5 * np.log1p(rest / c) + (d / 2 * np.log1p(n / (24 * c)) if turns else 0.0)
                )
                two_sided = (g[18 + j] + g[9 + j]) * d if m in inter else g[18 + j]
                by_hand -= two_sided / 2 * np.log1p(n / c)
        assert constant == pytest.approx(by_hand, abs=1e-9)


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_the_certificate_is_never_above_a_numerical_infimum(d):
    rng = np.random.default_rng(100 + d)
    for arms in arms_of(d):
        x, counts, variances = random_piece(rng, arms, d)
        piece = piece_of(x, counts, variances)
        lower, upper, lam, _ = piece.bracket(gap=0.02, boxes=4000)
        assert oracle.slack(lam) >= -1e-12
        args = (x, counts, variances, GRID, 24.0, 0.05)
        assert upper == pytest.approx(float(oracle.log_evidence(lam, *args)), abs=1e-8)
        brute, at = oracle.brute_infimum(*args, starts=2, rng=rng, guesses=[lam])
        assert lower <= brute + 1e-6
        assert upper <= brute + 0.1
        assert brute - lower < 0.3
        # nor above any of many points near the minimisers
        near = np.array([at, lam])[rng.integers(2, size=4000)] + rng.normal(
            size=(4000, *x.shape)
        ) * 10.0 ** rng.uniform(-3, 0, size=(4000, 1, 1))
        assert oracle.log_evidence(oracle.moved_inside(near), *args).min() >= lower
        # a level that it clears, and one that it does not
        assert piece.bracket(enough=lower - 0.1)[0] >= lower - 0.1
        below = piece.bracket(too_little=upper + 0.2)
        assert below[1] < upper + 0.2
        assert oracle.slack(below[2]) >= -1e-12


def random_directions(rng, arms, d):
    if arms == 4:
        return [float(rng.uniform(-1, 1)) if d > 1 else float(rng.choice([-1, 1])), 0.0, 0.0]
    t = rng.uniform(-1, 1) if d > 2 else rng.choice([-1.0, 1.0])
    return [float(rng.uniform(0, np.pi)), float(rng.uniform(0, np.pi)), float(t)]


def test_the_bound_of_a_box_holds_in_all_of_it():
    rng = np.random.default_rng(8)
    nearest = []
    for _ in range(60):
        arms, d = int(rng.choice([3, 3, 3, 4])), int(rng.integers(2, 5))
        x, counts, variances = random_piece(rng, arms, d)
        piece = piece_of(x, counts, variances)
        at = random_directions(rng, arms, d)
        size = 10.0 ** rng.uniform(-2, 0.3)
        low, high = list(at), list(at)
        for i, (least, most) in enumerate([(-1, 1)] if arms == 4 else [(0, np.pi), (0, np.pi), (-1, 1)]):
            if d > 2 or i < 2:
                low[i] = max(least, at[i] - size * rng.uniform())
                high[i] = min(most, at[i] + size * rng.uniform())
        bound = piece.box_bound(at, low, high)
        corners = [[float(rng.choice([a, b])) for a, b in zip(low, high, strict=True)] for _ in range(8)]
        inside = [[float(rng.uniform(a, b)) for a, b in zip(low, high, strict=True)] for _ in range(12)]
        values = [piece.value(z)[1] for z in corners + inside]
        assert min(values) >= bound - 1e-4
        if size < 0.1:
            nearest.append(piece.value(at)[0] - bound)
    assert len(nearest) > 10
    assert np.median(nearest) < 3.0


@pytest.mark.parametrize("d", [2, 3, 5])
def test_the_bounds_of_a_sweep_hold_in_all_of_each_cell(d):
    rng = np.random.default_rng(80 + d)
    cleared = 0
    for _ in range(25):
        x, counts, variances = random_piece(rng, 3, d)
        piece = piece_of(x, counts, variances)
        at = random_directions(rng, 3, d)
        at[0] *= 0.3
        low, high = [0.0, 0.0, -1.0], [float(rng.uniform(0.3, np.pi)), np.pi, 1.0]
        if rng.uniform() < 0.5:
            low = [float(rng.uniform(0, 0.3)), float(rng.uniform(0, 3)), -1.0]
        if d == 2:
            low[2] = high[2] = at[2]
        elif rng.uniform() < 0.5:
            low[2], high[2] = sorted([at[2], float(rng.uniform(-1, 1))])
        level = piece.value(at)[0] - float(rng.choice([0.2, 1.0, 3.0, 10.0]))
        cells = np.array(piece.sweep(at, low, high, level))
        width = (high[0] - low[0]) / len(set(cells[:, 0])), (high[1] - low[1]) / len(set(cells[:, 1]))
        near = np.argsort(-cells[:, 2])[:40]  # the highest bounds are the most likely to be too high
        for beta, gamma, bound in cells[np.concatenate([rng.choice(near, 8), rng.choice(len(cells), 8)])]:
            t = rng.uniform(low[2], high[2]) if rng.uniform() < 0.7 else rng.choice([low[2], high[2]])
            z = [beta + width[0] * rng.uniform(), gamma + width[1] * rng.uniform(), float(t)]
            assert piece.value(z)[1] >= bound - 1e-4
            cleared += bound >= level
    assert cleared > 20


def test_duals_meet_primals_and_their_slopes_are_derivatives():
    rng = np.random.default_rng(9)
    for k in range(24):
        arms, d = (4, 3) if k % 4 == 3 else (3, 2 + k % 3)
        x, counts, variances = random_piece(rng, arms, d)
        piece = piece_of(x, counts, variances)
        free = [
            float(rng.uniform(-0.6, 0.6)),
            0.0 if d == 2 else float(rng.uniform(0.1, 0.5)),
            float(rng.uniform(0.4, 2.6)),
        ]
        at, value, slope = piece.descent(free)
        lower, primal = piece.value(at)
        assert lower == pytest.approx(value, abs=1e-4)
        assert abs(primal - lower) < 5e-3
        for i in range(1 if arms == 4 else 3):
            if i == 1 and d == 2:
                continue
            h = 1e-3
            ends = [piece.descent([z + s * h * (i == j) for j, z in enumerate(free)])[1] for s in (-1, 1)]
            assert (ends[1] - ends[0]) / (2 * h) == pytest.approx(slope[i], rel=0.02, abs=0.15)


def test_a_kept_point_needs_only_the_terms_of_the_arm_that_changed():
    rng = np.random.default_rng(10)
    for arms in (3, 4):
        x, counts, variances = random_piece(rng, arms, 3)
        lam = oracle.moved_inside(x)
        for m in range(arms):
            later, more = x.copy(), counts.copy()
            later[m] += 0.1
            more[m] += 1
            old, new = piece_of(x, counts, variances), piece_of(later, more, variances)
            assert old.after(new, lam, m) == pytest.approx(new.log_evidence(lam), abs=1e-12)
            assert old.after(new, lam, (m + 1) % arms) != pytest.approx(new.log_evidence(lam), abs=1e-6)


def test_an_arm_without_samples_is_refused():
    with pytest.raises(ValueError, match="without samples"):
        piece_of(np.zeros((3, 2)), np.array([1.0, 0.0, 2.0]), np.ones(3))


@pytest.mark.parametrize("d", [1, 2, 4])
def test_equal_means_and_the_interior_of_a_piece(d):
    """Nothing can be said against what the means themselves fulfil, and nothing breaks where differences vanish."""
    for x in (
        [[0.0] * d] * 3,
        [[0.0] * d, [1.0] * d, [0.5] * d],
        [[0.0] * d, [0.0] * d, [1.0] * d],
        [[0.0] * d] * 4,
    ):
        x = np.array(x)
        piece = piece_of(x, np.full(len(x), 9.0), np.ones(len(x)))
        lower, upper, lam, _ = piece.bracket(gap=0.01, boxes=4000)
        assert np.isfinite([lower, upper]).all()
        assert lower <= upper + 1e-9
        assert upper - lower < 0.4
        assert upper == pytest.approx(piece.log_evidence(lam), abs=1e-9)


def test_the_whole_piece_counts_and_not_its_boundary_alone():
    """An example of section 10 of math.md: with the isotropic part the minimum need not be where both pairs are equally long."""
    x, counts, variances = np.array([[-0.06], [0.1], [2.34]]), np.array([256.0, 170.0, 12.0]), np.ones(3)
    lower, upper, lam, _ = piece_of(x, counts, variances).bracket(gap=1e-5)
    assert upper - lower < 1e-4
    assert oracle.slack(lam) > 0.01
    u, r = np.meshgrid(np.linspace(-0.5, 1.0, 301), np.linspace(0.0, 1.5, 301))
    boundary = min(
        oracle.log_evidence(
            np.stack([u, u - r, u - sign * r], axis=-1)[..., None], x, counts, variances, GRID, 24.0, 0.05
        ).min()
        for sign in (-1.0, 1.0)
    )
    assert upper < boundary - 0.01
