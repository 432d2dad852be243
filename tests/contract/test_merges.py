"""What every algorithm keeps in a merge, or its reason why it cannot be merged."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from contract import VARIANTS, Variant, each, essence, few, finite, learned, planted, scores

from cwtool.algorithms.merging.base import Merging, Refusal
from cwtool.data.labels import Labels
from cwtool.data.rows import Rows
from cwtool.errors import UsageError
from cwtool.merging import merge
from cwtool.merging.changes import changes
from cwtool.model import Model
from cwtool.run import Run

pytestmark = pytest.mark.usefixtures("spare_time")

BEYOND = 5_000_000
MERGED = [v for v in VARIANTS if isinstance(v.algorithm.merging, Merging)]
REFUSED = [v for v in VARIANTS if isinstance(v.algorithm.merging, Refusal)]
EXPECTED = {"tg", "fobos", "rda", "cw-sparse", "sofs", "stsgd", "bcw", "dcd", "sbcw", "fgm"}
EXPECTED |= {"l1svm", "spar-dca", "sdist", "rff-markov"}

# one of each kind of state, for what does not depend on the rule
KINDS = {"arow kl", "arow full", "arow forgetting", "cw-fact factored", "perceptron average"}
KINDS |= {"pa1 latest", "narow kl", "sgd hinge", "knn global"}

merged = each(MERGED)
kinds = each(v for v in MERGED if str(v) in KINDS)


def error(model: Model, rows: Rows) -> float:
    tally = model.new_tally()
    tally.add(rows.y, model.scores(rows).score)
    return float(tally.error or 0.0)


def continued(variant: Variant) -> tuple[Model, list[Model]]:
    """A base, and three models that continue it with rows of their own; the last has features of
    its own as well."""
    n = few(variant, 300)
    base = learned(named(variant.new()), planted(1, few(variant, 1100)))
    parts = [learned(base.copy(), planted(k, n)) for k in (2, 3)]
    return base, [*parts, learned(base.copy(), planted(4, n), planted(5, 30, first=BEYOND))]


def named(model: Model) -> Model:
    model.labels = Labels(-1.0, 1.0)
    return model


def test_which_algorithms_are_refused() -> None:
    full = {v for v in REFUSED if v.algo in ("cw", "cw-var")}
    assert {v.label for v in full} == {"full"}
    forgetting = {v for v in REFUSED if v.algo == "arow"}
    assert {v.label for v in forgetting} == {"forgetting full", "forgetting days"}
    assert {v.algo for v in REFUSED if v not in full | forgetting} == EXPECTED


@each(REFUSED)
def test_a_refusal_says_why_and_what_works(variant: Variant) -> None:
    refusal = variant.algorithm.merging
    assert isinstance(refusal, Refusal) and refusal.reason and refusal.instead
    with pytest.raises(UsageError, match="cannot be merged: ") as caught:
        merge([named(variant.new()), named(variant.new())])
    assert refusal.reason in str(caught.value) and caught.value.hint == refusal.instead


@merged
def test_merging(variant: Variant) -> None:
    """A merge predicts hardly worse than its parts, depends on their order at most in rounding,
    counts the rows of all of them once, and needs of each only what differs from the base."""
    base, parts = continued(variant)
    before = [essence(part) for part in parts]
    both, test = merge(parts, base).model, planted(9, 300)
    assert [essence(part) for part in parts] == before
    light = [Model.from_bytes(changes(part, base).to_bytes()) for part in parts]
    assert essence(merge(light, base).model) == essence(both)
    assert both.rows == base.rows + sum(part.rows - base.rows for part in parts)
    assert both.index.count == 60
    assert BEYOND in both.weights().ids
    # columns of sums only get worse where each part alone was lucky
    assert error(both, test) <= max(error(part, test) for part in parts) + 0.03
    backwards = merge(parts[::-1], base).model.scores(test).score
    if variant.algo != "cw-fact" and "factored" not in str(variant) and variant.label != "em":
        np.testing.assert_allclose(backwards, both.scores(test).score, rtol=1e-6, atol=1e-9)


@merged
def test_one_model_is_merged_to_itself(variant: Variant) -> None:
    base, parts = continued(variant)
    assert essence(merge(parts[:1], base).model) == essence(parts[0])
    assert essence(merge(parts[:1]).model) == essence(parts[0])
    assert essence(merge([changes(parts[2], base)], base).model) == essence(parts[2])
    # a part that has learned nothing changes no column that another has moved
    alone = merge([parts[2], base], base).model
    if "factored" not in str(variant) and variant.label not in ("full", "em", "average"):
        assert scores(alone, planted(9, 50)) == scores(parts[2], planted(9, 50))


@merged
def test_a_merge_goes_on(variant: Variant) -> None:
    """It learns on, also from a file, and is a base of the next merge."""
    base, parts = continued(variant)
    tail = planted(6, few(variant, 200))
    found = merge(parts, base, lambda labels: [tail])
    rules = variant.algorithm.merging
    assert isinstance(rules, Merging)
    assert found.chosen in [rule.name for rule in rules.rules]
    assert len(found.losses) == (len(rules.rules) if len(rules.rules) > 1 else 0)
    assert found.model.rows == merge(parts, base).model.rows + tail.n_rows
    again = Model.from_bytes(found.model.to_bytes())
    assert essence(again) == essence(found.model)
    more = planted(7, few(variant, 200))
    one, two = learned(again, more), learned(found.model.copy(), more)
    assert essence(one) == essence(two) and finite(one)
    next_ = merge([one, learned(found.model.copy(), planted(8, few(variant, 200)))], found.model)
    assert finite(next_.model)
    assert error(next_.model, planted(9, 300)) < 0.3


@each(v for v in MERGED if str(v) in KINDS - {"knn global"})
def test_row_weights_go_into_a_merge(variant: Variant) -> None:
    """Rows of weight 2 count twice in the sums of counts."""
    base, (first, second, _) = continued(variant)
    rows = replace(planted(6, 50), weight=np.full(50, 2.0))
    both = merge([first, learned(second, rows)], base).model
    assert both.rows == first.rows + second.rows - base.rows
    assert both.progress.summary()["weight"] == both.rows + 50


# -- several classes ------------------------------------------------------------------------------


def classes(seed: int, n_rows: int, wanted: list[int]) -> Rows:
    """Rows of several classes; a class is that of the largest of the first features. The first rows
    have the classes `wanted`, in this order."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(n_rows, 6)).round(3)
    y = x[:, : len(wanted)].argmax(axis=1).astype(np.int32)
    for k, class_ in enumerate(wanted):
        y[k] = class_
        x[k, class_] = 9
    indptr = np.arange(0, x.size + 1, 6)
    return Rows(indptr, np.tile(np.arange(6, dtype=np.int32), n_rows), x.ravel(), y)


def modes(variant: Variant) -> list[str]:
    wide = getattr(variant.algorithm, "is_wide", False)
    return ["rival", "ovr"] if wide else ["ovr"]


def started(variant: Variant, mode: str, labels: list[float]) -> Model:
    return Model.new(
        variant.algo, variant.given, labels=Labels(multiclass=mode, several=list(labels))
    )


@kinds
def test_several_classes(variant: Variant) -> None:
    """Classes are known by their labels, whatever their order in the parts."""
    n, test = 150, classes(9, 150, [0, 1, 2])
    for mode in modes(variant):
        one = learned(started(variant, mode, [5.0, 7.0, 8.0]), classes(1, n, [0, 1, 2]))
        other = classes(2, n, [2, 0, 1])
        places = np.array([1, 2, 0], dtype=np.int32)  # 5, 7, 8 in the order 8, 5, 7
        two = learned(started(variant, mode, [8.0, 5.0, 7.0]), replace(other, y=places[other.y]))
        both = merge([one, two]).model
        assert both.labels.several == [5.0, 7.0, 8.0]
        same = learned(started(variant, mode, [5.0, 7.0, 8.0]), other)
        want = merge([one, same]).model
        assert_equal_scores(both, want, test)
        assert (both.progress.measured == want.progress.measured).all()
        assert both.rows == one.rows + two.rows
        assert error(both, test) < 0.4
        assert finite(learned(both, classes(3, n, [0, 1, 2])))


def assert_equal_scores(one: Model, two: Model, rows: Rows) -> None:
    np.testing.assert_allclose(one.scores(rows).score, two.scores(rows).score, rtol=1e-9)


def given(rows: Rows, labels: Labels) -> list[Rows]:
    return [rows]


@kinds
def test_a_class_that_only_one_part_has_met(variant: Variant) -> None:
    n = few(variant, 240)
    for mode in modes(variant):
        base = learned(started(variant, mode, [5.0, 7.0]), classes(1, n, [0, 1]))
        one, two = base.copy(), base.copy()
        learned(one, classes(2, n, [0, 1]))
        assert two.labels.several is not None
        two.labels.several.append(8.0)
        learned(two, classes(3, n, [0, 1, 2]))
        tail = classes(4, 60, [0, 1, 2])
        found = merge([one, two], base, partial(given, tail))
        both = Model.from_bytes(found.model.to_bytes())
        assert both.labels.several == [5.0, 7.0, 8.0]
        test = classes(9, 150, [0, 1, 2])
        assert np.isfinite(both.scores(test, Run()).score).all()
        assert error(both, test) < 0.5
        assert both.rows == one.rows + two.rows - base.rows + 60
