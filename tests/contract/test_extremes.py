"""Empty rows, one class, and values near the ends of the double range leave finite models."""

import numpy as np
import pytest
from contract import (
    BATCH,
    Variant,
    essence,
    every,
    finite,
    learned,
    online,
    planted,
    revisited,
    written,
)

from cwtool.algorithms.base import Linear
from cwtool.data.rows import joined
from cwtool.model import Model
from cwtool.run import Run

pytestmark = pytest.mark.usefixtures("spare_time")

RATHER = ("1e150", "1.7e308", "1e-150", "5e-324")
NOTHING = planted(1, 2).slice(0, 0)


def sensible(model: Model, rows: object) -> bool:
    found = model.scores(rows)  # type: ignore
    return not np.isnan(found.score).any() and (found.variance >= 0).all()


@every
def test_empty_rows(variant: Variant) -> None:
    rows = written("-\n+\n+ 1:1\n- 2:1\n+\n" * 30)
    model = learned(variant.new(), rows)
    assert model.rows == 150
    assert finite(model)
    found = model.scores(rows)
    if isinstance(model.algorithm, Linear):  # otherwise the origin is a place like others
        assert found.score[0] == model.weights().intercept
        assert found.variance[0] == 0
    assert found.score[2] >= 0 > found.score[3]


@every
def test_only_empty_rows(variant: Variant) -> None:
    empty = written("-\n+\n- \n")
    model = learned(learned(variant.new(), empty), empty)
    assert model.rows == 6
    assert model.index.count == 0
    assert finite(model)
    assert sensible(model, planted(1, 20))
    assert finite(learned(model, planted(1, 50)))


@every
def test_no_rows(variant: Variant) -> None:
    model = variant.new()
    assert essence(learned(model, NOTHING)) == essence(variant.new())
    assert len(model.scores(NOTHING).score) == 0
    a = planted(1, 100)
    before = essence(learned(model, a))
    assert essence(learned(model, NOTHING)) == before
    assert len(model.scores(NOTHING).score) == 0


@online
def test_an_empty_block(variant: Variant) -> None:
    a = planted(1, 100)
    model = variant.new()
    model.learn(NOTHING, Run())
    learned(model, a).learn(NOTHING, Run())
    assert essence(model) == essence(learned(variant.new(), a))


@every
def test_one_class(variant: Variant) -> None:
    one = planted(1, 120)
    for class_ in (0, 1):
        rows = one.take(np.flatnonzero(one.y == class_))
        model = learned(variant.new(), rows)
        assert finite(model)
        assert sensible(model, one)
        assert finite(learned(model, planted(2, 100)))


@every
@pytest.mark.parametrize(
    "value",
    ["1e300", *(pytest.param(v, marks=pytest.mark.slow) for v in ("1e-300", *RATHER))],
)
def test_extreme_values(variant: Variant, value: str) -> None:
    usual = planted(1, 60 if variant in BATCH else 1050)
    strange = written(f"+ 1:{value} 2:1 40:{value}\n- 1:{value} 41:-{value}\n- 2:3 40:{value}")
    alone = written(f"+ 1:{value} 40:{value}\n- 1:{value} 41:-{value}\n" * 8)
    seen = joined([strange, usual.slice(0, 3), alone])
    before, after = joined([strange, usual]), joined([usual, strange])
    # the way of the l1 norm through all C is long here
    short = {"max_batch_passes": 5} if "max_batch_passes" in str(variant.algorithm.params) else {}
    mixtures = (before,) if variant in BATCH else (before, after)  # the order is nothing to them
    for rows in (*mixtures, joined([strange] * 8), alone):
        model = learned(variant.new(**short), rows)
        for _ in range(2):
            assert finite(model)
            assert sensible(model, seen)
            if variant in BATCH:
                learned(model, rows)
            else:
                revisited(model, rows, Run(), passes=1)


@every
def test_huge_norms_do_not_drown_the_others(variant: Variant) -> None:
    """Rows of huge values in features of their own leave the usual rows predictable."""
    usual, test = planted(1, 400 if variant in BATCH else 1200), planted(3, 200)
    huge = written("+ 50:1e55 51:-1e55\n- 52:1e55")  # the batch learners leave such rows out
    errors = [
        np.mean((learned(variant.new(), rows).scores(test).score > 0) != test.y)
        for rows in (usual, joined([usual, huge]))
    ]
    assert errors[1] < errors[0] + 0.04
