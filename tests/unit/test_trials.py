"""Trials of tuning by folds are cut so that all threads have work until the end."""

import pytest

from cwtool.data.pipeline import ReadOptions
from cwtool.tune.folds import Part, Source, evened

PARTS = [Part(Source((), ReadOptions(), "auto", None), 1.0, k, 7, False, 0) for k in range(7)]


@pytest.mark.parametrize(
    ("folds", "jobs", "sizes"),
    [
        (5, 1, [8, 8, 8, 8, 8]),
        (5, 2, [8, 8, 8, 8, 4, 4]),
        (4, 2, [8, 8, 8, 8]),
        (5, 3, [8, 8, 8, 8, 8]),  # two are left: cut in two they would be four for three threads
        (5, 4, [8, 8, 8, 8, 2, 2, 2, 2]),
        (3, 16, [2] * 12),
    ],
)
def test_the_last_are_cut(folds: int, jobs: int, sizes: list[int]) -> None:
    found = evened([(range(8), part) for part in PARTS[:folds]], jobs)
    assert [len(places) for places, _ in found] == sizes
    pairs = [(part.fold, k) for places, part in found for k in places]
    assert pairs == [(fold, k) for fold in range(folds) for k in range(8)]


def test_single_points_cannot_be_cut() -> None:
    given = [([k], PARTS[0]) for k in range(3)]
    assert evened(given, 2) == given
