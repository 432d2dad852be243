"""Stabilized truncated descent with its defaults against truncated gradient tuned on a grid."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from cwtool.cli import run
from cwtool.metrics.stability import stability
from cwtool.model import Model

FEATURES = {"dexter": 19_999, "skf_pcmac": 3_289, "news20_comp": 21_106}
GRAVITIES = ("1e-5", "3e-5", "1e-4", "3e-4", "1e-3", "3e-3")
PERMUTATIONS = 5
PASSES = ("--passes", "6")


class Outcome(NamedTuple):
    error: float
    features: float
    kappa: float


class Place:
    """A folder to train and test in."""

    def __init__(self, folder: Path, capsys: Any) -> None:
        self.folder, self.capsys = folder, capsys

    def learn(self, lines: list[str], test: list[str], *options: str) -> tuple[Any, np.ndarray]:
        """What is measured on the test rows, and the features that have a weight."""
        train, other, model = (self.folder / name for name in ("train", "test", "model"))
        train.write_text("\n".join(lines))
        other.write_text("\n".join(test))
        assert run(["train", str(train), "-m", str(model), "-q", *PASSES, *options]) == 0
        self.capsys.readouterr()
        assert run(["predict", str(other), "-m", str(model), "--evaluate", "--json"]) == 0
        found = json.loads(self.capsys.readouterr().out.splitlines()[-1])
        ids, weight, *_ = Model.load(model).weights()
        return found, ids[np.flatnonzero(weight)]

    def outcome(self, name: str, lines: list[str], test: list[str], *options: str) -> Outcome:
        """Means over permutations of the rows."""
        found = [
            self.learn(random.Random(k).sample(lines, len(lines)), test, *options)
            for k in range(PERMUTATIONS)
        ]
        kappa = stability([support for _, support in found], FEATURES[name])
        assert kappa is not None
        error = float(np.mean([measured["error"] for measured, _ in found]))
        return Outcome(error, float(np.mean([len(s) for _, s in found])), kappa)

    def tuned(self, lines: list[str]) -> str:
        """The largest gravity within one point of the best on a fifth of the rows."""
        mixed = random.Random(99).sample(lines, len(lines))
        cut = len(mixed) * 4 // 5
        errors = {
            g: self.learn(mixed[:cut], mixed[cut:], "-a", "tg", "--gravity", g)[0]["error"]
            for g in GRAVITIES
        }
        return max((g for g in GRAVITIES if errors[g] <= min(errors.values()) + 0.01), key=float)


def rows(path: Path) -> list[str]:
    return path.read_text().splitlines()


@pytest.mark.slow
def test_fewer_features_lower_error_more_stable(shared_data, tmp_path, capsys) -> None:
    place, ours, theirs = Place(tmp_path, capsys), {}, {}
    for name in FEATURES:
        data = [rows(shared_data / name / f"{part}.svm") for part in ("train", "test")]
        gravity = place.tuned(data[0])
        theirs[name] = place.outcome(name, *data, "-a", "tg", "--gravity", gravity)
        ours[name] = place.outcome(name, *data, "-a", "stsgd")
    said = f"{ours}, tg {theirs}"
    assert all(ours[n].features < theirs[n].features for n in FEATURES), said
    assert sum(ours[n].error < theirs[n].error for n in FEATURES) >= 2, said
    assert sum(ours[n].kappa > theirs[n].kappa for n in FEATURES) >= 2, said


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize("name", FEATURES)
def test_where_it_was_measured(shared_data, tmp_path, capsys, name, loss) -> None:
    """Upper bounds on error and on the share of features, with a little slack."""
    bounds = {"dexter": (0.08, 0.12), "skf_pcmac": (0.105, 0.4), "news20_comp": (0.14, 0.3)}
    data = [rows(shared_data / name / f"{part}.svm") for part in ("train", "test")]
    found, support = Place(tmp_path, capsys).learn(*data, "-a", "stsgd", "--loss", loss)
    assert found["error"] <= bounds[name][0]
    assert len(support) <= bounds[name][1] * FEATURES[name]


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_few_positives_are_found(shared_data, tmp_path, capsys, loss) -> None:
    """Less than one row in ten is positive: an intercept switches on, the model is no constant."""
    draw = random.Random(5)
    train, test = (
        [r for r in rows(shared_data / "skf_pcmac" / f"{part}.svm")
         if r.startswith("-1") or draw.random() < 0.07]
        for part in ("train", "test")
    )  # fmt: skip
    share = sum(not r.startswith("-1") for r in test) / len(test)
    assert 0 < share < 0.1
    found, support = Place(tmp_path, capsys).learn(train, test, "-a", "stsgd", "--loss", loss)
    assert found["recall"] > 0.1
    assert found["precision"] > 0.4
    assert found["auc"] > 0.8
    assert len(support) > 10
    assert np.abs(Model.load(tmp_path / "model").state.arrays["intercept"]).min() > 0
