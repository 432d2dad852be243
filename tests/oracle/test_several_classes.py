"""Several classes: the frozen vectors, slow learners in plain NumPy, and what must hold always."""

import json
from pathlib import Path

import numpy as np
import pytest

from cwtool.confusion import predicted
from cwtool.data.labels import Labels
from cwtool.data.rows import Rows
from cwtool.model import Model
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
