"""cwtool convert"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cwtool.cli import options

READ = ("libsvm", "cwrows", "csv", "tsv", "vw", "parquet", "urls")
WRITTEN = READ[:-1]

tables = options.apply(
    click.option(
        "--label",
        metavar="COLUMN",
        help="Column of labels of a table.  [default: the column named label, target, y or class, "
        "else the first]",
    ),
    click.option(
        "--no-label",
        is_flag=True,
        help="Rows have no labels. They are written with the label 0.",
    ),
    click.option(
        "--labels",
        metavar="NAME=NUMBER,...",
        help="Numbers of labels that are text, such as spam=1,ham=-1. Others get the numbers 1, 2, "
        "... in the order in which they are met, which --names keeps.",
    ),
    click.option("--weight", metavar="COLUMN", help="Column of row weights of a table."),
    click.option(
        "--id",
        "comment",
        metavar="COLUMN",
        help="Column of a table that becomes the id of each row, a comment at the end of its line. "
        "For lists of URLs, url is the URL and line the number of the line.",
    ),
    click.option(
        "--drop", multiple=True, metavar="COLUMN", help="Column to leave out. Can be repeated."
    ),
    click.option(
        "--categorical",
        multiple=True,
        metavar="COLUMN",
        help="Column whose numbers are names and no quantities, such as postal codes. Can be "
        "repeated.",
    ),
    click.option(
        "--missing",
        multiple=True,
        metavar="TEXT",
        help="Text of cells whose value is not known, besides empty cells, NA, NaN, null, none and "
        "?. Can be repeated.",
    ),
    click.option(
        "--delimiter",
        metavar="CHARACTER",
        help="What separates the cells of a table.  [default: told by the first line]",
    ),
    click.option(
        "--header/--no-header",
        default=None,
        help="Whether the first line of a table has the names of its columns; without names, "
        "columns are given by their numbers.  [default: it has, if it has no numbers or a usual "
        "name of labels]",
    ),
)

naming = options.apply(
    click.option(
        "--names",
        type=click.Path(dir_okay=False, readable=False, path_type=Path),
        help="File that keeps the names of features: one feature id, a tab and its name on each "
        "line. It is made if there is none. A later run with the same file gives the same names "
        "the same ids and adds the new ones. inspect, select-features and report read it.",
    ),
    click.option(
        "--hash-bits",
        type=click.IntRange(min=1, max=30),
        help="Make ids from 1 to 2^N of names by hashing instead of counting them, which needs no "
        "memory. Names that collide share an id. With --names, the names that are met are written.",
    ),
    click.option(
        "--url",
        metavar="COLUMN",
        help="Column of URLs, whose parts become features.  [default: with --from urls, the column "
        "named url]",
    ),
    click.option(
        "--ngrams",
        type=click.IntRange(min=0, max=10),
        default=3,
        show_default=True,
        help="Length of the n-grams of the characters of a host; 0 leaves them out.",
    ),
    click.option(
        "--max-columns",
        type=click.IntRange(min=1),
        default=10_000,
        show_default=True,
        help="Largest number of features that are written as columns of a table.",
    ),
    click.option(
        "--zero-based",
        is_flag=True,
        help="Feature ids in LIBSVM input start at 0. The ids that are written start at 1.",
    ),
)


@click.command(
    name="convert",
    epilog=options.examples(
        "cwtool convert day1.csv -o day1.svm --label clicked --names names.tsv",
        "cwtool convert day2.csv.gz -o day2.svm.gz --label clicked --names names.tsv",
        "cwtool convert --from urls day.txt --hash-bits 22 -o - | cwtool feed - -m url.cw",
        "cwtool convert old.vw -o old.svm --names names.tsv",
        "cwtool convert small.svm -o small.parquet --names names.tsv",
        "cwtool convert day1.svm.gz -o day1.cwrows",
    ),
)
@click.argument("data", nargs=-1, required=True, type=click.Path(allow_dash=True, readable=False))
@click.option(
    "-o",
    "--out",
    required=True,
    type=click.Path(dir_okay=False, allow_dash=True),
    help="File to write to; - is stdout. It is compressed if its name ends with .gz, .bz2, .xz or "
    ".zst, and an existing file is replaced only when the new one is complete.",
)
@click.option(
    "--from",
    "source",
    type=click.Choice(READ),
    help="Format of the input. urls are lists of URLs with or without labels.  [default: told by "
    "the name or the first line of each file]",
)
@click.option(
    "--to",
    "form",
    type=click.Choice(WRITTEN),
    help="Format of the output; cwrows is a file of parsed rows, which is read faster than text.  "
    "[default: told by its name; libsvm for stdout]",
)
@tables
@naming
@options.max_memory
@options.reading
@options.talking
def command(
    data: tuple[str, ...],
    out: str,
    source: str | None,
    form: str | None,
    names: Path | None,
    hash_bits: int | None,
    labels: str | None,
    max_columns: int,
    no_label: bool,
    zero_based: bool,
    max_memory: int,
    on_bad_line: str,
    max_bad_lines: int,
    block_size: int,
    jobs: int | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    **table: Any,
) -> None:
    """Convert rows between LIBSVM, CSV, TSV, VW text, Parquet and files of rows, and from lists of
    URLs.

    Cells of a table that are numbers become values of the feature with the name of the column, and
    other cells features of their own, column=cell. Empty cells make no feature. Names become ids by
    a dictionary, which --names keeps, or by --hash-bits. Input is read as a stream, from files that
    may be compressed, from URLs, or from - for stdin. Tables are written in two passes, because the
    first line names every feature. A file of rows (cwrows) has the rows of LIBSVM text as they are
    after parsing, so that every command reads it several times as fast; it is smaller than the text
    compressed by gzip -1 where most values are alike.
    """
    from dataclasses import replace

    from cwtool.convert.classes import parse_labels
    from cwtool.convert.row import Input
    from cwtool.convert.run import Target, convert
    from cwtool.data.parse import Reading

    if data.count("-") > 1:
        raise click.UsageError("stdin can be read once")
    delimiter = table["delimiter"]
    if delimiter is not None:
        table["delimiter"] = delimiter = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
        if len(delimiter) != 1 or delimiter in '"\r\n':
            raise click.UsageError("--delimiter is one character, and no quote")
    console = options.console(as_json, quiet, verbose)
    read = options.read_options(
        Reading(zero_based=zero_based), on_bad_line, max_bad_lines, block_size, jobs, max_memory
    )
    table["tell"] = console.note
    numbers = parse_labels(labels or "")
    table["classes"] = frozenset(numbers)
    of = Input(replace(read, comments=True, prompt=True), labelled=not no_label, **table)
    found = convert(
        data,
        source,
        of,
        Target(out, form, names, hash_bits or 0, numbers, max_columns),
    )
    if found["bad_lines"]:
        console.warn(f"{found['bad_lines']:,} bad lines were skipped")
    if as_json and out != "-":
        console.event("convert", {"out": out, **found})
    else:
        console.note(f"{found['rows']:,} rows were written")
