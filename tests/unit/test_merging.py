"""What a merge does beside the states: the choice of a rule, counts, probabilities, history."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwtool.data.labels import Labels
from cwtool.data.rows import Rows, joined
from cwtool.errors import ModelError
from cwtool.merging import merge
from cwtool.merging.choice import loss, margins
from cwtool.merging.fitting import continues
from cwtool.metrics.confusion import Confusion
from cwtool.metrics.softmax import ROWS, Ring
from cwtool.model import Model
from cwtool.run import Run


def squared_hinge(a: float, z: np.ndarray, weight: np.ndarray) -> float:
    z = np.append(z / (weight @ np.abs(z) / weight.sum()), -1)
    weight = np.append(weight, 1)
    return float(weight @ np.maximum(0, 1 - a * z) ** 2 / weight.sum())


@given(st.lists(st.tuples(st.floats(-9, 9), st.floats(0.1, 3)), min_size=1, max_size=30))
def test_the_loss_is_the_least_of_all_factors(pairs: list[tuple[float, float]]) -> None:
    z, weight = np.array(pairs).T
    if (np.abs(z) < 1e-6).all():
        return
    found = loss(z, weight)
    tried = [squared_hinge(a, z, weight) for a in np.geomspace(1e-3, 1000, 200)]
    assert found <= min([*tried, 1.0]) * (1 + 1e-9)
    assert found >= min([*tried, 1.0]) * 0.9 - 1e-9


def test_scores_of_zero_have_the_loss_of_no_scores() -> None:
    assert loss(np.zeros(5), np.ones(5)) == pytest.approx(1.0)
    assert loss(np.empty(0), np.empty(0)) == pytest.approx(1.0)


def rows_of(y: list[int], weight: list[float] | None = None) -> Rows:
    rows = Rows.from_lists([[(0, 1.0)]] * len(y), y)
    return rows if weight is None else replace(rows, weight=np.array(weight, dtype=float))


def test_margins_of_two_classes() -> None:
    z, weight = margins(rows_of([1, 0, 1], [1, 2, 0]), np.array([3.0, 2.0, 9.0]))
    assert z.tolist() == [3.0, -2.0]
    assert weight.tolist() == [1.0, 2.0]


def test_margins_of_several_classes() -> None:
    """The own score minus the highest other one; rows without one of them do not count."""
    score = np.array([[1.0, 5.0, 2.0], [1.0, 5.0, 2.0], [1.0, -np.inf, 2.0], [1.0, 2.0, 3.0]])
    z, weight = margins(rows_of([1, 2, 1, -1]), score)
    assert z.tolist() == [3.0, -3.0]
    assert weight.tolist() == [1.0, 1.0]


def learned(model: Model, seed: int, n: int, classes: int = 2) -> Model:
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, 5))
    y = x[:, :classes].argmax(axis=1)
    rows = [list(enumerate(row)) for row in x.tolist()]
    model.learn(Rows.from_lists(rows, y.tolist()), Run())
    return model


def new(classes: int = 2, **given: Any) -> Model:
    labels = Labels(-1.0, 1.0)
    if classes > 2:
        labels = Labels(multiclass="rival", several=[float(k) for k in range(classes)])
    return Model.new("arow", {}, labels=labels, **given)


def test_counts_are_those_of_all_rows_once() -> None:
    base = learned(new(), 1, 50)
    parts = [learned(base.copy(), k, 30) for k in (2, 3)]
    both = merge(parts, base).model
    want = parts[0].progress + (parts[1].progress - base.progress)  # type: ignore[operator]
    assert (both.progress.scores == want.scores).all()  # type: ignore[attr-defined]
    assert (both.progress.confusion == want.confusion).all()  # type: ignore[attr-defined]
    assert both.rows == both.calibration.rows == 110
    assert both.slope != 1.0


def test_class_counts_of_balanced_weights() -> None:
    base = learned(new(class_weight="balanced"), 1, 50)
    parts = [learned(base.copy(), k, 30) for k in (2, 3)]
    counts = [np.array(m.class_weight.counts) for m in (base, *parts)]
    found = merge(parts, base).model
    assert found.class_weight.counts == (counts[1] + counts[2] - counts[0]).tolist()
    assert sum(found.class_weight.counts) == 110
    shares = [m.sample.rows().slice(base.rows, m.rows) for m in parts]
    latest = joined([base.sample.rows(), *shares])
    for name in ("indptr", "indices", "values", "y"):
        wanted = getattr(latest, name)
        np.testing.assert_array_equal(getattr(found.sample.rows(), name), wanted)
    faded = base.calibration.counts >> 1  # type: ignore[union-attr]  # at row 64, in part and merge
    gained = [m.calibration.counts - faded for m in parts]  # type: ignore[union-attr]
    want = faded + np.maximum(gained[0], 0) + np.maximum(gained[1], 0)
    np.testing.assert_array_equal(found.calibration.counts, want)  # type: ignore[union-attr]
    assert (found.calibration.counts.sum(axis=1) > 0).all()  # type: ignore[union-attr]


def test_scores_of_several_classes_for_the_probabilities() -> None:
    """The latest of the base, and an equal share of the latest of each part."""
    base = learned(new(3), 1, 700, 3)
    parts = [learned(base.copy(), k, 600, 3) for k in (2, 3)]
    both = merge(parts, base).model
    ring = both.calibration
    assert isinstance(ring, Ring) and isinstance(both.progress, Confusion)
    own = [part.calibration for part in parts]
    half = ROWS // 2
    want = np.concatenate([one.z[-half:] for one in own])  # type: ignore[union-attr]
    assert (ring.z == want).all()
    assert ring.rows == sum(one.rows for one in own) - base.calibration.rows
    assert both.rows == 1900


def run_of(name: str) -> dict[str, Any]:
    """A run of a history."""
    file = {"digest": name, "name": name, "rows": 1, "nnz": 1}
    metrics = dict.fromkeys(("error", "auc", "precision", "recall", "f1"), 0.5)
    return {"files": [file], "seed": 0, "rows": 1, "features": 1, "passes": 1, **metrics}


def test_the_history_has_the_runs_of_all() -> None:
    base = learned(new(), 1, 50)
    base.history = [run_of("a")]
    parts = [learned(base.copy(), k, 30) for k in (2, 3)]
    for name, part in zip("bc", parts, strict=True):
        part.history.append(run_of(name))
    assert list(merge(parts, base).model.learned()) == ["a", "b", "c"]
    with pytest.raises(ModelError, match="model 1 and model 2 both learned a"):
        merge(parts)
    with pytest.raises(ModelError, match="model 2 does not continue the base"):
        merge([parts[0], learned(new(), 3, 200)], base)


def test_what_continues_a_model() -> None:
    base = learned(new(), 1, 50)
    assert continues(base, base)
    assert continues(learned(base.copy(), 2, 30), base)
    assert not continues(base, learned(base.copy(), 2, 30))
    assert not continues(learned(new(), 5, 51), base)  # other rows, as many


def test_one_label_against_all_others() -> None:
    """The others may have other names in each model."""
    parts = []
    for k, other in ((1, 2.0), (2, 3.0)):
        model = Model.new("arow", {}, labels=Labels(other, 1.0, multiclass="no", rest=1))
        parts.append(learned(model, k, 50))
    labels = merge(parts).model.labels
    assert (labels.negative, labels.positive, labels.rest) == (2.0, 1.0, 2)
    with pytest.raises(ModelError, match="labels"):
        merge([parts[0], learned(new(), 3, 50)])


def test_classes_that_are_text_must_be_the_same() -> None:
    parts = [learned(new(), k, 50) for k in (1, 2, 3)]
    for part, names in zip(parts, (["ham", "spam"], ["ham", "spam"], ["no", "yes"]), strict=True):
        part.estimator = {"classes": names}
    assert merge(parts[:2]).model.estimator == {"classes": ["ham", "spam"]}
    with pytest.raises(ModelError, match="ham, spam, and model 3 the labels no, yes"):
        merge(parts)
