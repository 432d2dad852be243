"""Imports go down only: cli, then drivers, model, algorithms, state, kernels."""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import cwtool
import cwtool_ext
from cwtool import registry

PACKAGE = Path(cwtool.__file__).parent
KERNELS = Path(cwtool_ext.__file__).parent
MODULES = {
    ".".join(["cwtool", *path.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(
        ".__init__"
    ): path
    for path in sorted(PACKAGE.rglob("*.py"))
}

# leaves use other leaves and kernels at most; `data` and `report` are packages of leaves
LEAVES = (
    "errors", "clock", "params", "run", "order", "memory", "files", "parallel", "ahead", "metrics",
    "lock", "catalog", "cluster", "records", "scratch", "threads",
)  # fmt: skip
DATA, REPORT = "data", "report"
STATE, ALGORITHMS, MODEL = "state", "algorithms", "model"
DRIVERS = (
    "messages", "validation", "train", "shards", "merging", "predict", "points", "feed", "tune",
    "select", "inspect", "export", "importing", "convert",
)  # fmt: skip
BENCH, CLI, ESTIMATORS = "bench", "cli", "estimators"

# who -> the parts of cwtool that it may import besides itself
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "errors": (),
    "clock": ("errors",),
    "params": ("errors",),
    "run": ("parallel",),
    "order": (),
    "ahead": (),
    "memory": ("errors",),
    "files": ("errors",),
    "lock": ("errors",),
    "catalog": (),
    "records": (),
    "scratch": (),
    "threads": (),
    "parallel": ("errors", "cluster", "memory"),
    "cluster": ("errors",),
    "metrics": ("data.labels", "data.rows", "errors", "memory"),
    "registry": ("errors", ALGORITHMS, "params"),
    DATA: ("ahead", "errors", "files", "memory", "order", "parallel"),
    REPORT: ("errors", "files"),
    STATE: ("ahead", "data.growing", "data.rows", "errors"),
    ALGORITHMS: (
        STATE, "ahead", "data.growing", "data.rows", "errors", "memory", "order", "parallel",
        "params", "run", "threads",
    ),
    MODEL: (ALGORITHMS, STATE, DATA, "registry", *LEAVES),
    **dict.fromkeys(DRIVERS, (*DRIVERS, MODEL, ALGORITHMS, DATA, REPORT, "registry", *LEAVES)),
    "messages": (MODEL, "data.labels", "clock", "errors", "files", "memory", "metrics"),
    BENCH: (*DRIVERS, MODEL, ALGORITHMS, DATA, REPORT, "registry", *LEAVES),
    CLI: (*DRIVERS, MODEL, DATA, REPORT, BENCH, "registry", *LEAVES),
    ESTIMATORS: (
        "validation", "clock", "predict", "select", MODEL, ALGORITHMS, DATA, "errors", "parallel",
        "run",
    ),
    "__init__": (DATA, ESTIMATORS),
    "__main__": (CLI,),
}  # fmt: skip


@cache
def imports(path: Path) -> list[str]:
    """Every module and name that a file imports, also inside functions."""
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports by dots"
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def part(module: str) -> str:
    """The file or package directly below cwtool that a module belongs to."""
    return module.split(".")[1] if "." in module else "__init__"


def test_every_part_has_a_rule() -> None:
    assert {part(name) for name in MODULES} - MAY_IMPORT.keys() == set()


@pytest.mark.parametrize("who", sorted({part(name) for name in MODULES}))
def test_no_arrow_goes_up(who: str) -> None:
    allowed = [f"cwtool.{name}" for name in (who, *MAY_IMPORT[who])]
    wrong = [
        f"{name} imports {found}"
        for name, path in MODULES.items()
        if part(name) == who
        for found in imports(path)
        if within(found, "cwtool")
        and found not in ("cwtool.__version__", "cwtool", "cwtool.records.dataclass")
        and not any(within(found, package) for package in allowed)
    ]
    assert wrong == []


def users(package: str) -> set[str]:
    """The modules that import it."""
    return {
        name for name, path in MODULES.items() if any(within(i, package) for i in imports(path))
    }


def test_only_its_command_knows_the_benchmarks() -> None:
    outside = {name for name in users("cwtool.bench") if not within(name, "cwtool.bench")}
    assert outside == {"cwtool.cli.bench"}


def test_only_the_command_line_knows_click() -> None:
    assert users("click")
    assert all(within(name, "cwtool.cli") for name in users("click"))


def test_only_charts_know_matplotlib() -> None:
    assert users("matplotlib") == {"cwtool.report.charts"}


def test_only_the_cluster_knows_dask() -> None:
    assert users("distributed") | users("dask") == {"cwtool.cluster"}


def test_only_estimators_know_scikit_learn() -> None:
    assert users("sklearn")
    known = ("cwtool.estimators", "cwtool.bench")  # which compares cwtool with it
    assert [name for name in users("sklearn") if not name.startswith(known)] == []


def test_only_the_package_itself_knows_the_estimators() -> None:
    outside = {n for n in users("cwtool.estimators") if not within(n, "cwtool.estimators")}
    assert outside == {"cwtool"}


def test_all_dataclasses_are_those_that_are_made_fast() -> None:
    assert users("dataclasses.dataclass") == {"cwtool.records"}


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


def test_every_package_is_installed() -> None:
    project = Path(__file__).parents[2] / "pyproject.toml"
    found = project.read_text().partition("\npackages = [")[2]
    listed = set(re.findall(r'"(cwtool[\w.]*)"', found.partition("]")[0]))
    packages = {name for name, path in MODULES.items() if path.name == "__init__.py"}
    assert listed == packages | {"cwtool_ext"}


@pytest.mark.parametrize(
    "module",
    [
        "cwtool",
        "cwtool.cli",
        "cwtool.cli.train",
        "cwtool.cli.tune",
        "cwtool.cli.bench",
        "cwtool.registry",
    ],
)
def test_starting_is_cheap(module: str) -> None:
    """No command imports NumPy before it knows that it needs it."""
    script = f"import sys, {module}; print('numpy' in sys.modules, 'scipy' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["False", "False"]


def test_the_top_of_the_algorithms_holds_algorithms_only() -> None:
    """What algorithms are made of lies in folders, whose `__init__.py` says what belongs there."""
    folder = PACKAGE / "algorithms"
    top = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert top == {"base", *registry.MODULES.values()}
    for path in folder.glob("*/__init__.py"):
        (docstring,) = ast.parse(path.read_text()).body
        assert isinstance(docstring, ast.Expr), path
