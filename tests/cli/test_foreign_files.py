"""Files that people bring and that are no LIBSVM text: each is named, with what helps."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

# name of the file, its bytes, words of the error, words of the hint
FOREIGN = {
    "CSV with names": (
        "t.csv", b"clicked,age,city\n1,34,Paris\n",
        "t.csv:1:1: this is a table (CSV), not LIBSVM text (label clicked,age,city is not",
        "cwtool convert t.csv -o t.svm --names names.tsv",
    ),
    "a model": (
        "old.cw", b"CWTOOL\0\3{}", "old.cw:1:1: this is a model file of cwtool, not LIBSVM text",
        "give the data file instead; cwtool inspect old.cw shows the model",
    ),
    "CSV of numbers": (
        "day 1.csv", b"1,34,5\n0,2,3\n", "day 1.csv:1:1: this is a table (CSV)",
        "cwtool convert 'day 1.csv' -o 'day 1.svm' --names names.tsv",
    ),
    "CSV under another name": (
        "t.svm", b"1;34;5\n", "this is a table (CSV)",
        "cwtool convert t.svm --from csv -o t.rows.svm --names names.tsv",
    ),
    "TSV": (
        "t.tsv", b"1\t34\t5\n", "t.tsv:1:3: this is a table (TSV)",
        "cwtool convert t.tsv -o t.svm --names names.tsv",
    ),
    "blanks": (
        "t.txt", b"1 34 5\n0 2 3\n", "this is a table with blanks",
        "cwtool convert t.txt --from csv --delimiter ' ' -o t.svm --names names.tsv",
    ),
    "VW text": (
        "t.vw", b"1 2.0 'tag|f a:1 b\n", "this is VW text",
        "cwtool convert t.vw -o t.svm --names names.tsv",
    ),
    "VW text behind a comment": (
        "t.txt", b"# made today\n1 |f a:1 b\n", "t.txt:2:3: this is VW text",
        "cwtool convert t.txt --from vw -o t.svm --names names.tsv",
    ),
    "Parquet": (
        "t.parquet", b"PAR1\x15\x04\x15\x10\n", "t.parquet:1:1: this is a Parquet file",
        "cwtool convert t.parquet -o t.svm --names names.tsv",
    ),
    "URLs": (
        "u.txt", b"http://a.example/b 1\n", "this is a list of URLs",
        "cwtool convert u.txt --from urls -o u.svm --hash-bits 22",
    ),
    "URLs with labels that are text": (
        "u.txt", b"phish http://a.example/b\n", "this is a list of URLs",
        "cwtool convert u.txt --from urls -o u.svm --hash-bits 22 --names names.tsv",
    ),
    "URLs before labels that are text": (
        "u.txt", b"http://a.example/b\tphish\n", "this is a list of URLs",
        "cwtool convert u.txt --from urls -o u.svm --hash-bits 22 --names names.tsv",
    ),
    "JSON lines": (
        "j.jsonl", b'{"label": 1, "x": 2}\n', "this is JSON lines",
        "pandas.read_json('j.jsonl', lines=True).to_csv('j.csv', index=False)\", "
        "then cwtool convert j.csv -o j.svm --names names.tsv",
    ),
    "HTML": (
        "day.svm", b"<!DOCTYPE html>\n<html>404</html>\n", "this is an HTML or XML page",
        "fetch it again with curl -fL -o day.svm URL",
    ),
    "zip": ("a.zip", b"PK\x03\x04\x14\x00day1\n", "this is a zip archive", "unzip a.zip"),
    "npz": ("a.npz", b"PK\x03\x04\x14\x00X.npy\n", "npz", "dump_svmlight_file(X, y, 'a.svm'"),
    "pickle": ("a.pkl", b"\x80\x04\x95\x10\x00\n", "this is a Python pickle", "dump_svmlight_file"),
    "empty": ("e.svm", b"", "e.svm: no rows to {do}; the file is empty", "fetch it again"),
}  # fmt: skip

foreign = pytest.mark.parametrize(
    ("name", "content", "words", "hint"), FOREIGN.values(), ids=FOREIGN.keys()
)


@foreign
def test_what_it_is_and_what_helps(
    cwtool: Run, folder: Path, name: str, content: bytes, words: str, hint: str
) -> None:
    (folder / name).write_bytes(content)
    ended = cwtool("train", name, "-m", "m.cw")
    assert (ended.code, ended.out) == (3, "")
    error, _, next_step = ended.err.partition("\nhint: ")
    assert words.format(do="learn from") in error
    assert hint in next_step
    assert not Path("m.cw").exists()


@foreign
def test_predict_says_the_same(
    cwtool: Run, planted: Run, folder: Path, name: str, content: bytes, words: str, hint: str
) -> None:
    cwtool("train", planted("p.svm", 1, 50), "-m", "m.cw")
    (folder / name).write_bytes(content)
    ended = cwtool("predict", name, "-m", "m.cw", "--evaluate")
    assert ended.code == 3
    assert words.format(do="predict") in ended.err
    assert hint in ended.err


def test_stdin_has_no_name(cwtool: Run) -> None:
    ended = cwtool("train", "-", "-m", "m.cw", stdin=b"label,x\n1,2\n")
    assert "<stdin>:1:1: this is a table (CSV)" in ended.err
    assert "cwtool convert FILE --from csv -o FILE.svm" in ended.err


def test_a_bad_line_further_down_is_one_of_the_line(cwtool: Run, folder: Path) -> None:
    (folder / "a.svm").write_text("+1 1:1\n-1 2:1\n+1 1:2\n1,2,3\n")
    ended = cwtool("train", "a.svm", "-m", "m.cw")
    assert "a.svm:4:1: label 1,2,3 is not a number\n" in ended.err


def test_a_directory(cwtool: Run, folder: Path) -> None:
    (folder / "days").mkdir()
    ended = cwtool("train", "days/", "-m", "m.cw")
    assert ended.code == 3
    assert "days/ is a directory" in ended.err
    assert "name its files: days/*" in ended.err


def test_a_regression_target(cwtool: Run, folder: Path) -> None:
    (folder / "r.svm").write_text("".join(f"{k + 0.5} {k + 1}:1\n" for k in range(41)))
    ended = cwtool("train", "r.svm", "-m", "m.cw")
    assert ended.code == 3
    assert "looks like a regression target" in ended.err
    assert "awk '{$1 = ($1 > 20.5) ? 1 : -1} 1' r.svm > classes.svm" in ended.err


@pytest.mark.parametrize(("old", "new", "wrong", "right"), [(-1, 0, "0", "-1"), (0, -1, "-1", "0")])
def test_labels_0_and_1_for_a_model_of_others(
    cwtool: Run, folder: Path, old: int, new: int, wrong: str, right: str
) -> None:
    for name, negative in (("old.svm", old), ("new.svm", new)):
        (folder / name).write_text(f"{negative} 1:1\n1 2:1\n" * 30)
    cwtool("train", "old.svm", "-m", "m.cw")
    for args in (
        ("predict", "new.svm", "-m", "m.cw", "--evaluate"),
        ("train", "new.svm", "--resume", "m.cw", "-m", "n.cw"),
    ):
        ended = cwtool(*args)
        assert ended.code == 3
        assert f"new.svm:1: label {wrong} is a third class" in ended.err
        assert (
            f"sed 's/^{wrong} /{right} /' new.svm > new.svm" not in ended.err
        )  # reads what it writes
        assert f"sed 's/^{wrong} /{right} /' new.svm" in ended.err


def test_many_classes_where_two_are_meant(cwtool: Run, folder: Path, planted: Run) -> None:
    (folder / "ten.svm").write_text("".join(f"{k % 10} {k % 7 + 1}:1\n" for k in range(100)))
    ended = cwtool("train", "ten.svm", "-m", "m.cw")
    assert ended.code == 0
    assert "10 classes: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9; --positive 0 learns one" in ended.err
    asked = cwtool("train", "ten.svm", "-m", "n.cw", "--multiclass", "rival")
    assert "10 classes" not in asked.err
    cwtool("train", planted("two.svm", 1, 50), "-m", "two.cw")
    ended = cwtool("predict", "ten.svm", "-m", "two.cw", "--evaluate")
    assert ended.code == 3
    assert "ten.svm:1: label 0 is a third class beside -1 and +1" in ended.err
    assert "--multiclass rival" in ended.err
