"""The rules by which a day of a feed is like the days before it, or is refused."""

from __future__ import annotations

from math import log, sqrt
from typing import Any

import numpy as np

from cwtool.feed.watch import Day
from cwtool.messages.metrics_text import number, percent
from cwtool.records import dataclass

SIGMAS = 3.0  # standard deviations that chance may add to any limit
BEYOND = 0.99865  # the probability of a normal variable below 3 standard deviations
ODDS = 4.0  # times that the odds of the positive class may rise or fall
LENGTH = 1.25  # times that the entries per row may rise or fall
LOSS = 0.01  # that the AUC may always fall by, however even it was
FEWEST = 20  # rows of a day below which it may have one class
SEVERAL = 3  # days from which on their own spread tells what is usual


@dataclass(frozen=True)
class Limits:
    """The limits within which a day may differ from the days before it."""

    tolerance: float = 2.0  # times the usual error
    wrong_labels: float = 0.1  # share of inverted labels, estimated from the errors
    days: int = 7  # days before that are compared with


def complaints(day: Day, history: list[dict[str, Any]], limits: Limits) -> list[str]:
    """One sentence for each rule that a day breaks."""
    runs = [one for one in map(Day.of_run, history) if one]
    past = runs[-limits.days :] if limits.days else []
    found = [_worst(day, past), _one_class(day)]
    if past:
        found += [_error(day, past, limits), _labels(day, past, limits)]
        found += [_auc(day, past, limits), _base_rate(day, past), _entries(day, past)]
    return [sentence for sentence in found if sentence]


def _usual(past: list[Day], name: str) -> float:
    return float(np.median([getattr(day, name) for day in past]))


def _noise(p: float, n: float) -> float:
    """3 standard deviations of the share of errors among n rows, each wrong with probability p."""
    p = (p * n + 1) / (n + 2)
    return SIGMAS * sqrt(p * (1 - p) / n)


def _distance(apart: list[float]) -> float:
    """The standard deviation of normal numbers by their distances from their median; one odd
    number changes little."""
    return 1.48 * float(np.median(apart))


def _error(day: Day, past: list[Day], limits: Limits) -> str | None:
    """Refuse a day whose error rate is above tolerance m + 3 s. m is the median error rate of the
    past days; s is the larger of two standard deviations of the error rate of a day: the binomial
    one for its number of rows, and the one that the usual spread between windows gives."""
    usual = _usual(past, "error")
    spread = SIGMAS * _usual(past, "spread") / sqrt(day.windows)
    limit = limits.tolerance * usual + max(_noise(usual, day.rows), spread)
    if day.error <= limit:
        return None
    return (
        f"its error is {percent(day.error)}, usually it is {percent(usual)}, and at most "
        f"{percent(limit)} is allowed"
    )


def _labels(day: Day, past: list[Day], limits: Limits) -> str | None:
    """f <= wrong_labels: if a share f of the labels is inverted, an error e becomes
    e + f (1 - 2 e). Chance may add 3 standard deviations, of a median or by the days before."""
    usual = _usual(past, "median")
    if usual >= 0.45:
        return None
    chance = 1.25 * _noise(usual, day.rows)
    if len(past) >= SEVERAL:
        chance = max(chance, SIGMAS * _distance([abs(one.median - usual) for one in past]))
    share = (day.median - usual - chance) / (1 - 2 * usual)
    if share <= limits.wrong_labels:
        return None
    return (
        f"by its errors, at least {percent(min(1.0, share))} of its labels are inverted, and at "
        f"most {percent(limits.wrong_labels)} is allowed"
    )


def _auc(day: Day, past: list[Day], limits: Limits) -> str | None:
    """1 - a <= tolerance (1 - m) + 3 max(s, e), with the mean m and standard deviation s of the
    AUC of the days before, and e that by chance; from three days on also
    a >= m - max(t s sqrt(1 + 1 / n), 3 e, LOSS), which is 3 standard deviations below the mean:
    Student's t allows for s being that of n days only."""
    known = [one.auc for one in past if one.auc is not None]
    if not known or day.auc is None or day.base_rate is None:
        return None
    n, mean = len(known), float(np.mean(known))
    spread = float(np.std(known, ddof=1)) if n > 1 else 0.0
    chance = _auc_deviation(mean, day.rows * day.base_rate, day.rows * (1 - day.base_rate))
    least = 1 - limits.tolerance * (1 - mean) - SIGMAS * max(spread, chance)
    if n >= SEVERAL:
        from scipy.special import stdtrit

        allowed = float(stdtrit(n - 1, BEYOND)) * spread * sqrt(1 + 1 / n)
        least = max(least, mean - max(allowed, SIGMAS * chance, LOSS))
    if day.auc >= least:
        return None
    return (
        f"its AUC is {number(day.auc)}, usually it is {number(mean)}, and at least "
        f"{number(least)} is needed"
    )


def _auc_deviation(a: float, positives: float, negatives: float) -> float:
    """The standard deviation of the AUC of so many rows (Hanley and McNeil 1982):
    (a (1 - a) + (P - 1) (a / (2 - a) - a^2) + (N - 1) (2 a^2 / (1 + a) - a^2)) / (P N)"""
    p, n = max(positives, 1.0), max(negatives, 1.0)
    a = (a * p * n + 0.5) / (p * n + 1)
    first, second = a / (2 - a) - a * a, 2 * a * a / (1 + a) - a * a
    return sqrt((a * (1 - a) + (p - 1) * first + (n - 1) * second) / (p * n))


def _worst(day: Day, past: list[Day]) -> str | None:
    """No window has more errors than a coin makes, nor, where errors are frequent, loses more than
    half of the way from the usual error to 1."""
    usual = _usual(past, "median") if past else day.median
    limit = max(0.5, (1 + usual) / 2 if usual > 0.25 else 0.0) + _noise(0.5, day.worst_rows)
    if day.worst <= limit:
        return None
    last = day.worst_row + day.worst_rows - 1
    return (
        f"{percent(day.worst)} of the rows {day.worst_row:,} to {last:,} are predicted wrong, and "
        f"at most {percent(limit)} is allowed"
    )


def _one_class(day: Day) -> str | None:
    return "all of its rows have one label" if day.classes == 1 and day.rows >= FEWEST else None


def _base_rate(day: Day, past: list[Day]) -> str | None:
    """|logit(p) - logit(q)| <= ln(ODDS) + 3 sd, sd^2 = 1 / positives + 1 / negatives."""
    rates = [one.base_rate for one in past if one.base_rate is not None]
    if not rates or day.base_rate is None:
        return None
    usual = float(np.median(rates))
    positive, negative = (day.rows * p + 0.5 for p in (day.base_rate, 1 - day.base_rate))
    expected = log((day.rows * usual + 0.5) / (day.rows * (1 - usual) + 0.5))
    noise = SIGMAS * sqrt(1 / positive + 1 / negative)
    if abs(log(positive / negative) - expected) <= log(ODDS) + noise:
        return None
    return f"{percent(day.base_rate)} of its rows are positive; usually it is {percent(usual)}"


def _entries(day: Day, past: list[Day]) -> str | None:
    """|ln(x / m)| <= max(ln(LENGTH), 3 s), with the median m of the entries per row of the days
    before, and s the usual distance of these from it: rows that were cut off are shorter."""
    usual = _usual(past, "entries")
    if not (usual and day.entries):
        return None
    apart = [abs(log(one.entries / usual)) for one in past if one.entries]
    chance = SIGMAS * max(_distance(apart), 1 / sqrt(day.rows))
    if abs(log(day.entries / usual)) <= max(log(LENGTH), chance):
        return None
    return f"its rows have {day.entries:.1f} entries; usually it is {usual:.1f}"
