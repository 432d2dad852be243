"""Rows kept for later passes come back whole, and in an order that depends on the seed alone."""

import errno
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwtool.data import spool
from cwtool.data.block import Block
from cwtool.data.spool import Spool
from cwtool.errors import UsageError
from cwtool.order import permutation


@pytest.fixture(autouse=True)
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "WINDOW_ROWS", 16)
    monkeypatch.setattr(spool, "WINDOW_NNZ", 40)


def rows_of(n: int, seed: int) -> list[list[tuple[int, float]]]:
    random = np.random.default_rng(seed)
    return [[(j, float(random.normal())) for j in range(random.integers(0, 12))] for _ in range(n)]


def labels_of(n: int) -> list[float]:
    return [1.0 if k % 3 else -1.0 for k in range(n)]


def content(block: Block) -> list[Any]:
    cells = list(zip(block.indices.tolist(), block.values.tolist(), strict=True))
    ends = block.indptr.tolist()
    return [(y, cells[a:b]) for y, a, b in zip(block.y.tolist(), ends[:-1], ends[1:], strict=True)]


def filled(n: int, seed: int, cuts: list[int], **more: Any) -> Spool:
    """The rows, added in blocks that end at the cuts."""
    rows, labels = rows_of(n, seed), labels_of(n)
    kept = Spool(**more)
    ends = sorted({min(c, n) for c in cuts} | {0, n})
    for a, b in pairwise(ends):
        kept.add(Block.from_rows(rows[a:b], labels[a:b]))
    return kept


def visits(kept: Spool, seed: int = 1, pass_: int = 2) -> list[Any]:
    """The rows in the order in which a pass meets them."""
    met = []
    for block, order in kept.shuffled(seed, pass_):
        rows = content(block)
        met += [rows[k] for k in order.tolist()]
    return met


cuts = st.lists(st.integers(0, 150), max_size=12)


@given(n=st.integers(1, 150), seed=st.integers(0, 9), cuts=cuts)
@settings(max_examples=60, deadline=None)
def test_any_blocks_give_the_same_windows_and_order(n: int, seed: int, cuts: list[int]) -> None:
    whole, parts = filled(n, seed, []), filled(n, seed, cuts)
    assert visits(parts) == visits(whole)
    assert [content(b) for b in parts.blocks()] == [content(b) for b in whole.blocks()]


@given(n=st.integers(1, 150), cuts=cuts, in_memory=st.sampled_from([0, 700, 2000]))
@settings(max_examples=40, deadline=None)
def test_on_disk_as_in_memory(n: int, cuts: list[int], in_memory: int) -> None:
    spilled, kept = filled(n, 3, cuts, in_memory=in_memory), filled(n, 3, cuts)
    assert visits(spilled) == visits(kept)
    assert [content(b) for b in spilled.blocks()] == [content(b) for b in kept.blocks()]
    assert visits(spilled) == visits(kept), "a second time"


def test_it_does_spill() -> None:
    assert any(len(w) == 3 for w in filled(100, 0, [], in_memory=700).windows)


def test_all_rows_once_and_in_order() -> None:
    kept = filled(100, 0, [7, 30])
    want = [(y, row) for y, row in zip(labels_of(100), rows_of(100, 0), strict=True)]
    assert [row for block in kept.blocks() for row in content(block)] == want
    met = visits(kept)
    assert met != want
    assert sorted(met) == sorted(want)
    assert kept.n_rows == 100


def test_the_order_depends_on_seed_and_pass() -> None:
    orders = [visits(filled(100, 0, []), seed, pass_) for seed in (1, 2) for pass_ in (2, 3)]
    assert all(a != b for k, a in enumerate(orders) for b in orders[:k])


def test_what_is_kept_is_a_copy() -> None:
    block = Block.from_rows([[(1, 1.0)], [(2, 2.0)]], [1.0, -1.0])
    kept = Spool()
    kept.add(block)
    block.values[:] = 9
    block.indices[:] = 9
    block.y[:] = 9
    assert [content(b) for b in kept.blocks()] == [[(1.0, [(1, 1.0)]), (-1.0, [(2, 2.0)])]]


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
@settings(max_examples=60, deadline=None)
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

    monkeypatch.setattr(spool.tempfile, "TemporaryFile", lambda **_: Full())
    kept = Spool(in_memory=0)
    with pytest.raises(UsageError, match="No space left") as failure:
        kept.add(Block.from_rows(rows_of(50, 1), labels_of(50)))
    assert "TMPDIR" in str(failure.value.hint)
