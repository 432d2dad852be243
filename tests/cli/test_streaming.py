"""Predictions of lines as they come, of rows without labels, and of rows with names."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., str]


@pytest.fixture
def model(ok: Run, planted: Run) -> str:
    ok("train", planted("a.svm", 1, 600), "-m", "m.cw")
    planted("b.svm", 2, 30)
    return "m.cw"


def without_labels(text: str) -> str:
    return "".join(line.partition(" ")[2] for line in text.splitlines(keepends=True))


def test_each_line_of_a_pipe_is_answered(ok: Run, process: Callable, model: str) -> None:
    expected = ok("predict", "b.svm", "-m", model, "--output", "score").splitlines()
    run = process("predict", "-", "-m", model, "--output", "score", stdin=-1)
    with Path("b.svm").open("rb") as lines:
        for line, score in zip(lines, expected, strict=True):
            run.stdin.write(line)
            run.stdin.flush()
            assert run.stdout.readline().decode().strip() == score
    assert run.communicate()[0] == b""
    assert run.returncode == 0


def test_a_line_that_comes_in_pieces(process: Callable, model: str) -> None:
    run = process("predict", "-", "-m", model, stdin=-1)
    for piece in (b"+1 1:1\n+", b"1 2", b":1\n"):
        run.stdin.write(piece)
        run.stdin.flush()
    assert len([run.stdout.readline(), run.stdout.readline()]) == 2
    assert run.communicate()[0] == b""


def test_a_file_that_grows_is_followed(ok: Run, process: Callable, model: str) -> None:
    text = Path("b.svm").read_text()
    expected = ok("predict", "b.svm", "-m", model, "--output", "all").splitlines()[1:]
    Path("b.svm").write_text("")
    run = process("predict", "b.svm", "-m", model, "--output", "all", "--follow")
    with Path("b.svm").open("a") as out:
        for k, line in enumerate(text.splitlines(keepends=True)):
            out.write(line)
            out.flush()
            if k == 0:
                assert run.stdout.readline().startswith(b"label")
            assert run.stdout.readline().decode().strip() == expected[k]
    run.send_signal(signal.SIGINT)
    run.communicate()
    assert run.returncode == 130


def test_rows_without_labels(ok: Run, cwtool: Callable, model: str) -> None:
    expected = ok("predict", "b.svm", "-m", model, "--output", "score")
    plain = "# a head\n\n" + without_labels(Path("b.svm").read_text())
    Path("c.svm").write_text(plain.replace("\n", "\r\n"))
    assert ok("predict", "c.svm", "-m", model, "--output", "score", "--unlabeled") == expected
    first = plain.split()[3].partition(":")[0]
    assert float(first) != 1, "the first row of this test must not begin like a label"
    assert ok("predict", "c.svm", "-m", model, "--output", "score") == expected
    assert ok("predict", "-", "-m", model, "--output", "score", stdin=plain.encode()) == expected
    weighted = Path("b.svm").read_text().replace("+1 ", "+1:2 ").replace("-1 ", "-1:2 ")
    Path("w.svm").write_text(weighted)
    assert ok("predict", "w.svm", "-m", model, "--output", "score") == expected
    Path("d.svm").write_text("7:1 8:x\n")
    ended = cwtool("predict", "d.svm", "-m", model)
    assert ended.code == 3
    assert "d.svm:1:7: value x of feature 8" in ended.err
    assert cwtool("predict", "c.svm", "-m", model, "--unlabeled", "--evaluate").code == 2


def test_a_first_item_that_may_be_a_label_or_a_feature(cwtool: Callable, model: str) -> None:
    """A note tells that it is read as a label with a weight."""
    note = "the first item of the first row, 1:0.5, as a label with a weight; give --unlabeled"
    Path("d.svm").write_text("1:0.5 3:1\n2:1 3:1\n")
    assert note in cwtool("predict", "d.svm", "-m", model).err
    assert note not in cwtool("predict", "d.svm", "-m", model, "--unlabeled").err
    Path("e.svm").write_text("+1:0.5 3:1\n-1:2 3:1\n")
    assert not cwtool("predict", "e.svm", "-m", model).err.count("--unlabeled")


def test_rows_have_names(ok: Run, model: str) -> None:
    Path("n.svm").write_text("+1 1:1 # http://a b \n# no row\n-1 2:1\nbad\n+1 3:1 #c#d\n")
    args = ["-m", model, "--on-bad-line", "skip"]
    head, *rows = ok("predict", "n.svm", *args, "--id").splitlines()
    assert head == "id\tlabel"
    assert [row.split("\t")[0] for row in rows] == ["http://a b", "n.svm:3", "c#d"]
    head, *rows = ok("predict", "n.svm", *args, "--output", "all").splitlines()
    assert head.split("\t")[-2:] == ["file", "line"]
    assert [row.split("\t")[-2:] for row in rows] == [
        ["n.svm", "1"],
        ["n.svm", "3"],
        ["n.svm", "5"],
    ]
