"""Figures of a day and its rules, against counting by hand."""

from dataclasses import replace

import numpy as np
import pytest

from cwtool.data.rows import Rows
from cwtool.feed.day_rules import Limits, _auc_deviation, complaints
from cwtool.feed.watch import Day, Watch
from cwtool.model import Model

DAY = Day(20_000, 0.05, 0.05, 0.15, 1, 500, 0.02, 40, 2, 35.0, 0.5)
LIMITS = Limits()


def rows(y: np.ndarray) -> Rows:
    n = len(y)
    return Rows(np.arange(n + 1), np.zeros(n, np.int32), np.ones(n), y.astype(np.int32))


def watched(wrong: np.ndarray, y: np.ndarray, step: int, *, first: bool = False) -> Day:
    watch = Watch(Model.new("arow", {}))
    for start in range(0, len(y), step):
        part = slice(start, start + step)
        score = np.where((y[part] == 1) ^ wrong[part], 1.0, -1.0)
        watch.add(rows(y[part]), score)
    day = watch.day(first=first)
    assert day is not None
    return day


def test_figures_do_not_depend_on_blocks() -> None:
    random = np.random.default_rng(1)
    y, wrong = random.random(2700) < 0.3, random.random(2700) < 0.1
    wrong[1000:1500] = random.random(500) < 0.4
    day = watched(wrong, y, 2700)
    assert day == watched(wrong, y, 7) == watched(wrong, y, 501)
    parts = [wrong[a:b].mean() for a, b in [(0, 500), (500, 1000), (1000, 1500), (1500, 2000)]]
    parts.append(wrong[2000:].mean())  # 700 rows: what is left belongs to the last window
    assert day.error == wrong.mean()
    assert day.median == np.median(parts)
    assert (day.worst, day.worst_row, day.worst_rows) == (parts[2], 1001, 500)
    assert day.base_rate == y.mean()
    assert (day.windows, day.classes, day.entries) == (5, 2, 1.0)
    wrong[:500] = True
    assert watched(wrong, y, 99).worst_row == 1
    assert watched(wrong, y, 99, first=True).worst_row == 1001


def test_a_short_day_is_one_window() -> None:
    day = watched(np.array([True, False, False]), np.array([1, 0, 1]), 3)
    assert (day.rows, day.windows, day.error, day.worst_rows) == (3, 1, 1 / 3, 3)
    assert Watch(Model.new("arow", {})).day() is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, ""),
        ({"error": 0.1, "worst": 0.5}, ""),
        ({"error": 0.13}, "its error is 13.00 %, usually it is 5.00 %"),
        ({"median": 0.17}, "of its labels are inverted"),
        ({"worst": 0.6, "worst_row": 501}, "60.00 % of the rows 501 to 1,000 are predicted wrong"),
        ({"worst": 0.6, "worst_rows": 20}, ""),  # chance, in a window of 20 rows
        ({"base_rate": 0.75}, ""),
        ({"base_rate": 0.85}, "85.00 % of its rows are positive; usually it is 50.00 %"),
        ({"classes": 1}, "all of its rows have one label"),
        ({"classes": 1, "rows": 5}, ""),
        ({"entries": 30.0}, ""),
        ({"entries": 26.0}, "its rows have 26.0 entries; usually it is 35.0"),
        ({"entries": 46.0}, "its rows have 46.0 entries"),
    ],
)
def test_rules(change: dict, said: str) -> None:
    history = [{"day": DAY.packed()}] * 3
    found = complaints(replace(DAY, **change), history, LIMITS)
    assert len(found) == bool(said)
    assert said in "; ".join(found)


EVEN = [0.990, 0.992, 0.991, 0.993, 0.991]


@pytest.mark.parametrize(
    ("past", "rows", "auc", "refused"),
    [
        (EVEN, 20_000, 0.985, False),  # within the hundredth that is always allowed
        (EVEN, 20_000, 0.980, True),
        (EVEN[:2], 20_000, 0.980, False),  # two days tell nothing of the spread
        (EVEN[:2], 20_000, 0.970, True),  # 1 - AUC has more than doubled
        (EVEN[:2], 100, 0.970, False),  # chance, of so few rows
        ([0.90, 0.80, 0.85], 20_000, 0.70, False),  # within the spread of three days
        ([0.90, 0.80, 0.85] * 3, 20_000, 0.70, False),
        ([0.86, 0.84, 0.85] * 3, 20_000, 0.80, True),
        ([None, None], 20_000, 0.5, False),
        (EVEN, 20_000, None, False),
    ],
)
def test_auc_and_its_history(past: list, rows: int, auc: float | None, refused: bool) -> None:
    history = [{"day": replace(DAY, auc=a).packed()} for a in past]
    found = complaints(replace(DAY, rows=rows, auc=auc), history, LIMITS)
    assert len(found) == refused
    if refused:
        assert f"its AUC is {auc:.4f}, usually it is 0." in found[0]


def test_the_deviation_of_an_auc_is_that_of_samples() -> None:
    """Against the spread of 2,000 samples of exponential scores, within 10 %."""
    random = np.random.default_rng(2)
    high, low = random.exponential(6, (2000, 30)), random.exponential(1, (2000, 60))
    found = (high[:, :, None] > low[:, None, :]).mean(axis=(1, 2))
    assert _auc_deviation(found.mean(), 30, 60) == pytest.approx(found.std(), rel=0.1)


def test_labels_of_uneven_days() -> None:
    """Errors that rise and fall from day to day may do so again."""
    history = [{"day": replace(DAY, error=m, median=m).packed()} for m in (0.02, 0.1, 0.06, 0.12)]
    day = replace(DAY, error=0.2, median=0.2)
    assert "labels" not in "".join(complaints(day, history, LIMITS))
    assert "labels" in "".join(complaints(day, history[:2], LIMITS))


def test_one_odd_day_before_changes_little() -> None:
    odd = replace(DAY, error=0.4, median=0.4, entries=90.0, base_rate=0.99)
    history = [{"day": DAY.packed()}, {"day": odd.packed()}, {"day": DAY.packed()}]
    assert complaints(DAY, history, LIMITS) == []
    assert complaints(replace(DAY, error=0.13), history, LIMITS) != []


def test_only_recent_days_count() -> None:
    poor = replace(DAY, error=0.2, median=0.2)
    history = [{"day": poor.packed()}] * 20 + [{"day": DAY.packed()}] * 7
    assert complaints(poor, history, LIMITS) != []
    assert complaints(poor, history, Limits(days=20)) == []
    assert complaints(poor, history, Limits(days=0)) == []


def test_runs_of_train_are_days_too() -> None:
    run = {"rows": 1000, "error": 0.05, "files": [{"rows": 1000, "nnz": 35_000}]}
    assert complaints(DAY, [run], LIMITS) == []
    assert complaints(replace(DAY, error=0.2), [run], LIMITS) != []
    assert complaints(DAY, [{"rows": 0, "error": None, "files": []}], LIMITS) == []
