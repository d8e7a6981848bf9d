"""From words on the command line to what the library takes. All such words are read here."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

from linkarms._family_syntax import DEFAULT, SYNTAX
from linkarms.errors import InvalidInput

__all__ = [
    "FAMILY_HELP",
    "parse_clip",
    "parse_costs",
    "parse_duration",
    "parse_list",
    "parse_n_clusters",
    "parse_numbers",
    "parse_problem",
    "parse_stopping",
    "parse_trials",
]

FAMILY_HELP = (
    f"Sample distribution: {SYNTAX}; with commas, one per column. Default: {DEFAULT}, real "
    "numbers of unknown variance."
)


def parse_stopping(name: str | None, theta: str | None, epsilon: float | None) -> Any:
    """A stopping rule by its name and options; the anytime rule without a name."""
    from linkarms import stopping

    if name in (None, stopping.Anytime.name):
        for option, value in (("--theta", theta), ("--epsilon", epsilon)):
            if value is not None:
                raise InvalidInput(
                    f"{option} belongs to the paper's rule; give --stopping paper, or leave {option} out"
                )
        return stopping.Anytime()
    if name != stopping.Paper.name:
        raise InvalidInput(f"--stopping {name}: there is no such rule; choose anytime or paper")
    if theta is None:
        raise InvalidInput("--stopping paper needs --theta LO,HI: the interval in which all parameters lie")
    bounds = parse_numbers(theta, "--theta")
    if len(bounds) % 2:
        raise InvalidInput(f"--theta {theta}: give two numbers, LO,HI, or two for each coordinate")
    pairs = list(zip(bounds[::2], bounds[1::2], strict=True))
    box = pairs[0] if len(pairs) == 1 else pairs
    return stopping.Paper(theta=box) if epsilon is None else stopping.Paper(theta=box, epsilon=epsilon)


def parse_list(text: str, option: str) -> list[str]:
    """Words with commas between them; at least one, none empty. A word in double quotes may hold commas."""
    rows = list(csv.reader([text], skipinitialspace=True))
    words = [word.strip() for row in rows for word in row]
    if not words or not all(words):
        raise InvalidInput(f"{option} {text!r}: give words with single commas between them")
    return words


def parse_numbers(text: str, option: str) -> list[float]:
    """Numbers with commas between them."""
    return [_number(word, f"{option} {text}") for word in parse_list(text, option)]


def parse_costs(text: str | None) -> dict[str, float] | None:
    """Costs of arms, ``ARM=NUMBER`` with commas between; None for None."""
    if text is None:
        return None
    found: dict[str, float] = {}
    for part in parse_list(text, "--costs"):
        arm, is_one, number = part.rpartition("=")
        if not is_one:
            raise InvalidInput(f"--costs {part}: write ARM=NUMBER")
        if arm.strip() in found:
            raise InvalidInput(f"--costs {part}: {arm.strip()!r} has a cost already; name each arm once")
        found[arm.strip()] = _number(number, f"--costs {part}")
    return found


def _number(word: str, where: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InvalidInput(f"{where}: {word!r} is not a number")
    return value


def _whole(word: str, where: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise InvalidInput(f"{where}: {word!r} is not a whole number") from None


def parse_clip(text: str) -> tuple[float, float]:
    """Two numbers with a colon between them."""
    low, mark, high = text.partition(":")
    if not mark:
        raise InvalidInput(f"--clip {text}: give two numbers with a colon between them, LOW:HIGH")
    return _number(low, f"--clip {text}"), _number(high, f"--clip {text}")


def parse_duration(text: str, option: str) -> float:
    """Seconds from ``90``, ``90s``, ``30m``, ``12h`` or ``7d``."""
    units = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
    unit = text[-1:].lower()
    number = text[:-1] if unit in units else text
    return _number(number, f"{option} {text}") * units.get(unit, 1.0)


def parse_problem(text: str) -> Any:
    """A problem by its name, ``NAME:OPTION``, or from a JSON file."""
    from linkarms import problems

    if text.lower().endswith(".json"):
        return _read_problem(Path(text))
    name, _, word = text.partition(":")
    if text == "synthetic1":
        return problems.synthetic1()
    if text in ("synthetic2", "synthetic2:rate", "synthetic2:mean"):
        return problems.synthetic2("mean" if word == "mean" else "rate")
    if name == "scaling":
        return problems.scaling(_whole(word, text)) if word else problems.scaling()
    raise InvalidInput(
        f"there is no problem {text!r}; choose synthetic1, synthetic2, synthetic2:mean, scaling, "
        "scaling:ARMS, or give a .json file with parameters, n_clusters and family"
    )


def _read_problem(path: Path) -> Any:
    from linkarms import Problem

    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InvalidInput(f"{path}: there is no such file") from error
    except OSError as error:
        raise InvalidInput(f"{path}: {error.strerror or error}") from error
    except ValueError as error:
        raise InvalidInput(f"{path}: this is not JSON ({error})") from error
    if not isinstance(content, dict):
        raise InvalidInput(f"{path}: give an object with parameters, n_clusters and family")
    if "parameters" not in content:
        raise InvalidInput(f"{path}: parameters is missing; give parameters, n_clusters and family")
    known = {"parameters", "n_clusters", "distance_threshold", "tolerance", "family", "arms", "costs"}
    unknown = sorted(set(content) - known)
    if unknown:
        raise InvalidInput(
            f"{path}: {unknown[0]!r} is unknown; give parameters, n_clusters (or distance_threshold), tolerance, family, arms and costs"
        )
    try:
        return Problem(
            content["parameters"],
            content.get("n_clusters"),
            family=content.get("family", "gaussian"),
            arms=content.get("arms"),
            distance_threshold=content.get("distance_threshold"),
            tolerance=content.get("tolerance", 0.0),
            costs=content.get("costs"),
        )
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from error


def parse_n_clusters(text: str | None) -> int | None:
    """A number of clusters, or None for the cut with the largest gap."""
    if text is None or text.strip().lower() == "auto":
        return None
    try:
        return int(text)
    except ValueError:
        raise InvalidInput(
            f"-k {text}: write a whole number, or auto for the cut with the largest gap"
        ) from None


def parse_trials(text: str, option: str = "--trials") -> int | dict[str, int]:
    """A number of runs, or ``RULE=N`` with commas between."""
    found = {}
    for part in parse_list(text, option):
        rule, _, number = part.rpartition("=")
        try:
            found[rule.strip()] = int(number)
        except ValueError:
            raise InvalidInput(f"{option} {part}: write a whole number, or RULE=NUMBER") from None
    if "" in found:
        if len(found) > 1:
            raise InvalidInput(f"{option} {text}: write one number for all rules, or RULE=NUMBER for each")
        return found[""]
    return found
