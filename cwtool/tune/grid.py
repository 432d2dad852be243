"""What tuning tries: all points of a grid, or some that are drawn from it. Besides parameters of
the algorithm a grid may have `algo`, `passes`, `normalize`, `bias` and `multiclass`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace

import numpy as np

from cwtool import registry
from cwtool.data.labels import Labels
from cwtool.data.pipeline import ReadOptions
from cwtool.errors import UsageError
from cwtool.model import Model
from cwtool.order import permutation, uniforms
from cwtool.parallel import EngineOptions
from cwtool.params import declared
from cwtool.records import dataclass
from cwtool.tune.tunable import SETTINGS, Values, edge, tunable, value_at
from cwtool.validation import Point, points

READING = ("normalize", "bias")  # entries of a grid that change how rows are read
NO_PARAMETERS = tuple(setting.name for setting in SETTINGS)
DRAWS = 20  # of all points; most grids give as many different ones as are wanted sooner

FOLDS, TIME, PROGRESSIVE = "folds", "time", "progressive"  # what points are judged by


@dataclass(frozen=True)
class TuneOptions:
    """How this run tunes."""

    algo: str
    grid: dict[str, Values]
    params: Point = field(default_factory=dict)  # the same for all points
    multiclass: str = "auto"  # unless the grid has it
    positive: float | None = None  # the label that is told from all others
    class_weight: str = ""
    by: str = FOLDS
    folds: int = 5
    metric: str = "error"
    random: int = 0  # points that are drawn from the grid; 0: all of them are tried
    halving: int = 0  # of the points of a rung, one in so many goes on to the next; 0: no rungs
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
        modes = self.grid.get("multiclass", [self.multiclass])
        return Labels(multiclass=value_at(modes, 0.0))

    @property
    def points(self) -> list[Point]:
        """The points to try, each once, without parameters that their algorithm lacks."""
        found: list[Point] = []
        for point in self._drawn() if self.random else self._all():
            own = {p.name for p in declared(registry.algorithm(self.algo_of(point)).Params)}
            kept = {k: v for k, v in point.items() if k in own or k in NO_PARAMETERS}
            if kept not in found:
                found.append(kept)
            if len(found) == self.random:
                break
        return found

    def _all(self) -> list[Point]:
        lists = {name: values for name, values in self.grid.items() if isinstance(values, list)}
        if ranges := self.grid.keys() - lists.keys():
            raise UsageError(
                f"the grid has a range of `{min(ranges)}`, from which random values are drawn",
                "give the number of random combinations, such as `random=20`",
            )
        return points(lists)

    def _drawn(self) -> Iterator[Point]:
        """Random points, which depend on the seed, their number and the grid alone. Of n points,
        one has its value of a parameter in each n-th part of the range (a Latin hypercube)."""
        n = self.random
        for draw in range(DRAWS):  # further ones take the place of points that come twice
            shares = [
                (permutation(n, self.seed, draw, k) + uniforms(n, self.seed, draw, k)) / n
                for k in range(len(self.grid))
            ]
            for of_point in np.transpose(shares).tolist():
                pairs = zip(self.grid.items(), of_point, strict=True)
                yield {name: value_at(values, share) for (name, values), share in pairs}

    def edges(self, point: Point) -> Iterator[tuple[str, str]]:
        """The parameters of the point that are at an edge of the grid, and in words which."""
        params = {p.name: p for p in tunable([self.algo_of(point)])}
        for name, values in self.grid.items():
            if name in point and (where := edge(point[name], values, params.get(name))):
                yield name, where

    def algo_of(self, point: Point) -> str:
        return str(point.get("algo", self.algo))

    def passes_of(self, point: Point) -> int:
        return int(point.get("passes", self.passes))

    def read_of(self, point: Point) -> ReadOptions:
        """How the rows of this point are read."""
        changed = {name: point[name] for name in READING if name in point}
        reading = replace(self.read.reading, **changed)
        if reading.normalize != "columns":
            reading = replace(reading, columns=None)
        return replace(self.read, reading=reading)

    def params_of(self, point: Point) -> Point:
        """The parameters of the algorithm at this point."""
        given = self.params if self.algo_of(point) == self.algo else {}
        return {**given, **{k: v for k, v in point.items() if k not in NO_PARAMETERS}}

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
