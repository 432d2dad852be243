"""Files other than models and rows that are damaged: each is a sentence with its place and an exit
code, never a bug."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cwtool.data.names import read_names
from cwtool.errors import UsageError

Run = Callable[..., object]
DEEP = "[" * 5000
REFUSED = '{"event": "refused", "time": "2026-01-02", "file": "a", "why": "b", "digest": "c"}'
MEASURED = '{"event": "evaluate", "digest": "c", %s}'
SUITE = """
title = "Small"
[data.made]
make = "words"
rows = 60
features = 50
[method.a]
algo = "arow"
[[experiment]]
task = "test"
"""
MODEL = "solver_type L2R_LR\nnr_class 2\nlabel %s\nnr_feature %s\nbias %s\nw\n0.5\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"[train]\nalgo = '\xff'\n", "cwtool.toml is not UTF-8 text"),
        (f"x = {DEEP}".encode(), "cwtool.toml: "),
        (b"[train]\nseed = {a = 1}\n", "--seed of train has {'a': 1}, which it cannot have"),
        (b"[train]\nseed = [1]\n", "--seed of train has [1], which it cannot have"),
        (b"[train]\nrequire = [[]]\n", "--require of train has [[]], which it cannot have"),
        (b"[train]\nr = 2026-01-02\n", "--r of train has 2026-01-02, which it cannot have"),
        (
            b'[train]\nvalidation = ["a\\u0000"]\n',
            "--validation of train has ['a\\x00'], which it",
        ),
        (b'[train]\nresume = "a\\u0000"\n', "--resume of train has a\\0, which it cannot have"),
        (b"[train]\njson = 1\n", "--json of train has 1, which it cannot have"),
        (b"[train]\nbias = 0.0\n", "--bias of train has 0.0, which it cannot have"),
        (b"[train]\nr = " + 5000 * b"9", "cwtool.toml: "),
    ],
)
def test_configurations(text: bytes, message: str, folder: Path, cwtool: Run) -> None:
    (folder / "cwtool.toml").write_bytes(text)
    ended = cwtool("train", "a.svm", "-m", "m.cw")
    assert ended.code == 2 and message in ended.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"\xff", "log.jsonl is not a log of cwtool: it is not UTF-8 text"),
        (DEEP.encode(), "log.jsonl:1: this is no JSON line of cwtool"),
        (b'{"event": []}', "log.jsonl:1: this is no JSON line of cwtool"),
        (b'{"event": "refused"}', "log.jsonl:1: this is not a line of a log of feed"),
        (REFUSED.replace('"b"', "5").encode(), "its why is 5; it must be text"),
        ((MEASURED % '"error": []').encode(), "its error is a list"),
        ((MEASURED % '"day": {"rows": NaN}').encode(), "its day.rows is nan"),
        ((MEASURED % '"bins": [[1, 2]]').encode(), "its bins is a list"),
    ],
)
def test_logs(text: bytes, message: str, ok: Run, planted: Run, cwtool: Run) -> None:
    ok("train", planted("a.svm", 1, 60), "-m", "m.cw", "-q")
    Path("log.jsonl").write_bytes(text + b"\n" + REFUSED.encode() + b"\n")
    ended = cwtool("report", "m.cw", "--text", "--log", "log.jsonl")
    assert ended.code == 2 and message in ended.err


@pytest.mark.parametrize("line", [f"# hash bits {'9' * 5000}", "# hash bits 100"])
def test_names_with_too_many_bits(line: str, tmp_path: Path) -> None:
    (tmp_path / "names.tsv").write_text(f"{line}\n")
    with pytest.raises(UsageError, match=r"names\.tsv:1: the number of hash bits is "):
        read_names(tmp_path / "names.tsv")


def test_names_with_too_large_ids(folder: Path, cwtool: Run) -> None:
    (folder / "names.tsv").write_text(f"{'9' * 5000}\tone\n")
    (folder / "a.vw").write_text("1 | x\n")
    ended = cwtool("convert", "a.vw", "-o", "a.svm", "--names", "names.tsv")
    assert ended.code == 2 and "is not a feature id" in ended.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (MODEL % ("1 1", 1, -1), "its labels are not two or more different numbers"),
        (MODEL % ("1 nan", 1, -1), "its labels are not two or more different numbers"),
        (MODEL % ("1 1e305", 1, -1), "its labels are not two or more different numbers"),
        (MODEL % ("1 -1", "9" * 30, -1), "its weights are not those of its header"),
        (MODEL % ("1 -1", 1, "nan"), "its weights are not those of its header"),
    ],
)
def test_models_of_liblinear(text: str, message: str, folder: Path, cwtool: Run) -> None:
    (folder / "a.model").write_text(text)
    ended = cwtool("import", "a.model", "-m", "m.cw")
    assert ended.code == 3 and message in ended.err


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("rows = 60", "rows = '60'", "data made: 'rows' is 60, which is no whole number"),
        ("rows = 60", "split = true", "data made: 'split' is True, which is no number"),
        ("algo =", "grid = 5\nalgo =", "method.a: 'grid' is 5, which is no table"),
        ("algo =", "quick = 5\nalgo =", "quick is not a table"),
        ("[[experiment]]", "[experiment]", "'experiment' is {'task': 'test'}, which is no list"),
        ('title = "Small"', "title = nan", "suite: 'title' is nan, which is no text"),
        ('title = "Small"', f"title = {DEEP}", "small.toml: "),
    ],
)
def test_suites(old: str, new: str, message: str, folder: Path, cwtool: Run) -> None:
    assert SUITE.count(old) == 1
    (folder / "small.toml").write_text(SUITE.replace(old, new))
    ended = cwtool("bench", "small.toml", "-o", "out", "-j", "1")
    assert ended.code == 2 and message in ended.err
