"""Help texts: sections, and no option that is missing or stands twice."""

import re

import click
import pytest

from cwtool.cli import group
from cwtool.cli.algorithm import ALGO
from cwtool.cli.sections import SECTIONS


def opened(name: str) -> click.Context:
    above = click.Context(group, info_name="cwtool", **group.context_settings)
    command = group.get_command(above, name)
    assert command is not None
    context = click.Context(command, info_name=name, parent=above)
    context.meta[ALGO] = "arow"
    return context


@pytest.mark.parametrize("name", ["train", "feed", "predict", "tune", "select-features", "import"])
def test_every_option_stands_once(name: str) -> None:
    context = opened(name)
    params = context.command.get_params(context)
    named = [p.opts for p in params if isinstance(p, click.Option) and not p.hidden]
    # -h stands before --help; old click has the two in either order
    options = [min(names, key=lambda name: name.startswith("--")) for names in named]
    shown = re.findall(r"^  (-[\w-]+)", context.get_help(), flags=re.MULTILINE)
    assert sorted(shown) == sorted(options)


def test_shared_options_stand_behind_those_of_the_algorithm() -> None:
    titles = ["Options:", "Options of arow (adaptive regularization of weights):"]
    titles += [f"{title}:" for title in SECTIONS]
    assert [line for line in opened("train").get_help().splitlines() if line in titles] == titles
