"""Feature selection: choose or rank features, judge each number of them on test rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from cwtool import registry
from cwtool.charts import Line, Panel
from cwtool.data import Block, ReadOptions, read_blocks
from cwtool.data.block import BIAS, Floats, Ints
from cwtool.data.labels import Labels, written
from cwtool.data.sources import display
from cwtool.data.timeslots import joined, time_slots
from cwtool.errors import DataError, UsageError
from cwtool.files import complete_text
from cwtool.inspect import external, interactions
from cwtool.metrics import density_shares, stability
from cwtool.model import Model
from cwtool.order import chosen as sampled
from cwtool.parallel import ahead
from cwtool.params import declared

RANKS = ("weight", "confidence")


@dataclass(frozen=True)
class SelectOptions:
    """How this run selects."""

    sizes: tuple[int, ...]
    algo: str
    params: dict[str, Any] = field(default_factory=dict)
    rank: str = "weight"
    refit_C: float = 1.0
    stability: int = 0  # subsamples
    share: float = 0.8  # of the rows in each
    seed: int = 0
    max_memory: int = 0
    read: ReadOptions = field(default_factory=ReadOptions)


@dataclass
class Selection:
    """Features in order, with what is known of each."""

    ids: Ints
    weight: Floats
    score: Floats
    confidence: Floats  # |mu| / sqrt(Sigma), nan where there is none
    block: Ints  # counted from 1; 0: chosen by rank
    model: Model
    seconds: float

    def first(self, n: int) -> Selection:
        parts = {k: getattr(self, k)[:n] for k in ("ids", "weight", "score", "confidence", "block")}
        return replace(self, **parts)

    def project(self, block: Block) -> Block:
        """The rows in these features alone, which get the ids 0, 1, ... in ascending order."""
        ids = np.sort(self.ids)
        at = np.minimum(np.searchsorted(ids, block.indices), max(0, len(ids) - 1))
        kept = ids[at] == block.indices if len(ids) else np.zeros(block.nnz, dtype=np.bool_)
        return replace(
            block,
            indptr=np.append(0, np.cumsum(kept))[block.indptr].astype(np.int64),
            indices=at[kept].astype(np.int32),
            values=block.values[kept],
        )

    def margins(self, block: Block) -> Floats:
        """Scores of these weights on rows of `project`."""
        weight = self.weight[np.argsort(self.ids)]
        products = weight[block.indices] * block.values
        total: Floats = np.bincount(_row_of(block), products, minlength=block.n_rows).astype(float)
        return total


def _row_of(block: Block) -> Ints:
    return np.repeat(np.arange(block.n_rows, dtype=np.int32), np.diff(block.indptr))


def load(paths: list[str], labels: Labels, options: ReadOptions) -> list[Block]:
    """All rows, a block a file."""
    files = list(time_slots(labels.settle(read_blocks(paths, options)), 0))
    if not files:
        raise DataError(f"{', '.join(map(display, paths))}: no rows")
    return files


def learn(name: str, params: dict[str, Any], files: list[Block], options: SelectOptions) -> Model:
    """One pass over rows in memory; those who learn slots get all rows as one unless told."""
    model = Model.new(name, params, options.read.reading)
    algorithm = model.algorithm
    algorithm.seed, algorithm.max_memory = options.seed, options.max_memory
    slot_rows = algorithm.slot_rows
    for portion in files if slot_rows is None else time_slots([joined(files)], slot_rows):
        block = replace(portion, indices=portion.indices.copy())
        model.state.features.observe(block)
        for part in model.scale.split(block):
            algorithm.learn(part, model.state, part.order)
    return model


def selections(files: list[Block], options: SelectOptions) -> Iterator[Selection]:
    """For each size: features that the algorithm selects, or the first by rank of one model."""
    selects = "features" in {p.name for p in declared(registry.algorithm(options.algo).Params)}
    ranked: Selection | None = None
    for size in options.sizes:
        if selects or ranked is None:
            started = perf_counter()
            given = {**options.params, "features": size} if selects else options.params
            model = learn(options.algo, given, files, options)
            ranked = ordered(model, options.rank)
            ranked.seconds = perf_counter() - started
        yield ranked.first(size)


def ordered(model: Model, rank: str) -> Selection:
    """By block and score where the algorithm selects, else by |mu| or |mu| / sqrt(Sigma)."""
    if not model.algorithm.measure:
        raise UsageError(
            f"{model.algorithm.name} uses all features alike and ranks none",
            "select with sbcw, l1svm or sdist",
        )
    ids, weight, variance = model.weights()
    confidence = np.full(len(ids), np.nan)
    if variance is not None:
        known = variance > 0
        confidence[known] = np.abs(weight[known]) / np.sqrt(variance[known])
    chosen = model.algorithm.selection(model.state)
    if chosen is None:
        if rank == "confidence" and variance is None:
            raise UsageError(f"{model.algorithm.name} has no confidence", "use --rank weight")
        score = np.nan_to_num(confidence) if rank == "confidence" else np.abs(weight)
        block = np.zeros(len(ids), dtype=np.int32)
        order = np.argsort(-score, kind="stable")[: np.count_nonzero(score)]
    else:
        slots = model.state.features.ids_and_slots()[1]
        score, block = np.zeros(len(ids)), np.zeros(len(ids), dtype=np.int32)
        place = np.searchsorted(ids, model.state.features.ids_of(chosen.slots))
        assert np.array_equal(slots[place], chosen.slots)
        score[place], block[place] = chosen.score, chosen.block
        order = place[np.lexsort((ids[place], -chosen.score, chosen.block))]
    return Selection(
        ids[order], weight[order], score[order], confidence[order], block[order], model, 0.0
    )


def error(y: Floats, score: Floats) -> float:
    return float(np.mean((score >= 0) != (y > 0)))


def error_of(
    name: str, params: dict[str, Any], chosen: Selection, train: list[Block], test: list[Block],
    options: SelectOptions,
) -> float:  # fmt: skip
    """Test error of an algorithm that learns the chosen features alone."""
    model = learn(name, params, [chosen.project(block) for block in train], options)
    wrong = [(b.y, model.scores(chosen.project(b))[0].score) for b in test]
    return error(*(np.concatenate(part) for part in zip(*wrong, strict=True)))


def refit(
    chosen: Selection, train: list[Block], test: list[Block], options: SelectOptions
) -> float:
    """Test error of an L2 support vector machine on the chosen features."""
    return error_of("dcd", {"C": options.refit_C}, chosen, train, test, options)


def test_error(
    chosen: Selection, train: list[Block], test: list[Block], options: SelectOptions
) -> float:
    """Of the weights of the chosen features; of a model that is not linear, learned from them."""
    if chosen.model.algorithm.measure != "weight":
        return error_of(options.algo, options.params, chosen, train, test, options)
    y = np.concatenate([b.y for b in test])
    return error(y, np.concatenate([chosen.margins(chosen.project(b)) for b in test]))


def subsampled(files: list[Block], options: SelectOptions) -> list[list[Ints]]:
    """For each subsample of the rows: the features chosen for each size, ascending."""

    def run(number: int) -> list[Ints]:
        seed = options.seed + number
        some = [b.take(np.flatnonzero(sampled(0, b.n_rows, options.share, seed))) for b in files]
        once = replace(options, seed=seed)
        return [np.sort(s.ids) for s in selections(some, once)]

    return list(ahead(run, range(1, options.stability + 1), options.read.jobs))


def select(
    paths: list[str],
    test_paths: list[str],
    options: SelectOptions,
    project: Path | None = None,
    *,
    renumber: bool = False,
) -> Iterator[dict[str, Any]]:
    """For each number of features: which, and how good they are."""
    labels = Labels()
    train = load(paths, labels, options.read)
    test = load(test_paths, labels, options.read) if test_paths else []
    if not labels.complete:
        raise DataError("all rows have one label; two classes are needed")
    n_rows = sum(b.n_rows for b in train)
    ids, nnz = np.unique(np.concatenate([b.indices for b in train]), return_counts=True)
    runs = subsampled(train, options) if options.stability else []
    for k, (size, found) in enumerate(zip(options.sizes, selections(train, options), strict=True)):
        sets = [run[k] for run in runs]
        result: dict[str, Any] = {
            "algo": options.algo,
            "features": size,
            "selected": [_named(found.model, j) for j in found.ids.tolist()],
            "score": found.score.tolist(),
            "weight": found.weight.tolist(),
            "confidence": [None if np.isnan(c) else c for c in found.confidence.tolist()],
            "block": found.block.tolist(),
            "interactions": interactions(found.model, {}),
            "density_shares": density_shares(found.ids, ids, nnz, n_rows),
            "test_error": None,
            "refit_error": None,
            "seconds": found.seconds,
        }
        if test:
            result["test_error"] = test_error(found, train, test, options)
            result["refit_error"] = refit(found, train, test, options)
        if sets:
            often = np.mean([np.isin(found.ids, s) for s in sets], axis=0)
            result["frequency"] = often.tolist()
            result["stability"] = stability(sets, len(ids))
        if project is not None:
            plain = replace(found, ids=found.ids[found.ids != BIAS])
            kept = np.arange(len(plain.ids)) if renumber else np.sort(plain.ids)
            names = [external(found.model, j) for j in kept.tolist()]
            for name, blocks in (("train", train), ("test", test)):
                if blocks:
                    path = project / f"{name}.{size}.svm"
                    reduced = plain.project(joined(blocks))
                    write_rows(path, reduced, names, [*paths, *test_paths])
        yield result


def _named(model: Model, feature: int) -> int | str:
    """The id as it stands in the data, or bias."""
    return external(model, feature) if feature == BIAS else int(external(model, feature))


def write_rows(path: Path, block: Block, names: list[str], sources: list[str]) -> None:
    """LIBSVM rows with these ids; never onto a file that they come from."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as failure:
        raise UsageError(f"{path.parent}: {failure.strerror}") from None
    pairs = list(zip(block.indices.tolist(), block.values.tolist(), strict=True))
    with complete_text(path, sources) as out:
        for label, (a, b) in zip(
            block.labels.tolist(), pairwise(block.indptr.tolist()), strict=True
        ):
            row = [written(label), *(f"{names[j]}:{x!r}" for j, x in pairs[a:b])]
            out.write(" ".join(row) + "\n")


def rows(results: list[dict[str, Any]], names: dict[str, str]) -> Iterator[str]:
    """The features of all results, tab-separated under a header."""
    columns = ["score", "weight", "confidence", "block"]
    if results and "frequency" in results[0]:
        columns.append("frequency")
    yield "\t".join(["features", "order", "id", *columns, "name"])
    for result in results:
        for k, feature in enumerate(result["selected"]):
            values = ("-" if result[c][k] is None else f"{result[c][k]:.9g}" for c in columns)
            place = str(result["features"]), str(k + 1), str(feature)
            yield "\t".join([*place, *values, names.get(str(feature), "")])


def panels(results: list[dict[str, Any]]) -> list[Panel]:
    """Test error and seconds against the number of features, as in Figure 1 of Tan et al. 2016."""
    ordered = sorted(results, key=lambda result: result["features"])
    x = [float(result["features"]) for result in ordered]

    def line(label: str, key: str, scale: float = 1.0) -> Line:
        return Line(label, x, [scale * result[key] for result in ordered])

    algo = ordered[0]["algo"]
    errors = [line(algo, "test_error", 100), line("SVM on its features", "refit_error", 100)]
    return [
        Panel("test error", errors, "features", "test error, %"),
        Panel("time", [line(algo, "seconds")], "features", "seconds"),
    ]
