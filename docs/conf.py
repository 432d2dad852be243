"""The site that `make docs` builds, and the manual pages of `make man`."""

import re
from pathlib import Path

from sphinx.application import Sphinx

project = "cwtool"
author = "the authors of cwtool"
copyright = author
version = release = re.findall(
    r'^version = "(.*)"', (Path(__file__).parents[1] / "pyproject.toml").read_text(), re.MULTILINE
)[0]

extensions = ["myst_parser"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4
exclude_patterns = ["_static"]
nitpicky = True
smartquotes = False  # -- is the beginning of an option

html_theme = "furo"
html_title = f"cwtool {version}"
html_static_path = ["_static"]
html_css_files = ["tables.css"]
html_show_sphinx = False
html_copy_source = False

PAGES = sorted((Path(__file__).parent / "reference").glob("cwtool-*.md"))


def summary(page: Path) -> str:
    """The first paragraph of the page of a command."""
    return page.read_text().split("\n\n")[2].rstrip(".")


man_pages = [(f"reference/{page.stem}", page.stem, summary(page), author, 1) for page in PAGES]
man_pages += [("reference/commands", "cwtool", "Learn linear classifiers from feeds", author, 1)]
HEAD = re.compile(r"^\| (?:option|command) \| .*\n\|---.*\n", re.MULTILINE)
ROW = re.compile(r"^\| (`[^`]+`|cwtool [a-z-]+) \| (.*) \|$", re.MULTILINE)


def lists(app: Sphinx, name: str, source: list[str]) -> None:
    """Manual pages have lists of options in the place of tables, and their summary as the name."""
    if app.builder.name == "man":
        text = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", HEAD.sub("", source[0]))  # no links
        text = ROW.sub(lambda row: f"{row[1]}\n: {row[2]}\n", text)
        source[0] = re.sub(r"\n[^#]+\n## Synopsis", "\n## Synopsis", text).replace("\\|", "|")


def setup(app: Sphinx) -> None:
    app.connect("source-read", lists)
