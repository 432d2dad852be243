"""Models of other programs as a starting point: their weights become the means of a new model."""

from __future__ import annotations

import os
from array import array
from math import isfinite
from pathlib import Path
from typing import IO, Any

import numpy as np

from cwtool import memory, registry
from cwtool.data.labels import Labels
from cwtool.data.parse import Reading
from cwtool.data.rows import BIAS, Floats, Ints
from cwtool.errors import DataError, UsageError
from cwtool.metrics.threshold import ABOVE_ZERO
from cwtool.model import Model
from cwtool.model.header import LABEL
from cwtool.model.learning_checks import bytes_of
from cwtool.model.several import is_wide
from cwtool.params import AUTO, declared
from cwtool.records import dataclass

MEANS = ("mean", "weight")  # names of the column that a linear score is made of
PRECISION = "precision"
WEIGHT = 24  # bytes of a weight while it is read: it, its room to grow, and those that are not 0
LONGEST, MOST_LINES = 1 << 20, 100  # of the header


@dataclass(frozen=True)
class Imported:
    """Labels, and for each 0-based feature one weight per class; two classes have one column, the
    weight of the greater label."""

    labels: list[float]
    ids: Ints
    weight: Floats
    bias: bool


def _foreign(path: Path) -> DataError:
    return DataError(
        f"{path} is not the text of a LIBLINEAR model",
        "give the model file that the train program of LIBLINEAR has written",
    )


def read_liblinear(path: Path, max_memory: int = 0) -> Imported:
    """The model that LIBLINEAR's train has written. Weights that would take more than `max_memory`
    bytes are refused before they are read; 0: no limit."""
    try:
        with path.open(encoding="ascii") as file:
            return _read(path, file, max_memory)
    except OSError as failure:
        raise DataError(f"{path}: {os.strerror(failure.errno or 0)}") from None
    except UnicodeDecodeError:
        raise _foreign(path) from None


def _read(path: Path, file: IO[str], max_memory: int) -> Imported:
    header = _header(path, file)
    if "label" not in header:
        raise DataError(f"{path} is a model of {header['solver_type']}, which has no classes")
    damaged = DataError(f"{path} is damaged: its weights are not those of its header")
    try:
        labels = [float(label) for label in header["label"].split()]
        n_features, bias = int(header["nr_feature"]), float(header["bias"])
        columns = 1 if len(labels) == 2 else len(labels)
        if max_memory:
            memory.check(
                f"{path} with its {n_features:,} features", WEIGHT * n_features * columns,
                max_memory, "import a model with fewer features",
            )  # fmt: skip
        weight = _weights(file, n_features + (bias >= 0))
        if not np.isfinite(weight).all() or not isfinite(bias):
            raise damaged
    except UsageError:
        raise
    except UnicodeDecodeError:
        raise _foreign(path) from None
    except (KeyError, OverflowError, ValueError):
        raise damaged from None
    if len({one for one in labels if abs(one) <= LABEL}) < max(2, len(labels)):
        raise DataError(f"{path} is damaged: its labels are not two or more different numbers")
    if weight.shape[1] not in (len(labels), 1) or (weight.shape[1] == 1 and len(labels) > 2):
        raise DataError(f"{path} is damaged: it has {weight.shape[1]} weights per feature")
    ids = np.arange(len(weight), dtype=np.int32)
    if bias >= 0:
        weight[-1] *= bias
        ids[-1] = BIAS
    if len(labels) == 2:
        weight = _of_the_greater(weight, labels)
    kept = weight.any(axis=1)
    return Imported(labels, ids[kept], weight[kept], bias >= 0)


def _header(path: Path, file: IO[str]) -> dict[str, str]:
    """The lines before `w`, by their first words. Those of another file may be of any length."""
    header: dict[str, str] = {}
    while (line := file.readline(LONGEST)) not in ("w\n", "w"):
        if not line or len(line) == LONGEST or len(header) == MOST_LINES:
            raise _foreign(path)
        name, _, value = line.rstrip("\n").partition(" ")
        header[name] = value
    if "solver_type" not in header:
        raise _foreign(path)
    return header


def _weights(file: IO[str], n_lines: int) -> Floats:
    """The numbers of so many lines that have equally many each; ValueError if they do not."""
    found, width = array("d"), None
    for line in file:
        numbers = [float(w) for w in line.split()]
        width = len(numbers) if width is None else width
        if len(numbers) != width:
            raise ValueError
        found.extend(numbers)
    return np.frombuffer(found, dtype=np.float64).reshape(n_lines, -1)


def _of_the_greater(weight: Floats, labels: list[float]) -> Floats:
    """One column. LIBLINEAR calls its first label where the score of the first column is above 0,
    also if the solver has made two columns."""
    first = weight[:, :1]
    return first if labels[0] > labels[1] else -first


def imported(
    found: Imported, algo: str, given: dict[str, Any], precision: float, multiclass: str = "auto",
    max_memory: int = 0,
) -> Model:  # fmt: skip
    """A new model with these weights. `precision` is what every weight has gained over its prior:
    its variance is prior / (1 + precision). With the weights it may take `max_memory` bytes; 0: no
    limit."""
    priors = [p for p in declared(registry.algorithm(algo).Params) if p.name == "prior"]
    if priors and given.get("prior", AUTO) == AUTO:  # one found from rows would change the weights
        given = {**given, "prior": 1.0}
    labels = Labels(min(found.labels), max(found.labels))
    if len(found.labels) > 2:
        labels = Labels(multiclass=multiclass, several=list(found.labels))
    second_is_less = len(found.labels) == 2 and found.labels[0] > found.labels[1]
    threshold = repr(ABOVE_ZERO) if second_is_less else ""  # LIBLINEAR calls the second one at 0
    model = Model.new(algo, given, Reading(bias=found.bias), labels=labels, threshold=threshold)
    names = [column.name for column in model.algorithm.layout.columns]
    if not is_wide(model.algorithm) or not any(name in names for name in MEANS):
        raise UsageError(
            f"{algo} with these parameters cannot start from the weights of another model",
            "use arow, cw, cw-var, scw1, scw2, nherd, perceptron, pa, pa1 or pa2",
        )
    model.settle()
    if max_memory:
        model.index.observe(found.ids)
        memory.check(
            f"{algo} with {len(found.ids):,} features",
            bytes_of(model.state) + found.weight.nbytes + 2 * found.ids.nbytes,  # with slots
            max_memory, "import a model with fewer features, or use `algo=perceptron`",
        )  # fmt: skip
    _fill(model, found, precision)
    model.sample.seen = 1  # at least: the other program has learned rows that are not kept
    return model


def _fill(model: Model, found: Imported, precision: float) -> None:
    """Put the weights into the state of a new model."""
    state, places = model.state, [0]
    if model.several is not None:
        places = [state.ghosts + k for k in range(len(found.labels))]
        # by place: one row for each class, so that all of them have come
        state.arrays["rounds"] = np.ones(state.ghosts + len(found.labels), dtype=np.int64)
    slots = state.slots_of(found.ids)
    names = [column.name for column in state.layout.columns]
    mean = next(name for name in MEANS if name in names)
    for column, place in enumerate(places):
        state.column(mean, place)[slots] = found.weight[:, column] / model.scale.value
        if PRECISION in names:
            state.column(PRECISION, place)[slots] = precision
