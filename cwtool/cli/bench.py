"""cwtool bench"""

from __future__ import annotations

from pathlib import Path

import click

from cwtool.cli import options, sharding
from cwtool.errors import DataError


@click.command(
    name="bench",
    epilog=options.examples(
        "cwtool bench --list",
        "cwtool bench sbcw-fig1 --quick -o bench-out",
        "cwtool bench bcw-table2 --data data --jobs 2",
    ),
)
@click.argument("suites", nargs=-1, metavar="SUITE...")
@click.option(
    "--list", "listed", is_flag=True, help="Print the names and titles of all suites, and exit."
)
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Folder of real data sets: DIR/NAME/train.svm and DIR/NAME/test.svm, plain or "
    "compressed. Missing data sets are left out and listed in the report. Suites of artificial "
    "data need no folder.",
)
@click.option(
    "--quick",
    is_flag=True,
    help="Use less data, fewer repeats and smaller grids, so that a suite takes minutes.",
)
@click.option(
    "-o",
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("bench-out"),
    show_default=True,
    metavar="DIR",
    help="Folder to write results and reports to.",
)
@click.option(
    "--again",
    is_flag=True,
    help="Compute again results that are already stored in the folder of --out.",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    help="Number of processes. The result does not depend on it.  [default: all cores]",
)
@sharding.engine
@options.caching
@options.max_memory
@options.talking
def command(
    suites: tuple[str, ...],
    listed: bool,
    data: Path | None,
    quick: bool,
    out: Path,
    again: bool,
    jobs: int | None,
    engine: str | None,
    scheduler: str | None,
    max_memory: int,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Repeat the experiments of the papers and compare the results with the published numbers.

    SUITE is a name that --list prints, `all`, or the path of a TOML file. Every measurement is
    stored in DIR/cells, where DIR is the folder of --out: the same command continues an interrupted
    run, and computes nothing if all measurements are stored. The report of a suite is
    DIR/SUITE/report.md with tables.csv, cells.jsonl and plots; DIR/report.html has the reports of
    all suites.
    """
    console = options.console(as_json, quiet, verbose)
    from cwtool.bench import suite as suite_files

    if listed:
        for name in suite_files.names():
            found = suite_files.load(name)
            paper = f" ({found.paper})" if found.paper else ""
            console.result(f"{name:<18} {found.title}{paper}")
        return
    if not suites:
        raise click.UsageError(
            "no suite is given; `cwtool bench --list` prints all, `all` runs all"
        )
    names = suite_files.names() if "all" in suites else list(dict.fromkeys(suites))
    wanted = [suite_files.load(name, quick=quick) for name in names]

    from cwtool import memory
    from cwtool.bench import report, runner
    from cwtool.bench.cells import Store
    from cwtool.parallel import EngineOptions, cores, opened
    from cwtool.report.page import assemble

    how = EngineOptions(engine or "", jobs or cores(), scheduler or "")
    if how.kind == "dask":  # workers may have been started elsewhere
        data, out = data and data.absolute(), out.absolute()
    store = Store(out / "cells")
    memory.BOUNDS.limit = max_memory
    failures = 0
    for suite in wanted:
        try:
            with opened(how) as workers, options.kept_rows(how) as cache:
                results = runner.run(
                    suite, data, console, store=store, engine=workers, again=again, cache=cache
                )
        except KeyboardInterrupt:
            console.note(f"finished cells are stored in {store.folder}; run again to go on")
            raise
        text = report.write(results, out)
        if as_json:
            for record in results.records:
                console.event("cell", {"suite": suite.name, **report.flat(record)})
        elif not quiet:
            console.result(text)
        if results.absent:
            why = f"not in the folder {data}" if data else "left out without --data"
            console.note(f"{suite.name}: {why}: {', '.join(results.absent)}")
        for record in results.failures:
            console.warn(f"{suite.name}: {report.failed(record)}")
        failures += len(results.failures)
    console.note(f"wrote {assemble(out)}")
    if failures:
        raise DataError(f"{failures:,} cells failed; all others are in the report")
