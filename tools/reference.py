"""Write the reference pages in docs/reference from the declarations of the program: a page for each
command, and pages of the parameters of all algorithms, of the estimators and of JSON events.
`--check` names pages that are stale."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import click
import estimators
from event_pages import events_page, events_schema
from markdown_text import MADE, cell, sentences

from cwtool import catalog, registry
from cwtool.algorithms.base import Selects
from cwtool.cli import COMMANDS, group
from cwtool.cli.algorithm import AlgorithmCommand
from cwtool.cli.declared import spellings
from cwtool.params import Param, declared

FOLDER = Path(__file__).parent.parent / "docs" / "reference"


def option_row(option: click.Option, ctx: click.Context) -> str:
    """The spellings and the meaning of an option."""
    record = option.get_help_record(ctx)
    assert record is not None
    names, meaning = record
    for kind, word in (("INTEGER", "N"), ("FLOAT", "NUMBER")):
        names = names.replace(f"{kind} RANGE", word).replace(kind, word)
    return f"| `{cell(names).replace(chr(92) + '<', '<')}` | {cell(meaning)} |"


def command_page(name: str) -> str:
    """The page of a command: usage, meaning, options and examples."""
    command = group.get_command(click.Context(group), name)
    assert command is not None
    above = click.Context(group, **group.context_settings)
    ctx = click.Context(command, parent=above, info_name=name)
    usage = " ".join(command.collect_usage_pieces(ctx))
    lines = [MADE, "", f"# cwtool {name}", "", COMMANDS[name], ""]
    lines += ["## Synopsis", "", "```text", f"cwtool {name} {usage}", "```", ""]
    lines += ["## Description", "", sentences(command.help or ""), ""]
    own = [p for p in command.params if isinstance(p, click.Option) and not p.hidden]
    lines += ["## Options", "", "| option | meaning |", "|---|---|"]
    lines += [option_row(option, ctx) for option in own]
    if isinstance(command, AlgorithmCommand):
        lines += ["", "Every algorithm has options of its own: [Algorithms](algorithms.md)."]
    if command.epilog:
        shown = command.epilog.partition("Examples:\n")[2]
        lines += ["", "## Examples", "", "```console"]
        lines += [f"$ {line.strip()}" for line in shown.splitlines() if line.strip()]
        lines += ["```"]
    return "\n".join(lines) + "\n"


def parameter_row(param: Param) -> str:
    words = ", ".join(f"`{word}`" for word in spellings(param)[: 2 if len(param.name) == 1 else 1])
    if param.kind is bool:
        bounds = "yes or no"
    else:
        bounds = param.range or ("whole number" if param.kind is int else "number")
    default = param.default
    if isinstance(default, bool):
        default = "yes" if default else "no"
    return f"| {words} | {cell(param.help)} | {cell(bounds)} | {default} |"


def algorithms_page() -> str:
    """All algorithms with their parameters; parameters of several algorithms stand once."""
    lines = [MADE, "", "# Algorithms", ""]
    lines += ["The options of each algorithm, for `cwtool train --algo NAME` and other commands"]
    lines += ["that take `--algo`. In Python they are parameters of the estimators, with"]
    lines += ["underscores. [Choosing an algorithm](../guides/algorithms.md) says which to use."]
    for title, members in catalog.lines():
        lines += ["", f"## {title}"]
        for name, use in members:
            kind = registry.algorithm(name)
            summary = kind.summary[:1].upper() + kind.summary[1:]
            lines += ["", f"### {name}", "", f"{cell(summary)}. Use it for {cell(use)}.", ""]
            lines += ["| option | meaning | values | default |", "|---|---|---|---|"]
            lines += [parameter_row(param) for param in declared(kind.Params)]
    return "\n".join(lines) + "\n"


ESTIMATORS = """# Estimators

`cwtool.estimators` has a scikit-learn classifier for each algorithm, and selectors of columns.
[Python](../guides/python.md) shows how to use them. They need `pip install 'cwtool[sklearn]'`.

| method | what it does |
|---|---|
| `fit(X, y, sample_weight=None)` | Trains a new model. |
| `partial_fit(X, y, classes=None)` | Continues the model; the first call needs `classes`. |
| `predict(X)` | The classes of rows. |
| `predict_proba(X)` | The probabilities of the classes. |
| `decision_function(X)` | The scores of rows. |
| `decision_variance(X)` | The variance of each score: large for features that are new. |
| `save(path)` | Writes a model file for the command line; `cwtool.load(path)` reads one. |

After `fit`, linear models have `coef_` and `intercept_`, others that rank columns have
`feature_importances_`; all have `classes_` and `model_`. Selectors have `transform(X)`, `ranking_`
and `get_feature_names_out()`.
"""


def signature(name: str) -> str:
    """The parameters that an algorithm has of its own, with their defaults."""
    own = [estimators.argument(param) for param in declared(registry.algorithm(name).Params)]
    return ", ".join(f"`{a.name}={a.default!r}`" for a in own)


def estimators_page() -> str:
    """The classes with their parameters."""
    lines = [MADE, "", ESTIMATORS, "## Classifiers", ""]
    lines += ["| class | algorithm | parameters of its own |", "|---|---|---|"]
    for name in registry.names():
        stem = f"`{estimators.STEMS[name]}Classifier`"
        lines += [f"| {stem} | [{name}](algorithms.md#{name}) | {cell(signature(name))} |"]
    lines += ["", "## Selectors", "", "| class | algorithm | chooses |", "|---|---|---|"]
    for name in estimators.SELECTORS:
        kind = registry.algorithm(name)
        chooses = "`features` columns" if issubclass(kind, Selects) else "columns with a weight"
        stem = f"`{estimators.STEMS[name]}Selector`"
        lines += [f"| {stem} | [{name}](algorithms.md#{name}) | {chooses} |"]
    lines += ["", "## Parameters of all classes", ""]
    lines += ["Where a parameter makes no sense for an algorithm, its class does not have it.", ""]
    lines += ["| parameter | values | default | meaning |", "|---|---|---|---|"]
    for a in estimators.COMMON.values():
        lines += [f"| `{a.name}` | {cell(a.kind)} | `{a.default!r}` | {cell(a.help)} |"]
    return "\n".join(lines) + "\n"


def index_page() -> str:
    """The list of commands."""
    lines = [MADE, "", "# Commands", "", "| command | what it does |", "|---|---|"]
    lines += [
        f"| [cwtool {name}](cwtool-{name}.md) | {cell(COMMANDS[name])} |" for name in COMMANDS
    ]
    lines += ["", "```{toctree}", ":hidden:", "", *(f"cwtool-{name}" for name in COMMANDS), "```"]
    lines += ["", sentences(group.help or "")]
    return "\n".join(lines) + "\n"


def pages() -> dict[str, str]:
    """The text of every page by its file name."""
    found = {f"cwtool-{name}.md": command_page(name) for name in COMMANDS}
    found |= {"commands.md": index_page(), "algorithms.md": algorithms_page()}
    found |= {"estimators.md": estimators_page(), "events.md": events_page()}
    found |= {"events.schema.json": events_schema()}
    return {name: re.sub(r"\n{3,}", "\n\n", text) for name, text in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="Write docs/reference from the declarations.")
    parser.add_argument("--check", action="store_true", help="only name pages that are stale")
    check = parser.parse_args().check
    made = pages()
    stale = [
        name
        for name, text in made.items()
        if not (FOLDER / name).exists() or (FOLDER / name).read_text() != text
    ]
    known = {path.name for path in FOLDER.glob("*.md") if MADE in path.read_text()}
    gone = sorted(known - made.keys())
    if check:
        if stale or gone:
            sys.exit(f"out of date: {', '.join(stale + gone)}; run `make reference`")
        return
    FOLDER.mkdir(exist_ok=True)
    for name in stale:
        (FOLDER / name).write_text(made[name])
        print(FOLDER / name)
    for name in gone:
        (FOLDER / name).unlink()


if __name__ == "__main__":
    main()
