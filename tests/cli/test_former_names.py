"""Options that had another name in cwtool 0.1 are still understood, and no longer shown."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cwtool import registry
from cwtool.cli.train import command
from cwtool.params import declared

Run = Callable[..., Any]
OLD = [  # algorithm, old name, present name, a value that is not the default
    ("sgd", "eta", "rate", 0.25),
    ("tg", "eta", "rate", 0.25),
    ("fobos", "eta", "rate", 0.25),
    ("arow", "floor", "variance_floor", 1e-9),
    ("cw-fact", "floor", "variance_floor", 1e-9),
    ("sofs", "budget", "features", 7),
    ("cw-sparse", "budget", "features", 7),
    ("bcw", "slot_rows", "batch_rows", 100),
    ("bcw", "epochs", "batch_passes", 2),
    ("dcd", "max_epochs", "max_batch_passes", 2),
    ("sbcw", "block", "group_size", 3),
    ("sbcw", "final_sweeps", "final_passes", 2),
]
every = pytest.mark.parametrize(("algo", "old", "name", "value"), OLD)


def option(name: str) -> str:
    return "--" + name.replace("_", "-")


@pytest.fixture
def trained(ok: Run, planted: Run) -> Callable[..., dict[str, Any]]:
    """The parameters of a model that is trained with these arguments."""
    data = planted("a.svm", 1, 60)

    def train(algo: str, *args: Any) -> dict[str, Any]:
        ok("train", data, "-m", "m.cw", "--algo", algo, *args)
        return json.loads(ok("inspect", "m.cw", "--json"))["params"]

    return train


@every
def test_as_an_option(trained: Run, ok: Run, algo: str, old: str, name: str, value: Any) -> None:
    params = trained(algo, option(old), value)
    assert params[name] == value
    assert old not in params
    assert trained(algo, f"{option(name)}={value}") == params
    ok("train", "a.svm", "--again", "--resume", "m.cw", option(old), value, "-m", "m.cw")


@every
def test_as_a_variable(
    trained: Run, monkeypatch: pytest.MonkeyPatch, algo: str, old: str, name: str, value: Any
) -> None:
    monkeypatch.setenv(f"CWTOOL_TRAIN_{old.upper()}", str(value))
    assert trained(algo)[name] == value
    assert trained(algo, option(name), 2 * value)[name] == 2 * value


@every
def test_in_a_configuration_file(
    trained: Run, monkeypatch: pytest.MonkeyPatch, algo: str, old: str, name: str, value: Any
) -> None:
    Path("cwtool.toml").write_text(f"[train]\n{old.replace('_', '-')} = {value}\n")
    assert trained(algo)[name] == value
    monkeypatch.setenv(f"CWTOOL_TRAIN_{name.upper()}", str(2 * value))
    assert trained(algo)[name] == 2 * value, "a variable overrides the file"


@every
def test_not_in_the_help(ok: Run, algo: str, old: str, name: str, value: Any) -> None:
    shown = ok("train", "--algo", algo, "--help").split()
    assert option(name) in shown
    assert option(old) not in shown


@pytest.mark.parametrize("algo", registry.names())
def test_no_former_name_of_any_algorithm_is_shown(ok: Run, algo: str) -> None:
    shown = ok("train", "--algo", algo, "--help").replace(",", " ").split()
    found = declared(registry.algorithm(algo).Params)
    present = {option(p.name) for p in found} | {o for p in command.params for o in p.opts}
    for p in found:
        assert p.kind is bool or option(p.name) in shown
        for old in p.formerly:
            assert option(old) not in shown or option(old) in present


def test_present_and_former_name_in_a_file(trained: Run) -> None:
    Path("cwtool.toml").write_text("[train]\neta = 0.25\nrate = 0.5\n")
    assert trained("sgd")["rate"] == 0.5


def test_a_wrong_value_is_told_by_the_present_name(cwtool: Run, planted: Run) -> None:
    data = planted("a.svm", 1, 9)
    ended = cwtool("train", data, "-m", "m.cw", "--algo", "sgd", "--eta", "-1")
    assert ended.code == 2
    assert "--rate" in ended.err
    assert "must be above 0" in ended.err


def test_an_old_option_of_another_algorithm(cwtool: Run, planted: Run) -> None:
    ended = cwtool("train", planted("a.svm", 1, 9), "-m", "m.cw", "--slot-rows", 3)
    assert ended.code == 2
    assert "--slot-rows is an option of bcw" in ended.err
    assert "the algorithm here is arow" in ended.err


def test_in_a_grid(ok: Run, planted: Run) -> None:
    data = planted("a.svm", 1, 60)
    args = ["tune", data, "--algo", "sgd", "--cv", 2, "--json", "--jobs", 1, "-m", "m.cw"]
    models = []
    for name in ("eta", "rate"):
        events = [json.loads(line) for line in ok(*args, "--grid", f"{name}=0.25,4").splitlines()]
        assert [e["params"] for e in events if e["event"] == "point"] == [
            {"rate": 0.25},
            {"rate": 4.0},
        ]
        models.append(Path("m.cw").read_bytes())
    assert models[0] == models[1]
