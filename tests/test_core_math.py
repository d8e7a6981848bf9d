"""Small matrices and the simplex in the native core, against LAPACK, rational arithmetic and a quadratic program."""

import json
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linkarms._core.testing import inverse, project_simplex, symmetric_eigen
from scipy import optimize

ULP = float(np.spacing(1.0))


@pytest.mark.parametrize("n", [1, 2, 3, 6, 20])
def test_eigenvalues_and_vectors(n):
    rng = np.random.default_rng(n)
    for _ in range(20):
        a = rng.standard_normal((n, n))
        a = a + a.T
        values, vectors = symmetric_eigen(a)
        assert values == pytest.approx(np.linalg.eigvalsh(a), abs=1e-13 * n)
        assert vectors @ np.diag(values) @ vectors.T == pytest.approx(a, abs=1e-13 * n)
        assert vectors.T @ vectors == pytest.approx(np.eye(n), abs=1e-13)


def test_eigenvalues_of_special_matrices():
    for a in (np.zeros((3, 3)), np.eye(4), np.diag([3.0, -1.0, 3.0]), np.ones((5, 5)), -np.ones((2, 2))):
        values, vectors = symmetric_eigen(a)
        assert values == pytest.approx(np.linalg.eigvalsh(a), abs=1e-14)
        assert vectors @ np.diag(values) @ vectors.T == pytest.approx(a, abs=1e-14)
    # a graded matrix: the small eigenvalue to full relative precision, 1e-12 - 1e-14 + ...
    values, _ = symmetric_eigen(np.array([[1.0, 1e-7], [1e-7, 1e-12]]))
    exact = Fraction(1, 10**12) - Fraction(1, 10**14)
    assert values[0] == pytest.approx(float(exact), rel=1e-12)
    huge, _ = symmetric_eigen(np.array([[2e150, 1e150], [1e150, 2e150]]))
    assert huge == pytest.approx([1e150, 3e150], rel=1e-15)
    with pytest.raises(ValueError, match="finite"):
        symmetric_eigen(np.array([[np.nan, 0.0], [0.0, 1.0]]))


def test_inverse():
    rng = np.random.default_rng(7)
    for n in (1, 2, 5, 12):
        a = rng.standard_normal((n, n))
        a = a @ a.T + 0.1 * np.eye(n)
        assert inverse(a) @ a == pytest.approx(np.eye(n), abs=1e-11)
        assert np.array_equal(inverse(a), inverse(a).T)
    for bad in (np.array([[1.0, 2.0], [2.0, 1.0]]), np.zeros((1, 1)), np.full((1, 1), np.nan)):
        with pytest.raises(ValueError, match="positive definite"):
            inverse(bad)


def exact_projection(x):
    """``max(x - tau, 0)`` in rational numbers: tau from the largest k entries, for the largest k that stays positive."""
    entries = [Fraction(v) for v in x]
    total, tau = Fraction(0), None
    for k, value in enumerate(sorted(entries, reverse=True), start=1):
        total += value
        if value > (total - 1) / k:
            tau = (total - 1) / k
    return np.array([float(max(v - tau, 0)) for v in entries])


def projected(x):
    return project_simplex(np.array(x, dtype=float))


def assert_projection(x, out):
    scale = max(1.0, float(np.abs(x).max()))
    assert np.all(out >= 0.0)
    assert out.sum() == pytest.approx(1.0, abs=1e-13 * len(x) * scale)
    assert out == pytest.approx(exact_projection(x), abs=1e-14 * len(x) * scale)


@settings(deadline=None, max_examples=400, derandomize=True)
@given(
    st.lists(
        st.one_of(st.floats(-3, 3), st.floats(-1e5, 1e5), st.floats(-1e-9, 1e-9)), min_size=1, max_size=12
    )
)
def test_projection_against_rational_arithmetic(x):
    assert_projection(np.array(x), projected(x))


@settings(deadline=None, max_examples=100, derandomize=True)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.integers(-2, 2))
def test_projection_of_equal_entries_and_ulps(steps, magnitude):
    x = 10.0**magnitude * (1 + ULP * np.round(4 * np.array(steps)))
    assert_projection(x, projected(x))


def test_projection_against_a_quadratic_program():
    rng = np.random.default_rng(2)
    for n in (1, 2, 3, 7):
        for x in rng.standard_normal((10, n)) * rng.choice([0.1, 1.0, 5.0], (10, 1)):
            program = optimize.minimize(
                lambda y, x=x: np.sum((y - x) ** 2),
                np.full(n, 1 / n),
                jac=lambda y, x=x: 2 * (y - x),
                bounds=[(0, 1)] * n,
                constraints={"type": "eq", "fun": lambda y: y.sum() - 1, "jac": np.ones_like},
                method="SLSQP",
                options={"ftol": 1e-14},
            )
            assert projected(x) == pytest.approx(program.x, abs=1e-6)


def test_what_a_projection_does():
    assert projected([7.0]).tolist() == projected([-7.0]).tolist() == [1.0]
    assert projected([5.0, -1.0]).tolist() == [1.0, 0.0]
    assert projected([0.0] * 4).tolist() == [0.25] * 4
    rng = np.random.default_rng(3)
    for x in rng.standard_normal((50, 6)):
        assert projected(x + 2.5) == pytest.approx(projected(x), abs=1e-14)
        assert projected(x[::-1])[::-1] == pytest.approx(projected(x), abs=1e-15)


HUGE = [
    [1e17],
    [-1e17],
    [1e17, 1e17],
    [1e17, 0.0],
    [-1e17, -1e17, -1e17],
    [1e300, 1e300, 0.0],
    [1e308, 1e308],
    [1e18, 1e18 * (1 - ULP), 1e18],
    [2.0**53, 2.0**53 + 2.0, 2.0**53 - 1.0],
    [-1e300, 1e-300, 0.5],
    [1e16] * 40,
    [5e-324, 0.0, -5e-324],
    [1.7e308, -1.7e308],
]
# on a face of the simplex, where rounding puts the zeros now above and now below tau
FACE = ["0x1.3100cd60b0bf4p-2", "0x1.d7db7a881f789p-2", "0x0p+0", "0x0p+0", "0x0p+0", "0x1.ee47702e5f901p-3"]

PROGRAM = """
import json, sys
import numpy as np
from linkarms._core.testing import project_simplex
for x in json.load(sys.stdin):
    print(json.dumps(project_simplex(np.array(x)).tolist()), flush=True)
"""


def test_projections_end():
    # in a process of its own, because a projection that does not end cannot be interrupted
    rng = np.random.default_rng(3)
    points = [
        exact_projection(x).tolist() for x in rng.standard_normal((1500, 6)) * rng.choice([0.3, 1], (1500, 1))
    ]
    cases = [*HUGE, [float.fromhex(x) for x in FACE], *points]
    try:
        command = [sys.executable, "-c", PROGRAM]
        run = subprocess.run(command, input=json.dumps(cases), capture_output=True, text=True, timeout=90)
        output = run.stdout
    except subprocess.TimeoutExpired as stuck:
        output = (stuck.stdout or b"").decode()
    found = [np.array(json.loads(line)) for line in output.splitlines()]
    assert len(found) == len(cases), f"stuck at {cases[len(found)]}"
    for x, y in zip(cases, found, strict=True):
        assert np.all(y >= 0.0)
        assert y.sum() == pytest.approx(1.0, abs=1e-12), x
        assert y == pytest.approx(exact_projection(x), abs=1e-12), x
