"""What the command predict does with its options."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from cwtool.data.pipeline import ReadOptions
    from cwtool.data.reports import ReadReport
    from cwtool.messages.console import Console
    from cwtool.metrics.ranking import Ranking
    from cwtool.model import Model


def check_plot(path: Path, evaluate: bool) -> None:
    from cwtool.report import charts

    if not evaluate:
        raise click.UsageError("--plot needs --evaluate")
    charts.check(path)


def draw(model: Model, ranking: Ranking, path: Path) -> None:
    from cwtool.errors import DataError
    from cwtool.report import quality

    if model.several is not None:
        raise click.UsageError("--plot is for two classes; this model has more")
    if not ranking.n_rows:
        raise DataError("--plot: all rows have the weight 0")
    confusion, bins = ranking.curves()
    if not (confusion[0][-1] and confusion[1][-1]):
        raise DataError("--plot needs rows of both classes; all rows are of one")
    quality.draw(path, confusion, bins)


def labelling(model: Model, evaluate: bool, unlabeled: bool) -> dict[str, Any]:
    """The reading options that tell whether rows have labels, or how to detect it."""
    if evaluate or (model.labels.rest > 1 and not unlabeled):
        return {"labelled": True}
    known = [label for label in model.labels.values if label is not None]
    return {"labelled": False if unlabeled else None, "labels": tuple(known)}


def choose(
    model: Model,
    data: list[str],
    read: ReadOptions,
    threshold: str | None,
    fpr: float | None,
    precision: float | None,
    top: int | None,
    validation: tuple[str, ...],
    console: Console,
) -> None:
    """Set the threshold of the model by the options, and tell the rates that are expected of a
    threshold by name."""
    from cwtool.data.reports import ReadReport
    from cwtool.metrics.threshold import OperatingPoint
    from cwtool.points import expected, from_validation, highest
    from cwtool.predict import learned_before

    settings = [] if threshold is None else [threshold]
    settings += [] if fpr is None else [f"fpr={fpr}"]
    settings += [] if precision is None else [f"precision={precision}"]
    if len(settings) + (top is not None) > 1:
        raise click.UsageError("give one of --threshold, --fpr, --precision and --top")
    if settings:
        model.operating_point = OperatingPoint(settings[0])
    if top is not None:
        model.operating_point = highest(model, top, data, read)
    elif validation:
        if model.operating_point.loss is None:
            raise click.UsageError("--validation needs --fpr, --precision or a --threshold by name")
        report = ReadReport()
        model.operating_point, note = from_validation(model, list(validation), read, report)
        console.note(note)
        if names := ", ".join(learned_before(model, report)):
            console.warn(
                f"the model has learned {names}, and separates the classes of learned rows better "
                "than those of new rows; compute the threshold on other rows"
            )
    elif settings and model.operating_point.loss is not None and model.several is None:
        console.note(expected(model))


def judge_unknown(result: dict[str, Any], answer: str, console: Console) -> None:
    """Report entries of features that the model has never seen, or refuse them."""
    from cwtool.errors import DataError

    if not result["unknown_entries"] or answer == "ignore":
        return
    message = (
        f"{result['unknown_entries']:,} entries ({100 * result['unknown_share']:.1f} % of all) are "
        "of features that the model has never seen"
    )
    if answer == "error":
        raise DataError(
            message, "continue the model with the new data, or leave out `unknown_features=error`"
        )
    console.note(message)


def tell(report: ReadReport, evaluate: bool, console: Console) -> None:
    """Report bad lines, qid: items that were ignored, and labels that may be features."""
    for file in report.files:
        if file.bad_lines:
            console.warn(f"{file.name}: {file.skipped}; {file.first_bad}")
        if file.doubtful and not evaluate:
            console.note(
                f"{file.name}: rows are read with labels, and the first item of the first row, "
                f"{file.doubtful}, as a label with a weight; give --unlabeled if it is a feature"
            )
    if report.qids:
        console.note(f"qid: was ignored in {report.qids:,} rows")


def tell_metrics(result: dict[str, Any], console: Console, *, aside: bool) -> None:
    """Print the metrics; with `aside`, on stderr, because predictions are on stdout."""
    if result["learned_before"]:
        names = ", ".join(result["learned_before"])
        console.warn(f"the model has learned {names}; metrics on new rows are worse than these")
    result |= console.told(result.pop("notice"))
    console.event("evaluate", result, aside=aside, asked=True)


def writer(
    file: Any, columns: tuple[str, ...], names: list[str], as_json: bool
) -> Callable[[dict[str, list[Any]]], None]:
    """Rows as TSV (with a header of these names, unless there is one column and it was asked for
    by its name) or as JSON lines."""

    def lines(block: dict[str, list[Any]]) -> None:
        file.writelines(
            json.dumps({name: _json(value) for name, value in zip(block, row, strict=True)}) + "\n"
            for row in zip(*block.values(), strict=True)
        )
        file.flush()

    def table(block: dict[str, list[Any]]) -> None:
        texts = [x if isinstance(x[0], str) else map(str, x) for x in block.values()]
        rows = texts[0] if len(texts) == 1 else map("\t".join, zip(*texts, strict=True))
        file.write("\n".join([*rows, ""]))
        file.flush()

    if as_json:
        return lines
    if len(columns) > 1 or names != list(columns):
        file.write("\t".join(names) + "\n")
    return table


def _json(value: Any) -> Any:
    """A value as JSON has it, which knows no infinity: the score of a class that was never
    learned."""
    return None if value == float("-inf") else value
