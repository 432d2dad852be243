"""Row weights in every row-by-row learner: frozen vectors, and what must hold for any data."""

import json
from functools import cache
from pathlib import Path

import learners
import numpy as np
import pytest
from factors import SPECTRAL, Factors
from learners import ETA, PHI

from cwtool import params, registry
from cwtool.data.rows import Rows, SlotRows
from cwtool.errors import UsageError
from cwtool.model import Model, packing
from cwtool.run import Run
from cwtool_ext import rules

VECTORS = json.loads(
    (Path(__file__).parent / "vectors" / "multiclass" / "weighted.json").read_text()
)
X, SIGNS, H = (np.array(VECTORS[name]) for name in ("X", "y_binary", "h"))
D = X.shape[1]
PARTS = {  # the columns of a state, by the names of the vectors
    "mean": "mu",
    "theta": "theta",
    "sum": "v",
    "weight": "w",
    "gradient": "G",
}


def algorithm(name, given):
    """The algorithm of a case of the vectors; the scale of rows is 1."""
    name, _, variant = name.partition(" ")
    given = {k: v for k, v in given.items() if v is not None}  # theta: none
    known = {p.name: p for p in params.declared(registry.algorithm(name).Params)}
    if name == "cw-sparse":
        given["mode"] = f"smooth-{variant}"
    if "loss" in given:
        given["rate"] = given.pop("eta", None)
    given |= {"prior": 1.0}
    kept = {k: v for k, v in given.items() if k in known and v is not None}
    kind = registry.algorithm(name)
    return kind(params.build(kind.Params, kept))


def taught(made, x, signs, weight=None, order=None):
    """The state of an algorithm and its scores after one pass over dense rows."""
    state = made.new_state()
    rows = SlotRows(*learners.stored(x), learners.classes(signs), weight)
    state.slots_of(np.arange(x.shape[1], dtype=np.int32))
    order = rows.order if order is None else order
    return state, made.learn(state, rows, order, Run())


def parts_of(made, state):
    """The state in the terms of the vectors: mu, precision, theta, v, A, w, G."""
    slots = state.slots_of(np.arange(D, dtype=np.int32))
    found = {PARTS[c.name]: state.column(c.name)[slots] for c in state.layout.columns
             if c.name in PARTS}  # fmt: skip
    if "precision" in {c.name for c in state.layout.columns}:
        found["precision"] = found["A"] = 1 + state.column("precision")[slots]
    if hasattr(made, "coefficients"):
        weight = made.coefficients(state, slots).weight
        found["mu"] = found["w"] = weight  # all debts paid
    elif "theta" in found:
        found["mu"] = found["theta"] / found["precision"]
    return found


def near(found, target, what):
    atol = 1e-9 * max(1.0, np.abs(target).max())
    np.testing.assert_allclose(found, target, rtol=0, atol=atol, err_msg=what)


def cases(section):
    return pytest.mark.parametrize("case", VECTORS[section], ids=lambda case: case["rule"])


def compare(case, weight):
    made = algorithm(case["rule"], case["params"])
    state, scores = taught(made, X, SIGNS, weight)
    found = parts_of(made, state)
    near(scores.score, np.array(case["score"]), "score")
    compared = [part for part in case if part not in ("rule", "params", "score")]
    for part in compared:
        target = np.array(case[part])
        if part == "precision" and "precision" not in found:
            np.testing.assert_array_equal(target, np.ones(D))  # first order
        elif part == "precision" and case["rule"].startswith("cw"):
            near(np.log(found[part]), np.log(target), part)
        else:
            near(found[part], target, part)
    assert compared


@cases("weighted")
def test_weighted_vectors(case):
    compare(case, H)


@cases("unit_weights")
@pytest.mark.parametrize("weight", [None, np.ones(len(SIGNS))], ids=["none", "ones"])
def test_unit_vectors(case, weight):
    compare(case, weight)


# every learner

ALGORITHMS = {
    **{case["rule"]: (case["rule"], case["params"]) for case in VECTORS["weighted"]},
    "pa1 average": ("pa1", {"C": 0.3, "average": True}),
    "cw full": ("cw", {"covariance": "full"}),
    "arow full": ("arow", {"covariance": "full"}),
    "nherd full": ("nherd", {"covariance": "full"}),
    "narow full": ("narow", {"covariance": "full"}),
    "sop full": ("sop", {"covariance": "full"}),
    "arow factored": ("arow", {"covariance": "factored", "rank": 2, "buffer": 3}),
    "cw-fact": ("cw-fact", {"rank": 2, "buffer": 3}),
    "cw-sparse aggressive": ("cw-sparse aggressive", {"mode": "aggressive", "features": 5}),
    "sofs": ("sofs", {"features": 5}),
    "tg constant": ("tg", {"gravity": 0.01, "every": 3, "theta": 0.2, "by_rate": False}),
}
every = pytest.mark.parametrize("name", ALGORITHMS)


@cache
def made_of(name):
    kind, given = ALGORITHMS[name]
    if kind == "cw-sparse aggressive":
        cls = registry.algorithm("cw-sparse")
        return cls(params.build(cls.Params, {**given, "prior": 1.0}))
    return algorithm(kind, given)


def packed(state):
    """All that would be saved, as bytes."""
    arrays = {name: array.tobytes() for name, array in state.pack().items()}
    return arrays | {"numbers": repr(state.numbers)}


@every
def test_weights_of_one_are_no_weights(name):
    made = made_of(name)
    plain, found = taught(made, X, SIGNS)
    ones, same = taught(made, X, SIGNS, np.ones(len(X)))
    assert packed(ones) == packed(plain)
    np.testing.assert_array_equal(same.score, found.score)
    np.testing.assert_array_equal(same.variance, found.variance)


@every
def test_rows_of_weight_zero_are_scored_and_not_learned(name):
    """As if they were not there, and their scores are those of the model at that time."""
    made = made_of(name)
    weight = np.where(np.arange(len(X)) % 3 == 1, 0.0, H + 0.25)
    there = np.flatnonzero(weight)
    state, found = taught(made, X, SIGNS, weight)
    absent, others = taught(made, X[there], SIGNS[there], weight[there])
    assert packed(state) == packed(absent)
    np.testing.assert_array_equal(found.score[there], others.score)
    np.testing.assert_array_equal(found.variance[there], others.variance)
    for i in np.flatnonzero(weight == 0)[::4]:
        before, _ = taught(made, X[:i], SIGNS[:i], weight[:i])
        rows = SlotRows(*learners.stored(X[i : i + 1]), np.zeros(1, dtype=np.int32))
        score, variance = made.scores(before, rows, np.zeros(1), Run())
        assert (score[0], variance[0]) == (found.score[i], found.variance[i])


@every
def test_a_weight_does_something(name):
    made = made_of(name)
    light, heavy = (taught(made, X, SIGNS, np.full(len(X), h))[0] for h in (0.5, 2.0))
    assert packed(light) != packed(heavy)


@every
def test_blocks_change_no_bit(name):
    made = made_of(name)
    whole, _ = taught(made, X, SIGNS, H)
    parts = made.new_state()
    parts.slots_of(np.arange(D, dtype=np.int32))
    rows = SlotRows(*learners.stored(X), learners.classes(SIGNS), H)
    for a, b in ((0, 1), (1, 18), (18, 40), (40, 60)):
        part = rows.slice(a, b)
        made.learn(parts, part, part.order, Run())
    assert packed(parts) == packed(whole)


# models


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [n for n in registry.names() if registry.algorithm(n).takes_weights]
)
def test_a_model_hands_weights_on(name):
    """In the order of the rows, also while the scale of rows is not settled."""

    def saved(weight, **given):
        model = Model.new(name, given)
        rows = Rows(*learners.stored(X), learners.classes(SIGNS), weight)
        model.learn(rows, Run())
        model.relearn(rows, rows.order[::-1].copy(), Run())
        header, arrays = packing.pack(model)
        return repr(header), {k: v.tobytes() for k, v in arrays.items()}

    known = {p.name for p in params.declared(registry.algorithm(name).Params)}
    short = {"max_batch_passes": 10} if "max_batch_passes" in known else {}
    for scaling in [{"prior": "auto"}, {"prior": 1.0}] if "prior" in known else [{}]:
        plain = saved(None, **scaling, **short)
        assert saved(np.ones(len(X)), **scaling, **short) == plain
        assert saved(H + 0.25, **scaling, **short) != plain


@pytest.mark.parametrize("name", registry.names())
def test_weights_that_would_do_nothing_are_refused(name):
    kind = registry.algorithm(name)
    assert kind.takes_weights == (name not in ("pa", "sdist", "rff-markov"))
    if kind.takes_weights:
        return
    model = Model.new(name, {})
    with pytest.raises(UsageError, match=f"{name} does not take row weights"):
        model.learn(Rows(*learners.stored(X), learners.classes(SIGNS), H), Run())


@pytest.mark.parametrize("name", ["cw", "arow", "scw1"])
def test_factored_is_full_with_weights_too(name):
    """As long as nothing was fitted."""
    rule = {
        "cw": rules.cw(PHI, ETA),
        "arow": rules.arow(0.5),
        "scw1": rules.scw1(PHI, 0.5, ETA),
    }[name]
    factors = Factors(D, 2, 70, SPECTRAL)
    made = factors.learner(rule)
    found = learners.learn(made, learners.csr(X), SIGNS, H)
    made.keep()
    table, sigma = learners.fresh("full", D)
    full = learners.learner("full", rule, table, sigma, smin=1e-10)
    target = learners.learn(full, learners.csr(X), SIGNS, H)
    assert found[2] == target[2]
    for a, b in zip((*found[:2], factors.dense()[2]), (*target[:2], table[:, 0]), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-7 * max(1, np.abs(b).max()))
