"""What we answer to malformed input: accepted, or exit 3 with its place and no model touched."""

import bz2
import errno
import gzip
import json
import lzma
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cwtool.data.compression import ZSTD
from cwtool.model import file as modelfile

Run = Callable[..., Any]
GOOD = "+1 1:1 2:0.5\n-1 2:1 3:1\n+1 1:2\n"  # three lines, both classes

# text of a line, column of the fault, words of the answer
REFUSED = {
    "value is a word": ("+1 2:abc 4:1", 6, "value abc of feature 2 is not a number"),
    "value is cut": ("+1 2:1e 4:1", 6, "value 1e of feature 2 is not a number"),
    "value has two points": ("+1 2:1.2.3", 6, "value 1.2.3 of feature 2 is not a number"),
    "value is a bare sign": ("+1 2:-", 6, "value - of feature 2 is not a number"),
    "value with underscore": ("+1 2:1_0", 6, "value 1_0 of feature 2 is not a number"),
    "label is a word": ("spam 1:1", 1, "label spam is not a number"),
    "no label": ("x:1 2:1", 1, "label x:1 is not a number"),
    "weight is a word": ("+1:x 1:1", 4, "row weight x is not a number"),
    "weight is missing": ("+1: 1:1", 4, "row weight (empty) is not a number"),
    "weight is negative": ("-1:-2 1:1", 4, "row weight -2 is negative"),
    "weight nan": ("+1:nan 1:1", 4, "row weight nan is not finite"),
    "weight 1e999": ("+1:1e999 1:1", 4, "row weight 1e999 is not finite"),
    "index is a name": ("+1 x2:1", 4, "feature index x2 is not a whole number"),
    "index is a fraction": ("+1 1.5:1", 4, "feature index 1.5 is not a whole number"),
    "index has a plus": ("+1 +2:1", 4, "feature index +2 is not a whole number"),
    "no index": ("+1 :1", 4, "feature index (empty) is not a whole number"),
    "index 0": ("+1 0:1 2:1", 4, "feature index 0 in a file whose indices start at 1"),
    "index -3": ("+1 -3:1", 4, "feature index -3 is negative"),
    "unsorted": ("+1 3:1 2:1", 8, "feature index 2 after 3; indices must increase"),
    "duplicate": ("+1 2:1 2:1", 8, "feature index 2 twice in one line"),
    "nan": ("+1 2:nan", 6, "value nan of feature 2 is not finite"),
    "NaN": ("+1 2:NaN", 6, "value NaN of feature 2 is not finite"),
    "inf": ("+1 2:inf", 6, "value inf of feature 2 is not finite"),
    "-Infinity": ("+1 2:-Infinity", 6, "value -Infinity of feature 2 is not finite"),
    "1e400": ("+1 2:1e400", 6, "value 1e400 of feature 2 is too large for a double"),
    "label nan": ("nan 2:1", 1, "label nan is not finite"),
    "label inf": ("inf 2:1", 1, "label inf is not finite"),
    "index 2^31": ("+1 2147483648:1", 4, "feature index 2147483648 is too large"),
    "index 2^32": ("+1 4294967297:1", 4, "feature index 4294967297 is too large"),
    "index 2^63": ("+1 9223372036854775808:1", 4, "9223372036854775808 is too large"),
    "index 2^64+2": ("+1 18446744073709551618:1", 4, "18446744073709551618 is too large"),
    "missing colon": ("+1 2 4:1", 4, "2 has no colon"),
    "missing value": ("+1 2: 4:1", 6, "value (empty) of feature 2 is not a number"),
    "missing value at the end": ("+1 2:", 6, "value (empty) of feature 2 is not a number"),
    "two colons": ("+1 2:1:3", 6, "value 1:3 of feature 2 is not a number"),
    "hexadecimal": ("+1 2:0x10", 6, "value 0x10 of feature 2 is not a number"),
    "NUL byte": ("+1 2:1\0 3:1", 4, "control bytes in 2:1\\x00"),
    "third class": ("3 2:1", None, "label 3 is a third class beside -1 and +1"),
    "late qid": ("+1 1:1 qid:3", 8, "feature index qid is not a whole number"),
    "comma": ("+1 1:1,2:1", 6, "value 1,2:1 of feature 1 is not a number"),
    "not ASCII": ("+1 é:1", 4, "feature index é is not a whole number"),
}

# text of a line, rows of the whole file
ACCEPTED = {
    "empty line": ("", 5),
    "blank line": (" \t ", 5),
    "trailing spaces": ("+1 2:1 3:1   ", 6),
    "comment at the end": ("+1 2:1 # a comment: 5:x", 6),
    "comment without blank": ("+1 2:1#comment", 6),
    "comment line": ("# a comment", 5),
    "indented comment": ("   # a comment", 5),
    "CRLF": ("+1 2:1 3:1\r", 6),
    "index 999999999": ("+1 2:1 999999999:1", 6),
    "index 2^31-1": ("+1 2147483647:1", 6),
    "label only": ("+1", 6),
    "tabs": ("+1\t2:1\t3:1", 6),
    "several blanks": ("+1   2:1    3:1", 6),
    "leading spaces": ("  +1 2:1", 6),
    "qid": ("+1 qid:3 2:1", 6),
    "leading zeros": ("+1 002:1", 6),
    "label 1": ("1 2:1", 6),
    "label 1.0": ("1.0 2:1", 6),
    "label -1.0e0": ("-1.0e0 2:1", 6),
    "explicit zero": ("+1 2:0 3:1", 6),
    "1e-400": ("+1 2:1e-400 3:1", 6),
    "1e308": ("+1 2:1e308", 6),
    "long number": ("+1 2:" + "1" * 300, 6),
}

# one of each part of a line, and of the labels; the others in `make test-all`
TYPICAL = {"value is a word", "weight is negative", "unsorted", "NUL byte", "third class"}

refused = pytest.mark.parametrize(("line", "column", "words"), REFUSED.values(), ids=REFUSED.keys())
refused_anywhere = pytest.mark.parametrize(
    ("line", "column", "words"),
    [
        pytest.param(*fault, id=name, marks=[pytest.mark.slow] * (name not in TYPICAL))
        for name, fault in REFUSED.items()
    ],
)
accepted = pytest.mark.parametrize(("line", "rows"), ACCEPTED.values(), ids=ACCEPTED.keys())
in_threads = pytest.mark.parametrize("jobs", [1, 2])


def six_lines(line: str) -> bytes:
    return (GOOD + line + "\n-1 2:1\n+1 1:1\n").encode()


def long_file(line: str) -> tuple[bytes, int]:
    """More than three blocks of 64 kB, with comments and empty lines; `line` is in a late one."""
    before = ["+1 1:1 2:0.25 7:3.5", "", "-1 2:1 3:1 # noise", "# nothing", "+1 1:2 9:0.125"] * 3000
    after = ["-1 2:1 5:2.5", "+1 1:1"] * 1000
    return "\n".join([*before, line, *after, ""]).encode(), len(before) + 1


def place(name: str, number: int, column: int | None) -> str:
    return f"error: {name}:{number}:" + (f"{column}: " if column else "")


@pytest.fixture
def old_model(folder: Path) -> bytes:
    old = modelfile.MAGIC + b"the model of yesterday"
    Path("m.cw").write_bytes(old)
    return old


@refused
def test_refused(line: str, column: int | None, words: str, cwtool: Run, old_model: bytes) -> None:
    Path("d.svm").write_bytes(six_lines(line))
    for model in ("m.cw", "new.cw"):
        ended = cwtool("train", "d.svm", "-m", model, "--multiclass", "no")
        assert ended.code == 3
        assert place("d.svm", 4, column) in ended.err
        assert words in ended.err
        assert "Traceback" not in ended.err
    assert Path("m.cw").read_bytes() == old_model
    assert sorted(p.name for p in Path().iterdir()) == ["d.svm", "m.cw"]


@refused_anywhere
@in_threads
def test_refused_in_a_later_block(
    line: str, column: int | None, words: str, jobs: int, cwtool: Run, old_model: bytes
) -> None:
    text, number = long_file(line)
    assert len(text) > 200_000
    Path("d.svm").write_bytes(text)
    ended = cwtool("train", "d.svm", "-m", "m.cw", "--jobs", jobs, "--block-size", 65536)
    assert ended.code == 3
    assert place("d.svm", number, column) in ended.err
    assert words in ended.err
    assert Path("m.cw").read_bytes() == old_model


@refused_anywhere
def test_refused_in_gz(line: str, column: int | None, words: str, cwtool: Run) -> None:
    text, number = long_file(line)
    Path("d.svm.gz").write_bytes(gzip.compress(text, 1))
    ended = cwtool("train", "d.svm.gz", "-m", "m.cw", "--block-size", 65536, "--jobs", 2)
    assert ended.code == 3
    assert place("d.svm.gz", number, column) in ended.err
    assert words in ended.err


@refused_anywhere
@in_threads
def test_refused_in_the_second_file(
    line: str, column: int | None, words: str, jobs: int, cwtool: Run, old_model: bytes
) -> None:
    Path("a.svm").write_text(GOOD)
    Path("b.svm").write_bytes(six_lines(line))
    two = "--multiclass", "no"
    ended = cwtool("train", "a.svm", "b.svm", "-m", "m.cw", "--jobs", jobs, *two)
    assert ended.code == 3
    assert place("b.svm", 4, column) in ended.err
    assert words in ended.err
    assert Path("m.cw").read_bytes() == old_model


@refused_anywhere
def test_refused_in_validation_and_prediction(
    line: str, column: int | None, words: str, cwtool: Run
) -> None:
    Path("a.svm").write_text(GOOD)
    Path("d.svm").write_bytes(six_lines(line))
    ended = cwtool("train", "a.svm", "--validation", "d.svm", "-m", "m.cw")
    assert (ended.code, Path("m.cw").exists()) == (3, False)
    assert place("d.svm", 4, column) in ended.err
    assert cwtool("train", "a.svm", "-m", "m.cw").code == 0
    ended = cwtool("predict", "d.svm", "-m", "m.cw", "--evaluate")
    assert ended.code == 3
    assert place("d.svm", 4, column) in ended.err
    assert words in ended.err


@accepted
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
def test_accepted(line: str, rows: int, packed: bool, ok: Run) -> None:
    text = six_lines(line)
    Path("d.svm").write_bytes(gzip.compress(text) if packed else text)
    ok("train", "d.svm", "-m", "m.cw")
    header, _ = modelfile.load(Path("m.cw"))
    assert header["rows"] == rows
    assert header["labels"] == [-1, 1]
    assert len(ok("predict", "d.svm", "-m", "m.cw").splitlines()) == rows


def learned(ok: Run, data: object = "d.svm", *more: object, stdin: bytes = b"") -> tuple[Any, ...]:
    """The ids and means that an arow model has after this data."""
    ok("train", data, *more, "-m", "m.cw", stdin=stdin)
    _, arrays = modelfile.load(Path("m.cw"))
    return arrays["ids"].tolist(), arrays["feature.mean"].tolist()


PLAIN = six_lines("+1 2:1 3:1")


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.rstrip(b"\n"),
        b"\xef\xbb\xbf" + PLAIN,
        PLAIN.replace(b"\n", b"\r\n"),
        PLAIN.replace(b"\n", b"\r\n").rstrip(),
        PLAIN.replace(b"\n", b"\n\n# x\n"),
        PLAIN.replace(b" ", b"\t"),
        PLAIN.replace(b"+1", b"1.0"),
        PLAIN.replace(b"+1", b"+1 qid:7"),
    ],
    ids=["no final newline", "BOM", "CRLF", "CRLF, none last", "comments", "tabs", "1.0", "qid"],
)
def test_same_model_however_it_is_written(text: bytes, ok: Run) -> None:
    Path("plain.svm").write_bytes(PLAIN)
    Path("d.svm").write_bytes(text)
    assert learned(ok) == learned(ok, "plain.svm")


def test_bom_is_only_for_the_start(cwtool: Run) -> None:
    Path("d.svm").write_bytes(PLAIN + b"\xef\xbb\xbf+1 1:1\n")
    ended = cwtool("train", "d.svm", "-m", "m.cw")
    assert ended.code == 3
    assert "d.svm:7:1: label" in ended.err


def test_column_behind_a_bom(cwtool: Run) -> None:
    Path("d.svm").write_bytes(b"\xef\xbb\xbf+1 2:abc\n-1 1:1\n")
    ended = cwtool("train", "d.svm", "-m", "m.cw")
    assert "d.svm:1:6: value abc" in ended.err


def test_qid_notice_once(cwtool: Run) -> None:
    Path("d.svm").write_bytes(PLAIN.replace(b"+1", b"+1 qid:7"))
    ended = cwtool("train", "d.svm", "-m", "m.cw")
    assert ended.code == 0
    assert ended.err.count("qid") == 1
    ended = cwtool("predict", "d.svm", "-m", "m.cw")
    assert ended.err.count("qid") == 1


@pytest.mark.parametrize("name", ["train", "predict"])
@pytest.mark.parametrize(
    ("text", "words"),
    [(b"", "no rows"), (b"\n\n", "no rows"), (b"# nothing\n# at all", "no rows")],
    ids=["empty file", "blank lines", "only comments"],
)
@in_threads
def test_nothing_in_it(name: str, text: bytes, words: str, jobs: int, cwtool: Run) -> None:
    Path("a.svm").write_bytes(PLAIN)
    assert cwtool("train", "a.svm", "-m", "m.cw").code == 0
    model = Path("m.cw").read_bytes()
    Path("d.svm").write_bytes(text)
    ended = cwtool(name, "d.svm", "-m", "m.cw", "--jobs", jobs)
    assert ended.code == 3
    assert f"d.svm: {words}" in ended.err
    assert Path("m.cw").read_bytes() == model


def test_an_empty_file_among_others_is_fine(ok: Run) -> None:
    Path("a.svm").write_bytes(PLAIN)
    Path("empty.svm").write_bytes(b"")
    ok("train", "empty.svm", "a.svm", "empty.svm", "-m", "m.cw")
    assert modelfile.load(Path("m.cw"))[0]["rows"] == 6


@pytest.mark.parametrize("name", ["train", "predict"])
@in_threads
def test_missing_file_and_directory(name: str, jobs: int, cwtool: Run) -> None:
    Path("data.svm").write_bytes(PLAIN)
    Path("sub").mkdir()
    assert cwtool("train", "data.svm", "-m", "m.cw").code == 0
    ended = cwtool(name, "data.svn", "-m", "m.cw", "--jobs", jobs)
    assert ended.code == 3
    assert "data.svn: no such file" in ended.err
    assert "did you mean data.svm?" in ended.err
    ended = cwtool(name, "data.svm", "nowhere/data.svm", "-m", "m.cw", "--jobs", jobs)
    assert ended.code == 3
    assert "nowhere/data.svm: no such file" in ended.err
    ended = cwtool(name, "sub", "-m", "m.cw", "--jobs", jobs)
    assert ended.code == 3
    assert "sub is a directory" in ended.err


@in_threads
def test_unreadable_file(jobs: int, cwtool: Run) -> None:
    Path("loop.svm").symlink_to("loop.svm")
    ended = cwtool("train", "loop.svm", "-m", "m.cw", "--jobs", jobs)
    assert ended.code == 3
    assert "error: loop.svm: " in ended.err


@pytest.mark.parametrize("seed", range(5))
@in_threads
def test_binary_garbage(seed: int, jobs: int, cwtool: Run) -> None:
    Path("d.svm").write_bytes(b"\x7f" + random.Random(seed).randbytes(200_000))
    ended = cwtool("train", "d.svm", "-m", "m.cw", "--jobs", jobs, "--block-size", 65536)
    assert ended.code == 3
    assert "error: d.svm:1:" in ended.err
    assert len(ended.err) < 1000
    assert not Path("m.cw").exists()


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (("0", "1"), ["0", "1"]),
        (("1", "0"), ["0", "1"]),
        (("2", "1"), ["1", "2"]),
        (("1.0", "-1.0"), ["-1", "+1"]),
        (("-1", "0"), ["-1", "0"]),
        (("0.5", "7"), ["0.5", "7"]),
    ],
    ids=str,
)
def test_two_labels_of_any_kind(labels: tuple[str, str], names: list[str], ok: Run) -> None:
    """The larger one is positive, and they come back as they were."""
    Path("d.svm").write_text(f"{labels[0]} 1:1\n{labels[1]} 2:1\n" * 20)
    ok("train", "d.svm", "-m", "m.cw")
    found = json.loads(ok("inspect", "m.cw", "--json"))
    assert found["labels"] == {"negative": names[0], "positive": names[1]}
    said = ok("predict", "d.svm", "-m", "m.cw").splitlines()
    assert [float(x) for x in said] == [float(x) for x in labels] * 20


def test_one_class_only(cwtool: Run, old_model: bytes) -> None:
    Path("d.svm").write_text("+1 1:1\n+1 2:1\n")
    ended = cwtool("train", "d.svm", "-m", "m.cw")
    assert ended.code == 3
    assert "all 2 rows have the label" in ended.err
    assert Path("m.cw").read_bytes() == old_model


def test_zero_based(ok: Run, cwtool: Run) -> None:
    Path("zero.svm").write_bytes(b"+1 0:1 3:2\n-1 1:1\n")
    Path("one.svm").write_bytes(b"+1 1:1 4:2\n-1 2:1\n")
    ended = cwtool("train", "zero.svm", "-m", "m.cw")
    assert ended.code == 3
    assert "hint: if its indices start at 0, add --zero-based" in ended.err
    assert learned(ok, "zero.svm", "--zero-based") == learned(ok, "one.svm")
    Path("large.svm").write_bytes(b"+1 2147483647:1\n-1 1:1\n")
    assert cwtool("train", "large.svm", "-m", "m.cw", "--zero-based").code == 3
    ok("train", "large.svm", "-m", "m.cw")


# --- skipping -----------------------------------------------------------------------------------

BAD_LINES = [line for k, (line, _, _) in REFUSED.items() if k != "third class"]


@in_threads
def test_skipping_learns_the_good_lines(jobs: int, cwtool: Run, ok: Run) -> None:
    good = [f"{'+-'[k % 2]}1 {k % 7 + 1}:1 9:0.{k % 10}" for k in range(20_000)]
    mixed = good.copy()
    for k, bad in enumerate(BAD_LINES):
        mixed.insert(k * 500, bad)
    Path("good.svm").write_text("\n".join(good))
    Path("mixed.svm").write_text("\n".join(mixed))
    want = learned(ok, "good.svm")
    skip = ["--on-bad-line", "skip", "--jobs", jobs, "--block-size", 65536]
    ended = cwtool("train", "mixed.svm", *skip, "-m", "m.cw")
    assert ended.code == 0
    assert f"{len(BAD_LINES)} bad lines" in ended.err
    assert "mixed.svm:1:" in ended.err
    assert len(ended.err.splitlines()) < 5
    assert learned(ok, "mixed.svm", *skip) == want
    ended = cwtool("predict", "mixed.svm", *skip, "-m", "m.cw")
    assert len(ended.out.splitlines()) == len(good)
    assert f"{len(BAD_LINES)} bad lines" in ended.err


@in_threads
@pytest.mark.parametrize("most", [1, len(BAD_LINES) - 1])
def test_too_many_bad_lines(most: int, jobs: int, cwtool: Run, old_model: bytes) -> None:
    Path("a.svm").write_bytes(PLAIN)
    Path("d.svm").write_text(GOOD + "\n".join(BAD_LINES))
    skip = ["--on-bad-line", "skip", "--jobs", jobs]
    ended = cwtool("train", "a.svm", "d.svm", *skip, "--max-bad-lines", most, "-m", "m.cw")
    assert ended.code == 3
    assert f"more than {most} bad lines" in ended.err
    assert "d.svm:4:6" in ended.err
    assert Path("m.cw").read_bytes() == old_model
    ended = cwtool(
        "train", "a.svm", "d.svm", *skip, "--max-bad-lines", len(BAD_LINES), "-m", "m.cw"
    )
    assert ended.code == 0


def test_skipping_is_counted_over_all_files(cwtool: Run) -> None:
    Path("a.svm").write_text(GOOD + "x\ny\n")
    Path("b.svm").write_text(GOOD + "z\n")
    skip = ["--on-bad-line", "skip", "--max-bad-lines"]
    assert cwtool("train", "a.svm", "b.svm", *skip, "2", "-m", "m.cw").code == 3
    assert cwtool("train", "a.svm", "b.svm", *skip, "3", "-m", "m.cw").code == 0


def test_max_bad_lines_alone_does_not_skip(cwtool: Run) -> None:
    Path("a.svm").write_text(GOOD + "x\n")
    assert cwtool("train", "a.svm", "--max-bad-lines", "5", "-m", "m.cw").code == 3


def test_only_bad_lines(cwtool: Run) -> None:
    Path("a.svm").write_text("x\ny\n")
    ended = cwtool("train", "a.svm", "--on-bad-line", "skip", "-m", "m.cw")
    assert ended.code == 3
    assert "no rows" in ended.err


# --- compressed ---------------------------------------------------------------------------------


def in_zstd(data: bytes) -> bytes:
    """With a checksum; skips the test where the package is not installed."""
    zstd = pytest.importorskip(ZSTD)
    packed: bytes = zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1})
    return packed


PACK: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": in_zstd,
}
WORD = {"gz": "gzip", "bz2": "bz2", "xz": "xz", "zst": "zstd"}
packs = pytest.mark.parametrize("kind", PACK)
LONG = long_file("+1 2:1")[0]


@packs
@in_threads
@pytest.mark.parametrize("text", [PLAIN, LONG], ids=["short", "long"])
def test_compressed_is_told_by_content(kind: str, jobs: int, text: bytes, ok: Run) -> None:
    Path("plain.svm").write_bytes(text)
    Path("d.txt").write_bytes(PACK[kind](text))
    Path("d.gz").write_bytes(text)  # by its name it would be gz
    more = ["--jobs", jobs, "--block-size", 65536]
    want = learned(ok, "plain.svm")
    assert learned(ok, "d.txt", *more) == want
    assert learned(ok, "d.gz", *more) == want
    assert learned(ok, "-", *more, stdin=PACK[kind](text)) == want


@packs
@in_threads
def test_members_one_after_another(kind: str, jobs: int, ok: Run) -> None:
    """Cut in the middle of a line, so that lines go over the border of members."""
    for text, cuts in ((PLAIN, (0, 7, 30)), (LONG, (0, 70_001, 150_003))):
        Path("plain.svm").write_bytes(text)
        ends = [*cuts[1:], len(text)]
        pieces = [PACK[kind](text[a:b]) for a, b in zip(cuts, ends, strict=True)]
        Path("d.svm").write_bytes(b"".join(pieces))
        assert learned(ok, "d.svm", "--jobs", jobs) == learned(ok, "plain.svm")


def test_gzip_padded_with_zeros(ok: Run) -> None:
    Path("plain.svm").write_bytes(PLAIN)
    Path("d.svm").write_bytes(gzip.compress(PLAIN) + bytes(1000))
    assert learned(ok) == learned(ok, "plain.svm")


@packs
def test_compressed_emptiness(kind: str, cwtool: Run) -> None:
    Path("d.svm").write_bytes(PACK[kind](b""))
    ended = cwtool("train", "d.svm", "-m", "m.cw")
    assert ended.code == 3
    assert "no rows" in ended.err


@packs
@in_threads
def test_truncated(kind: str, jobs: int, cwtool: Run, old_model: bytes) -> None:
    whole = PACK[kind](LONG)
    for length in [7, 12, 20, len(whole) // 3, len(whole) // 2, len(whole) - 9, len(whole) - 1]:
        Path("d.svm").write_bytes(whole[:length])
        ended = cwtool("train", "d.svm", "-m", "m.cw", "--jobs", jobs)
        assert ended.code == 3, length
        assert f"d.svm: the {WORD[kind]} data ends in the middle" in ended.err
        assert Path("m.cw").read_bytes() == old_model


@packs
def test_truncated_second_member(kind: str, cwtool: Run) -> None:
    Path("d.svm").write_bytes(PACK[kind](PLAIN) + PACK[kind](PLAIN)[:-3])
    ended = cwtool("train", "d.svm", "-m", "m.cw")
    assert ended.code == 3
    assert "ends in the middle" in ended.err


@packs
@in_threads
def test_corrupted(kind: str, jobs: int, cwtool: Run, old_model: bytes) -> None:
    """A flipped byte never goes unnoticed, and never ends in a traceback."""
    whole = bytearray(PACK[kind](LONG))
    for at in range(40, len(whole), max(1, len(whole) // 9)):
        whole[at] ^= 0x55
        Path("d.svm").write_bytes(whole)
        whole[at] ^= 0x55
        ended = cwtool("train", "d.svm", "-m", "m.cw", "--jobs", jobs)
        assert ended.code == 3, at
        assert "error: d.svm" in ended.err
        assert "Traceback" not in ended.err
        assert Path("m.cw").read_bytes() == old_model


@packs
def test_garbage_behind(kind: str, cwtool: Run) -> None:
    Path("d.svm").write_bytes(PACK[kind](PLAIN) + b"+1 1:1\n")
    ended = cwtool("train", "d.svm", "-m", "m.cw")
    assert ended.code == 3
    assert "error: d.svm" in ended.err


@pytest.mark.parametrize("magic", [b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"])
def test_magic_and_nothing_else(magic: bytes, cwtool: Run) -> None:
    Path("d.svm").write_bytes(magic)
    ended = cwtool("train", "d.svm", "-m", "m.cw")
    assert ended.code == 3
    assert "error: d.svm" in ended.err


# --- stdin and places ---------------------------------------------------------------------------


@in_threads
def test_stdin(jobs: int, ok: Run, cwtool: Run) -> None:
    Path("plain.svm").write_bytes(LONG)
    want = learned(ok, "plain.svm")
    more = ["--jobs", jobs, "--block-size", 65536]
    assert learned(ok, "-", *more, stdin=LONG) == want
    rows = ok("predict", "plain.svm", "-m", "m.cw", "--output", "score")
    assert ok("predict", "-", "-m", "m.cw", "--output", "score", stdin=LONG) == rows
    ended = cwtool("train", "-", "-m", "m.cw", *more, stdin=six_lines("+1 2:abc"))
    assert ended.code == 3
    assert "error: <stdin>:4:6: value abc" in ended.err
    ended = cwtool("train", "-", "-m", "m.cw", stdin=b"")
    assert ended.code == 3
    assert "<stdin>: no rows" in ended.err


def test_stdin_with_passes(ok: Run) -> None:
    Path("plain.svm").write_bytes(LONG)
    want = learned(ok, "plain.svm", "--passes", "3")
    assert learned(ok, "-", "--passes", "3", stdin=LONG) == want


def test_unwritable_model_place(cwtool: Run) -> None:
    """Told at once, before the data is read."""
    ended = cwtool("train", "no-such-data.svm", "-m", "nowhere/m.cw")
    assert ended.code == 4
    assert "there is no folder nowhere" in ended.err
    Path("file").write_text("")
    ended = cwtool("train", "no-such-data.svm", "-m", "file/m.cw")
    assert ended.code == 4
    assert "Traceback" not in ended.err
    Path("d.svm").write_bytes(PLAIN)
    Path("folder").mkdir()
    ended = cwtool("train", "d.svm", "-m", "folder")
    assert ended.code in (2, 4)
    assert "is a directory" in ended.err


def test_line_of_many_blocks(ok: Run, cwtool: Run) -> None:
    wide = " ".join(f"{j}:1" for j in range(1, 60_000))
    Path("d.svm").write_text(f"+1 {wide}\n-1 1:1\n-1 {wide}\n+1 2:x\n")
    assert Path("d.svm").stat().st_size > 8 * 65536
    for jobs in (1, 2):
        ended = cwtool("train", "d.svm", "-m", "m.cw", "--block-size", 65536, "--jobs", jobs)
        assert ended.code == 3
        assert "d.svm:4:6: value x of feature 2" in ended.err


def closed(opening: Run) -> Run:
    """The same, but for a file named secret."""

    def open_(path: Any, *args: Any, **more: Any) -> Any:
        if Path(path).name == "secret":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return opening(path, *args, **more)

    return open_


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["train", "secret", "-m", "new.cw"], 3),
        (["train", "a.svm", "--validation", "secret", "-m", "new.cw"], 3),
        (["train", "a.svm", "-m", "secret"], 4),
        (["train", "a.svm", "--resume", "secret", "-m", "new.cw"], 4),
        (["tune", "secret", "--grid", "r=1"], 3),
        (["predict", "secret", "-m", "m.cw"], 3),
        (["predict", "a.svm", "-m", "secret"], 4),
        (["select-features", "secret"], 3),
        (["inspect", "secret"], 4),
        (["inspect", "m.cw", "--feature-names", "secret"], 2),
    ],
)
def test_what_may_not_be_read(
    args: list[str], code: int, cwtool: Run, ok: Run, planted: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code says whether to look at the data, the model or the command."""
    ok("train", planted("a.svm", 1, 50), "-m", "m.cw")
    Path("secret").write_bytes(Path("m.cw").read_bytes())
    Path("secret").chmod(0)
    if os.access("secret", os.R_OK):  # root may read everything, but not here
        monkeypatch.setattr(os, "open", closed(os.open))
        monkeypatch.setattr(Path, "open", closed(Path.open))
    ended = cwtool(*args)
    assert ended.code == code, ended.err
    assert "secret: Permission denied" in ended.err


@pytest.mark.parametrize("covariance", ["diag", "full", "factored"])
def test_the_largest_variance_floor_is_below_one(
    covariance: str, cwtool: Run, planted: Run
) -> None:
    """At 1 there would be nothing to learn, and learners refuse it."""
    train = ["train", planted("a.svm", 1, 40), "--covariance", covariance, "-m", "m.cw"]
    assert cwtool(*train, "--variance-floor", "1").code == 2
    assert cwtool(*train, "--variance-floor", "0.999999").code == 0
