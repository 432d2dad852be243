"""Rungs of successive halving, and who goes on to the next."""

import pytest

from cwtool.errors import DataError, UsageError
from cwtool.messages.console import Console
from cwtool.parallel import Outcome
from cwtool.tune.grid import TuneOptions
from cwtool.tune.halving import LEAST, Race, Rung, rungs
from cwtool.tune.tunable import Range


def test_without_a_factor_there_is_one_rung() -> None:
    assert rungs(8, 0, 10_000) == [Rung(8, 1.0)]


@pytest.mark.parametrize(
    ("points", "factor", "found"),
    [
        (1, 3, [(1, 1)]),
        (3, 3, [(3, 1)]),
        (4, 3, [(4, 1 / 3), (2, 1)]),
        (9, 3, [(9, 1 / 3), (3, 1)]),
        (27, 3, [(27, 1 / 9), (9, 1 / 3), (3, 1)]),
        (8, 2, [(8, 1 / 4), (4, 1 / 2), (2, 1)]),
        (9, 2, [(9, 1 / 8), (5, 1 / 4), (3, 1 / 2), (2, 1)]),
    ],
)
def test_rungs(points: int, factor: int, found: list[tuple[int, float]]) -> None:
    assert rungs(points, factor, 10**6) == [Rung(*pair) for pair in found]


@pytest.mark.parametrize(("rows", "n"), [(LEAST, 1), (2 * LEAST, 2), (4 * LEAST - 1, 2), (9e9, 4)])
def test_the_first_rung_has_enough_rows(rows: int, n: int) -> None:
    assert len(rungs(16, 2, rows)) == n


def outcome(*errors: float | None) -> Outcome:
    return Outcome({"error": list(errors)})


def test_the_best_go_on_in_their_order() -> None:
    race = Race(TuneOptions("arow", {"r": [1, 2, 3, 4]}, halving=2), 10_000, Console(quiet=True))
    found = [outcome(0.2), outcome(0.1), Outcome(failure="broken"), outcome(0.15)]
    assert race.end_rung(found, 5000) == [1, 3]
    assert race.points == [{"r": 2}, {"r": 4}]
    assert race.end_rung([outcome(0.3), outcome(0.2)], 10_000) == [0, 1]
    assert [(cell.point["r"], cell.rung, cell.rows) for cell in race.last] == [
        (2, 2, 10_000), (4, 2, 10_000),
    ]  # fmt: skip
    assert len(race.cells) == 6


def test_a_rung_without_any_value() -> None:
    race = Race(TuneOptions("arow", {"r": [1, 2, 3]}, halving=2), 10_000, Console(quiet=True))
    with pytest.raises(DataError, match="no combination of the grid could be evaluated: broken"):
        race.end_rung([Outcome(failure="broken"), outcome(None), outcome(None)], 5000)


def drawn(n: int, seed: int = 0) -> list[dict[str, float]]:
    return TuneOptions(
        "arow", {"r": Range(0.01, 100), "bias": [False, True]}, random=n, seed=seed
    ).points


def test_random_points_spread_over_the_range() -> None:
    points = drawn(8)
    assert sorted(int(8 * Range(0.01, 100).share(p["r"])) for p in points) == list(range(8))
    assert [p["bias"] for p in points].count(True) == 4
    assert points == drawn(8)
    assert points != drawn(8, seed=1)


def test_random_points_are_different() -> None:
    lists = {"r": [1, 2, 3], "bias": [False, True]}
    for n, found in ((4, 4), (6, 6), (50, 6)):
        points = TuneOptions("arow", lists, random=n).points
        assert len({tuple(p.items()) for p in points}) == len(points) == found


def test_a_range_needs_random_points() -> None:
    with pytest.raises(UsageError, match="a range of `r`"):
        _ = TuneOptions("arow", {"r": Range(0.01, 100)}).points
