"""Plans, simulations and audits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linkarms._words import least_samples
from linkarms.notebook._markup import badge, card, paragraph, table

if TYPE_CHECKING:
    from linkarms.montecarlo import Audit, Simulation
    from linkarms.planning import Plan

__all__ = ["audit_html", "plan_html", "simulation_html"]


def plan_html(plan: Plan) -> str:
    """Return a plan as HTML: what no rule can avoid, the best shares, and what each rule needs.

    Parameters
    ----------
    plan : Plan
        From `linkarms.plan`.

    Returns
    -------
    str
        One ``<div>``.
    """
    least = f"N{least_samples(plan.delta, plan.samples, plan.bound.costs)[1:]}."
    shares = zip(plan.arms, plan.bound.weights, strict=True)
    best = "Best shares: " + ", ".join(f"{arm} {100 * w:.0f}%" for arm, w in shares) + "."
    return card("Plan", [paragraph(least), paragraph(best), table(*plan.table())])


def simulation_html(simulation: Simulation) -> str:
    """Return a simulation as HTML: one row per rule and delta.

    Parameters
    ----------
    simulation : Simulation
        From `linkarms.simulate`.

    Returns
    -------
    str
        One ``<div>``.
    """

    def number(value: float | None, form: str) -> str:
        return "–" if value is None else format(value, form)

    rows = [
        (
            str(row["rule"]),
            f"{row['delta']:g}",
            number(row["mean"], ",.1f"),
            f"{number(row['low'], ',.1f')} to {number(row['high'], ',.1f')}",
            f"{row['errors']} of {row['trials']}",
            f"{row['error_low']:.2g} to {row['error_high']:.2g}" if row["error_low"] is not None else "–",
            str(row["unstopped"]),
        )
        for row in simulation.summary()
    ]
    heads = (
        "rule",
        "delta",
        "mean samples",
        "95% interval",
        "errors",
        "95% interval of their rate",
        "not stopped",
    )
    return card(f"Simulation of {simulation.completed:,} trials", [table(heads, rows)])


def audit_html(audit: Audit) -> str:
    """Return an audit as HTML: the table and its verdict.

    Parameters
    ----------
    audit : Audit
        From `linkarms.audit`.

    Returns
    -------
    str
        One ``<div>``.
    """
    return card(f"Audit of {audit.head()}", [table(*audit.table()), badge(audit.passed, audit.conclusion())])
