"""A report as a list of parts, written as Markdown and as HTML; and all reports of a folder on one
HTML page, which loads nothing from the network."""

from __future__ import annotations

from html import escape
from pathlib import Path

from cwtool import __version__
from cwtool.files import complete_text
from cwtool.records import dataclass

PAPER, DIFFERENCE = "paper", "difference"  # heads of the columns beside a measured one


@dataclass(frozen=True)
class Words:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Points:
    """A bulleted list."""

    items: list[str]


@dataclass(frozen=True)
class Grid:
    """A table; the first `words` columns hold text, the others numbers."""

    heads: list[str]
    rows: list[list[str]]
    words: int = 1


@dataclass(frozen=True)
class Heading:
    """The first of a report is its title."""

    text: str


@dataclass(frozen=True)
class Picture:
    """A figure; Markdown refers to the file NAME.svg, HTML contains the SVG element itself."""

    name: str
    svg: str


Part = Words | Points | Grid | Heading | Picture


def markdown(report: list[Part], level: str = "#") -> str:
    """The report as Markdown, with a title of this level."""
    out = []
    for part in report:
        if isinstance(part, Heading):
            out.append(f"{level} {part.text}")
            level = "##"
        elif isinstance(part, Words):
            out.append(part.text)
        elif isinstance(part, Points):
            out.append("\n".join(f"- {item}" for item in part.items))
        elif isinstance(part, Picture):
            out.append(f"![{part.name}]({part.name}.svg)")
        else:
            rule = ["---"] * part.words + ["---:"] * (len(part.heads) - part.words)
            rows = [part.heads, rule, *part.rows]
            out.append("\n".join(f"| {' | '.join(row)} |" for row in rows))
    return "\n\n".join(out) + "\n"


def html(report: list[Part]) -> str:
    """The report as a section of an HTML page."""
    out = ["<section>"]
    level = "h2"
    for part in report:
        if isinstance(part, Heading):
            out.append(f"<{level}>{inline(part.text)}</{level}>")
            level = "h3"
        elif isinstance(part, Words):
            out.append(f"<p>{inline(part.text)}</p>")
        elif isinstance(part, Points):
            items = "".join(f"<li>{inline(item)}</li>" for item in part.items)
            out.append(f"<ul>{items}</ul>")
        elif isinstance(part, Picture):
            out.append(f"<figure>{part.svg}</figure>")
        else:
            folded = part.heads.count(PAPER) > 1  # with one such column the table is narrow enough
            heads = html_row(part, part.heads, "th", folded)
            rows = "".join(html_row(part, row, "td", folded) for row in part.rows)
            table = f"<table><thead>{heads}</thead><tbody>{rows}</tbody></table>"
            out.append(f'<div class="wide">{table}</div>')
    return "\n".join([*out, "</section>"]) + "\n"


def html_row(table: Grid, texts: list[str], tag: str, folded: bool) -> str:
    """A row of a table. If `folded`, the paper's number and the difference do not get columns of
    their own but stand below the measured number."""
    cells: list[str] = []
    for k, (head, text) in enumerate(zip(table.heads, texts, strict=True)):
        if not folded or head not in (PAPER, DIFFERENCE):
            kind = " class='word'" if k < table.words else ""
            cells.append(f"<{tag}{kind}>{inline(text)}")
        elif tag == "td" and text:
            shown = f"<br><small>paper {text}" if head == PAPER else f"<small>, {text}"
            cells[-1] += f"{shown}</small>"
    return "<tr>" + "".join(f"{cell}</{tag}>" for cell in cells) + "</tr>"


def inline(text: str) -> str:
    """Text with **bold** and `code` as escaped HTML."""
    text = escape(text)
    for mark, tag in (("**", "strong"), ("`", "code")):
        text = "".join(
            f"<{tag}>{piece}</{tag}>" if k % 2 else piece
            for k, piece in enumerate(text.split(mark))
        )
    return text


STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif; color: #222;
       background: #fff; max-width: 1080px; margin: 0 auto; padding: 24px 24px 64px; }
h1 { font-size: 26px; font-weight: 600; margin: 8px 0 0; }
h2 { font-size: 21px; font-weight: 600; margin: 0 0 8px; }
h3 { font-size: 16px; font-weight: 600; margin: 28px 0 8px; }
section { border-top: 1px solid #ddd; margin-top: 36px; padding-top: 28px; }
p, li { max-width: 78ch; }
li { margin-bottom: 6px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 14px; }
th, td { padding: 5px 12px; text-align: right; white-space: nowrap; }
th { font-weight: 600; border-bottom: 2px solid #bbb; vertical-align: bottom; }
td { border-bottom: 1px solid #eee; vertical-align: top; line-height: 1.35; }
th.word, td.word { text-align: left; }
th:first-child, td:first-child { padding-left: 0; }
td small { color: #777; font-size: 12px; }
figure { margin: 12px 0; }
figure svg { max-width: 100%; height: auto; }
code { font-size: 13px; background: #f4f4f4; padding: 1px 4px; border-radius: 3px; }
nav a { color: #3366a8; margin-right: 14px; white-space: nowrap; }
footer { margin-top: 48px; color: #777; font-size: 13px; }
"""


def assemble(folder: Path) -> Path:
    """Put the sections of all reports below this folder on one page; returns its path."""
    sections = {p.parent.name: p.read_text() for p in sorted(folder.glob("*/section.html"))}
    links = " ".join(f'<a href="#{name}">{escape(name)}</a>' for name in sections)
    body = "".join(
        text.replace("<section>", f'<section id="{name}">', 1) for name, text in sections.items()
    )
    path = folder / "report.html"
    with complete_text(path) as out:
        out.write(
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>cwtool bench</title><style>{STYLE}</style></head><body>"
            f"<h1>cwtool bench</h1><nav>{links}</nav>\n{body}"
            f"<footer>cwtool {__version__}</footer></body></html>\n"
        )
    return path
