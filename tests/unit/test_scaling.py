"""The scale of the rows depends on the rows alone."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwtool.data.rows import Rows
from cwtool.model.scale import FIRST_ROWS, RowScale, slotted
from cwtool.params import AUTO

N = FIRST_ROWS + 200


def rows_of(n: int, factor: float = 1.0) -> list[list[tuple[int, float]]]:
    random = np.random.default_rng(0)
    return [[(j, factor * float(random.normal())) for j in range(k % 4)] for k in range(n)]


ROWS = rows_of(N)


def scaled(scale: RowScale, rows: list[list[tuple[int, float]]]) -> list[float]:
    """What is learned of the rows."""
    given = Rows.from_lists(rows, [1] * len(rows))
    given.values.flags.writeable = False  # the rows themselves stay as they are
    parts = list(scale.observe(slotted(given, given.indices)))
    assert sum(part.n_rows for part in parts) == len(rows)
    return [x for part in parts for x in (part.values * part.scale).tolist()]


WHOLE = RowScale(AUTO)
ALL = scaled(WHOLE, ROWS)


@given(cuts=st.lists(st.integers(0, N), max_size=6))
def test_any_split_gives_the_same_bits(cuts: list[int]) -> None:
    scale = RowScale(AUTO)
    out: list[float] = []
    for a, b in pairwise(sorted({0, N, *cuts})):
        out += scaled(scale, ROWS[a:b])
        seen, scale = scale.seen, RowScale(AUTO)  # saved and loaded
        scale.seen[:] = seen
    assert out == ALL
    assert scale.value == WHOLE.value


def test_after_the_first_rows_it_is_fixed() -> None:
    scale = RowScale(AUTO)
    scaled(scale, [[(0, 2.0)]] * FIRST_ROWS)
    before = scale.value
    scaled(scale, [[(0, 1e9)]] * 10)
    assert scale.value == before


def test_empty_rows_do_not_count() -> None:
    scale = RowScale(AUTO)
    scaled(scale, [[], [(0, 2.0)], []])
    assert scale.seen[0] == 1


@pytest.mark.parametrize("factor", [2.0**-300, 2.0**-20, 1.0, 2.0**20, 2.0**300])
def test_learned_values_are_free_of_the_scale(factor: float) -> None:
    assert scaled(RowScale(AUTO), rows_of(300, factor)) == pytest.approx(
        scaled(RowScale(AUTO), rows_of(300)), rel=1e-9
    )


def test_typical_rows_become_about_one_long() -> None:
    scale = RowScale(AUTO)
    scaled(scale, [[(j, 5.0) for j in range(4)]] * 50)
    assert scale.value * 10 == pytest.approx(1, rel=0.07)  # by a rough logarithm


def test_a_few_huge_rows_do_not_decide() -> None:
    calm, wild = RowScale(AUTO), RowScale(AUTO)
    scaled(calm, [[(0, 1.0)]] * 1000)
    scaled(wild, [[(0, 1e6)]] * 10 + [[(0, 1.0)]] * 990)
    assert calm.value / wild.value < 1.5


@pytest.mark.parametrize("value", [1e308, 5e-324, 1e200, 1e-200])
def test_extreme_rows_keep_it_finite(value: float) -> None:
    scale = RowScale(AUTO)
    out = scaled(scale, [[(0, value), (1, -value)]] * 10)
    assert np.isfinite(out).all()
    assert 0 < scale.value < np.inf


def test_a_given_prior() -> None:
    scale = RowScale(4.0)
    assert scale.value == 2.0
    assert scaled(scale, [[(0, 3.0)]]) == [6.0]
    assert RowScale(AUTO).value == 1.0


def test_a_batch_has_one_scale_from_its_first_rows() -> None:
    one_by_one, at_once = RowScale(AUTO), RowScale(AUTO, of_batches=True)
    scaled(one_by_one, ROWS)
    out = scaled(at_once, ROWS)
    assert at_once.seen.tolist() == one_by_one.seen.tolist()
    assert out == [x * at_once.value for row in ROWS for _, x in row]
    before = at_once.value
    scaled(at_once, [[(0, 1e9)]] * 10)
    assert at_once.value == before, "and no other batch changes it"


def test_rows_of_slots() -> None:
    rows = Rows.from_lists([[(7, 1.0), (900, 2.0)]], [1])
    slots = np.array([7, 64], dtype=np.int32)
    found = slotted(rows, slots, 0.5)
    assert (found.indices.tolist(), found.scale) == ([7, 64], 0.5)
    assert found.values is rows.values
