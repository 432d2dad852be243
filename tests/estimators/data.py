"""What the tests of estimators share: their classes, settings that are fast, and small data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")  # which skips the tests that import this

import cwtool.estimators
from cwtool import registry
from cwtool.estimators.loading import CLASSIFIERS
from cwtool.model import Model, packing


def fast(name: str, **more: Any) -> Any:
    """The classifier of an algorithm with the parameters of its first variant."""
    kind = CLASSIFIERS[name]
    own = {p: n for n, p in kind.renamed.items()}
    given = next(iter(registry.algorithm(name).variants.values()))
    return kind(**{own.get(p, p): value for p, value in given.items()}, **more)


def words(name: str) -> list[str]:
    """The same parameters for the command line."""
    found = ["--algo", name]
    for param, value in next(iter(registry.algorithm(name).variants.values())).items():
        option = param.replace("_", "-")
        if isinstance(value, bool):
            found.append(f"--{option}" if value else f"--no-{option}")
        else:
            found += [f"--{option}", str(value)]
    return found


def made(name: str) -> Any:
    """An estimator by its name, with few iterations where many are the default."""
    settings: dict[str, dict[str, Any]] = {
        "RFFMarkovClassifier": {"iterations": 200, "chains": 1},
        "SDistClassifier": {"steps": 5},
        "SDistSelector": {"steps": 5},
    }
    return getattr(cwtool.estimators, name)(**settings.get(name, {}))


def essence(model: Model | str | Path) -> tuple[str, dict[str, bytes]]:
    """All that a model file holds but its training files and what only Python knows."""
    found = model if isinstance(model, Model) else Model.load(Path(model))
    header, arrays = packing.pack(found)
    header = {k: v for k, v in header.items() if k not in ("history", "estimator")}
    return json.dumps(header), {k: a.tobytes() for k, a in arrays.items()}


def blobs(seed: int = 0, n_rows: int = 120, classes: int = 2) -> tuple[Any, Any]:
    """Rows of Gaussians around a centre for each class."""
    draw = np.random.default_rng(seed)
    y = np.arange(n_rows) % classes
    centres = np.random.default_rng(1).normal(size=(classes, 6)) * 2
    return centres[y] + draw.normal(size=(n_rows, 6)) * 0.7, y


def topics(path: Path, n_rows: int = 150, classes: int = 4, weighted: bool = False) -> str:
    """A LIBSVM file of several classes, the largest label first."""
    draw = np.random.default_rng(len(path.name))
    lines = []
    for i in range(n_rows):
        k = (classes - i) % classes
        ids = np.unique(draw.integers(1 + 3 * k, 9 + 3 * k, 5))
        weight = f":{draw.integers(0, 3)}" if weighted and i > classes else ""
        pairs = (f"{j}:{draw.normal(1, 0.3):.4g}" for j in ids)
        lines.append(f"{k}{weight} {' '.join(pairs)}")
    path.write_text("\n".join(lines) + "\n")
    return path.name
