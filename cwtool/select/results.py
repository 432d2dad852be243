"""Feature selection on files: what was chosen, how good it is, and the data reduced to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from cwtool import memory
from cwtool.data.labels import Labels, written
from cwtool.data.pipeline import read_all
from cwtool.data.rows import BIAS, Ints, Longs, Rows, joined
from cwtool.data.writer import write_rows
from cwtool.errors import UsageError
from cwtool.inspect import external, interactions
from cwtool.metrics.confusion import label_order
from cwtool.metrics.stability import density_shares, stability
from cwtool.records import dataclass
from cwtool.report.charts import Line, Panel
from cwtool.run import no_note
from cwtool.select.choosing import Selection, SelectOptions, selections
from cwtool.select.judging import Judge, projected
from cwtool.select.subsamples import Chosen, against_rest, subsampled
from cwtool.validation import check_classes

RANKED = 64  # bytes for each feature that is ranked
PROJECTED = 36  # bytes for each entry of rows that are reduced to selected features
PART = 1 << 16  # entries that are counted at a time, or as many as there are features
Result = dict[str, Any]
# selection, its size, training rows, test rows
Writer = Callable[[Selection, int, Rows, Rows | None], None]


@dataclass(frozen=True)
class Projection:
    """Where the data reduced to the selected features are written, and with which ids."""

    folder: Path
    renumber: bool = False  # ids count from the first one instead of staying as they are


def select(
    paths: list[str],
    test_paths: list[str],
    options: SelectOptions,
    projection: Projection | None = None,
) -> Iterator[Result]:
    """For each number of features: which were selected, and how good they are. Per class, these
    are the results of each class against the rest, one class after the other."""
    labels = replace(options.labels)
    files = read_all(paths, labels, options.read)
    held = sum(rows.nbytes for rows in files)
    left = replace(options.read, max_memory=memory.beside(held, options.max_memory))
    test = joined(read_all(test_paths, labels, left)) if test_paths else None
    check_classes([*paths, *test_paths], labels)
    options = replace(options, max_memory=memory.beside(_held(files, test), options.max_memory))
    if not options.per_class:
        write = _writer(projection, labels, [*paths, *test_paths])
        subsamples = subsampled(paths, files, labels, options) if options.stability else []
        yield from _selected(files, test, labels, options, subsamples, write)
        return
    if labels.several is None:
        raise UsageError("`per_class` is for more than two classes; these data have two")
    for k in label_order(labels.several).tolist():
        parts, two = against_rest(files, labels, k)
        own = None if test is None else test.against(k)
        subsamples = subsampled(paths, parts, two, options, k) if options.stability else []
        for result in _selected(parts, own, two, options, subsamples, None):
            yield {"class": labels.name(k), **result}


def _held(files: list[Rows], test: Rows | None) -> int:
    """What rows take besides a model, and the weights and ranks of their features: rows of several
    files twice, as they are joined, and more to be judged with the selected features alone."""
    held, entries = sum(rows.nbytes for rows in files), sum(rows.nnz for rows in files)
    held += held if len(files) > 1 else 0
    features = min(entries, 1 + max(int(rows.indices.max(initial=0)) for rows in files))
    held += RANKED * features
    return held if test is None else held + test.nbytes + PROJECTED * max(entries, test.nnz)


def _selected(
    files: list[Rows],
    test: Rows | None,
    labels: Labels,
    options: SelectOptions,
    subsamples: list[Chosen],
    write: Writer | None,
) -> Iterator[Result]:
    """The results of rows of these labels; `write` is for the data reduced to each selection."""
    train = joined(files)
    known = occurrences(train)
    del files  # the same rows as in `train`, for a second time
    quiet = replace(options.run, warn=no_note)  # the settings of what is refitted are not asked for
    judge = None if test is None else Judge(train, test, quiet, options.refit_C)
    for k, found in enumerate(selections(train, labels, options)):
        result = {"algo": options.algo, "features": options.sizes[k], **described(found)}
        result["density_shares"] = density_shares(found.ids, *known, train.n_rows)
        by_weights, refit = (judge.weights(found), judge.refit(found)) if judge else ({}, {})
        result |= {"test_error": by_weights.get("error"), "refit_error": refit.get("error")}
        if judge:
            result |= {"test_metrics": by_weights, "refit_metrics": refit}
        result["seconds"] = found.seconds
        result |= stable(found, [chosen[k] for chosen in subsamples], len(known[0]))
        if write is not None:
            write(found, options.sizes[k], train, test)
        yield result


def occurrences(rows: Rows) -> tuple[Ints, Longs]:
    """The ids that occur, ascending, and in how many entries each does."""
    if rows.nnz == 0 or int(rows.indices.max()) > 8 * rows.nnz:
        return np.unique(rows.indices, return_counts=True)
    width = 1 + int(rows.indices.max())
    counts = np.zeros(width, dtype=np.int64)  # without sorting all entries
    step = max(PART, width)  # of which NumPy makes copies of 64 bits
    for start in range(0, rows.nnz, step):
        counts += np.bincount(rows.indices[start : start + step], minlength=width)
    ids = np.flatnonzero(counts).astype(np.int32)
    return ids, counts[ids]


def _writer(projection: Projection | None, labels: Labels, sources: list[str]) -> Writer | None:
    """What writes the data reduced to a selection; None if this is not wanted."""
    if projection is None:
        return None

    def write(found: Selection, size: int, train: Rows, test: Rows | None) -> None:
        parts = {"train": train} if test is None else {"train": train, "test": test}
        for name, rows in parts.items():
            target = projection.folder / f"{name}.{size}.svm"
            write_projected(target, rows, labels, found, projection, sources)

    return write


def described(found: Selection) -> Result:
    """The selected features with all that is known of each, ready for JSON. With several classes,
    each feature has a list of weights and of confidences, in the order of `classes`."""
    weight, confidence = found.weight, found.confidence
    several, names = found.model.labels.several, {}
    if several is not None:
        order = label_order(several)
        names["classes"] = [written(several[k]) for k in order.tolist()]
        weight, confidence = weight[:, order], confidence[:, order]
    known = confidence.astype(object)
    known[np.isnan(confidence)] = None
    return {
        **names,
        "selected": [_named(found, j) for j in found.ids.tolist()],
        "score": found.score.tolist(),
        "weight": weight.tolist(),
        "confidence": known.tolist(),
        "group": found.group.tolist(),
        "interactions": interactions(found.model, {}),
    }


def _named(found: Selection, feature: int) -> int | str:
    """The feature id as written in the data, or bias."""
    name = external(found.model, feature)
    return name if feature == BIAS else int(name)


def stable(found: Selection, subsamples: list[Ints], n_features: int) -> Result:
    """How often subsamples select the same features; empty without subsamples."""
    if not subsamples:
        return {}
    often = np.mean([np.isin(found.ids, chosen) for chosen in subsamples], axis=0)
    return {"frequency": often.tolist(), "stability": stability(subsamples, n_features)}


def write_projected(
    path: Path,
    rows: Rows,
    labels: Labels,
    found: Selection,
    projection: Projection,
    sources: list[str],
) -> None:
    """Write the rows with only the selected features, without a bias."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as failure:
        raise UsageError(f"{path.parent}: {failure.strerror}") from None
    ids = found.without(BIAS).ids
    kept = np.arange(len(ids)) if projection.renumber else np.sort(ids)
    names = [external(found.model, j) for j in kept.tolist()]
    texts = ["?" if label is None else written(label) for label in labels.values]
    write_rows(path, projected(rows, ids), texts, names, sources=sources)


def table(results: list[Result], names: dict[str, str]) -> Iterator[str]:
    """The features of all results, tab-separated under a header. With several classes there is a
    column of weights for each, such as weight_2; results per class begin with the class."""
    classes = results[0].get("classes", []) if results else []
    per_class = ["class"] if results and "class" in results[0] else []
    columns = ["score", "weight", "confidence", "group"]
    if classes:
        columns = ["score", *(f"weight_{label}" for label in classes), "group"]
    if results and "frequency" in results[0]:
        columns.append("frequency")
    yield "\t".join([*per_class, "features", "order", "id", *columns, "name"])
    for result in results:
        own = dict(result)
        for at, label in enumerate(classes):
            own[f"weight_{label}"] = [weights[at] for weights in result["weight"]]
        for k, feature in enumerate(result["selected"]):
            values = ("-" if own[c][k] is None else f"{own[c][k]:.9g}" for c in columns)
            place = [str(result["features"]), str(k + 1), str(feature)]
            first = [result[c] for c in per_class]
            yield "\t".join([*first, *place, *values, names.get(str(feature), "")])


def panels(results: list[Result]) -> list[Panel]:
    """Test error and seconds against the number of features, as in Figure 1 of Tan et al. 2016."""
    ordered = sorted(results, key=lambda result: int(result["features"]))
    x = [float(result["features"]) for result in ordered]

    def line(label: str, key: str, scale: float = 1.0) -> Line:
        return Line(label, x, [scale * result[key] for result in ordered])

    algo = ordered[0]["algo"]
    errors = [line(algo, "test_error", 100), line("SVM on its features", "refit_error", 100)]
    return [
        Panel("test error", errors, "features", "test error, %"),
        Panel("time", [line(algo, "seconds")], "features", "seconds"),
    ]
