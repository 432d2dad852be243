"""cwtool predict"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from cwtool.cli import options


@click.command(
    name="predict",
    epilog=options.examples(
        "cwtool predict day2.svm -m url.cw --evaluate",
        "cwtool predict new.svm -m topics.cw --output probability -o topics.tsv",
    ),
)
@click.argument("data", nargs=-1, required=True, type=click.Path(allow_dash=True, readable=False))
@click.option(
    "-m",
    "--model",
    required=True,
    type=click.Path(dir_okay=False, readable=False, path_type=Path),
    help="Model file to predict with.",
)
@click.option(
    "--output",
    type=click.Choice(["label", "score", "variance", "probability", "all"]),
    default="label",
    show_default=True,
    help="What to write for each row; all writes label, score, variance and probability in columns "
    "under a header line. With more than two classes, score and probability have a column a class, "
    "by ascending label, and the header line names the labels.",
)
@click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the predictions to this file instead of stdout.",
)
@click.option(
    "--evaluate",
    is_flag=True,
    help="Print the metrics of the predictions against the labels of DATA. Predictions themselves "
    "are then written only with --output or --out; beside predictions on stdout, metrics go to "
    "stderr.",
)
@click.option(
    "--unknown-features",
    type=click.Choice(["ignore", "warn", "error"]),
    default="warn",
    show_default=True,
    help="What to do about features that the model has never seen: ignore them, report how many "
    "there are, or fail. They add nothing to a score.",
)
@options.threshold("[default: that of the model]")
@options.reading
@options.talking
@click.pass_context
def command(
    ctx: click.Context,
    data: tuple[str, ...],
    model: Path,
    output: str,
    out: Path | None,
    evaluate: bool,
    unknown_features: str,
    threshold: str | None,
    on_bad_line: str,
    max_bad_lines: int,
    block_size: int,
    jobs: int | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Predict the rows of LIBSVM files with a model.

    Files can be plain text or compressed with gzip, bzip2, xz or zstd; - reads standard input. They
    are read as the training data of the model was: same first index, normalization, bias and
    hashing. The probability of the positive class is sigmoid(a * score / sqrt(1 + variance)), with
    a fitted in training; with class weights it is sigmoid(a * score / sqrt(1 + variance) + b). Rows
    whose score is the threshold or more are called positive; without a threshold it is 0, and rows
    that score exactly 0 (empty ones, and those with unknown features alone) are called the class
    that was more frequent in training. With more than two classes, the class with the highest score
    is predicted, and probabilities are the softmax of a * score / sqrt(1 + variance), with one
    variance a row.
    """
    from cwtool.errors import DataError
    from cwtool.files import complete_text
    from cwtool.model import Model
    from cwtool.predict import COLUMNS, column_names, predict
    from cwtool.threshold import OperatingPoint

    console = options.console(as_json, quiet, verbose)
    subject = Model.load(model)
    if threshold is not None:
        subject.operating_point = OperatingPoint(threshold)
    columns = COLUMNS if output == "all" else (output,)
    asked = ctx.get_parameter_source("output") is not click.core.ParameterSource.DEFAULT
    wanted = out is not None or asked or not evaluate
    with complete_text(out, (*data, model)) if out else nullcontext(sys.stdout) as file:
        write = _writer(file, columns, column_names(subject, columns), as_json) if wanted else None
        result = predict(
            subject,
            list(data),
            options.read_options(subject.reading, on_bad_line, max_bad_lines, block_size, jobs),
            columns,
            write,
            evaluate=evaluate,
        )
        if result["unknown_entries"] and unknown_features != "ignore":
            message = (
                f"{result['unknown_entries']:,} entries ({100 * result['unknown_share']:.1f} % of "
                "all) are of features that the model has never seen"
            )
            if unknown_features == "error":
                raise DataError(message, "go on training with the new data, or ignore them")
            console.note(message)
    if result["bad_lines"]:
        console.warn(f"{result['bad_lines']:,} bad lines were skipped")
    if result["qids"]:
        console.note(f"qid: was ignored in {result['qids']:,} rows")
    if evaluate:
        if result["learned_before"]:
            names = ", ".join(result["learned_before"])
            console.warn(f"the model has learned {names}; on new rows it will be worse than this")
        notice = result.pop("notice")
        console.event("evaluate", result, aside=wanted and out is None)
        if notice:
            console.note(notice)


def _writer(
    file: Any, columns: tuple[str, ...], names: list[str], as_json: bool
) -> Callable[[dict[str, list[Any]]], None]:
    """Rows as TSV (with a header of these names, unless there is one column and it was asked for
    by its name) or as JSON lines."""

    def lines(block: dict[str, list[Any]]) -> None:
        file.writelines(
            json.dumps({name: _json(value) for name, value in zip(block, row, strict=True)}) + "\n"
            for row in zip(*block.values(), strict=True)
        )

    def table(block: dict[str, list[Any]]) -> None:
        file.writelines(
            "\t".join(map(str, row)) + "\n" for row in zip(*block.values(), strict=True)
        )

    if as_json:
        return lines
    if len(columns) > 1 or names != list(columns):
        file.write("\t".join(names) + "\n")
    return table


def _json(value: Any) -> Any:
    """A value as JSON has it, which knows no infinity: the score of a class that was never
    learned."""
    return None if value == float("-inf") else value
