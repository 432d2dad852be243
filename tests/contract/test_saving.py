"""A saved, loaded or copied model is the same model, and goes on as if nothing had happened."""

from pathlib import Path

import numpy as np
import pytest
from contract import Variant, essence, every, few, learned, online, planted, revisited, scores

from cwtool.model import Model
from cwtool.run import Run

pytestmark = pytest.mark.usefixtures("spare_time")


def saved(model: Model, path: Path) -> Model:
    model.save(path)
    return Model.load(path)


@every
def test_saved_and_loaded_is_the_same(variant: Variant, tmp_path: Path) -> None:
    a, b = planted(1, 300), planted(2, 100, first=25)
    model = learned(variant.new(), a)
    loaded = saved(model, tmp_path / "a.cw")
    loaded.save(tmp_path / "b.cw")
    assert (tmp_path / "b.cw").read_bytes() == (tmp_path / "a.cw").read_bytes()
    assert scores(loaded, a, b) == scores(model, a, b)
    for one, other in zip(loaded.weights(), model.weights(), strict=True):
        assert np.array_equal(one, other)


@every
@pytest.mark.parametrize("cuts", [(700, 900, 300), (1, 7, 200)], ids=str)
def test_resumed_equals_one_long_run(
    variant: Variant, cuts: tuple[int, ...], tmp_path: Path
) -> None:
    """Before and after the row scale settles at 1,000 rows; each part brings new features."""
    parts = [planted(k, few(variant, n), first=20 * k) for k, n in enumerate(cuts)]
    whole = learned(variant.new(), *parts)
    model = variant.new()
    for part in parts:
        model = learned(saved(model, tmp_path / "m.cw"), part)
    assert essence(model) == essence(whole)
    assert scores(model, *parts) == scores(whole, *parts)


@online
@pytest.mark.parametrize("rows", [300, 1200])
def test_resumed_between_passes(variant: Variant, rows: int, tmp_path: Path) -> None:
    a, b, run = planted(1, rows), planted(2, 200, first=20), Run(seed=4)
    whole = learned(revisited(learned(variant.new(), a), a, run), b)
    model = saved(learned(variant.new(), a), tmp_path / "m.cw")
    model = learned(saved(revisited(model, a, run), tmp_path / "m.cw"), b)
    assert essence(model) == essence(whole)


@every
def test_a_copy_goes_on_by_itself(variant: Variant) -> None:
    a, b = planted(1, 250), planted(2, 150, first=20)
    model = learned(variant.new(), a)
    copied, before = model.copy(), essence(model)
    again = model.copy(trusted=True)
    assert essence(copied) == essence(again) == before
    after = essence(learned(model, b))
    assert after != before
    assert essence(copied) == essence(again) == before
    assert essence(learned(copied, b)) == after
