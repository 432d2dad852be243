"""The README and the pages of docs/: what they show is what the program does, and what they name
exists. None of this needs Sphinx; `make docs` checks the links once more."""

import importlib
import re
import sys
from pathlib import Path

import click
import pytest

from cwtool import errors, registry
from cwtool.cli import COMMANDS, group
from cwtool.cli.declared import spellings
from cwtool.params import declared

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
DOCS = ROOT / "docs"
PAGES = sorted([README, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *DOCS.rglob("*.md")])
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")
CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
MENTION = re.compile(r"`((?:cwtool|cwtool_ext|docs|examples|tests|tools|data_scripts)/[\w./-]*\w)`")
TREE = re.compile(r"```\{toctree\}\n(.*?)```", re.DOTALL)
# options of cwtool.bench.peers, data_scripts, Vowpal Wabbit, and of the example of CONTRIBUTING.md
OTHERS = {"--only", "--size", "--base-url", "--oaa", "--smoothing", "--divisions", "--folds"}
OTHER_PROGRAMS = re.compile(r"\b(dask|srun|SBATCH|ssh|helm)\b")  # in a line
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def tool(name: str, monkeypatch: pytest.MonkeyPatch):
    """A script of tools/ as a module."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    monkeypatch.delitem(sys.modules, "estimators", raising=False)
    return importlib.import_module(name)


@every_page
def test_links_lead_somewhere(page: Path) -> None:
    found = LINK.findall(CODE.sub("", page.read_text()))
    paths = [path for path, _ in found if not path.startswith("http")]
    assert [path for path in paths if not (page.parent / path).exists()] == []


@every_page
def test_files_that_are_mentioned_exist(page: Path) -> None:
    assert [path for path in MENTION.findall(page.read_text()) if not (ROOT / path).exists()] == []


def options() -> set[str]:
    """All options of all commands and algorithms."""
    found = {word for param in group.params for word in param.opts} | {"--help"}
    for name in COMMANDS:
        command = group.get_command(click.Context(group), name)
        assert command is not None
        found |= {w for param in command.params for w in (*param.opts, *param.secondary_opts)}
    for name in registry.names():
        words = {w for p in declared(registry.algorithm(name).Params) for w in spellings(p)}
        found |= words | {f"--no-{w[2:]}" for w in words if w.startswith("--")}
    return found


def test_options_that_are_mentioned_exist() -> None:
    known = options() | OTHERS
    found = [
        f"{page.relative_to(ROOT)}: {word}"
        for page in PAGES
        for line in page.read_text().splitlines()
        if not OTHER_PROGRAMS.search(line)
        for word in re.findall(r"(?<![\w-])--[A-Za-z][\w-]*", line)
        if word not in known
    ]
    assert found == []


def test_every_page_is_in_a_list_of_pages() -> None:
    listed = {
        (page.parent / entry).resolve()
        for page in DOCS.rglob("*.md")
        for tree in TREE.findall(page.read_text())
        for entry in tree.splitlines()
        if entry and not entry.startswith(":")
    }
    pages = {page.with_suffix("") for page in DOCS.rglob("*.md")}
    assert pages - listed == {DOCS / "index"}


def test_the_reference_is_current(monkeypatch: pytest.MonkeyPatch) -> None:
    reference = tool("reference", monkeypatch)
    stale = [
        n for n, text in reference.pages().items() if (DOCS / "reference" / n).read_text() != text
    ]
    assert stale == [], "run `make reference`"


def test_the_readme_shows_what_the_program_does(monkeypatch: pytest.MonkeyPatch) -> None:
    readme, text = tool("readme", monkeypatch), README.read_text()
    assert len(text.splitlines()) < 150
    assert readme.masked(readme.filled(text)) == readme.masked(text), "run `make reference`"
    shown = re.findall(r"\$ (cwtool train .*)", text)
    assert len(shown) >= 2


def test_the_table_of_algorithms_has_them_all() -> None:
    table = README.read_text().partition("| `--algo` | use it when |")[2].partition("\n\n")[0]
    named = [name for row in table.splitlines() for name in re.findall(r"`([^`]+)`", row[:70])]
    assert set(registry.names()) <= set(named)


def test_the_python_of_the_readme_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("sklearn")
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len([line for line in code.splitlines() if line]) == 5
    monkeypatch.chdir(ROOT / "examples" / "sample")
    exec(compile(code, str(README), "exec"), {})
    assert 0.7 < float(capsys.readouterr().out) < 0.9  # the predict of the transcript: 24 % errors


def test_the_page_of_exit_codes_has_them_all() -> None:
    page = (DOCS / "reference" / "exit-codes.md").read_text()
    documented = {int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)}
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    raised = {kind.exit_code for kind in kinds if issubclass(kind, errors.CwtoolError)}
    source = (ROOT / "cwtool" / "cli" / "__init__.py").read_text()
    returned = {int(code) for code in re.findall(r"return (\d+)\b", source)}
    assert documented == raised | returned | {0, 2}
    for kind in kinds:
        if issubclass(kind, errors.CwtoolError) and kind is not errors.CwtoolError:
            assert kind.__name__ in page


def test_every_command_is_in_the_table_of_the_readme() -> None:
    text = README.read_text()
    assert [name for name in COMMANDS if f"| `cwtool {name}` |" not in text] == []
