"""The plan of a run in shards against frozen vectors, and what every plan has to keep."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwtool.shards import plan

HERE = Path(__file__).parent / "vectors" / "scale-out"
CASES = json.loads((HERE / "plan.json").read_text())


@pytest.mark.parametrize("case", CASES)
def test_frozen_plans(case: dict[str, Any]) -> None:
    total, head = sum(case["sizes"]), case["head"]
    ends = plan.ends_of(head, total)
    found = [
        plan.cuts_of(a, e, case["shards"], 4000 * case["row_bytes"])
        for a, e in zip([head, *ends], ends, strict=False)
    ]
    as_pairs = [[[[c.start, c.tail], [c.tail, c.stop]] for c in cuts] for cuts in found]
    assert as_pairs == case["rounds"]
    pieces = [plan.pieces_of(case["sizes"], c.start, c.tail) for c in found[-1]]
    assert [[list(p) for p in some] for some in pieces] == case["pieces_of_last"]


@given(
    head=st.integers(1, 1000),
    more=st.integers(0, 10**6),
    growth=st.sampled_from([1.25, 1.5, 2.0, 4.0]),
)
def test_rounds_cover_everything_once(head: int, more: int, growth: float) -> None:
    total = head + more
    ends = plan.ends_of(head, total, growth)
    assert ends == sorted(set(ends))
    assert (ends[-1] if ends else head) == total
    assert len(ends) < 2 or growth < 2 or ends[-2] <= 0.75 * total
    equal = plan.equal_ends(head, total, 3)
    assert equal == sorted(set(equal))
    assert (equal[-1] if equal else head) == total


@given(start=st.integers(0, 99), length=st.integers(0, 9999), shards=st.integers(2, 9))
def test_shards_and_tails_cover_a_round_once(start: int, length: int, shards: int) -> None:
    cuts = plan.cuts_of(start, start + length, shards, 500)
    assert [c.start for c in cuts] == [start, *(c.stop for c in cuts[:-1])]
    assert cuts[-1].stop == start + length
    for cut in cuts:
        assert 0 <= cut.stop - cut.tail <= min(500 // shards, (cut.stop - cut.start) // 4)


@given(sizes=st.lists(st.integers(2, 50), min_size=1, max_size=12), shards=st.integers(2, 5))
def test_whole_files_are_dealt_out_once(sizes: list[int], shards: int) -> None:
    total = sum(sizes)
    ends = plan.unit_ends(sizes, plan.ends_of(1, total))
    assert ends[-1] == total
    rounds = zip([0, *ends], ends, strict=False)
    dealt = [k for a, e in rounds for shard in plan.units_of(sizes, a, e, shards) for k in shard]
    assert dealt == list(range(len(sizes)))
