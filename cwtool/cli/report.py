"""cwtool report"""

from __future__ import annotations

from pathlib import Path

import click

from cwtool.cli import options


@click.command(
    name="report",
    epilog=options.examples(
        "cwtool report url.cw --log daily.jsonl -o feed.html",
        "cwtool report url.cw --text",
    ),
)
@click.argument("model", type=click.Path(dir_okay=False, readable=False, path_type=Path))
@click.option(
    "--log",
    multiple=True,
    type=click.Path(dir_okay=False, readable=False, path_type=Path),
    help="Log file that cwtool feed --log has written; it also lists the days that were refused. "
    "Can be given more than once.",
)
@click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write the report to, as one HTML page that loads no other file.",
)
@click.option("--text", "as_text", is_flag=True, help="Print the report on stdout as text.")
@click.option(
    "--since",
    type=click.IntRange(min=1),
    default=7,
    show_default=True,
    help="Compare the weights with those of the model of this many days ago, or of the oldest "
    "model that was kept.",
)
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=15,
    show_default=True,
    help="Number of features to show whose weights changed most.",
)
@click.option(
    "--feature-names",
    type=click.Path(dir_okay=False, readable=False, path_type=Path),
    help="File with names of features: a feature id, a tab and its name on each line.",
)
@options.max_memory
def command(
    model: Path,
    log: tuple[Path, ...],
    out: Path | None,
    as_text: bool,
    since: int,
    top: int,
    feature_names: Path | None,
    max_memory: int,
) -> None:
    """Show the days of a feed: errors, AUC, base rate, calibration, shifts of the probabilities,
    sizes, days that were refused, and features whose weights changed. Either --out or --text is
    required."""
    from cwtool.data.names import bytes_of_names
    from cwtool.feed.report import FIGURES, days_of, moved, work_of_moved
    from cwtool.files import complete_text
    from cwtool.inspect import names_of
    from cwtool.model import Model
    from cwtool.model.memory_estimate import check_load
    from cwtool.report import feed_page

    if out is None and not as_text:
        raise click.UsageError("give --out for a page, or --text")
    named = bytes_of_names(feature_names)
    work = work_of_moved(model, since if top else 0)
    check_load(model, max_memory, lambda found: named + work(found))
    subject = Model.load(model)
    names = names_of(feature_names, subject.reading) if feature_names else {}
    days = days_of(subject, model.stat().st_size, log)
    changed = moved(model, subject, since, top, names) if top else {}
    title, console = f"Feed of {model.name}", options.console(False, False, False)
    if out is not None:
        with complete_text(out, (model, *log)) as file:
            file.write(feed_page.page(title, days, FIGURES, changed))
        console.note(f"wrote {out}")
    if as_text:
        console.result(feed_page.text(title, days, FIGURES, changed))
