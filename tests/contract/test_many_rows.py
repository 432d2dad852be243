"""Counters far beyond 2^31 rows, and feature ids and slots next to 2^31: nothing overflows."""

from typing import Any

import numpy as np
import pytest
from contract import Variant, every, few, learned, planted, scores, shifted

from cwtool.algorithms.base import Recalls
from cwtool.metrics.calibration import Calibration
from cwtool.metrics.tally import Tally
from cwtool.model import Model
from cwtool.state import FeatureIndex

pytestmark = pytest.mark.usefixtures("spare_time")

FAR = 5 << 31  # rows that the model says it has learned before
COUNTERS = ("rounds", "visits", "learned", "rows", "seen", "met", "batches")


def aged(model: Model) -> Model:
    """The model as if it had learned very many rows, saved and loaded."""
    assert isinstance(model.progress, Tally) and isinstance(model.calibration, Calibration)
    middle = model.progress.scores.shape[1] // 2
    model.progress.scores[:, middle] += FAR
    model.progress.confusion += [[FAR, 0], [0, FAR]]
    model.calibration.rows += FAR
    model.calibration.counts[:, middle] += FAR
    for name in COUNTERS:
        if name in model.state.numbers and name != "met":
            model.state.numbers[name] += FAR
    return Model.from_bytes(model.to_bytes())


@every
def test_counts_go_on_exactly(variant: Variant) -> None:
    rows = planted(1, few(variant, 300))
    model = aged(learned(variant.new(), rows))
    before = dict(model.state.numbers)
    learned(model, planted(2, few(variant, 300)))
    again = Model.from_bytes(model.to_bytes())
    assert again.rows == 2 * FAR + 2 * rows.n_rows
    assert isinstance(again.progress, Tally)
    assert again.progress.scores.sum() == again.rows
    recalls = isinstance(model.algorithm, Recalls)  # it counts the rows that it keeps
    assert again.calibration.rows == 2 * rows.n_rows + (0 if recalls else FAR)
    for name in ("rounds", "visits", "learned"):
        if name in before:
            assert again.state.numbers[name] == before[name] + rows.n_rows
    assert np.isfinite(np.frombuffer(scores(again, rows))).all()


def near_the_end(algo: str, given: dict[str, Any], direct: int) -> Model:
    """A model whose ids below `direct` are their own slots."""
    model = Model.new(algo, given)
    try:
        model.index = FeatureIndex(direct)
        model.state = model.algorithm.new_state(model.index)
    except (OSError, MemoryError):
        pytest.skip("maps 17 GB, most of which is never touched; this system does not allow it")
    return model


def test_slots_next_to_the_last_one() -> None:
    """The same weights as with small slots, for ids up to the largest."""
    direct = (1 << 31) - 64
    rows = shifted(planted(3, 200), direct - 20)  # ids on both sides of `direct`
    found = learned(near_the_end("perceptron", {}, direct), rows)
    usual = learned(Model.new("perceptron", {}), rows)
    assert found.index.n_slots > direct
    np.testing.assert_array_equal(found.weights().weight, usual.weights().weight)
    assert scores(found, rows) == scores(usual, rows)
