"""What else an algorithm promises by the methods that it has."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from contract import (
    BATCH,
    ONLINE,
    VARIANTS,
    Variant,
    blocks,
    each,
    easy,
    essence,
    every,
    few,
    finite,
    frozen,
    learned,
    planted,
    those,
    with_constant,
)

from cwtool.algorithms.base import Linear, Ranks, Selects
from cwtool.data.rows import Rows
from cwtool.errors import UsageError
from cwtool.run import Run

pytestmark = pytest.mark.usefixtures("spare_time")


@those(Linear)
@pytest.mark.parametrize("n_rows", [200, 1100])
def test_scores_are_linear(variant: Variant, n_rows: int) -> None:
    n_rows = max(100, few(variant, n_rows))
    model, test = learned(variant.new(), planted(1, n_rows)), planted(2, 100)
    weights = model.weights()
    assert weights.ids.tolist() == list(range(30))
    w = weights.weight[test.indices] * test.values
    starts = test.indptr[:-1]
    want = weights.intercept + np.add.reduceat(w, starts)
    size = abs(weights.intercept) + np.add.reduceat(np.abs(w), starts)
    # cw with a factored covariance reaches variances of 1e-13, and differences of 2e-12
    assert (np.abs(model.scores(test).score - want) <= 1e-11 * size).all()
    assert np.count_nonzero(weights.weight) > 5


@those(Ranks)
def test_importances(variant: Variant) -> None:
    """Features that decide are more important than those that say nothing."""
    weight = learned(variant.new(), easy(1, 400)).weights().weight
    assert (weight >= 0).all()
    assert weight[:20].mean() > 2 * weight[20:].mean()


@those(Selects)
@pytest.mark.parametrize("features", [1, 7, 20, 30])
def test_as_many_features_as_asked_for(variant: Variant, features: int) -> None:
    if variant.given.get("features") == 0:
        pytest.skip("takes the features that get a weight for a given C")
    model = learned(variant.new(features=features, batch_rows=0, C=100.0), planted(1, 150))
    assert isinstance(model.algorithm, Selects)
    chosen = model.algorithm.selection(model.state)
    assert len(chosen.slots) == len(set(chosen.slots.tolist())) == features
    assert len(chosen.score) == len(chosen.group) == features
    assert np.isfinite(chosen.score).all()
    assert chosen.group.min() == 1
    ids = model.index.ids_of(chosen.slots)
    weights = model.weights()
    assert set(weights.ids[weights.weight != 0].tolist()) <= set(ids.tolist())


BUDGETS = [v for v in ONLINE if v.algo == "sofs" or v.given.get("mode") == "aggressive"]


@each(BUDGETS)
def test_no_more_features_than_allowed(variant: Variant) -> None:
    model = variant.new(features=24)
    for k in range(4):
        learned(model, planted(k, 100, first=20 * k))
        assert np.count_nonzero(model.weights().weight) == 24


# -- weights of rows ------------------------------------------------------------------------------


def weighted(rows: Rows, weight: Any) -> Rows:
    return frozen(replace(rows, weight=np.asarray(weight, dtype=np.float64)))


WEIGHTED = [v for v in VARIANTS if v.algorithm.takes_weights]
heeding_weights = each(WEIGHTED)


def test_who_takes_weights() -> None:
    """All online learners but the one that has no slack."""
    assert {v.algo for v in ONLINE} - {v.algo for v in WEIGHTED} == {"pa"}


@heeding_weights
@pytest.mark.parametrize("n_rows", [200, 1200])
def test_unit_weights_change_no_bit(variant: Variant, n_rows: int) -> None:
    rows = planted(1, few(variant, n_rows))
    want = learned(variant.new(), rows)
    got = learned(variant.new(), weighted(rows, np.ones(rows.n_rows)))
    assert essence(got) == essence(want)


@heeding_weights
def test_rows_of_weight_0_are_not_learned(variant: Variant) -> None:
    """They count where a file is cut into batches, and nowhere else."""
    rows, more = planted(1, few(variant, 1200)), planted(2, 400, first=10)
    model = learned(variant.new(), rows, more)
    want, got, run = model.copy(), model.copy(), Run()
    some = weighted(more, np.arange(400) % 3 > 0)
    for part, _ in want.portions(blocks((some,), 0), run):
        want.learn(more_than_nothing(part), run)
    learned(got, some)
    assert essence(got)[1].keys() == essence(want)[1].keys()
    for name in want.state.pack():
        assert essence(got)[1][name] == essence(want)[1][name], name
    assert got.state.numbers == want.state.numbers


def more_than_nothing(rows: Rows) -> Rows:
    """The rows of weight 1, without a weight."""
    assert rows.weight is not None
    kept = rows.take(np.flatnonzero(rows.weight == 1))
    assert 0 < kept.n_rows < rows.n_rows
    return frozen(replace(kept, weight=None))


@heeding_weights
def test_rows_of_weight_0_are_as_good_as_absent(variant: Variant) -> None:
    rows, more = planted(1, 100), planted(2, 100, first=20)
    want = learned(variant.new(), rows, planted(3, 100))
    got = learned(variant.new(), rows, weighted(more, np.zeros(100)), planted(3, 100))
    assert essence(got) == essence(want)


@heeding_weights
def test_the_heavier_class_is_predicted_more_often(variant: Variant) -> None:
    rows = with_constant(planted(1, 300, noise=1.0), 100)
    share = []
    for heavy in (0, 1):
        model = learned(variant.new(), weighted(rows, np.where(rows.y == heavy, 4.0, 0.25)))
        assert finite(model)
        share.append(np.mean(model.scores(rows).score > 0))
    assert share[0] < share[1]


@each(v for v in VARIANTS if v not in WEIGHTED)
def test_others_refuse_weights(variant: Variant) -> None:
    model = variant.new()
    with pytest.raises(UsageError, match="weights"):
        model.learn(weighted(planted(1, 100), np.ones(100)), Run())
    assert essence(model) == essence(variant.new())


# -- what is returned of rows ---------------------------------------------------------------------


@every
def test_rows_are_predicted_before_they_are_learned(variant: Variant) -> None:
    model, rows = learned(variant.new(), planted(1, few(variant, 1100))), planted(2, 60)
    if variant.algo == "stsgd":
        pytest.skip("predicts as if its stage had ended, but learns within it")
    want = model.scores(rows)
    found = model.learn(rows, Run())
    n = 60 if variant in BATCH else 1
    assert np.allclose(found.score[:n], want.score[:n], rtol=1e-12, atol=1e-12)
    assert found.fitted is None
