"""The numbers printed in *Efficient Clustering in Stochastic Bandits*.

Every plotted coordinate of Figures 2 to 5, the slopes of Table 1 and the run times of Table 2. They are data files of the
package, read from the paper's LaTeX source by ``evidence/extract_published.py``. Rules have the names that
`linkarms.simulate` uses; ``fixed`` is the paper's FSS and ``round-robin`` its RR.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, get_args

from linkarms.errors import InvalidInput

__all__ = ["Curve", "Figure", "Slope", "curve", "curves", "run_times", "slopes"]

Figure = Literal["figure2", "figure3", "figure4", "figure5"]


@dataclass(frozen=True)
class Curve:
    """One plotted curve.

    Attributes
    ----------
    figure, rule : str
        Where it is plotted, and the sampling rule.
    theta : tuple of float or None
        Theta, the same for each coordinate; None where the rule or the figure has none.
    epsilon : float or None
        The epsilon of the threshold; None where there is none.
    trials : int or None
        Runs behind each point, found from the decimals of the coordinates; None where these do not tell.
    x : tuple of float
        Figures 2 and 3: ``log(1/delta)``. Figures 4 and 5: ``log(1/P_e)``, with ``P_e`` the measured error.
    samples : tuple of float
        Mean number of samples.

    Examples
    --------
    >>> from linkarms.paper import published
    >>> curve = published.curve("figure4", "ebc-h")
    >>> curve.rule, len(curve.x) == len(curve.samples)
    ('ebc-h', True)
    """

    figure: str
    rule: str
    theta: tuple[float, float] | None
    epsilon: float | None
    trials: int | None
    x: tuple[float, ...]
    samples: tuple[float, ...]


@dataclass(frozen=True)
class Slope:
    """One row of Table 1 (``figure2``), or of the text for Figure 3: samples per ``log(1/delta)``, as printed.

    ``rule`` may be ``"lower-bound"``. The paper rounds its theoretical slopes.

    Examples
    --------
    >>> from linkarms.paper import published
    >>> published.slopes("figure2")[0].figure
    'figure2'
    """

    figure: str
    rule: str
    epsilon: float | None
    numerical: float | None
    theoretical: float | None


@cache
def _rows(name: str) -> tuple[dict[str, str], ...]:
    text = files(__package__).joinpath(f"{name}.csv").read_text("utf-8")
    return tuple(csv.DictReader(text.splitlines()))


def _number(text: str) -> float | None:
    return float(text) if text else None


@cache
def curves(figure: Figure) -> tuple[Curve, ...]:
    """Return all curves of a figure, in the order of its legend.

    Examples
    --------
    >>> from linkarms.paper import published
    >>> [c.rule for c in published.curves("figure4")]
    ['fixed', 'round-robin', 'ebc', 'ebc-h']
    """
    if figure not in get_args(Figure):
        raise InvalidInput(f"figure={figure!r} has no curves; choose one of {', '.join(get_args(Figure))}")
    groups: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in _rows(figure):
        key = tuple(row[c] for c in ("rule", "theta_low", "theta_high", "epsilon"))
        groups.setdefault(key, []).append(row)
    return tuple(
        Curve(
            figure,
            rule,
            (float(low), float(high)) if low else None,
            _number(epsilon),
            int(rows[0]["trials"]) if rows[0]["trials"] else None,
            tuple(float(r["x"]) for r in rows),
            tuple(float(r["samples"]) for r in rows),
        )
        for (rule, low, high, epsilon), rows in groups.items()
    )


def curve(
    figure: Figure, rule: str, theta: tuple[float, float] | None = None, epsilon: float | None = None
) -> Curve:
    """Return the one curve of a figure with this rule and, if given, this Theta and epsilon.

    Examples
    --------
    >>> from linkarms.paper import published
    >>> c = published.curve("figure2", "ebc-h", theta=(-5, 5))
    >>> c.epsilon, c.trials, c.x[-1], c.samples[-1]
    (0.01, 300, 200.0, 5292.83)
    """
    found = [
        c
        for c in curves(figure)
        if c.rule == rule and theta in (None, c.theta) and epsilon in (None, c.epsilon)
    ]
    if len(found) != 1:
        there = "; ".join(f"{c.rule}, theta={c.theta}, epsilon={c.epsilon}" for c in curves(figure))
        raise InvalidInput(
            f"{figure} has {len(found)} curves with rule={rule!r}, theta={theta}, epsilon={epsilon}; there are: {there}"
        )
    return found[0]


@cache
def slopes(figure: Literal["figure2", "figure3"] = "figure2") -> tuple[Slope, ...]:
    """Return Table 1, the slopes of Figure 2; or those that the text gives for Figure 3.

    Examples
    --------
    >>> from linkarms.paper import published
    >>> [(s.rule, s.theoretical) for s in published.slopes("figure3") if s.theoretical]
    [('lower-bound', 98.0)]
    """
    found = tuple(
        Slope(
            r["figure"],
            r["rule"],
            _number(r["epsilon"]),
            _number(r["numerical"]),
            _number(r["theoretical"]),
        )
        for r in _rows("slopes")
        if r["figure"] == figure
    )
    if not found:
        raise InvalidInput(f"figure={figure!r} has no slopes; choose 'figure2' or 'figure3'")
    return found


@cache
def _run_times() -> tuple[tuple[str, tuple[tuple[int, float], ...]], ...]:
    table: dict[str, list[tuple[int, float]]] = {}
    for r in _rows("run_times"):
        table.setdefault(r["rule"], []).append((int(r["arms"]), float(r["milliseconds"])))
    return tuple((rule, tuple(row)) for rule, row in table.items())


def run_times() -> dict[str, dict[int, float]]:
    """Return Table 2: milliseconds per sample, by rule and number of arms; on the authors' machine, with their programs.

    Examples
    --------
    >>> from linkarms.paper import published
    >>> published.run_times()["ebc-h"]
    {4: 0.44, 8: 0.64, 14: 1.02, 20: 1.9}
    """
    return {rule: dict(row) for rule, row in _run_times()}
