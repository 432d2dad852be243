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
    help="What to write for each row. all writes the columns label, score, variance, probability, "
    "file and line under a header line. With more than two classes, score and probability have "
    "one column per class, in ascending order of the labels, and a header line names the labels.",
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
    help="Print the metrics of the predictions against the labels of DATA. Predictions are then "
    "written only with --output or --out; if they go to stdout, the metrics go to stderr.",
)
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    help="With --evaluate, draw the ROC curve, the precision-recall curve and the reliability of "
    "the probabilities to this file (.svg or .png). Needs matplotlib.",
)
@click.option(
    "--id",
    "with_id",
    is_flag=True,
    help="Write the comment at the end of each row (# ...) as the first column, under a header "
    "line; for rows without a comment it is file:line.",
)
@click.option(
    "--unlabeled",
    is_flag=True,
    help="Rows have no labels: each line begins with id:value. Without this option it is detected "
    "from the first item of each file: an item with a colon is a feature, unless the number "
    "before the colon is a label of the model and the number after it could be a row weight.",
)
@click.option(
    "--follow",
    is_flag=True,
    help="Wait at the end of DATA, and predict lines that are appended to the file, until the run "
    "is interrupted. DATA must be one uncompressed file.",
)
@click.option(
    "--unknown-features",
    type=click.Choice(["ignore", "warn", "error"]),
    default="warn",
    show_default=True,
    help="What to do about features that the model has never seen, which add nothing to a score: "
    "ignore says nothing, warn reports their number, error ends with exit code 3.",
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
    help="Predict the K rows with the highest scores as positive (more if scores are equal). DATA "
    "is read twice.",
)
@click.option(
    "--validation",
    multiple=True,
    type=click.Path(readable=False),
    metavar="FILE",
    help="Labelled file to compute the threshold of error, f1, balanced, fpr or precision on "
    "exactly, instead of from the histogram of training scores. Can be given more than once.",
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
    predictions for the lines of a pipe are written as soon as the lines are read. Labels are
    optional. Rows are read with the settings of the training data: first index, normalization, bias
    and hashing.

    Rows with a score of at least the threshold are predicted positive. The default threshold is 0;
    a score of exactly 0 (an empty row, or only unknown features) is then predicted as the class
    that was more frequent in training or, with batch learners, among the training rows that score
    0 if they are more than 5 % of the rows. With more than two classes, the class with the highest
    score is predicted.

    The probability of the positive class is sigmoid(a * score + b), with a and b fitted in
    training. If it improved the fit in training, score / sqrt(1 + variance) or asinh(k * score) / k
    or both replace the score; inspect shows which. With more than two classes, probabilities are
    the softmax of a * score / sqrt(1 + variance) + b, with one variance per row and an offset b for
    each class.
    """
    from dataclasses import replace

    from cwtool.data.reports import ReadReport
    from cwtool.data.sources import STDIN, kept
    from cwtool.files import complete_text
    from cwtool.metrics.ranking import Ranking
    from cwtool.model import Model
    from cwtool.model.opening import doubt_labels
    from cwtool.parallel import cores
    from cwtool.predict import COLUMNS, column_names, predict

    if evaluate and (unlabeled or follow):
        raise click.UsageError(
            "--evaluate needs labels, and an end of the data; leave out --unlabeled and --follow"
        )
    if follow and (len(data) > 1 or STDIN in data or top):
        raise click.UsageError(
            "--follow reads one file, not standard input, and cannot be used with --top"
        )
    if plot is not None:
        predicting.check_plot(plot, evaluate)
    console = options.console(as_json, quiet, verbose)
    subject = Model.load(model, jobs or cores(), max_memory)
    doubt_labels(subject, model)
    read = replace(
        options.read_options(
            subject.reading,
            on_bad_line,
            max_bad_lines,
            block_size,
            jobs,
            max_memory,
            [*data, *validation],
        ),
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
        predicting.choose(
            subject, list(data), read, threshold, fpr, precision, top, validation, console
        )
        write = (
            predicting.writer(file, columns, column_names(subject, columns), as_json)
            if wanted
            else None
        )
        ranking, report = Ranking(), ReadReport()
        result = predict(
            subject,
            list(data),
            read,
            columns,
            write,
            evaluate=evaluate,
            report=report,
            ranking=ranking,
        )
        predicting.judge_unknown(result, unknown_features, console)
    predicting.tell(report, evaluate, console)
    if evaluate:
        predicting.tell_metrics(result, console, aside=wanted and out is None)
    if plot is not None:
        predicting.draw(subject, ranking, plot)
