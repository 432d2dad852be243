"""Small trained models of every kind, whose files are changed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from cwtool import registry
from cwtool.algorithms.base import Algorithm
from cwtool.algorithms.merging.base import Merging
from cwtool.data.columns import Columns
from cwtool.data.labels import Labels
from cwtool.data.parse import Block, Reading, row_hashes
from cwtool.data.rows import Origin, Rows
from cwtool.merging import merge
from cwtool.model import Model
from cwtool.run import Run

READINGS = (
    Reading(), Reading(bias=True), Reading(normalize="l2"), Reading(hash_bits=5),
    Reading(zero_based=True),
    Reading(normalize="columns", columns=Columns((0, 3, 5), (0.5, 0.0, -2.0), (1.0, 2.0, 0.5))),
)  # fmt: skip


def rows_of(seed: int, n: int, labels: int, first: int = 0) -> tuple[Rows, str]:
    """Rows with `labels` classes over 12 features, and their text."""
    draw = random.Random(seed)
    pairs, y, lines = [], [], []
    for k in range(n):
        ids = sorted(draw.sample(range(first, first + 12), draw.randint(1, 6)))
        row = [(j, round(draw.uniform(-2, 2), 2) or 1.0) for j in ids]
        class_ = k if k < labels else int(sum(j * x for j, x in row) * 7) % labels
        pairs.append(row)
        y.append(class_)
        written = "+1" if labels == 2 and class_ else str(-1 if labels == 2 else class_)
        lines.append(f"{written} " + " ".join(f"{j + 1}:{x}" for j, x in row))
    return Rows.from_lists(pairs, y), "\n".join(lines) + "\n"


def trained(algo: str, given: dict[str, Any], labels: int, extras: int) -> Model:
    """A small trained model; `extras` chooses what it has besides."""
    rows, _ = rows_of(1, 60, labels, first=(1 << 22) - 6 if extras % 7 == 6 else 0)
    several = [float(k) for k in range(labels)] if labels > 2 else None
    known = Labels(multiclass="auto", several=several) if labels > 2 else Labels(-1.0, 1.0)
    takes = registry.algorithm(algo).takes_weights
    class_weight = "balanced" if takes and extras % 3 == 1 else ""
    threshold = "balanced" if extras % 3 == 2 else ""
    reading = READINGS[extras % len(READINGS)]
    model = Model.new(
        algo, given, reading, class_weight=class_weight, threshold=threshold, labels=known
    )
    weight = None
    if takes and extras % 2:
        weight = np.random.default_rng(extras).choice([0.5, 1.0, 3.0], rows.n_rows)
    weighted = Rows(rows.indptr, rows.indices, rows.values, rows.y, weight)
    model.learn(weighted, Run())
    model.history.append(record(model, labels))
    place = Origin("a.svm", 0, 1, np.arange(rows.n_rows, dtype=np.int32))
    values = rows.indptr, rows.indices, rows.values, rows.y.astype(float)
    model.known.add(row_hashes(Block(*values, place)))
    if extras % 4 == 3:
        model.estimator = {"columns": 12, "classes": [f"name {k}" for k in range(labels)]}
    return model


def record(model: Model, labels: int) -> dict[str, Any]:
    """An entry of a history as `train` and `feed` write it."""
    two = ("auc", "precision", "recall", "f1")
    names = two if labels == 2 else ("macro_f1", "weighted_f1", "balanced_error")
    file = {"name": "a.svm", "digest": "ab" * 16, "rows": model.rows, "nnz": 200}
    day: dict[str, Any] = dict.fromkeys(("rows", "worst_row", "worst_rows", "windows"), 1)
    day |= {"error": 0.5, "median": 0.5, "worst": 0.5, "spread": 0.0, "classes": labels}
    day |= {"entries": 3.5, "base_rate": 0.5 if labels == 2 else None}
    own = {"labels": list(model.labels.values)} if labels == 2 else {}
    evaluated = {"error": 0.5, "log_loss": 0.7, "bins": [[1.0, 0.5, 1.0]] * 15}
    return {
        "files": [file], "seed": 0, "rows": model.rows, "error": 0.5, **dict.fromkeys(names, 0.5),
        "features": model.index.count, "passes": 1, "time": "2026-01-02T03:04:05Z", "day": day,
        "evaluated": evaluated, "known_share": 0.1, "bytes_before": 1234, **own,
    }  # fmt: skip


def variants(*, all_: bool) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Name, label and parameters of the algorithms: of each those variants that have arrays of
    other names, or all of them."""
    for algo in registry.names():
        kind: type[Algorithm] = registry.algorithm(algo)
        seen = set()
        for label, given in kind.variants.items():
            layout = kind(Model.new(algo, given).algorithm.params).layout
            names = tuple(c.name for c in layout.columns), tuple(a.name for a in layout.arrays)
            if all_ or (names, layout.squares) not in seen:
                seen.add((names, layout.squares))
                yield algo, label, {**given, **SHORT.get(algo, {})}


SHORT: dict[str, dict[str, Any]] = {"rff-markov": {"iterations": 200}, "sdist": {"steps": 3}}


def others() -> Iterator[tuple[str, bytes, int]]:
    """Names, bytes and numbers of classes of models that came about in other ways: merged, of one
    class, of no rows, and of earlier versions."""
    for algo in ("arow", "pa1", "nherd", "cw", "bcw", "knn"):
        for labels in (2, 4):
            one, other = (trained(algo, {}, labels, extras) for extras in (0, 30))
            other.history[0]["files"][0]["digest"] = "cd" * 16
            if isinstance(one.algorithm.merging, Merging):
                yield f"{algo} merged", merge([one, other], None).model.to_bytes(), labels
    for algo in ("arow", "sgd", "bcw", "knn", "cw-fact", "stsgd", "sbcw"):
        model = Model.new(algo, {}, labels=Labels(-1.0, 1.0))
        yield f"{algo} new", model.to_bytes(), 2
        rows, _ = rows_of(1, 20, 2)
        model.learn(replace(rows, y=np.ones_like(rows.y)), Run())
        yield f"{algo} of one class", model.to_bytes(), 2
    for path in sorted((Path(__file__).parent.parent / "golden" / "models").glob("*.cw")):
        yield path.name, path.read_bytes(), 2
