"""Several classes: every variant learns them, and one against the rest is the model of two."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from contract import (
    BATCH,
    VARIANTS,
    Variant,
    each,
    essence,
    every,
    frozen,
    learned,
    planted,
    scores,
)
from scipy.sparse import csr_array

from cwtool.algorithms.base import Selects
from cwtool.algorithms.multiclass.votes import Voting
from cwtool.algorithms.stsgd import Stsgd
from cwtool.data.labels import Labels
from cwtool.data.rows import Rows
from cwtool.model import Model
from cwtool.run import Run

pytestmark = pytest.mark.usefixtures("spare_time")

LATE = 3  # the class that comes in the second file only


@cache
def quartered(seed: int, n_rows: int, first: int = 0, classes: int = 4) -> Rows:
    """Rows of four classes: the sides of two planes. Those of the last classes are left out unless
    `classes` is 4."""
    rows = planted(seed, n_rows, first)
    other = (rows.indices.astype(np.int64) * 2654435761 >> 16) % 201 - 100
    side = np.add.reduceat(rows.values * other, rows.indptr[:-1]) > 0
    y = (2 * rows.y + side).astype(np.int32)
    return frozen(replace(rows, y=y).take(np.flatnonzero(y < classes)))


def several(variant: Variant, classes: int = 4) -> Model:
    """An untrained model of several classes, one against the rest."""
    labels = Labels(multiclass="ovr", several=[float(k) for k in range(classes)])
    model = Model.new(variant.algo, variant.given, labels=labels)
    model.settle()
    return model


def against(rows: Rows, class_: int) -> Rows:
    return frozen(replace(rows, y=(rows.y == class_).astype(np.int32)))


def files(variant: Variant) -> tuple[Rows, Rows]:
    """The second file has a class and features that are new, and a row of this class first."""
    n = 160 if variant in BATCH else 240
    more = quartered(2, n // 2, 15)
    order = np.argsort(more.y != LATE, kind="stable")
    order[1:] = np.sort(order[1:])
    return quartered(1, n, 0, LATE), frozen(more.take(order))


@every
def test_saved_resumed_and_loaded(variant: Variant, tmp_path: Path) -> None:
    a, b = files(variant)
    whole = learned(several(variant), a, b)
    model = learned(several(variant, LATE), a)
    model.save(tmp_path / "m.cw")
    model = Model.load(tmp_path / "m.cw")
    model.labels.several.append(float(LATE))
    learned(model, b, run=Run(jobs=2))
    assert essence(model) == essence(whole)
    assert scores(model, a, b) == scores(whole, a, b)
    assert np.isfinite(model.scores(b).score).all()


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("bcw dual", "square.gram"),
        ("knn", "array.rows.values"),
        ("rff-markov", "array.rows.values"),
    ],
)
def test_what_all_classes_share_is_saved_once(name: str, part: str) -> None:
    variant = next(v for v in VARIANTS if str(v).startswith(name))
    model = learned(several(variant), *files(variant))
    assert [name for name in model.state.pack() if name.endswith(part)] == [part]


def alone(variant: Variant) -> bool:
    """Whether the classes have nothing in common: neither neighbours nor chosen features."""
    chooses = isinstance(variant.algorithm, Selects) and variant.given.get("features") != 0
    return not (chooses or isinstance(variant.algorithm, Voting))


@each(filter(alone, VARIANTS))
def test_one_against_the_rest_is_the_model_of_two(variant: Variant) -> None:
    a, b = files(variant)
    model = learned(several(variant), a, b)
    got, weights = model.scores(b), model.weights()
    for k in range(4):
        if variant.given.get("average") and k != a.y[0]:
            continue  # averages begin with the first row of a class
        two = learned(variant.new(), against(a, k), against(b, k))
        want = two.scores(b)
        assert got.score[:, k].tobytes() == want.score.tobytes()
        found = two.weights()
        assert weights.weight[:, k].tobytes() == found.weight.tobytes()
        assert (weights.variance is None) == (found.variance is None)
        if found.variance is not None:
            assert weights.variance[:, k].tobytes() == found.variance.tobytes()


def marked(seed: int, n_rows: int) -> Rows:
    """Rows of four classes, each with three features of its own among others."""
    draw = np.random.default_rng(seed)
    y = draw.integers(0, 4, n_rows)
    x = draw.normal(0, 0.2, (n_rows, 14))
    x[np.arange(n_rows)[:, None], 3 * y[:, None] + np.arange(3)] += 1
    return frozen(Rows.from_csr(csr_array(x), y))


@every
def test_learns_classes(variant: Variant) -> None:
    model, test = learned(several(variant), marked(1, 400)), marked(2, 200)
    bound = 0.2 if str(variant) == "sdist stsgd" else 0.1  # which makes as many steps as classes
    assert np.mean(model.scores(test).score.argmax(axis=1) != test.y) < bound


@pytest.mark.parametrize("algo", ["sbcw", "fgm", "l1svm", "spar-dca"])
@pytest.mark.parametrize("features", [1, 5, 11])
def test_as_many_features_for_all_classes_as_asked_for(algo: str, features: int) -> None:
    model = learned(several(Variant(algo, "", {"features": features, "C": 100.0})), marked(1, 300))
    chosen = model.several.selection(model.state)
    assert len(set(chosen.slots.tolist())) == features
    assert len(chosen.score) == len(chosen.group) == features
    assert (chosen.score > 0).all()
    assert chosen.group.min() == 1
    weights = model.weights()
    used = weights.ids[(weights.weight != 0).any(axis=1)]
    assert set(used.tolist()) <= set(model.index.ids_of(chosen.slots).tolist())


@pytest.mark.parametrize("name", ["l1svm given C", "spar-dca given C"])
def test_classes_without_a_row_in_a_batch_are_fitted_as_one(name: str) -> None:
    variant = next(v for v in VARIANTS if str(v) == name)
    a, b = quartered(1, 160), quartered(2, 80, 15, classes=2)
    weight = learned(several(variant), a, b).weights().weight
    for k in range(4):
        two = learned(variant.new(), against(a, k), against(b, k))
        assert np.array_equal(weight[:, k], two.weights().weight)
    assert not np.array_equal(weight[:, 1], weight[:, 2])


def test_many_new_classes_are_each_learned_in_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise all learners would be called again at the first row of each new class."""
    variant = next(v for v in VARIANTS if str(v) == "stsgd")
    model, rows, calls = several(variant, 40), quartered(1, 80), []
    learn = Stsgd.learn
    monkeypatch.setattr(Stsgd, "learn", lambda *given: calls.append(given[3]) or learn(*given))
    y = np.arange(rows.n_rows, dtype=np.int32) % 40
    learned(model, frozen(replace(rows, y=y)))
    ghost, last, each_class = calls[:39], calls[39], calls[40:]
    assert [len(order) for order in ghost] == [1] * 39
    assert [order[0] for order in (last, *each_class)] == [39, *range(40)]
    assert all(order[-1] == rows.n_rows - 1 for order in (last, *each_class))
