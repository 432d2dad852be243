"""cwtool predict"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path

import click

from cwtool.cli import class_options, options, predicting
from cwtool.cli.sections import SectionedCommand


@click.command(
    cls=SectionedCommand,
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
    help="Column to write for each row. all writes the columns label, score, variance, "
    "probability, file and line under a header line. With more than two classes, score and "
    "probability have a column a class, by ascending label, and the header line names the labels.",
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
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    help="With --evaluate, file (.svg or .png) to draw ROC, precision and recall, and the "
    "reliability of the probabilities to.",
)
@click.option(
    "--id",
    "with_id",
    is_flag=True,
    help="Write the comment behind each row (# ...) in a column in front of the others, under a "
    "header line; rows without a comment have file:line there.",
)
@click.option(
    "--unlabeled",
    is_flag=True,
    help="Rows have no labels: lines begin with id:value. Without this option it is told by the "
    "first item of the first row of each file: with a colon it is a feature, unless its number is "
    "a label of the model and may have a weight.",
)
@click.option(
    "--follow",
    is_flag=True,
    help="Go on when the end of DATA is reached, and predict lines as they are added to the file, "
    "until interrupted. DATA is one plain file.",
)
@click.option(
    "--unknown-features",
    type=click.Choice(["ignore", "warn", "error"]),
    default="warn",
    show_default=True,
    help="What to do about features that the model has never seen: ignore them, report how many "
    "there are, or fail. They add nothing to a score.",
)
@class_options.threshold("[default: that of the model]")
@click.option(
    "--fpr",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="The same as --threshold fpr=P.",
)
@click.option(
    "--precision",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="The same as --threshold precision=P.",
)
@click.option(
    "--top",
    type=click.IntRange(min=1),
    metavar="K",
    help="Call the K rows with the highest scores positive (more if scores are equal). DATA is "
    "read twice.",
)
@click.option(
    "--validation",
    multiple=True,
    type=click.Path(readable=False),
    metavar="FILE",
    help="Labelled file to find the threshold of f1, balanced, fpr or precision on, exactly, "
    "instead of by the histogram of training scores. Can be given more than once.",
)
@options.max_memory
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
    plot: Path | None,
    with_id: bool,
    unlabeled: bool,
    follow: bool,
    unknown_features: str,
    threshold: str | None,
    fpr: float | None,
    precision: float | None,
    top: int | None,
    validation: tuple[str, ...],
    max_memory: int,
    on_bad_line: str,
    max_bad_lines: int,
    block_size: int,
    jobs: int | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Predict the rows of LIBSVM files with a model.

    Files can be plain text or compressed with gzip, bzip2, xz or zstd; - reads standard input, and
    the lines of a pipe are answered as soon as they were read. Rows may have no labels. They are
    read as the training data of the model was: same first index, normalization, bias and hashing.
    The probability of the positive class is sigmoid(a * score + b), with a and b fitted in
    training. Where training has shown that it helps, score / sqrt(1 + variance) takes the place of
    the score, or asinh(k * score) / k, or both; inspect shows which. Rows whose score is the
    threshold or more are called positive; without a threshold it is 0, and rows that score exactly
    0 (empty ones, and those with unknown features alone) are called the class that was more
    frequent in training, or, with a learner of whole batches, among the training rows that score 0,
    if these are more than 5 %. With more than two classes, the class with the highest score is
    predicted, and probabilities are the softmax of a * score / sqrt(1 + variance), with one
    variance a row.
    """
    from dataclasses import replace

    from cwtool.data.sources import STDIN, kept
    from cwtool.files import complete_text
    from cwtool.metrics.ranking import Ranking
    from cwtool.model import Model
    from cwtool.model.opening import doubt_labels
    from cwtool.parallel import cores
    from cwtool.predict import COLUMNS, column_names, predict

    if evaluate and (unlabeled or follow):
        raise click.UsageError("--evaluate needs labels and an end of the data")
    if follow and (len(data) > 1 or STDIN in data or top):
        raise click.UsageError("--follow is for one file, and not with --top")
    if plot is not None:
        predicting.check_plot(plot, evaluate)
    console = options.console(as_json, quiet, verbose)
    subject = Model.load(model, jobs or cores(), max_memory)
    doubt_labels(subject, model)
    read = replace(
        options.read_options(subject.reading, on_bad_line, max_bad_lines, block_size, jobs),
        **predicting.labelling(subject, evaluate, unlabeled),
        comments=with_id,
        prompt=True,
        follow=follow,
    )
    columns = COLUMNS if output == "all" else (output,)
    columns = ("id", *columns) if with_id else columns
    asked = ctx.get_parameter_source("output") is not click.core.ParameterSource.DEFAULT
    wanted = out is not None or asked or not evaluate
    with (
        kept(data if top else ()),
        complete_text(out, (*data, model)) if out else nullcontext(sys.stdout) as file,
    ):
        found = predicting.choose(
            subject, list(data), read, threshold, fpr, precision, top, validation
        )
        if found is not None:
            console.note(found)
        write = (
            predicting.writer(file, columns, column_names(subject, columns), as_json)
            if wanted
            else None
        )
        ranking = Ranking()
        result = predict(
            subject, list(data), read, columns, write, evaluate=evaluate, ranking=ranking
        )
        predicting.judge_unknown(result, unknown_features, console)
    predicting.tell(result, console)
    if evaluate:
        predicting.tell_metrics(result, console, aside=wanted and out is None)
    if plot is not None:
        predicting.draw(subject, ranking, plot)
