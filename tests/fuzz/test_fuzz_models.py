"""Changed model files of every algorithm, signed anew: each is a model or a ModelError, never
anything else. `make fuzz` tries many more, with all commands."""

import json
import warnings

import fuzzed_models as models
import numpy as np
import pytest
from model_mutants import mutant

from cwtool.errors import ModelError
from cwtool.feed.day_rules import Limits, complaints
from cwtool.feed.report import days_of
from cwtool.feed.watch import Day
from cwtool.inspect import describe
from cwtool.messages.inspect_text import text
from cwtool.model import Model
from cwtool.run import Run

KINDS = [
    pytest.param(*variant, labels, 2 * k + labels // 4, id=f"{variant[0]} {variant[1]} {labels}")
    for k, variant in enumerate(models.variants(all_=False))
    for labels in (2, 4)
]
EACH = 5  # mutants of a model


def used(model: Model, labels: int) -> None:
    """All that commands do with a model that was loaded."""
    rows, _ = models.rows_of(5, 12, labels, first=4)
    found = model.scores(rows)
    shown = model.probability(found.score, found.variance)
    assert np.isfinite(shown).all()
    described = describe(model, 5, {}, 1 if model.several is not None and labels > 1 else None)
    assert json.dumps(described, allow_nan=False)
    assert text(described)
    days_of(model, 100, [])
    complaints(Day(10, 0.1, 0.1, 0.1, 1, 10, 0.0, 1, 2, 3.0), model.history, Limits())
    model.learn(rows, Run())
    try:
        written = model.to_bytes()
    except ModelError as refusal:
        assert "have become too large for a file" in str(refusal) or "negative" in str(refusal)
    else:  # what was written can be read again
        Model.from_bytes(written)


@pytest.mark.parametrize(("algo", "label", "given", "labels", "seed"), KINDS)
@pytest.mark.usefixtures("spare_time")
def test_mutants(algo: str, label: str, given: dict[str, object], labels: int, seed: int) -> None:
    data = models.trained(algo, dict(given), labels, seed).to_bytes()
    for k in range(EACH):
        how, changed = mutant(1000 * seed + k, data)
        try:
            model = Model.from_bytes(changed)
        except ModelError as refusal:
            assert str(refusal).startswith("the model in memory "), how
            continue
        if model.labels.values and len(model.labels.values) == labels:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # of numbers near the largest
                used(model, labels)
