"""cwtool select-features"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from cwtool import memory, registry
from cwtool.cli import class_options, options, sharding
from cwtool.cli.algorithm import ALGO, AlgorithmCommand, given
from cwtool.params import declared


def _sizes(ctx: click.Context, param: click.Parameter, text: str) -> tuple[int, ...]:
    try:
        sizes = tuple(int(word) for word in text.split(","))
    except ValueError:
        sizes = ()
    if not sizes or min(sizes) < 1:
        raise click.BadParameter(f"{text!r} is not a list of numbers such as 10,20,50")
    return sizes


@click.command(
    cls=AlgorithmCommand,
    name="select-features",
    epilog=options.examples(
        "cwtool select-features train.svm --features 50,200 --test test.svm -o features.tsv",
        "cwtool select-features train.svm --algo l1svm --features 100 --stability 20 --json",
        "cwtool select-features train.svm --features 100 --project reduced",
    ),
)
@click.argument("data", nargs=-1, required=True)
@click.option(
    "-a",
    "--algo",
    metavar="NAME",
    default="sbcw",
    show_default=True,
    help="Learning algorithm. sbcw, fgm, l1svm and spar-dca select a given number of features; "
    "any other algorithm learns one model of all features, of which those that come first by "
    "--rank are taken.",
)
@click.option(
    "--features",
    callback=_sizes,
    default="10,20,50,100",
    show_default=True,
    metavar="P,P,...",
    help="Numbers of features to select. Each number gives a separate result.",
)
@click.option(
    "--test",
    multiple=True,
    metavar="FILE",
    help="File to measure the test error on. Can be given more than once.",
)
@click.option(
    "--rank",
    type=click.Choice(["weight", "confidence"]),
    default="weight",
    show_default=True,
    help="Order of the features of algorithms that do not select by themselves: weight is |mu|, "
    "the absolute weight; confidence is |mu| / sqrt(Sigma), the weight in units of its standard "
    "deviation.",
)
@click.option(
    "--refit-C",
    "refit_c",
    type=click.FloatRange(min=0, min_open=True),
    default=1.0,
    show_default=True,
    help="C of the linear support vector machine (dcd with the hinge loss) that is fitted to the "
    "selected features to measure their test error.",
)
@click.option(
    "--stability",
    type=click.IntRange(min=2),
    metavar="B",
    help="Repeat the selection on this number of random subsamples of the rows, and report how "
    "often each feature is selected and the agreement of the selections (kappa).",
)
@click.option(
    "--per-class",
    is_flag=True,
    help="With more than two classes, select separate features for each class against the rest "
    "instead of the same features for all classes. Errors are then those of separating the class "
    "from the rest.",
)
@click.option(
    "--subsample",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.8,
    show_default=True,
    help="Share of the rows in each subsample of --stability.",
)
@click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write the selected features to, as tab-separated text.",
)
@click.option(
    "--project",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Folder to write the data to with only the selected features, as train.P.svm and "
    "test.P.svm for P features. The constant feature of --bias is left out.",
)
@click.option(
    "--ids",
    type=click.Choice(["original", "renumbered"]),
    default="original",
    show_default=True,
    help="Feature ids in the files of --project: original keeps them, renumbered counts from 1 "
    "without gaps.",
)
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="File (.png or .svg) in which test error and time are drawn against the number of "
    "features. Needs --test and matplotlib.",
)
@click.option(
    "--feature-names",
    type=click.Path(dir_okay=False, readable=False, path_type=Path),
    help="File with names of features: a feature id, a tab and its name on each line.",
)
@options.seed
@sharding.engine
@class_options.classes
@class_options.class_weight
@options.rows
@options.max_memory
@options.reading
@options.talking
@click.pass_context
def command(
    ctx: click.Context,
    /,
    data: tuple[str, ...],
    algo: str,
    features: tuple[int, ...],
    test: tuple[str, ...],
    rank: str,
    refit_c: float,
    stability: int | None,
    per_class: bool,
    subsample: float,
    out: Path | None,
    project: Path | None,
    ids: str,
    plot: Path | None,
    feature_names: Path | None,
    seed: int,
    class_weight: str,
    max_memory: int,
    on_bad_line: str,
    max_bad_lines: int,
    block_size: int,
    jobs: int | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    **others: Any,
) -> None:
    """Select features of LIBSVM files, and measure the error of classifiers that use only them.

    For each number of features the selected features are listed in order with score, weight,
    confidence and group. With --test, two test errors are reported: that of these weights, and that
    of a support vector machine fitted to the selected features. With more than two classes, all
    classes have the same features and a weight of their own for each. All rows are held in memory.
    Without -o or --json the features are printed as a table, and the errors go to stderr.
    """
    from dataclasses import replace

    from cwtool.data.measuring import measured
    from cwtool.data.names import bytes_of_names
    from cwtool.data.parse import Reading
    from cwtool.files import check_kept, complete_text
    from cwtool.inspect import names_of
    from cwtool.report import charts
    from cwtool.select import Projection, SelectOptions, panels, select, table

    if per_class and (project is not None or plot is not None):
        raise click.UsageError(
            "--project and --plot are for features of all classes together; leave out --per-class"
        )
    if plot is not None:
        charts.check(plot)
        if not test:
            raise click.UsageError("--plot draws the test error and needs --test")
    own = [n for p in declared(registry.algorithm(ctx.meta[ALGO]).Params) for n in p.names]
    console = options.console(as_json, quiet, verbose)
    reading = Reading(**given(ctx, others, options.ROWS))
    if reading.normalize == "columns":
        reading = measured(reading, data, max_memory)
    if named := bytes_of_names(feature_names):
        max_memory = memory.without(
            f"{feature_names}", named, max_memory, "leave out `feature_names`"
        )
    names = names_of(feature_names, reading) if feature_names else {}
    read = options.read_options(
        reading, on_bad_line, max_bad_lines, block_size, jobs, max_memory, [*data, *test]
    )
    wanted = SelectOptions(
        sizes=features,
        algo=ctx.meta[ALGO],
        params=given(ctx, others, tuple(n for n in own if n in others)),
        labels=class_options.labels(given(ctx, others, class_options.CLASSES)),
        per_class=per_class,
        class_weight=class_weight,
        rank=rank,
        refit_C=refit_c,
        stability=stability or 0,
        share=subsample,
        seed=seed,
        max_memory=read.max_memory,
        warn=console.warn,
        engine=sharding.engine_options(ctx, others, jobs),
        read=read,
    )
    sources: list[str | Path] = [*data, *test, *([feature_names] if feature_names else [])]
    if plot is not None:
        check_kept(plot, sources)
    options.names_data(console, data)
    projection = None if project is None else Projection(project, ids == "renumbered")
    results = []
    again = bool(stability) and wanted.engine.kind == "loky"
    with (
        complete_text(out, sources) if out else nullcontext(sys.stdout) as file,
        options.read_again(wanted.read, wanted.engine)
        if again
        else nullcontext(wanted.read) as read,
    ):
        for result in select(list(data), list(test), replace(wanted, read=read), projection):
            if names:
                result["names"] = [names.get(str(feature), "") for feature in result["selected"]]
            results.append(result)
            console.event("select", result | console.told(), aside=out is None)
        if out is not None or not as_json:
            file.writelines(line + "\n" for line in table(results, names))
    if plot is not None:
        charts.save(charts.chart(panels(results)), plot)
        console.note(f"wrote {plot}")
