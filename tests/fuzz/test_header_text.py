"""Headers of model files that are short as text, and long as what becomes of it."""

import json
from typing import Any

import fuzzed_models as models
import pytest
from model_parts import parts_of, sealed

from cwtool.errors import ModelError
from cwtool.model import Model, header_text

GOOD = models.trained("arow", {}, 2, 0).to_bytes()


def with_entry(value: str) -> bytes:
    """A model file with this JSON text as a further entry of its header."""
    header, arrays = parts_of(GOOD)
    text = json.dumps(header)[:-1] + f', "more": {value}}}'
    return sealed(None, arrays, text=text.encode())


@pytest.mark.parametrize("one", ["[]", "{}", '{"":0}', '""', "0"])
def test_very_many_values_are_not_read(one: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty list or object takes 24 times its bytes of memory, and its time."""
    monkeypatch.setattr(header_text, "MOST", 10_000)
    with pytest.raises(ModelError, match="its header is too long"):
        Model.from_bytes(with_entry(f"[{','.join([one] * 10_001)}]"))


def test_one_wide_letter_does_not_widen_all_of_a_header() -> None:
    with pytest.raises(ModelError, match="was altered"):
        Model.from_bytes(with_entry('"\U0001f600"'))


def runs(model: Model) -> list[Any]:
    return [run["seed"] for run in model.history]


def test_a_file_keeps_the_latest_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(header_text, "MOST", 2000)
    model = Model.from_bytes(GOOD)
    model.history = [{**model.history[0], "seed": seed} for seed in range(100)]
    kept = runs(Model.from_bytes(model.to_bytes()))
    assert kept == list(range(100))[-len(kept) :]
    assert 5 < len(kept) < 20
    assert runs(model) == list(range(100))


def test_a_run_of_too_many_files_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(header_text, "MOST", 2000)
    model = Model.from_bytes(GOOD)
    model.history[0]["files"] *= 500
    with pytest.raises(ModelError, match="too many classes or files for a model file"):
        model.to_bytes()
