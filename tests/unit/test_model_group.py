"""Models that learn the same rows side by side predict what each predicts alone."""

from typing import Any

import numpy as np
import pytest

from cwtool import validation
from cwtool.data.labels import Labels
from cwtool.data.parse import Reading
from cwtool.data.rows import Rows, joined
from cwtool.model import Model
from cwtool.model.model_group import ModelGroup, alike, cut, grouped
from cwtool.model.sharing import share_features
from cwtool.run import Run

POINTS: list[tuple[str, dict[str, Any]]] = [
    *[("arow", {"r": r}) for r in (0.1, 0.5, 1.0, 2.0, 9.0)],
    ("arow", {"r": 1.0, "variance_floor": 0.5}),
    *[("cw", {"eta": eta}) for eta in (0.6, 0.9)],
    ("scw1", {"C": 0.3}),
    ("nherd", {"C": 2.0}),
    ("arow", {"r": 1.0, "projection": "l2"}),
    ("cw", {"projection": "l2"}),
    ("arow", {"r": 1.0, "prior": 0.5}),
    ("arow", {"r": 1.0, "half_life": 50}),
    ("pa1", {"C": 0.1}),
    ("narow", {}),
]


def blocks(seed: int, weighted: bool) -> list[Rows]:
    """Rows with ids that are slots and ids that are hashed, in blocks of different lengths."""
    rng = np.random.default_rng(seed)
    found = []
    for n in (3, 150, 1, 260, 90):
        lengths = rng.integers(0, 12, n)
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        near = [np.sort(rng.choice(60, k, replace=False)) for k in lengths]
        ids = [np.where(j > 40, j + (1 << 22), j).astype(np.int32) for j in near]
        indices = np.concatenate(ids) if ids else np.empty(0, dtype=np.int32)
        y = rng.integers(0, 2, n).astype(np.int32)
        weight = rng.integers(0, 3, n) / 2 if weighted else None
        found.append(Rows(indptr, indices, rng.standard_normal(len(indices)), y, weight))
    return found


def models(class_weight: str) -> list[Model]:
    return [Model.new(name, given, class_weight=class_weight) for name, given in POINTS]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("class_weight", ["", "balanced"])
@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_they_predict_what_each_predicts_alone(
    jobs: int, class_weight: str, weighted: bool
) -> None:
    alone, beside, run = models(class_weight), models(class_weight), Run(seed=1)
    share_features(beside)
    groups = grouped(beside, jobs)
    assert sorted(id(model) for group in groups for model in group.models) == sorted(
        map(id, beside)
    )
    for number, rows in enumerate(blocks(jobs, weighted)):
        for model in alone:
            model.learn(rows, run)
        for group in groups:
            group.learn(rows, run)
        if number == 2:  # some are given up
            kept = [k for k in range(len(POINTS)) if k % 3 != 1 and k != 0]
            alone, beside = [alone[k] for k in kept], [beside[k] for k in kept]
            for group in groups:
                group.only(beside)
            groups = [group for group in groups if group.models]
    for one, other in zip(alone, beside, strict=True):
        assert one.progress.summary() == other.progress.summary()


def test_those_that_differ_in_more_than_a_rule_are_apart() -> None:
    found = models("")
    share_features(found)
    sizes = [len(group.models) for group in grouped(found, 1) if isinstance(group, ModelGroup)]
    assert sizes == [8, 2, 2]
    several = models("")
    for model in several:
        model.labels = Labels.against_rest(1.0)
        model.labels.several = [1.0, 2.0, 3.0]
    assert alike(several) == [[k] for k in range(len(POINTS))]
    other = Model.new("arow", {}, Reading(bias=True))
    assert alike([*models("")[:2], other]) == [[0, 1], [2]]


@pytest.mark.parametrize(("n", "parts", "sizes"), [(3, 1, [3]), (8, 2, [4, 4]), (19, 2, [8, 8, 3])])
def test_parts_fit_into_a_table(n: int, parts: int, sizes: list[int]) -> None:
    found = cut(range(n), parts)
    assert [len(part) for part in found] == sizes
    assert [k for part in found for k in part] == list(range(n))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("class_weight", ["", "balanced"])
@pytest.mark.parametrize(("passes", "calibrate"), [(1, True), (1, False), (3, False)])
def test_they_are_judged_as_each_is_alone(
    passes: int, calibrate: bool, class_weight: str, weighted: bool, monkeypatch: Any
) -> None:
    """On rows that none has learned, in blocks of any size, with the memory of those before."""
    monkeypatch.setattr(validation, "BLOCK", 700)
    rows, run = joined(blocks(3, weighted)), Run(seed=2, calibrate=calibrate)
    learned, checked = next(validation.folds(rows.y, 3))
    kept, held = rows.take(np.concatenate([learned] * 2)), rows.take(checked)
    group = None
    for places in ([0, 1, 2, 3, 4, 5, 6, 7], [10, 11], [2, 8, 9]):
        beside = ModelGroup(
            [models(class_weight)[k] for k in places], probabilities=True, spare=group
        )
        group = validation.fit(beside, rows, run, passes, np.concatenate([learned] * 2))
        alone = [models(class_weight)[k] for k in places]
        assert validation.evaluate_all(group, rows, checked) == [
            validation.evaluate(validation.fit(model, kept, run, passes), held) for model in alone
        ]
