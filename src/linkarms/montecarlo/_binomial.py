"""Is the promised error probability kept? Exact binomial answers."""

from __future__ import annotations

from linkarms._validate import check_count, check_delta, check_integer

__all__ = ["error_interval", "error_lower_limit", "promise_is_broken"]


def error_lower_limit(errors: int, trials: int, confidence: float = 0.99) -> float:
    """Return the one-sided Clopper-Pearson lower limit of an error probability.

    Parameters
    ----------
    errors, trials : int
        Wrong answers, and answers.
    confidence : float, default 0.99
        The limit exceeds the truth with probability at most ``1 - confidence``.

    Examples
    --------
    >>> from linkarms.montecarlo import error_lower_limit
    >>> error_lower_limit(0, 400), round(error_lower_limit(60, 400), 4)
    (0.0, 0.1109)
    """
    from scipy import stats

    n = check_count("trials", trials)
    k = check_integer("errors", errors, 0, n)
    level = check_delta(confidence, "confidence")
    return 0.0 if k == 0 else float(stats.beta.ppf(1.0 - level, k, n - k + 1))


def error_interval(errors: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the two-sided Clopper-Pearson interval of an error probability: two one-sided limits of half the doubt each.

    Examples
    --------
    >>> from linkarms.montecarlo import error_interval
    >>> low, high = error_interval(0, 400)
    >>> low, round(high, 4)
    (0.0, 0.0092)
    """
    n = check_count("trials", trials)
    k = check_integer("errors", errors, 0, n)
    one_sided = 0.5 + 0.5 * check_delta(confidence, "confidence")
    # an upper limit of the errors is a lower limit of the right answers
    return error_lower_limit(k, n, one_sided), 1.0 - error_lower_limit(n - k, n, one_sided)


def promise_is_broken(errors: int, trials: int, delta: float, confidence: float = 0.99) -> bool:
    """Return whether so many errors show, at this confidence, that the error probability exceeds ``delta``.

    Examples
    --------
    >>> from linkarms.montecarlo import promise_is_broken
    >>> promise_is_broken(60, 400, delta=0.1), promise_is_broken(45, 400, delta=0.1)
    (True, False)
    """
    return error_lower_limit(errors, trials, confidence) > check_delta(delta)
