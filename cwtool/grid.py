"""What tuning tries: the points of a grid. Besides parameters of the algorithm a grid may have
`algo`, `passes`, `normalize`, `bias` and `multiclass`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from cwtool import registry
from cwtool.data.labels import Labels
from cwtool.data.pipeline import ReadOptions
from cwtool.model import Model
from cwtool.parallel import EngineOptions
from cwtool.params import declared
from cwtool.validation import Point, points

READING = ("normalize", "bias")  # entries of a grid that change how rows are read
SETTINGS = ("algo", "passes", "multiclass", *READING)  # entries that are no parameters

FOLDS, TIME, PROGRESSIVE = "folds", "time", "progressive"  # what points are judged by


@dataclass(frozen=True)
class TuneOptions:
    """How this run tunes."""

    algo: str
    grid: dict[str, list[Any]]
    params: Point = field(default_factory=dict)  # the same for all points
    multiclass: str = "auto"  # unless the grid has it
    positive: float | None = None  # the label that is told from all others
    class_weight: str = ""
    by: str = FOLDS
    folds: int = 5
    metric: str = "error"
    passes: int = 1
    seed: int = 0
    engine: EngineOptions = field(default_factory=EngineOptions)
    max_memory: int = 0  # bytes that a model may take in all processes together
    read: ReadOptions = field(default_factory=ReadOptions)

    @property
    def labels(self) -> Labels:
        """The labels before rows are read."""
        if self.positive is not None:
            return Labels.against_rest(self.positive)
        return Labels(multiclass=self.grid.get("multiclass", [self.multiclass])[0])

    @property
    def points(self) -> list[Point]:
        """The points of the grid, each once, without parameters that their algorithm lacks."""
        found: list[Point] = []
        for point in points(self.grid):
            own = {p.name for p in declared(registry.algorithm(self.algo_of(point)).Params)}
            kept = {k: v for k, v in point.items() if k in own or k in SETTINGS}
            if kept not in found:
                found.append(kept)
        return found

    def algo_of(self, point: Point) -> str:
        return str(point.get("algo", self.algo))

    def passes_of(self, point: Point) -> int:
        return int(point.get("passes", self.passes))

    def read_of(self, point: Point) -> ReadOptions:
        """How the rows of this point are read."""
        changed = {name: point[name] for name in READING if name in point}
        return replace(self.read, reading=replace(self.read.reading, **changed))

    def params_of(self, point: Point) -> Point:
        """The parameters of the algorithm at this point."""
        given = self.params if self.algo_of(point) == self.algo else {}
        return {**given, **{k: v for k, v in point.items() if k not in SETTINGS}}

    def model(self, point: Point, labels: Labels) -> Model:
        """An untrained model with the parameters of this point."""
        if "multiclass" in point:
            labels = replace(labels, multiclass=point["multiclass"])
        return Model.new(
            self.algo_of(point),
            self.params_of(point),
            self.read_of(point).reading,
            class_weight=self.class_weight,
            labels=labels,
        )
