"""A model: an algorithm, what it has learned, and all that is needed to go on or to predict."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from cwtool import __version__, modelfile, params, registry
from cwtool.algorithms.base import Algorithm, Scores
from cwtool.data import Block, Reading
from cwtool.data.block import Floats, Ints
from cwtool.data.labels import Labels
from cwtool.data.scaling import RowScale
from cwtool.errors import ModelError, UsageError
from cwtool.metrics import Calibration, Tally, dense, sparse
from cwtool.state import State


@dataclass
class Model:
    algorithm: Algorithm
    state: State
    reading: Reading = field(default_factory=Reading)
    labels: Labels = field(default_factory=Labels)
    scale: RowScale = field(default_factory=lambda: RowScale(1.0))
    progress: Tally = field(default_factory=Tally)  # of first visits, predicted before learned
    calibration: Calibration = field(default_factory=Calibration)
    slope: float = 1.0  # a of sigmoid(a s / sqrt(1 + v))
    history: list[dict[str, Any]] = field(default_factory=list)
    version: str = __version__  # of the cwtool that wrote it

    @classmethod
    def new(cls, name: str, given: dict[str, Any], reading: Reading) -> Model:
        """An untrained model of the named algorithm with these parameters."""
        kind = registry.algorithm(name)
        algorithm = kind(params.build(kind.Params, given))
        scale = RowScale(algorithm.prior, at_once=algorithm.slot_rows is not None)
        return cls(algorithm, algorithm.new_state(), reading, scale=scale)

    @property
    def rows(self) -> int:
        """Rows learned, each counted once."""
        return self.progress.rows

    def scores(self, block: Block) -> tuple[Scores, int]:
        """Predict the rows of a block as it was read; also counts entries of features never seen.
        The block is used up; the model is not changed."""
        block.scale = self.scale.value
        unknown, dropped = self.state.features.lookup(block)
        scores = self.algorithm.scores(block, self.state, unknown)
        # a row near the end of the double range may score past it
        return Scores(*(np.nan_to_num(a, copy=False) for a in scores)), dropped

    def weights(self) -> tuple[Ints, Floats, Floats | None]:
        """Feature ids, weights and variances in the units of the data."""
        ids, slots = self.state.features.ids_and_slots()
        weight, variance = self.algorithm.weights(self.state, slots)
        scale = self.scale.value
        with np.errstate(over="ignore"):  # the scale of tiny rows may be up to 2^1000
            weight = np.nan_to_num(weight * scale)
            if variance is not None:
                variance = np.nan_to_num(variance * scale * scale)
        return ids, weight, variance

    def pack(self) -> tuple[dict[str, Any], modelfile.Arrays]:
        """Header and arrays: everything that a file holds."""
        self.algorithm.settle(self.state)
        self.slope = self.calibration.fit()
        header = {
            "cwtool": __version__,
            "algorithm": self.algorithm.name,
            "params": asdict(self.algorithm.params),
            "labels": [self.labels.negative, self.labels.positive],
            "reading": asdict(self.reading),
            "features": self.state.features.count,
            "rows": self.rows,
            "scale": {
                "value": self.scale.value,
                "rows": self.scale.seen[0],
                "total": self.scale.seen[1],
            },
            "calibration": {"a": self.slope, "rows": self.calibration.rows},
            "numbers": self.state.numbers,
            "confusion": self.progress.confusion.tolist(),
            "history": self.history,
        }
        arrays: modelfile.Arrays = self.state.pack()
        for name, counts in (("score", self.progress.scores), ("margin", self.calibration.margins)):
            for part, values in sparse(counts).items():
                arrays[f"{name}.{part}"] = values
        return header, arrays

    @classmethod
    def unpack(cls, header: dict[str, Any], arrays: modelfile.Arrays) -> Model:
        model = cls.new(header["algorithm"], header["params"], Reading(**header["reading"]))
        model.labels = Labels(*header["labels"])
        model.scale.seen[:] = header["scale"]["rows"], header["scale"]["total"]
        model.state.numbers.update(header["numbers"])
        model.state.unpack(arrays)
        model.progress = Tally(
            dense(arrays["score.at"], arrays["score.n"]),
            np.array(header["confusion"], dtype=np.int64),
        )
        model.calibration = Calibration(
            dense(arrays["margin.at"], arrays["margin.n"]), header["calibration"]["rows"]
        )
        model.slope = header["calibration"]["a"]
        model.history = header["history"]
        model.version = header["cwtool"]
        return model

    def learned(self) -> dict[str, str]:
        """The files learned so far: digest -> name."""
        return {f["digest"]: f["name"] for run in self.history for f in run["files"]}

    def save(self, path: Path) -> int:
        return modelfile.save(path, *self.pack())

    @classmethod
    def load(cls, path: Path) -> Model:
        header, arrays = modelfile.load(path)
        try:
            return cls.unpack(header, arrays)
        except (KeyError, TypeError, ValueError, UsageError) as failure:
            raise ModelError(
                f"{path} is a model of another version of cwtool: {failure}",
                f"it was written by cwtool {header.get('cwtool', '?')}; this is {__version__}",
            ) from None


def algorithm_of(path: Path) -> str:
    """The algorithm of a saved model, from its header alone."""
    name = str(modelfile.load_header(path)["algorithm"])
    if name not in registry.names():
        raise ModelError(f"{path} is a model of {name}, which this cwtool does not have")
    return name
