"""Rows kept for later passes come back whole, and in an order that depends on the seed alone."""

import errno
import tempfile
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwtool.data import spool
from cwtool.data.rows import Rows
from cwtool.data.spool import Spool, Stored
from cwtool.errors import UsageError
from cwtool.order import permutation


@pytest.fixture(autouse=True)
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "WINDOW_ROWS", 16)
    monkeypatch.setattr(spool, "WINDOW_NNZ", 40)


def rows_of(n: int, seed: int) -> list[list[tuple[int, float]]]:
    random = np.random.default_rng(seed)
    return [[(j, float(random.normal())) for j in range(random.integers(0, 12))] for _ in range(n)]


def classes_of(n: int) -> list[int]:
    return [int(k % 3 > 0) for k in range(n)]


def some_rows(n: int, seed: int, *, weighted: bool = False) -> Rows:
    rows = Rows.from_lists(rows_of(n, seed), classes_of(n))
    return replace(rows, weight=np.arange(n) / 8) if weighted else rows


def content(rows: Rows) -> list[Any]:
    cells = list(zip(rows.indices.tolist(), rows.values.tolist(), strict=True))
    ends = rows.indptr.tolist()
    weight = [None] * rows.n_rows if rows.weight is None else rows.weight.tolist()
    parts = zip(rows.y.tolist(), weight, ends[:-1], ends[1:], strict=True)
    return [(y, h, cells[a:b]) for y, h, a, b in parts]


def filled(n: int, seed: int, cuts: list[int], *, weighted: bool = False, **more: Any) -> Spool:
    """The rows, added in blocks that end at the cuts."""
    rows, kept = some_rows(n, seed, weighted=weighted), Spool(**more)
    ends = sorted({min(c, n) for c in cuts} | {0, n})
    for a, b in pairwise(ends):
        part = rows.slice(a, b)
        kept.add(part, None if part.weight is None else 3 * part.weight)
    return kept


def visits(kept: Spool, seed: int = 1, pass_: int = 2) -> list[Any]:
    """The rows in the order in which a pass meets them."""
    met = []
    for window, order, counted in kept.shuffled(seed, pass_):
        rows = content(window)
        if counted is not None:
            assert counted.tolist() == [3 * (h or 0) for _, h, _ in rows]
        met += [rows[k] for k in order.tolist()]
    return met


cuts = st.lists(st.integers(0, 150), max_size=12)


@given(n=st.integers(1, 150), seed=st.integers(0, 9), cuts=cuts)
def test_any_blocks_give_the_same_windows_and_order(n: int, seed: int, cuts: list[int]) -> None:
    whole, parts = filled(n, seed, []), filled(n, seed, cuts)
    assert visits(parts) == visits(whole)
    assert [content(b) for b in parts.all()] == [content(b) for b in whole.all()]


@given(
    n=st.integers(1, 150),
    cuts=cuts,
    in_memory=st.sampled_from([0, 700, 2000]),
    weighted=st.booleans(),
)
def test_on_disk_as_in_memory(n: int, cuts: list[int], in_memory: int, weighted: bool) -> None:
    spilled = filled(n, 3, cuts, weighted=weighted, in_memory=in_memory)
    kept = filled(n, 3, cuts, weighted=weighted)
    assert visits(spilled) == visits(kept)
    assert [content(b) for b in spilled.all()] == [content(b) for b in kept.all()]
    assert visits(spilled) == visits(kept), "a second time"


def test_it_does_spill() -> None:
    kept = filled(100, 0, [], in_memory=700)
    assert {type(window) for window in kept.windows} == {Rows, Stored}


def test_all_rows_once_and_in_order() -> None:
    kept = filled(100, 0, [7, 30])
    want = content(some_rows(100, 0))
    assert [row for window in kept.all() for row in content(window)] == want
    met = visits(kept)
    assert met != want
    assert sorted(met, key=str) == sorted(want, key=str)
    assert kept.n_rows == 100


def test_the_order_depends_on_seed_and_pass() -> None:
    orders = [visits(filled(100, 0, []), seed, pass_) for seed in (1, 2) for pass_ in (2, 3)]
    assert all(a != b for k, a in enumerate(orders) for b in orders[:k])


def test_what_is_kept_is_a_copy() -> None:
    rows = Rows.from_lists([[(1, 1.0)], [(2, 2.0)]], [1, 0])
    kept = Spool()
    kept.add(rows)
    for array in (rows.values, rows.indices, rows.y):
        array[:] = 9  # as the parser does, which uses its memory again
    assert [content(b) for b in kept.all()] == [[(1, None, [(1, 1.0)]), (0, None, [(2, 2.0)])]]


def test_spilled_rows_can_be_learned(
    cwtool: Any, planted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kernels and holdout take the rows that come from the disk, with the same result."""
    args = ["train", planted("a.svm", 1, 300), "--passes", 3, "--holdout", 0.2, "-m"]
    assert cwtool(*args, "memory.cw").code == 0
    monkeypatch.setattr("cwtool.data.spool.Spool", lambda: Spool(in_memory=0))
    assert cwtool(*args, "disk.cw").code == 0
    assert Path("disk.cw").read_bytes() == Path("memory.cw").read_bytes()


@given(n=st.integers(0, 500), seeds=st.lists(st.integers(0, 2**63 - 1), min_size=1, max_size=3))
def test_a_permutation_is_a_permutation(n: int, seeds: list[int]) -> None:
    found = permutation(n, *seeds)
    assert sorted(found.tolist()) == list(range(n))
    assert permutation(n, *seeds).tolist() == found.tolist()


def test_permutations_look_random() -> None:
    places = np.array([permutation(8, seed) for seed in range(8000)])
    for column in places.T:
        assert (np.abs(np.bincount(column, minlength=8) - 1000) < 200).all()


def test_the_order_of_a_seed_is_for_ever() -> None:
    """Frozen: a saved seed must mean the same tomorrow."""
    assert permutation(10, 0, 2, 0).tolist() == [0, 9, 6, 5, 3, 8, 4, 2, 7, 1]


def test_a_full_disk_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def seek(self, *_: int) -> int:
            return 0

        def write(self, _: bytes) -> None:
            raise OSError(errno.ENOSPC, "")

    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: Full())
    kept = Spool(in_memory=0)
    with pytest.raises(UsageError, match="No space left") as failure:
        kept.add(some_rows(50, 1))
    assert "TMPDIR" in str(failure.value.hint)
