"""Files of rows and the cache on the command line: the same results as from text."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cwtool.data.spool import Spool
from cwtool_ext import libsvm

Run = Callable[..., Any]
FIRST = ("a.svm", 1, 400)


def test_there_and_back(folder: Path, planted: Run, ok: Run) -> None:
    planted(*FIRST)
    ok("convert", "a.svm", "-o", "a.cwrows")
    ok("convert", "a.cwrows", "-o", "back.svm")
    ok("convert", "a.svm", "-o", "direct.svm")
    assert (folder / "back.svm").read_bytes() == (folder / "direct.svm").read_bytes()
    ok("convert", "a.cwrows", "-o", "b.cwrows")
    assert (folder / "b.cwrows").read_bytes() == (folder / "a.cwrows").read_bytes()
    ok("convert", "a.svm", "-o", "c.bin", "--to", "cwrows")
    assert (folder / "c.bin").read_bytes() == (folder / "a.cwrows").read_bytes()


def test_every_command_takes_a_file_of_rows(folder: Path, planted: Run, ok: Run) -> None:
    """Whatever its name is: here it is that of its text, so that models have the same history."""
    planted(*FIRST)
    planted("b.svm", 2, 200)
    for kind in "text", "rows":
        ok("train", "a.svm", "b.svm", "-a", "arow", "-m", f"{kind}.cw", "--passes", 2)
        ok("tune", "a.svm", "-a", "arow", "--grid", "r=0.1,1", "--cv", 2, "-m", f"{kind}-tuned.cw")
        ok("select-features", "a.svm", "--features", 3, "-o", f"{kind}.tsv")
        ok("feed", "a.svm", "-m", f"{kind}-fed.cw")
        (folder / f"{kind}.txt").write_text(ok("predict", "a.svm", "-m", "text.cw"))
        ok("convert", "a.svm", "-o", "a.cwrows")
        (folder / "a.cwrows").rename(folder / "a.svm")
    for end in ".cw", "-tuned.cw", ".tsv", "-fed.cw", ".txt":
        assert (folder / f"rows{end}").read_bytes() == (folder / f"text{end}").read_bytes()


def test_rows_are_known_as_those_of_their_text(planted: Run, ok: Run, cwtool: Run) -> None:
    planted(*FIRST)
    ok("convert", "a.svm", "-o", "a.cwrows")
    ok("feed", "a.svm", "-m", "m.cw")
    assert "was learned before (as a.svm)" in cwtool("feed", "a.cwrows", "-m", "m.cw").err


def test_ids_of_rows_are_kept(folder: Path, planted: Run, ok: Run) -> None:
    ok("train", planted(*FIRST), "-m", "m.cw")
    (folder / "ids.svm").write_text("1 1:1 # first\n\n-1 2:1\n")
    ok("convert", "ids.svm", "-o", "ids.cwrows")
    for name in "ids.svm", "ids.cwrows":
        column = [
            line.split("\t")[0]
            for line in ok("predict", name, "-m", "m.cw", "--id", "--output", "all").splitlines()
        ]
        assert column == ["id", "first", f"{name}:3"]


def test_tables_become_files_of_rows(folder: Path, ok: Run) -> None:
    (folder / "t.csv").write_text("y,a,b,id\n1,2.5,x,r1\n-1,3,y,r2\n")
    how = ("--names", "n.tsv", "--id", "id")
    ok("convert", "t.csv", "-o", "t.svm", *how)
    ok("convert", "t.csv", "-o", "t.cwrows", *how)
    ok("convert", "t.svm", "-o", "same.cwrows")
    assert (folder / "t.cwrows").read_bytes() == (folder / "same.cwrows").read_bytes()
    ok("convert", "t.cwrows", "-o", "back.csv", "--names", "n.tsv")
    ok("convert", "t.svm", "-o", "direct.csv", "--names", "n.tsv")
    assert (folder / "back.csv").read_text() == (folder / "direct.csv").read_text()


def test_a_damaged_file_ends_with_3(folder: Path, planted: Run, ok: Run, cwtool: Run) -> None:
    planted(*FIRST)
    ok("convert", "a.svm", "-o", "a.cwrows")
    (folder / "a.cwrows").write_bytes((folder / "a.cwrows").read_bytes()[:-5])
    for command in ("train", "a.cwrows", "-m", "m.cw"), ("convert", "a.cwrows", "-o", "b.svm"):
        ended = cwtool(*command)
        assert ended.code == 3
        assert "a.cwrows: this file of rows is damaged: it ends in the middle" in ended.err
    assert not (folder / "b.svm").exists()


def test_compressed_files_of_rows_are_not_written(planted: Run, cwtool: Run) -> None:
    ended = cwtool("convert", planted(*FIRST), "-o", "a.cwrows.gz")
    assert ended.code == 2
    assert "compressed inside" in ended.err


COMMANDS: dict[str, tuple[object, ...]] = {
    "convert": ("convert", "a.svm", "-o", "OUT", "--to", "csv", "-q"),
    "train": ("train", "a.svm", "-a", "arow", "-m", "OUT", "-q"),
    "feed": ("feed", "a.svm", "-m", "OUT"),
    "predict": ("predict", "a.svm", "-m", "m.cw", "--evaluate", "--json"),
    "select-features": ("select-features", "a.svm", "--features", 3, "-o", "OUT", "-q"),
    "tune": (
        "tune",
        "a.svm",
        "-a",
        "arow",
        "--grid",
        "r=0.1,1",
        "--cv",
        2,
        "-j",
        1,
        "-m",
        "OUT",
        "-q",
    ),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_cache_changes_no_result(
    command: str, folder: Path, planted: Run, ok: Run, cwtool: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted(*FIRST)
    ok("train", "a.svm", "-a", "arow", "-m", "m.cw")
    said = []
    for name in "plain", "first", "second":
        cache = () if name == "plain" else ("--cache", "cache")
        if name == "second":
            monkeypatch.setattr(libsvm, "parse", None)
        ended = cwtool(*(name if word == "OUT" else word for word in COMMANDS[command]), *cache)
        assert ended.code == 0, ended.err
        said.append(ended.out)
    assert len(list((folder / "cache").iterdir())) == 1
    assert said[0] == said[1] == said[2]
    if (folder / "plain").exists():
        contents = [(folder / name).read_bytes() for name in ("plain", "first", "second")]
        assert contents[0] == contents[1] == contents[2]


def test_a_changed_file_is_told(folder: Path, planted: Run, ok: Run, cwtool: Run) -> None:
    planted(*FIRST)
    ok("train", "a.svm", "-m", "m.cw", "--cache", "cache")
    planted("a.svm", 3, 300)
    ended = cwtool("train", "a.svm", "-m", "n.cw", "--cache", "cache", "--json")
    assert ended.code == 0
    assert "warning: a.svm has changed since its rows were cached; it is parsed again" in ended.err
    assert json.loads(ended.out.splitlines()[-1])["rows"] == 300


def test_a_cache_that_cannot_be_written_is_a_warning(
    folder: Path, planted: Run, cwtool: Run
) -> None:
    (folder / "cache").mkdir(mode=0o500)
    if (folder / "cache").stat().st_uid == 0:
        (folder / "cache").rmdir()
        (folder / "no").write_text("")
        ended = cwtool("train", planted(*FIRST), "-m", "m.cw", "--cache", "no/cache")
    else:
        ended = cwtool("train", planted(*FIRST), "-m", "m.cw", "--cache", "cache")
    assert ended.code == 0
    assert "cannot be cached" in ended.err


def test_validation_files_are_parsed_twice_at_most(
    planted: Run, ok: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted(*FIRST)
    planted("v.svm", 2, 100)
    parsed = []
    parse = libsvm.parse
    monkeypatch.setattr(libsvm, "parse", lambda *a: parsed.append(len(a[0])) or parse(*a))
    ok("train", "a.svm", "-m", "m.cw", "--passes", 5, "--validation", "v.svm", "-j", 1)
    assert len(parsed) == 3


def test_rows_of_later_passes_are_packed(
    planted: Run, ok: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted(*FIRST)
    how = ("train", "a.svm", "-a", "arow", "--bias", "--class-weight", "balanced", "--passes", 3)
    ok(*how, "-m", "memory.cw")
    monkeypatch.setattr("cwtool.train.room.Spool", lambda: Spool(0))
    ok(*how, "-m", "packed.cw")
    assert (folder / "packed.cw").read_bytes() == (folder / "memory.cw").read_bytes()


def test_shards_take_whole_files_of_rows(planted: Run, ok: Run, folder: Path) -> None:
    for k in range(4):
        planted(f"{k}.svm", k, 1500)
        ok("convert", f"{k}.svm", "-o", f"{k}.cwrows")
    files = [f"{k}.cwrows" for k in range(4)]
    ok("train", *files, "-a", "arow", "-m", "m.cw", "--shards", 2, "-j", 1, "--head", "1")
    assert (folder / "m.cw").exists()
