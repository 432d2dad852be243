"""cwtool convert: rows of other files as LIBSVM text, and back."""

import bz2
import gzip
import json
import lzma
import random
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cwtool.convert import output
from cwtool.convert.parquet import Writer as ParquetWriter
from cwtool.data.compression import ZSTD

Run = Callable[..., Any]

TABLE = 'y,age,city,note\n1,34,Paris,"a, ""b"""\n-1,,Rome,\n+1,0.5,Paris,"x\ny"\n'


def write(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        (folder / name.replace("_", ".")).write_text(text)


def test_cells_become_features(folder: Path, ok: Run) -> None:
    write(folder, a_csv=TABLE)
    ok("convert", "a.csv", "-o", "a.svm", "--names", "n.tsv")
    assert (folder / "a.svm").read_text() == "1 1:34 2:1 3:1\n-1 4:1\n+1 1:0.5 2:1 5:1\n"
    names = '1\tage\n2\tcity=Paris\n3\tnote=a, "b"\n4\tcity=Rome\n5\tnote=x\\ny\n'
    assert (folder / "n.tsv").read_text() == names


def test_a_column_of_ids_is_noticed(folder: Path, cwtool: Run) -> None:
    write(folder, a_csv="y,ID,a\n1,7,3\n0,8,2\n")
    args = ["convert", "a.csv", "-o", "a.svm"]
    assert "the column ID is a feature of its rows; --id ID makes it" in cwtool(*args).err
    for known in (["--id", "ID"], ["--drop", "ID"], ["--label", "ID"]):
        assert "column ID" not in cwtool(*args, *known).err


def test_training_on_a_table_says_what_to_do(folder: Path, cwtool: Run, ok: Run) -> None:
    write(folder, a_csv=TABLE, b_vw="1 | a b\n", c_txt="1 http://a.example/\n", d_txt="1 2 3\n")
    for name in "a.csv", "b.vw", "c.txt", "d.txt":
        ended = cwtool("train", name, "-m", "m.cw")
        assert ended.code == 3
        program, *args = shlex.split(ended.err.partition("hint: ")[2])
        assert program == "cwtool"
        ok(*args)
        assert (folder / f"{name[0]}.svm").read_text()


def test_a_second_day_goes_on_with_the_names(folder: Path, ok: Run) -> None:
    write(folder, a_csv="y,b,a\n1,2,3\n", c_csv="a,new,y,b\n5,x,0,7\n")
    ok("convert", "a.csv", "-o", "a.svm", "--names", "n.tsv")
    ok("convert", "c.csv", "-o", "c.svm", "--names", "n.tsv")
    assert (folder / "c.svm").read_text() == "0 1:7 2:5 3:1\n"
    assert (folder / "n.tsv").read_text() == "1\tb\n2\ta\n3\tnew=x\n"


def test_names_are_as_before_if_the_conversion_fails(folder: Path, cwtool: Run, ok: Run) -> None:
    write(folder, a_csv="y,a\n1,2\n", b_csv="y,b\n1,2\n1,2,3\n")
    ok("convert", "a.csv", "-o", "a.svm", "--names", "n.tsv")
    before = (folder / "n.tsv").read_bytes()
    ended = cwtool("convert", "b.csv", "-o", "a.svm", "--names", "n.tsv")
    assert ended.code == 3
    assert "b.csv:3:3: 3 cells in a table of 2 columns" in ended.err
    assert "hint: " in ended.err
    assert (folder / "n.tsv").read_bytes() == before
    assert (folder / "a.svm").read_text() == "1 1:2\n"


def test_names_of_convert_are_read_by_inspect_and_select(folder: Path, ok: Run) -> None:
    draw = random.Random(1)
    rows = [(k % 2, ["cat", "dog"][k % 2], draw.random()) for k in range(40)]
    write(folder, a_csv="y,animal,size\n" + "".join(f"{y},{a},{s}\n" for y, a, s in rows))
    ok("convert", "a.csv", "-o", "a.svm", "--names", "n.tsv")
    ok("train", "a.svm", "-m", "m.cw")
    assert "animal=dog" in ok("inspect", "m.cw", "--feature-names", "n.tsv")
    out = ok(
        "select-features", "a.svm", "--algo", "l1svm", "--features", "1", "--feature-names", "n.tsv"
    )
    assert "animal=" in out


def test_hashed_names(folder: Path, ok: Run, cwtool: Run) -> None:
    write(folder, a_csv=TABLE)
    ok("convert", "a.csv", "-o", "a.svm", "--hash-bits", "20", "--names", "n.tsv")
    ok("convert", "a.csv", "-o", "b.svm", "--hash-bits", "20")
    assert (folder / "a.svm").read_bytes() == (folder / "b.svm").read_bytes()
    lines = (folder / "n.tsv").read_text().splitlines()
    assert lines[0] == "# hash bits 20"
    assert "city=Paris" in lines[2] and len(lines) == 6
    ended = cwtool("convert", "a.csv", "-o", "b.svm", "--names", "n.tsv")
    assert ended.code == 2 and "--hash-bits 20" in ended.err


def test_labels_that_are_text(folder: Path, ok: Run, cwtool: Run) -> None:
    write(folder, a_csv="class,x\nspam,1\nham,2\nspam,3\n", b_csv="class,x\nham,2\neggs,3\n")
    ended = cwtool("convert", "a.csv", "-o", "-")
    assert ended.out == "1 1:1\n2 1:2\n1 1:3\n"
    told = "labels are written as numbers: spam as 1, ham as 2; ham is the positive class; --names"
    assert told in ended.err
    assert ok("convert", "a.csv", "-o", "-", "--labels", "spam=+1,ham=-1").split()[2] == "-1"
    ok("convert", "a.csv", "-o", "a.svm", "--names", "n.tsv")
    ok("convert", "b.csv", "-o", "b.svm", "--names", "n.tsv")
    assert (folder / "b.svm").read_text() == "2 1:2\n3 1:3\n"


def test_labels_that_are_all_different(folder: Path, cwtool: Run) -> None:
    write(folder, a_csv="name,x\n" + "".join(f"c{k},{k}\n" for k in range(30)))
    ended = cwtool("convert", "a.csv", "-o", "a.svm")
    assert ended.code == 0 and "c9 as 10, ... (30 labels)" in ended.err and "c10" not in ended.err
    assert "warning: 30 rows have 30 different labels; --label chooses the column" in ended.err


def test_a_names_file_keeps_the_numbers_of_the_option_labels(
    folder: Path, ok: Run, cwtool: Run
) -> None:
    write(folder, a_csv="class,x\nspam,1\nham,2\n", b_csv="class,x\nham,2\nspam,3\neggs,4\n")
    kept = ["--names", "n.tsv"]
    ok("convert", "a.csv", "-o", "a.svm", *kept, "--labels", "spam=+1,ham=-1")
    ok("convert", "b.csv", "-o", "b.svm", *kept)
    assert (folder / "b.svm").read_text() == "-1 1:2\n+1 1:3\n2 1:4\n"
    ok("convert", "a.csv", "-o", "a.svm", *kept, "--labels", "spam=1")
    ended = cwtool("convert", "a.csv", "-o", "c.svm", *kept, "--labels", "ham=0")
    assert ended.code == 2 and "ham is 0, but n.tsv has the number -1" in ended.err
    (folder / "n.tsv").write_text("# label one spam\n")
    ended = cwtool("convert", "a.csv", "-o", "c.svm", *kept)
    assert ended.code == 2 and "n.tsv:1: the label spam has the number one" in ended.err


def test_names_of_labels_come_back(folder: Path, ok: Run) -> None:
    (folder / "a.csv").write_text("x,label\n1,yes\n2,no\n3,yes\n")
    ok("convert", "a.csv", "-o", "a.svm", "--names", "n.tsv")
    ok("convert", "a.svm", "-o", "b.csv", "--names", "n.tsv")
    assert [line.split(",")[0] for line in (folder / "b.csv").read_text().split()] == [
        "label", "yes", "no", "yes",
    ]  # fmt: skip
    ok("convert", "a.svm", "-o", "a.vw", "--names", "n.tsv")
    ok("convert", "a.vw", "-o", "b.svm", "--names", "n.tsv")
    assert (folder / "b.svm").read_text() == (folder / "a.svm").read_text()


def test_names_and_numbers_are_not_mixed(folder: Path, ok: Run, cwtool: Run) -> None:
    write(folder, a_csv="y,x\nspam,1\n1,2\n", b_csv="y,x\nspam,1\n", c_csv="y,x\n1,2\n")
    ended = cwtool("convert", "a.csv", "-o", "-")
    assert ended.code == 3 and "a.csv:3:1: label 1 in a file whose labels are names" in ended.err
    ended = cwtool("convert", "b.csv", "c.csv", "-o", "-")
    assert ended.code == 3 and "label 1 is also the number of the label spam" in ended.err
    assert ok("convert", "a.csv", "-o", "-", "--labels", "spam=-1") == "-1 1:1\n1 1:2\n"


@pytest.mark.parametrize("option", ["--label", "--weight", "--drop", "--categorical"])
@pytest.mark.parametrize("column", ["", "x", "3", 5000 * "1"], ids=["empty", "x", "3", "long"])
def test_columns_that_a_table_without_names_does_not_have(
    option: str, column: str, folder: Path, cwtool: Run
) -> None:
    write(folder, a_csv="1,2\n0,3\n")
    ended = cwtool("convert", "a.csv", "-o", "-", "--no-header", option, column)
    assert ended.code == 2 and f"there is no column {column[:9]}" in ended.err


def test_a_label_column_of_urls_without_labels_is_left_out(folder: Path, ok: Run) -> None:
    write(folder, a_txt="http://a.b/c\n")
    some = ["--from", "urls", "--no-header", "--url", "1", "--hash-bits", "5"]
    wanted = ok("convert", "a.txt", "-o", "-", *some)
    assert ok("convert", "a.txt", "-o", "-", *some, "--label", "x") == wanted


def test_columns_of_a_table(folder: Path, ok: Run, cwtool: Run) -> None:
    write(folder, a_tsv="who\tzip\tw\tgood\tx\nann\t0123\t2\t1\t7\nbob\t99\t1\t0\tNA\n")
    some = ["--label", "good", "--weight", "w", "--id", "who", "--categorical", "zip"]
    out = ok("convert", "a.tsv", "-o", "-", *some)
    assert out == "1:2.0 1:1 2:7 # ann\n0 3:1 # bob\n"
    assert ok("convert", "a.tsv", "-o", "-", *some[:4], "--drop", "who", "--drop", "zip") == (
        "1:2.0 1:7\n0\n"
    )
    ended = cwtool("convert", "a.tsv", "-o", "-", "--label", "bad")
    assert ended.code == 3 and "there is no column bad" in ended.err and "who, zip" in ended.err


def test_tables_without_a_header(folder: Path, ok: Run) -> None:
    write(folder, a_csv="1;0.5;red\n0;2;blue\n")
    assert ok("convert", "a.csv", "-o", "-") == "1 1:0.5 2:1\n0 1:2 3:1\n"
    assert ok("convert", "a.csv", "-o", "-", "--label", "2") == "0.5 1:1 2:1\n2 3:1\n"
    assert ok("convert", "a.csv", "-o", "-", "--no-label") == "0 1:1 2:0.5 3:1\n0 2:2 4:1\n"


def test_a_header_may_have_an_empty_name(folder: Path, ok: Run) -> None:
    write(folder, a_csv=",color,size\n0,red,3\n1,blue,4\n")
    assert ok("convert", "a.csv", "-o", "-", "--label", "size") == "3 2:1\n4 1:1 3:1\n"


def test_query_ids_are_told(folder: Path, cwtool: Run) -> None:
    write(folder, a_svm="1 qid:3 1:1\n")
    ended = cwtool("convert", "a.svm", "-o", "-")
    assert ended.out == "1 1:1\n" and "qid: was left out of 1 rows" in ended.err


def test_bad_lines_are_skipped_if_wished(folder: Path, cwtool: Run) -> None:
    write(folder, a_csv='y,x\n1,2\n,3\n1,inf\n1,"a"b\n0,5\n')
    ended = cwtool("convert", "a.csv", "-o", "-", "--on-bad-line", "skip")
    assert ended.out == "1 1:2\n0 1:5\n"
    assert "3 bad lines were skipped" in ended.err
    ended = cwtool("convert", "a.csv", "-o", "-", "--on-bad-line", "skip", "--max-bad-lines", "2")
    assert ended.code == 3 and "more than 2 bad lines" in ended.err


def test_a_pipe_of_a_failed_conversion_is_not_learned(folder: Path, cwtool: Run) -> None:
    write(folder, a_csv="y,x\n1,2\n0,3\n1,inf\n")
    ended = cwtool("convert", "a.csv", "-o", "-")
    assert ended.code == 3 and "a.csv:4:2: value inf of column x is not finite" in ended.err
    ended = cwtool("train", "-", "-m", "m.cw", stdin=ended.out.encode())
    assert ended.code == 3 and not (folder / "m.cw").exists()
    assert "cwtool convert, which writes to this pipe, has failed" in ended.err
    for rows in "1 1:1\n0 1:2\n", "1 1:1\nbad\n0 2:1\n":  # bad lines are skipped, this one never
        text = f"{rows}conversion-failed\n"
        ended = cwtool("train", "-", "-m", "m.cw", "--on-bad-line", "skip", stdin=text.encode())
        assert ended.code == 3 and not (folder / "m.cw").exists()
        place = f"<stdin>:{text.count(chr(10))}:1: "
        assert f"{place}cwtool convert, which writes to this pipe, has failed" in ended.err
    (folder / "b.svm").write_text("1 1:1\n0 2:1\n")
    assert cwtool("train", "b.svm", "-m", "m.cw").code == 0
    how = ["--unlabeled", "--on-bad-line", "skip"]
    ended = cwtool("predict", "-", "-m", "m.cw", *how, stdin=b"1:1\nconversion-failed\n")
    assert ended.code == 3 and "<stdin>:2:1: cwtool convert, which" in ended.err


def test_vw_text(folder: Path, ok: Run, cwtool: Run) -> None:
    write(folder, a_vw="1 2.5 tag|user age:3 new |item:2 price:0.5 new\n\n-1 'b| x:1e2\n| y\n")
    out = ok("convert", "a.vw", "-o", "-", "--names", "n.tsv")
    assert out == "1:2.5 1:3 2:1 3:1 4:2 # tag\n-1 5:100 # b\n0 6:1\n"
    assert (folder / "n.tsv").read_text().split("\n")[:4] == [
        "1\tuser^age", "2\tuser^new", "3\titem^price", "4\titem^new",
    ]  # fmt: skip
    write(folder, c_vw="1| a\nt| b\n'u | b\n")
    assert ok("convert", "c.vw", "-o", "-") == "1 1:1\n0 2:1 # t\n0 2:1 # u\n"
    (folder / "a.svm").write_text(out)
    back = ok("convert", "a.svm", "-o", "-", "--to", "vw", "--names", "n.tsv")
    assert back == ("1 2.5 'tag|user age:3 new |item price new:2\n-1 'b| x:100\n0 | y\n")
    for line, place in ("1 a b", "1:1: no |"), ("1 | a:b", "1:5: value b"), ("1:2 | a", "1:1: "):
        write(folder, b_vw=line)
        ended = cwtool("convert", "b.vw", "-o", "-")
        assert ended.code == 3 and f"b.vw:{place}" in ended.err, ended.err


def test_vowpal_wabbit_reads_what_is_written(folder: Path, ok: Run, planted: Run) -> None:
    vw = pytest.importorskip("vowpalwabbit")
    planted("a.svm", 1, 60)
    ok("train", "a.svm", "-m", "m.cw")
    ok("export", "m.cw", "--format", "vw", "-o", "m.vwm")
    ok("convert", "a.svm", "-o", "a.vw")
    found = vw.Workspace(initial_regressor="m.vwm", testonly=True, quiet=True)
    lines = (folder / "a.vw").read_text().splitlines()
    scores = [float(s) for s in ok("predict", "a.svm", "-m", "m.cw", "--output", "score").split()]
    assert [found.predict(line) for line in lines] == pytest.approx(scores, rel=1e-4, abs=1e-4)
    found.finish()


@pytest.mark.parametrize("middle", ["a.csv", "a.tsv", "a.vw", "a.parquet", "b.svm"])
def test_libsvm_there_and_back(folder: Path, ok: Run, middle: str) -> None:
    if middle.endswith("parquet"):
        pytest.importorskip("pyarrow")
    text = "1:2.5 3:0.1 70:-2e-07 # first\n-1 3:1 4:123456789.25 # second\n3 2147483647:1 # third\n"
    write(folder, a_svm=text)
    ok("convert", "a.svm", "-o", middle)
    columns = ["--weight", "weight", "--id", "id"] if middle[-3:] in ("csv", "tsv", "uet") else []
    assert ok("convert", middle, "-o", "-", *columns) == text


def test_compressed_files_in_and_out(folder: Path, ok: Run) -> None:
    text = "1 1:1\n0 2:1\n"
    for ending, unpack in {
        "gz": gzip.decompress,
        "bz2": bz2.decompress,
        "xz": lzma.decompress,
        "zst": pytest.importorskip(ZSTD).decompress,
    }.items():
        write(folder, a_csv="y,1,2\n1,1,0\n0,0,1\n")
        ok("convert", "a.csv", "-o", f"a.svm.{ending}")
        assert unpack((folder / f"a.svm.{ending}").read_bytes()).decode() == text
        ok("convert", f"a.svm.{ending}", "-o", f"b.csv.{ending}")
        assert ok("convert", f"b.csv.{ending}", "-o", "-") == text


def test_formats_are_told_by_content(folder: Path, ok: Run, cwtool: Run) -> None:
    for text, out in {
        "1 2:0.5\n": "1 2:0.5\n",
        "1 | 2:0.5\n": "1 2:0.5\n",
        "y,2\n1,0.5\n": "1 2:0.5\n",
        "y\t2\n1\t0.5\n": "1 2:0.5\n",
    }.items():
        assert ok("convert", "-", "-o", "-", stdin=text.encode()) == out
        (folder / "a.txt").write_bytes(gzip.compress(text.encode()))
        assert ok("convert", "a.txt", "-o", "-") == out
    ended = cwtool("convert", "-", "-o", "-", stdin=b"hello\n")
    assert ended.code == 3 and "--from" in ended.err
    ended = cwtool("convert", "a.txt", "-o", "a.json")
    assert ended.code == 2 and "--to" in ended.err


def test_several_inputs_of_several_kinds(folder: Path, ok: Run) -> None:
    write(folder, a_csv="y,x\n1,2\n", b_vw="-1 | x:3 z\n", c_svm="2 1:4 9:1\n")
    out = ok("convert", "a.csv", "b.vw", "c.svm", "-o", "-", "--names", "n.tsv")
    assert out == "1 1:2\n-1 1:3 2:1\n2 3:4 9:1\n"  # 1 was taken by x


def test_tables_have_a_largest_width(folder: Path, cwtool: Run) -> None:
    write(folder, a_svm="1 " + " ".join(f"{j}:1" for j in range(1, 12)) + "\n")
    ended = cwtool("convert", "a.svm", "-o", "a.csv", "--max-columns", "10")
    assert ended.code == 2 and "more than 10 features" in ended.err


def test_what_cannot_be_is_refused(folder: Path, cwtool: Run) -> None:
    write(folder, a_svm="1 1:1\n", b_csv="y,y,x\n1,1,1\n", c_csv="")
    for args, code, words in (
        (["a.svm", "-o", "a.csv", "--hash-bits", "4"], 2, "--hash-bits"),
        (["a.svm", "-o", "a.svm"], 2, "will not be replaced"),
        (["a.svm", "-o", "a.vw", "--names", "none.tsv"], 2, "none.tsv: no such file"),
        (["no.csv", "-o", "-"], 3, "no.csv: no such file"),
        (["b.csv", "-o", "-"], 3, "two columns have the name y"),
        (["c.csv", "-o", "-"], 3, "no rows"),
        (["a.svm", "-o", "a.parquet.gz"], 2, "compressed inside"),
        (["a.svm", "-o", "-", "--delimiter", "ab"], 2, "one character"),
    ):
        ended = cwtool("convert", *args)
        assert ended.code == code and words in ended.err, (args, ended)
        assert "Traceback" not in ended.err


def test_a_parquet_file_that_is_left_before_its_end_says_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interrupted run closes the file before the writer is deleted."""
    pytest.importorskip("pyarrow")
    said: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    with (folder / "a.parquet").open("wb") as out:
        writer = ParquetWriter(out, ["a"], 0, weights=False, comments=False, numbers=True)
        writer.write([])
    del writer
    assert said == []


def test_parquet_columns(folder: Path, ok: Run, cwtool: Run) -> None:
    pyarrow, parquet = map(pytest.importorskip, ("pyarrow", "pyarrow.parquet"))
    table = pyarrow.table(
        {
            "x": [1.5, None, 0.0],
            "n": [3, 4, None],
            "ok": [True, False, None],
            "city": ["Paris", None, "Rome"],
            "target": ["a", "b", "a"],
        }
    )
    parquet.write_table(table, folder / "a.parquet")
    out = ok("convert", "a.parquet", "-o", "-", "--names", "n.tsv", "--labels", "a=1,b=-1")
    assert out == "1 1:1.5 2:3 3:1 4:1\n-1 2:4\n1 5:1\n"
    data = (folder / "a.parquet").read_bytes()
    assert ok("convert", "-", "-o", "-", "--labels", "a=1,b=-1", stdin=data) == out
    stamped = table.append_column("when", pyarrow.array([1, 2, 3], pyarrow.timestamp("s")))
    pyarrow.parquet.write_table(stamped, folder / "b.parquet")
    ended = cwtool("convert", "b.parquet", "-o", "-")
    assert ended.code == 3 and "--drop when" in ended.err
    ok("convert", "b.parquet", "-o", "-", "--drop", "when")
    (folder / "b.parquet").write_bytes(data[:50])
    ended = cwtool("convert", "b.parquet", "-o", "-")
    assert ended.code == 3 and "b.parquet" in ended.err


def test_the_report_is_json_if_wished(folder: Path, ok: Run) -> None:
    write(folder, a_csv="y,x\n1,2\n")
    found = json.loads(ok("convert", "a.csv", "-o", "a.svm", "--json"))
    assert found["rows"] == 1 and found["bad_lines"] == 0 and found["out"] == "a.svm"


def test_zero_based_ids_become_one_based(folder: Path, ok: Run) -> None:
    write(folder, a_svm="1 0:1 4:2\n")
    assert ok("convert", "a.svm", "-o", "-", "--zero-based") == "1 1:1 5:2\n"


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_a_first_line_that_is_long_tells_the_format(
    pack: Callable[[bytes], bytes], ok: Run, folder: Path
) -> None:
    """Whatever place of it the first bytes end at."""
    line = "1 " + " ".join(f"{j}:0.{j}" for j in range(1, 2000)) + "\n"
    (folder / "rows").write_bytes(pack(line.encode()))
    ok("convert", "rows", "-o", "out.svm")
    assert len(Path("out.svm").read_text()) > 10_000


def test_wide_tables_are_written_in_parts(
    folder: Path, ok: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table has a cell for each feature of each row, and most of them are 0: no block of rows is
    in memory as a whole."""
    write(folder, a_svm="".join(f"1 {k}:0.5\n" for k in range(1, 41)))
    whole = ok("convert", "a.svm", "-o", "-", "--to", "csv")
    written: list[int] = []
    flush = output.Text.flush

    def flushed(self: output.Text) -> None:
        written.append(self.size)
        flush(self)

    monkeypatch.setattr(output.Text, "flush", flushed)
    monkeypatch.setattr(output, "MOST_WAITING", 200)
    assert ok("convert", "a.svm", "-o", "-", "--to", "csv") == whole
    assert max(written) < 400 and sum(written) == len(whole)
    lines = [line.split(",") for line in whole.splitlines()]
    assert lines[0] == ["label", *map(str, range(1, 41))]
    for k, line in enumerate(lines[1:], 1):
        assert line == ["1", *["0"] * (k - 1), "0.5", *["0"] * (40 - k)]


@pytest.mark.parametrize(("limit", "groups"), [("CELLS", 5), ("ENTRIES", 4)])
def test_parquet_groups(
    limit: str, groups: int, folder: Path, ok: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    write(folder, a_svm="".join(f"1 {k}:0.5 {k + 1}:2\n" for k in range(1, 41)))
    monkeypatch.setattr(f"cwtool.convert.parquet.{limit}", {"CELLS": 8 * 42, "ENTRIES": 20}[limit])
    ok("convert", "a.svm", "-o", "a.parquet")
    found = parquet.ParquetFile("a.parquet")
    assert found.metadata.num_row_groups == groups
    table = found.read().to_pydict()
    assert table["7"] == [0.0] * 5 + [2.0, 0.5] + [0.0] * 33
