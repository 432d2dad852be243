"""cwtool bench"""

from __future__ import annotations

from pathlib import Path

import click

from cwtool.cli import options
from cwtool.errors import DataError


@click.command(name="bench")
@click.argument("suites", nargs=-1, metavar="SUITE...")
@click.option("--list", "listed", is_flag=True, help="Print the suites that there are.")
@click.option(
    "--data",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Real data: DIR/NAME/train.svm, test.svm, compressed or not. What is absent is listed; "
    "made-up data needs no folder.",
)
@click.option("--quick", is_flag=True, help="Less data, fewer repeats: ends in minutes.")
@click.option(
    "-o",
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("bench-out"),
    show_default=True,
    metavar="DIR",
    help="Where cells and reports go.",
)
@click.option("--again", is_flag=True, help="Do also the cells that are done.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Processes.  [default: all cores]")
@options.talking
def command(
    suites: tuple[str, ...],
    listed: bool,
    data: Path | None,
    quick: bool,
    out: Path,
    again: bool,
    jobs: int | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Repeat the experiments of the papers, and set our figures beside theirs.

    SUITE is a name of --list, `all`, or a TOML file of your own. Every finished cell is kept in
    DIR/cells: a run that was stopped goes on, and a second one is instant. The reports are
    DIR/SUITE/report.md, tables.csv, cells.jsonl and plots, and all suites on one page,
    DIR/report.html.
    """
    console = options.console(as_json, quiet, verbose)
    from cwtool.bench import suite as shelf

    if listed:
        for name in shelf.names():
            found = shelf.load(name)
            paper = f" ({found.paper})" if found.paper else ""
            console.result(f"{name:<18} {found.title}{paper}")
        return
    if not suites:
        raise click.UsageError("which suite? `cwtool bench --list` prints them; or `all`")
    names = shelf.names() if "all" in suites else list(dict.fromkeys(suites))
    wanted = [shelf.load(name, quick=quick) for name in names]

    from cwtool import page, report
    from cwtool.bench import runner
    from cwtool.bench.cells import Store
    from cwtool.parallel import cores

    store = Store(out / "cells")
    failures = 0
    for suite in wanted:
        try:
            results = runner.run(
                suite, data, console, store=store, jobs=jobs or cores(), again=again
            )
        except KeyboardInterrupt:
            console.note(f"finished cells are kept in {store.folder}; run again to go on")
            raise
        text = report.write(results, out)
        if as_json:
            for record in results.records:
                console.event("cell", {"suite": suite.name, **report.flat(record)})
        elif not quiet:
            console.result(text)
        if results.absent:
            console.note(f"{suite.name}: not in the data folder: {', '.join(results.absent)}")
        for record in results.failures:
            console.warn(f"{suite.name}: {report.failed(record)}")
        failures += len(results.failures)
    console.note(f"wrote {page.assemble(out)}")
    if failures:
        raise DataError(f"{failures:,} cells failed; all others are in the report")
