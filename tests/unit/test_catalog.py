"""The catalogue of algorithms names each of them once, and the commands show it."""

import json

from click.testing import CliRunner

from cwtool import catalog, registry
from cwtool.cli import COMMANDS, group


def test_every_algorithm_has_one_line() -> None:
    named = [name for members in catalog.GROUPS.values() for name in members]
    assert sorted(named) == sorted(registry.names())


def test_the_command_lists_them() -> None:
    text = CliRunner().invoke(group, ["algorithms"]).output
    found = json.loads(CliRunner().invoke(group, ["algorithms", "--json"]).output)
    assert [entry["algorithm"] for entry in found["algorithms"]] == [
        line.split()[0] for line in text.splitlines() if line[:3].strip() and line[0] == " "
    ]
    assert found["default"] == registry.DEFAULT


def test_every_help_ends_with_examples() -> None:
    for name in COMMANDS.keys() - {"completion"}:
        text = CliRunner().invoke(group, [name, "--help"], terminal_width=100).output
        examples = text.partition("Examples:\n")[2].splitlines()
        assert len(examples) >= 2, name
        assert all(line.strip().startswith(f"cwtool {name}") for line in examples[:1]), name


def test_train_lists_the_algorithms_in_groups() -> None:
    text = CliRunner().invoke(group, ["train", "--help"], terminal_width=100).output
    for title, members in catalog.lines():
        assert title in text
        for name, use in members:
            assert use[:40] in text, name
