"""cwtool merge"""

from __future__ import annotations

from pathlib import Path

import click

from cwtool.cli import options

MODEL = click.Path(dir_okay=False, readable=False, path_type=Path)


class MergeCommand(click.Command):
    """Takes several files after one --tail."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, each_tail(args))


def each_tail(args: list[str]) -> list[str]:
    """The arguments with --tail before each of the files that stand behind one. Models behind it
    are arguments as everywhere else."""
    from cwtool.files import is_model

    found: list[str] = []
    for k, arg in enumerate(args):
        behind = k > 1 and found[-2] == "--tail" and args[k - 1] != "--tail"
        if behind and not arg.startswith("-") and not is_model(Path(arg)):
            found.append("--tail")
        found.append(arg)
    return found


@click.command(
    cls=MergeCommand,
    name="merge",
    epilog=options.examples(
        "cwtool merge monday.cw tuesday.cw -m both.cw",
        "cwtool train part1.svm --resume head.cw -m p1.cw",
        "cwtool train part2.svm --resume head.cw -m p2.cw",
        "cwtool merge p1.cw p2.cw --base head.cw --tail last.svm -m all.cw",
    ),
)
@click.argument("models", nargs=-1, required=True, type=MODEL)
@click.option(
    "-m",
    "--model",
    required=True,
    type=MODEL,
    help="File to write the merged model to. An existing file is replaced only when the merge has "
    "finished.",
)
@click.option(
    "--base",
    type=MODEL,
    help="Model that all MODELS were resumed from. Rows that it has learned are counted once "
    "instead of once per model.",
)
@click.option(
    "--tail",
    multiple=True,
    type=click.Path(allow_dash=True, readable=False),
    metavar="FILE",
    help="File with rows that none of the models has learned. The rule of the merge with the "
    "lowest loss on these rows is chosen, and the merged model then learns them. A few thousand "
    "rows are enough; they are held in memory. Can be given more than once.",
)
@options.max_memory
@options.reading
@options.lock
@options.talking
def command(
    models: tuple[Path, ...],
    model: Path,
    base: Path | None,
    tail: tuple[str, ...],
    max_memory: int,
    on_bad_line: str,
    max_bad_lines: int,
    block_size: int,
    jobs: int | None,
    lock: str,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Make one model from several that learned different rows.

    All models are merged in one step, in the given order. They must have the same algorithm,
    parameters, reading options and labels. If they were all resumed from one model, it must be
    given as --base. A single model is copied unchanged.
    """
    from dataclasses import replace

    from cwtool.lock import locked
    from cwtool.merging.files import Files
    from cwtool.model.file import check_target
    from cwtool.parallel import cores
    from cwtool.run import Run

    console = options.console(as_json, quiet, verbose)
    check_target(model, tail)
    with locked(model, wait=lock == "wait"):
        files = Files(models, base, max_memory, jobs or cores())
        read = options.read_options(
            files.models[0].reading, on_bad_line, max_bad_lines, block_size, jobs, max_memory, tail
        )
        run = Run(
            jobs=read.jobs, max_memory=read.max_memory, note=console.detail, warn=console.warn
        )
        files.merge(tail, model, replace(read, sampled=True), run, console)
