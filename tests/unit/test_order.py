"""Random orders."""

import numpy as np
import pytest

from cwtool.order import by_fours
from cwtool_ext import shuffle


@pytest.mark.parametrize("n", [0, 1, 3, 4, 5, 1002])
def test_by_fours_visits_each_place_once_and_neighbours_together(n: int) -> None:
    order = by_fours(n, 7, 1)
    assert sorted(order.tolist()) == list(range(n))
    groups = order // 4
    assert np.count_nonzero(np.diff(groups)) == max(0, -(-n // 4) - 1)


def test_by_fours_depends_on_its_seeds_alone() -> None:
    assert by_fours(1000, 7, 1).tolist() == by_fours(1000, 7, 1).tolist()
    assert by_fours(1000, 7, 1).tolist() != by_fours(1000, 7, 2).tolist()


def test_each_place_of_a_group_comes_first_at_times() -> None:
    order = by_fours(4000, 3)
    firsts = order[::4] % 4
    assert set(firsts.tolist()) == {0, 1, 2, 3}


def test_groups_of_another_number_are_refused() -> None:
    with pytest.raises(ValueError, match="2 groups of four for 9 places"):
        shuffle.permute_groups(
            np.zeros(1, dtype=np.uint64), np.arange(2), np.empty(9, dtype=np.int64)
        )
