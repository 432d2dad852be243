"""Lists of URLs: lines `URL`, `LABEL URL` or `URL TAB LABEL`, or a table with a column of URLs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from cwtool.convert.classes import Kind, number_text
from cwtool.convert.csv_text import most_frequent, rows_of
from cwtool.convert.lines import Lines, batches
from cwtool.convert.row import Bad, Input, Row
from cwtool.convert.url_features import url_entries
from cwtool.data.names import cleaned

Form = Callable[[str], tuple[str, str]]  # a line -> label, URL
URL, LINE = "url", "line"  # what the id of a row can be, besides a column of a table


def read(lines: Lines, of: Input) -> Iterator[list[Row]]:
    """The rows of a list. Its first line tells how all lines are written."""
    first = next((line for line in lines if line.strip() and line[0] != "#"), None)
    if first is None:
        return
    column = _url_column(first, of)
    if column is not None:
        yield from batches(_of_table(lines, first, column, of), lines)
    else:
        yield from batches(_of_lines(lines, first, of), lines)


def _of_lines(lines: Lines, first: str, of: Input) -> Iterator[Row | None]:
    form = form_of(first) if of.labelled else alone
    kind = Kind(of.classes)
    line: str | None = first
    while line is not None:
        text = line.strip("\r\n")
        try:
            yield (
                _row(text, form, kind, lines.number, of)
                if text.strip() and text[0] != "#"
                else None
            )
        except Bad as fault:
            of.bad(lines.path, lines.number, fault)
            yield None
        line = next(iter(lines), None)


def _row(text: str, form: Form, kind: Kind, number: int, of: Input) -> Row:
    label, url = form(text)
    if form is not alone:
        kind.check(label, 1 if form is label_before else len(text) - len(label) + 1)
    comment = cleaned(url) if of.comment == URL else str(number) if of.comment == LINE else ""
    return Row(label, url_entries(url, of.ngrams), 1.0, comment)


def form_of(line: str) -> Form:
    """How the lines of a list are written, told by the first one."""
    line = line.strip("\r\n")
    _, tab, behind = line.rpartition("\t")
    if tab and not looks_like_url(behind):
        return label_behind
    words = line.split(None, 1)
    if len(words) == 2 and (number_text(words[0]) or not looks_like_url(words[0])):
        return label_before
    return alone


def looks_like_url(text: str) -> bool:
    """Whether it is no label: not a number, and with a dot, slash or colon in it."""
    return number_text(text.strip()) is None and any(c in text for c in "./:")


def alone(line: str) -> tuple[str, str]:
    return "", line.strip()


def label_before(line: str) -> tuple[str, str]:
    label, *url = line.split(None, 1)
    if looks_like_url(label):
        raise Bad(1, f"no label before {label[:40]}", FORMS)
    return label, url[0].strip() if url else ""


def label_behind(line: str) -> tuple[str, str]:
    url, tab, label = line.rpartition("\t")
    if not tab or not label.strip():
        raise Bad(len(line) + 1, "no tab and label behind the URL", FORMS)
    return label.strip(), url.strip()


FORMS = "all lines of a list are written as the first one; `no_label` says that none has a label"


def _url_column(first: str, of: Input) -> str | None:
    """The column of URLs, if the list is a table with a header."""
    cells = [cell.strip().strip('"') for cell in first.strip().split(most_frequent(first))]
    if of.url is not None:
        return of.url
    return next((cell for cell in cells if cell.lower() in ("url", "urls")), None)


def _of_table(lines: Lines, first: str, column: str, of: Input) -> Iterator[Row | None]:
    delimiter = of.delimiter or most_frequent(first)
    alone = delimiter not in first
    comment = column if of.comment == URL else of.comment
    inner = replace(of, url=column, comment=comment, labelled=of.labelled and not alone)
    yield from rows_of(lines, first, delimiter, inner, only_url=True)
