"""Several classes: the frozen vectors, slow learners in plain NumPy, and what must hold always."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from cwtool.data.labels import Labels
from cwtool.data.rows import Rows
from cwtool.metrics.confusion import predicted
from cwtool.model import Model, packing
from cwtool.run import Run

VECTORS = json.loads(
    (Path(__file__).parent / "vectors" / "multiclass" / "classes.json").read_text()
)
X, Y, H = (np.array(VECTORS[name]) for name in ("X", "y", "h"))
CASES = VECTORS["multiclass"]


def rows_of(x, y, weight, labels):
    """Dense rows as the labels number their classes."""
    for label in y[weight > 0] if weight is not None else y:
        if label not in labels.several:
            labels.several.append(float(label))
    numbers = {label: k for k, label in enumerate(labels.several)}
    indptr = np.concatenate([[0], np.cumsum((x != 0).sum(axis=1))])
    return Rows(
        indptr.astype(np.int64),
        np.nonzero(x)[1].astype(np.int32),
        x[x != 0],
        np.array([numbers.get(float(label), -1) for label in y], dtype=np.int32),
        weight,
    )


def new(case, **others):
    given = {**case["params"], **others}
    if case["projection"]:
        given |= {"projection": case["projection"], "prior": 1.0}
    elif case["rule"] in ("pa1", "pa2"):
        given["prior"] = 1.0
    if case["average"]:
        given["average"] = True
    model = Model.new(case["rule"], given, labels=Labels(multiclass=case["kind"], several=[]))
    model.settle()
    return model


def learned(case, pieces):
    model, scores = new(case), []
    weight = H if case["weighted"] else None
    for piece in pieces:
        h = None if weight is None else weight[piece]
        score = model.learn(rows_of(X[piece], Y[piece], h, model.labels), Run()).score
        scores.append(np.pad(score, ((0, 0), (0, 4 - score.shape[1])), constant_values=-np.inf))
    return model, np.concatenate(scores)


def name_of(case):
    flags = [case["projection"] or "", "average" * case["average"], "weighted" * case["weighted"]]
    return "-".join([case["kind"], case["rule"], *filter(None, flags)])


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_frozen_vectors(case):
    model, score = learned(case, [slice(0, 60)])
    wanted = np.array(case["score"], dtype=float)  # null: not born
    np.testing.assert_array_equal(np.isnan(wanted), score == -np.inf)
    here = ~np.isnan(wanted)
    scale = max(1.0, np.abs(wanted[here]).max())
    np.testing.assert_allclose(score[here], wanted[here], rtol=0, atol=1e-9 * scale)
    labels = model.labels.several
    found = [None if k < 0 else int(labels[k]) for k in predicted(labels, score).tolist()]
    assert found == case["predicted"]
    weights = model.weights()
    mu = np.zeros((4, X.shape[1]))
    mu[:, weights.ids] = weights.weight.T
    target = np.array(case.get("mean") or case["mu"])
    np.testing.assert_allclose(mu, target, rtol=0, atol=1e-9 * max(1, np.abs(target).max()))
    if case["projection"]:
        precision = np.ones((4, X.shape[1]))
        precision[:, weights.ids] = 1 / weights.variance.T
        np.testing.assert_allclose(np.log(precision), np.log(case["precision"]), atol=1e-9)


def same(one, other):
    """Both models have the same bits."""
    (header, arrays), (others_header, others) = packing.pack(one), packing.pack(other)
    assert header == others_header
    assert arrays.keys() == others.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, others[name], err_msg=name)


LINES = [c for c in CASES if c["rule"] in ("pa1", "arow", "scw1") and c["projection"] != "l2"]


@pytest.mark.parametrize("case", LINES, ids=name_of)
def test_any_stop_and_any_blocks_give_the_same_bits(case, tmp_path):
    """Also a stop just before, at and after the first row of a class: 9 and 22."""
    whole, _ = learned(case, [slice(0, 60)])
    parts, _ = learned(case, [slice(a, b) for a, b in pairwise([0, 1, 9, 10, 22, 60])])
    same(whole, parts)
    for stop in (1, 9, 10, 22, 23, 40):
        model, _ = learned(case, [slice(0, stop)])
        model.save(tmp_path / "m.cw")
        model = Model.load(tmp_path / "m.cw")
        h = H[stop:] if case["weighted"] else None
        model.learn(rows_of(X[stop:], Y[stop:], h, model.labels), Run())
        same(whole, model)


@pytest.mark.parametrize("case", LINES, ids=name_of)
def test_rows_of_weight_0_are_as_absent(case):
    here = H > 0
    whole, absent = new(case), new(case)
    whole.learn(rows_of(X, Y, np.where(here, 1.0, 0.0), whole.labels), Run())
    absent.learn(rows_of(X[here], Y[here], None, absent.labels), Run())
    same(whole, absent)


@pytest.mark.parametrize("case", [c for c in CASES if c["kind"] == "ovr"], ids=name_of)
def test_a_class_against_the_rest_is_the_model_of_two_classes(case):
    """To the bit, whenever the class first comes; averages run since then, so only for the
    class of the first row."""
    model, score = learned(case, [slice(0, 60)])
    weights = model.weights()
    for k, _label in enumerate(model.labels.several[: 1 if case["average"] else None]):
        two = Model.new(case["rule"], new(case).algorithm.params.__dict__, labels=Labels(-1.0, 1.0))
        rows = rows_of(X, Y, H if case["weighted"] else None, model.labels)
        y = (rows.y == k).astype(np.int32)
        found = two.learn(Rows(rows.indptr, rows.indices, rows.values, y, rows.weight), Run())
        np.testing.assert_array_equal(two.weights().weight, weights.weight[:, k])
        if case["projection"]:
            np.testing.assert_array_equal(two.weights().variance, weights.variance[:, k])
        came = score[:, k] > -np.inf
        np.testing.assert_array_equal(found.score[came], score[came, k])


@pytest.mark.parametrize("case", LINES, ids=name_of)
def test_other_names_of_labels_change_nothing(case):
    _model, score = learned(case, [slice(0, 60)])
    names = {1: 30.0, 2: 10.0, 3: -5.5, 7: 20.0}
    other = new(case)
    h = H if case["weighted"] else None
    y = np.array([names[int(label)] for label in Y])
    found = other.learn(rows_of(X, y, h, other.labels), Run()).score
    np.testing.assert_array_equal(np.sort(found), np.sort(score))  # but for ties, class by class


@pytest.mark.parametrize("rule", ["perceptron", "pa", "pa1", "pa2"])
def test_the_weights_of_first_order_rivals_add_up_to_zero(rule):
    case = next(c for c in CASES if c["kind"] == "rival" and c["rule"] == rule)
    total = learned(case, [slice(0, 60)])[0].weights().weight.sum(axis=1)
    np.testing.assert_allclose(total, 0, atol=1e-12)
