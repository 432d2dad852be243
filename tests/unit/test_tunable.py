"""Ranges of parameters, and values at the edge of what was tried."""

import numpy as np
import pytest

from cwtool.params import Param
from cwtool.tune.tunable import Range, edge, tunable, value_at


def test_a_range_above_zero_is_logarithmic() -> None:
    values = Range(0.01, 100)
    assert [values.at(share) for share in (0, 0.25, 0.5, 0.75)] == [0.01, 0.1, 1.0, 10.0]
    assert values.at(0.6) == 2.51  # 10^0.4 = 2.5119, to three digits
    assert [values.share(v) for v in (0.01, 1, 100)] == pytest.approx([0, 0.5, 1])


def test_a_range_from_zero_is_linear() -> None:
    values = Range(-1, 3)
    assert [values.at(share) for share in (0, 0.25, 0.5)] == [-1, 0, 1]
    assert values.share(2) == 0.75


def test_rounding_stays_in_the_range() -> None:
    values = Range(0.12345, 0.12349)
    assert {values.at(share) for share in (0.0, 0.5, 0.999)} == {0.12345}


@pytest.mark.parametrize("low", [0, 1])
def test_whole_numbers_are_all_drawn(low: int) -> None:
    values = Range(low, low + 3, whole=True)
    drawn = [values.at(share) for share in np.linspace(0, 1, 400, endpoint=False)]
    assert set(drawn) == {low, low + 1, low + 2, low + 3}
    assert all(isinstance(value, int) for value in drawn)
    if low == 0:
        assert [drawn.count(value) for value in range(4)] == [100] * 4


def test_values_of_a_list_have_equal_shares() -> None:
    drawn = [value_at(["a", "b", "c"], k / 9) for k in range(9)]
    assert drawn == ["a"] * 3 + ["b"] * 3 + ["c"] * 3


def test_edges() -> None:
    assert edge(1, [1, 2, 3]) == "the smallest of the grid"
    assert edge(3, [3, 1, 2]) == "the largest of the grid"
    assert edge(2, [1, 2, 3]) is None
    assert edge("diag", ["diag", "full"]) is None
    assert edge(1, [1]) is None
    assert edge(0.011, Range(0.01, 100)) == "near the low end of 0.01..100"
    assert edge(90.0, Range(0.01, 100)) == "near the high end of 0.01..100"
    assert edge(1.0, Range(0.01, 100)) is None


def test_the_limit_of_a_parameter_is_no_edge() -> None:
    """There is nothing beyond it to try."""
    passes = Param("passes", int, 1, "", low=1)
    assert edge(1, [1, 5], passes) is None
    assert edge(5, [1, 5], passes) == "the largest of the grid"


def test_parameters_of_several_algorithms() -> None:
    names = [p.name for p in tunable(["arow", "scw1"])]
    assert {"r", "eta", "C", "algo", "passes", "bias"} <= set(names)
    assert len(names) == len(set(names))
