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
        help="Column of a table that holds the labels.  [default: the column named label, target, "
        "y or class, otherwise the first]",
    ),
    click.option(
        "--no-label",
        is_flag=True,
        help="The input has no labels. Rows are written with the label 0.",
    ),
    click.option(
        "--labels",
        metavar="NAME=NUMBER,...",
        help="Numbers for labels that are text, such as spam=1,ham=-1. Other labels are numbered "
        "1, 2, ... in the order of their first rows, and --names stores these numbers.",
    ),
    click.option(
        "--weight", metavar="COLUMN", help="Column of a table that holds the row weights."
    ),
    click.option(
        "--id",
        "comment",
        metavar="COLUMN",
        help="Column of a table that is written as a comment at the end of each row, which "
        "predict --id prints. For lists of URLs, url is the URL and line the line number.",
    ),
    click.option(
        "--drop",
        multiple=True,
        metavar="COLUMN",
        help="Column of a table to leave out. Can be given more than once.",
    ),
    click.option(
        "--categorical",
        multiple=True,
        metavar="COLUMN",
        help="Column of a table whose numbers are categories, not quantities, such as postal "
        "codes. Can be given more than once.",
    ),
    click.option(
        "--missing",
        multiple=True,
        metavar="TEXT",
        help="Text of cells whose value is missing, in addition to empty cells, NA, NaN, null, "
        "none and ?. Can be given more than once.",
    ),
    click.option(
        "--delimiter",
        metavar="CHARACTER",
        help="Character between the cells of a table.  [default: detected from the first line]",
    ),
    click.option(
        "--header/--no-header",
        default=None,
        help="Whether the first line of a table holds the names of its columns; without names, "
        "columns are given by their numbers.  [default: it does if it contains no numbers, or a "
        "name such as label, target, y or class]",
    ),
)

naming = options.apply(
    click.option(
        "--names",
        type=click.Path(dir_okay=False, readable=False, path_type=Path),
        help="File with the names of features: a feature id, a tab and its name on each line. It "
        "is created if it does not exist. A later run with the same file gives known names the "
        "same ids and appends new names. inspect, select-features and report read it.",
    ),
    click.option(
        "--hash-bits",
        type=click.IntRange(min=1, max=30),
        help="Compute ids from 1 to 2^N by hashing the names instead of numbering them, which "
        "needs no memory for a dictionary. Names that collide share an id. With --names, the "
        "names that occur are written to that file.",
    ),
    click.option(
        "--url",
        metavar="COLUMN",
        help="Column of a table that holds URLs, whose parts become features.  [default: with "
        "--from urls, the column named url]",
    ),
    click.option(
        "--ngrams",
        type=click.IntRange(min=0, max=10),
        default=3,
        show_default=True,
        help="Length of the character n-grams of a host name that become features; 0 makes none.",
    ),
    click.option(
        "--max-columns",
        type=click.IntRange(min=1),
        default=10_000,
        show_default=True,
        help="Largest number of features that are written as columns of a table; data with more "
        "features is refused.",
    ),
    click.option(
        "--zero-based",
        is_flag=True,
        help="Feature ids in LIBSVM input start at 0. Ids in the output always start at 1.",
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
    ".zst. An existing file is replaced only when the new one is complete.",
)
@click.option(
    "--from",
    "source",
    type=click.Choice(READ),
    help="Format of the input; urls are lists of URLs with or without labels.  [default: detected "
    "from the name or the first line of each file]",
)
@click.option(
    "--to",
    "form",
    type=click.Choice(WRITTEN),
    help="Format of the output; cwrows is a file of parsed rows, which every command reads faster "
    "than text.  [default: by the name of the output file; libsvm for stdout]",
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

    A number in a cell of a table becomes the value of the feature that is named after the column;
    text in a cell becomes a feature column=cell of value 1. Empty cells make no feature. Names of
    features are mapped to ids by a dictionary, which --names stores, or by --hash-bits. Input is
    read as a stream from plain or compressed files, from URLs, or from - for stdin. Writing a table
    takes two passes over the input, because its first line names every feature. A file of rows
    (cwrows) stores the parsed rows of LIBSVM text; every command reads it several times as fast as
    text, and it is a third to one and a half times as large as text compressed by gzip -1.
    """
    from dataclasses import replace

    from cwtool.convert.classes import parse_labels
    from cwtool.convert.row import Input
    from cwtool.convert.run import Target, convert
    from cwtool.data.parse import Reading

    if data.count("-") > 1:
        raise click.UsageError("standard input can be read only once; give - once")
    delimiter = table["delimiter"]
    if delimiter is not None:
        table["delimiter"] = delimiter = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
        if len(delimiter) != 1 or delimiter in '"\r\n':
            raise click.UsageError("--delimiter must be one character other than a quotation mark")
    console = options.console(as_json, quiet, verbose)
    read = options.read_options(
        Reading(zero_based=zero_based), on_bad_line, max_bad_lines, block_size, jobs, max_memory,
        data,
    )  # fmt: skip
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
