"""Imports go down only: cli, then train and predict, then model and algorithms, then data."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import cwtool
import cwtool_ext

PACKAGE = Path(cwtool.__file__).parent
KERNELS = Path(cwtool_ext.__file__).parent
MODULES = {
    ".".join(["cwtool", *path.relative_to(PACKAGE).with_suffix("").parts]): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
UPPER = (
    "click",
    "cwtool.cli",
    "cwtool.console",
    "cwtool.train",
    "cwtool.predict",
    "cwtool.inspect",
    "cwtool.select",
)

# who, whom it must not import, exceptions
RULES = [
    (
        "cwtool.algorithms",
        (*UPPER, "cwtool.model", "cwtool.modelfile", "cwtool.data"),
        "cwtool.data.block",
    ),
    ("cwtool.data", (*UPPER, "cwtool.algorithms", "cwtool.model", "cwtool.modelfile"), None),
    ("cwtool.state", (*UPPER, "cwtool.algorithms", "cwtool.model"), None),
    ("cwtool.metrics", (*UPPER, "cwtool.algorithms", "cwtool.model"), None),
    ("cwtool.modelfile", (*UPPER, "cwtool.algorithms", "cwtool.model", "cwtool.data"), None),
    ("cwtool.model", UPPER, None),
    ("cwtool.train", ("click", "cwtool.cli"), None),
    ("cwtool.predict", ("click", "cwtool.cli"), None),
    ("cwtool.select", ("click", "cwtool.cli", "cwtool.console"), None),
    ("cwtool.tune", ("click", "cwtool.cli"), None),
    ("cwtool.bench", ("click", "cwtool.cli", "cwtool.report", "cwtool.tune"), None),
    ("cwtool.report", ("click", "cwtool.cli", "cwtool.console"), None),
    ("cwtool.page", (*UPPER, "cwtool.model", "cwtool.bench", "cwtool.report"), None),
    ("cwtool.charts", (*UPPER, "cwtool.model", "cwtool.bench", "cwtool.report"), None),
    ("cwtool.console", ("click", "cwtool.cli", "cwtool.model", "cwtool.train"), None),
    ("cwtool.errors", ("cwtool",), None),
]


def imports(path: Path) -> Iterator[str]:
    """Every module and name that a file imports, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports by dots"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


@pytest.mark.parametrize(("who", "forbidden", "allowed"), RULES, ids=[r[0] for r in RULES])
def test_no_arrow_goes_up(who: str, forbidden: tuple[str, ...], allowed: str | None) -> None:
    mine = {name: path for name, path in MODULES.items() if within(name, who)}
    assert mine
    wrong = [
        f"{name} imports {found}"
        for name, path in mine.items()
        for found in imports(path)
        if any(within(found, package) for package in forbidden)
        and not (allowed and within(found, allowed))
    ]
    assert wrong == []


def test_only_the_command_line_knows_click() -> None:
    users = {
        name for name, path in MODULES.items() if any(within(i, "click") for i in imports(path))
    }
    assert users
    assert all(within(name, "cwtool.cli") for name in users)


def test_only_plots_know_matplotlib() -> None:
    users = {
        name
        for name, path in MODULES.items()
        if any(within(i, "matplotlib") for i in imports(path))
    }
    assert users == {"cwtool.charts"}


def test_nothing_unsafe_is_unpacked() -> None:
    for path in MODULES.values():
        unsafe = {"pickle", "marshal", "shelve", "dill", "cloudpickle"} & {
            found.split(".")[0] for found in imports(path)
        }
        assert not unsafe, path
        assert "allow_pickle" not in path.read_text()


def test_kernels_know_nothing_of_the_package() -> None:
    sources = [p for p in KERNELS.iterdir() if p.suffix in (".pyx", ".pxd", ".pyi", ".py")]
    assert len(sources) > 5
    upward = re.compile(r"^\s*(?:from|import|cimport)\s+cwtool(?:\.|\s|$)", re.MULTILINE)
    assert [p.name for p in sources if upward.search(p.read_text())] == []


@pytest.mark.parametrize(
    "module",
    ["cwtool.cli", "cwtool.cli.train", "cwtool.cli.tune", "cwtool.cli.bench", "cwtool.registry"],
)
def test_starting_is_cheap(module: str) -> None:
    """No command imports NumPy before it knows that it needs it."""
    script = f"import sys, {module}; print('numpy' in sys.modules, 'scipy' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["False", "False"]
