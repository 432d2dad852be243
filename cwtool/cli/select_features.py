"""cwtool select-features"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from cwtool import registry
from cwtool.cli import options
from cwtool.cli.train import ALGO, AlgorithmCommand, given
from cwtool.params import declared


def _sizes(ctx: click.Context, param: click.Parameter, text: str) -> tuple[int, ...]:
    try:
        sizes = tuple(int(word) for word in text.split(","))
    except ValueError:
        sizes = ()
    if not sizes or min(sizes) < 1:
        raise click.BadParameter(f"{text!r} is no list of numbers such as 10,20,50")
    return sizes


@click.command(cls=AlgorithmCommand, name="select-features")
@click.argument("data", nargs=-1, required=True)
@click.option(
    "-a",
    "--algo",
    metavar="NAME",
    default="sbcw",
    help="Any; those that select: sbcw, fgm, l1svm, spar-dca; of others one model is "
    "ranked.  [default: sbcw]",
)
@click.option(
    "--features",
    callback=_sizes,
    default="10,20,50,100",
    show_default=True,
    metavar="P,P,...",
    help="How many features, one result for each number.",
)
@click.option(
    "--test",
    multiple=True,
    metavar="FILE",
    help="Rows to measure the error on. May be given more than once.",
)
@click.option(
    "--rank",
    type=click.Choice(["weight", "confidence"]),
    default="weight",
    show_default=True,
    help="Of an algorithm that does not select: by |mu| or by |mu| / sqrt(Sigma).",
)
@click.option(
    "--refit-C",
    "refit_c",
    type=click.FloatRange(min=0, min_open=True),
    default=1.0,
    show_default=True,
    help="C of the SVM (dcd) that is fitted to the chosen features.",
)
@click.option(
    "--stability",
    type=click.IntRange(min=2),
    metavar="B",
    help="Select also on B subsamples: how often each feature comes again.",
)
@click.option(
    "--subsample",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.8,
    show_default=True,
    help="Share of the rows in each.",
)
@click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the features to this file, tab-separated.",
)
@click.option(
    "--project",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Write the data in the chosen features alone, without a bias: train.P.svm, test.P.svm.",
)
@click.option(
    "--ids",
    type=click.Choice(["original", "renumbered"]),
    default="original",
    show_default=True,
    help="With --project: keep the ids, or count from the first.",
)
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Draw test error and time against the number of features: FILE.png or FILE.svg. Needs "
    "--test and matplotlib.",
)
@click.option(
    "--feature-names",
    type=click.Path(dir_okay=False, readable=False, path_type=Path),
    help="Names for ids: lines of id, tab, name.",
)
@options.seed
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
    subsample: float,
    out: Path | None,
    project: Path | None,
    ids: str,
    plot: Path | None,
    feature_names: Path | None,
    seed: int,
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
    """Choose features of LIBSVM files, and say how good a classifier on them is.

    For each number of features: which, in order, with score, weight, confidence and block; the
    test error of these weights and of an SVM fitted to the chosen features. All rows are held in
    memory. Without -o or --json the features are printed as a table, and the errors on stderr.
    """
    from cwtool import charts
    from cwtool.data.parse import Reading
    from cwtool.files import check_kept, complete_text
    from cwtool.inspect import names_of
    from cwtool.select import SelectOptions, panels, rows, select

    if plot is not None:
        charts.check(plot)
        if not test:
            raise click.UsageError("--plot shows the error on test rows: it needs --test")
    own = tuple(p.name for p in declared(registry.algorithm(ctx.meta[ALGO]).Params))
    console = options.console(as_json, quiet, verbose)
    reading = Reading(**given(ctx, others, options.ROWS))
    names = names_of(feature_names, reading) if feature_names else {}
    wanted = SelectOptions(
        sizes=features,
        algo=ctx.meta[ALGO],
        params=given(ctx, others, tuple(n for n in own if n in others)),
        rank=rank,
        refit_C=refit_c,
        stability=stability or 0,
        share=subsample,
        seed=seed,
        max_memory=max_memory,
        read=options.read_options(reading, on_bad_line, max_bad_lines, block_size, jobs),
    )
    sources: list[str | Path] = [*data, *test, *([feature_names] if feature_names else [])]
    if plot is not None:
        check_kept(plot, sources)
    results = []
    with complete_text(out, sources) if out else nullcontext(sys.stdout) as file:
        for result in select(list(data), list(test), wanted, project, renumber=ids == "renumbered"):
            if names:
                result["names"] = [names.get(str(feature), "") for feature in result["selected"]]
            results.append(result)
            console.event("select", result, aside=out is None)
        if out is not None or not as_json:
            file.writelines(line + "\n" for line in rows(results, names))
    if plot is not None:
        charts.save(charts.chart(panels(results)), plot)
        console.note(f"wrote {plot}")
