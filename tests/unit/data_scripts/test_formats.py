"""A small file of every raw format, and the LIBSVM lines that must come of it."""

import bz2
import gzip
import io
import lzma
import random
import tarfile
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from cwtool.errors import DataError
from data_scripts.catalogue import CATALOGUE, DataSet
from data_scripts.rows import LARGE, Row, write_part
from data_scripts.words import members


def tar_gz(**texts: str) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, text in texts.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode("latin-1"))
            tar.addfile(member, io.BytesIO(text.encode("latin-1")))
    return out.getvalue()


def idx_gz(shape: Sequence[int], content: Sequence[int]) -> bytes:
    head = bytes([0, 0, 8, len(shape)]) + b"".join(n.to_bytes(4, "big") for n in shape)
    return gzip.compress(head + bytes(content))


class Maker:
    """Writes raw files and converts them as the catalogue says."""

    def __init__(self, folder: Path) -> None:
        self.raw, self.out = folder / "raw", folder / "out"
        self.raw.mkdir()
        self.out.mkdir()

    def __call__(self, name: str, *contents: str | bytes) -> dict[str, list[str]]:
        data_set = CATALOGUE[name]
        assert len(contents) == len(data_set.files)
        for file, content in zip(data_set.files, contents, strict=True):
            raw = content.encode() if isinstance(content, str) else content
            (self.raw / file.name).write_bytes(raw)
        return self.parts(data_set)

    def parts(self, data_set: DataSet) -> dict[str, list[str]]:
        for stem, rows in data_set.parts([self.raw / f.name for f in data_set.files]):
            write_part(self.out, stem, rows, data_set.labels)
        return {p.stem: p.read_text().splitlines() for p in sorted(self.out.iterdir())}


@pytest.fixture
def made(tmp_path: Path) -> Maker:
    return Maker(tmp_path)


def test_libsvm_as_it_is(made: Maker) -> None:
    made_of = made("a9a", "-1 3:1 11:1 \n+1 5:0.25 \n\n", "+1 1:1\r\n-1\n")
    assert made_of == {"train": ["-1 3:1 11:1", "+1 5:0.25"], "test": ["+1 1:1", "-1"]}


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_compression_is_told_by_content(made: Maker, pack: Callable[[bytes], bytes]) -> None:
    assert made("rcv1", pack(b"1 1:1\n"), pack(b"-1 2:1\n")) == {
        "train": ["+1 1:1"],
        "test": ["-1 2:1"],
    }


def test_other_labels_become_signs(made: Maker) -> None:
    both = made("covtype", bz2.compress(b"1 1:0.5\n2 2:1\n"))
    assert sorted(both["train"]) == ["+1 2:1", "-1 1:0.5"]


def test_nips_dense(made: Maker) -> None:
    assert made("madelon", "485 0 477 \n483 458 0 \n", "-1\n1\n", "0 0 7\n", "1\n") == {
        "train": ["-1 1:485 3:477", "+1 1:483 2:458"],
        "test": ["+1 3:7"],
    }


def test_nips_sparse_in_order(made: Maker) -> None:
    assert made("dexter", "39:85 10:105 \n", "1\n", "7:2 \n", "-1\n") == {
        "train": ["+1 10:105 39:85"],
        "test": ["-1 7:2"],
    }


def test_nips_sparse_binary(made: Maker) -> None:
    assert made("dorothea", "12 3 100000 \n", "1\n", "4 \n", "-1\n") == {
        "train": ["+1 3:1 12:1 100000:1"],
        "test": ["-1 4:1"],
    }


def test_an_empty_row_keeps_its_label(made: Maker) -> None:
    assert made("madelon", "0 0\n1 0\n", "1\n-1\n", "0 0\n", "1\n")["train"] == ["+1", "-1 1:1"]


def test_labels_that_do_not_match_are_an_error(made: Maker) -> None:
    with pytest.raises(DataError, match="differ in length"):
        made("madelon", "1 2\n3 4\n", "1\n", "1 2\n", "1\n")


def test_csv_with_the_label_last(made: Maker) -> None:
    both = made("uci_ionosphere", "1,0,0.99539,-0.05000,g\n0,0,1,0,b\n" * 5)
    assert [len(both["train"]), len(both["test"])] == [7, 3]
    assert {*both["train"], *both["test"]} == {"+1 1:1 3:0.99539 4:-0.05", "-1 3:1"}
    spam = made("spambase", "0,0.64,278,1\n0.21,0,1028,0\n")
    assert sorted(spam["train"] + spam["test"]) == ["+1 2:0.64 3:278", "-1 1:0.21 3:1028"]


def test_several_classes_keep_their_numbers(made: Maker) -> None:
    both = made("satellite", "92 115 0 3\n84 102 7 7\n", "80 99 1 5\n88 1 2 6\n")
    assert sorted(both["train"] + both["test"]) == [
        "3 1:92 2:115", "5 1:80 2:99 3:1", "7 1:84 2:102 3:7"
    ]  # 6 is no class of this set  # fmt: skip


def test_several_classes_by_name_are_numbered(made: Maker) -> None:
    letters = made("letter", "T,2,8,0\nA,5,12,3\nZ,4,11,6\n")
    assert sorted(letters["train"] + letters["test"]) == [
        "1 1:5 2:12 3:3", "20 1:2 2:8", "26 1:4 2:11 3:6"
    ]  # fmt: skip


def test_classes_in_many_files(made: Maker) -> None:
    vehicles = made("vehicle", "95 48 van \n", "91 41 opel\n", *["104 50 saab\n85 44 bus\n"] * 7)
    assert [len(vehicles["train"]), len(vehicles["test"])] == [11, 5]
    lines = {*vehicles["train"], *vehicles["test"]}
    assert lines == {"4 1:95 2:48", "1 1:91 2:41", "2 1:104 2:50", "3 1:85 2:44"}


def test_secom_without_what_is_missing(made: Maker) -> None:
    """Column 2 is constant, column 3 lacks 2 of 11; row 1 lacks a value of a column that stays."""
    rows = [f"{i}.25 7 {'NaN' if i in (4, 5) else i} {'NaN' if i == 1 else -i}" for i in range(11)]
    labels = [f'{1 if i == 3 else -1} "19/07/2008 11:55:00"' for i in range(11)]
    both = made("secom", "\n".join(rows) + "\n", "\n".join(labels) + "\n")
    lines = both["train"] + both["test"]
    assert len(lines) == 10
    assert "+1 1:3.25 2:-3" in lines
    assert "-1 1:0.25" in lines  # the zero of column 4 is left out
    assert not any(line.startswith("-1 1:1.25") for line in lines)


def test_zip_digits_in_pairs(made: Maker) -> None:
    train = "9.0000 -1.0000 0.1470 \n4.0000 0.0000 -0.9960 \n7.0000 1.0000 1.0000 \n"
    test = "7 -1.000 1.000\n4 -1 0.5\n"
    raw = gzip.compress(train.encode()), gzip.compress(test.encode())
    assert made("zip_4v9", *raw) == {
        "train": ["+1 1:-1 2:0.147", "-1 2:-0.996"],
        "test": ["-1 1:-1 2:0.5"],
    }
    assert made("zip_7v9", *raw) == {
        "train": ["+1 1:-1 2:0.147", "-1 1:1 2:1"],
        "test": ["-1 1:-1 2:1"],
    }


def test_mnist(made: Maker) -> None:
    images = idx_gz([3, 2, 2], [0, 84, 0, 255, 0, 0, 0, 0, 1, 0, 0, 0])
    raw = images, idx_gz([3], [7, 6, 2]), idx_gz([1, 2, 2], [9, 0, 0, 0]), idx_gz([1], [6])
    assert made("mnist_6v7", *raw) == {
        "train": ["+1 2:0.329412 4:1", "-1"],
        "test": ["-1 1:0.0352941"],
    }
    assert made("mnist10", *raw)["train"] == ["7 2:0.329412 4:1", "6", "2 1:0.00392157"]
    assert made("mnist_evenodd", *raw)["train"] == ["-1 2:0.329412 4:1", "+1", "+1 1:0.00392157"]


@pytest.mark.parametrize(
    "images",
    [idx_gz([2, 2, 2], [0] * 7), idx_gz([8], [0] * 8), gzip.compress(b"")],
    ids=["short", "flat", "empty"],
)
def test_mnist_that_is_no_idx_file(made: Maker, images: bytes) -> None:
    with pytest.raises(DataError, match="not an idx file of 3 dimensions"):
        made("mnist_6v7", images, idx_gz([2], [6, 7]), images, idx_gz([2], [6, 7]))


def test_mnist_with_labels_missing(made: Maker) -> None:
    images = idx_gz([2, 1, 1], [1, 2])
    with pytest.raises(DataError, match="differ in length"):
        made("mnist_6v7", images, idx_gz([1], [6]), images, idx_gz([2], [6, 7]))


def test_newsgroups_by_date(made: Maker) -> None:
    ibm, mac = "comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware"
    archive = tar_gz(
        **{
            "README": "not a message",
            f"20news-bydate-test/{mac}/9": "Zip zip: a NEW word \xe9",
            f"20news-bydate-train/{ibm}/1": "From: me\n\nzip disk, disk.",
            f"20news-bydate-train/{mac}/2": "disk",
            "20news-bydate-train/sci.med/3": "not of this pair",
        }
    )  # ids: disk 1, from 2, me 3, new 4, word 5, zip 6
    both = made("news20_comp", archive)
    assert sorted(both["train"]) == ["+1 1:2 2:1 3:1 6:1", "-1 1:1"]
    assert both["test"] == ["-1 4:1 5:1 6:2"]
    every = made("news20_20", archive)
    assert [line.split()[0] for line in every["test"]] == ["5"]
    assert sorted(line.split()[0] for line in every["train"]) == ["14", "4", "5"]


def test_reviews(made: Maker) -> None:
    archive = tar_gz(
        **{
            "processed_acl/books/positive.review": "good:2 a_b:1 x:y:3 #label#:positive\n" * 7,
            "processed_acl/books/negative.review": "bad:1 good:1 #label#:negative\n" * 3,
            "processed_acl/books/unlabeled.review": "other:1 #label#:positive\n",
            "processed_acl/dvd/positive.review": "film:1 #label#:positive\n",
        }
    )  # ids: a_b 1, bad 2, good 3, x:y 4
    both = made("sentiment_books", archive)
    assert [len(both["train"]), len(both["test"])] == [7, 3]
    lines = sorted(both["train"] + both["test"])
    assert lines == ["+1 1:1 3:2 4:3"] * 7 + ["-1 2:1 3:1"] * 3


def test_days_stay_apart(made: Maker) -> None:
    archive = tar_gz(
        **{
            "url_svmlight/Day10.svm": "-1 4:0.5 99:1\n",
            "url_svmlight/FeatureTypes": "4\n",
            "url_svmlight/Day0.svm": "+1 1:1\n-1 2:1\n",
        }
    )
    assert made("url", archive) == {"Day0": ["+1 1:1", "-1 2:1"], "Day10": ["-1 4:0.5 99:1"]}


def test_an_archive_cut_anywhere_is_not_taken_for_a_short_one(tmp_path: Path) -> None:
    draw = random.Random(1)
    texts = {f"u/Day{i}.svm": f"{draw.getrandbits(3000):x}" for i in range(20)}
    whole = tar_gz(**texts)
    path = tmp_path / "x.tar.gz"
    for cut in range(50, len(whole) - 100, 101):
        path.write_bytes(whole[:cut])
        with pytest.raises((EOFError, tarfile.TarError)):
            for _, text in members(path):
                list(text)


@pytest.mark.parametrize(
    ("name", "contents", "place"),
    [
        ("a9a", ["+1 1:1\nhello 1:1\n", ""], "a9a:2: "),
        ("spambase", ["1,2,1\n1,x,1\n"], "spambase.data:2: "),
        ("dexter", ["1:2 3\n", "1\n", "", ""], "dexter_train.data:1: "),
        ("url", [tar_gz(**{"u/Day0.svm": "+1 1:1\n\n?\n"})], "url_svmlight.tar.gz:u/Day0.svm:3: "),
    ],
    ids=["libsvm", "csv", "sparse", "tar"],
)
def test_a_bad_line_is_named(made: Maker, name: str, contents: list[str], place: str) -> None:
    with pytest.raises(DataError) as failure:
        made(name, *contents)
    assert place in str(failure.value)
    assert failure.value.hint


def test_large_files_are_gzipped_the_same_way_each_time(tmp_path: Path) -> None:
    rows = [("1", "1:" + "5" * 999)] * (LARGE // 1000)
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        assert write_part(folder, "small", iter(rows[:-50]), {"1": "+1"}) == len(rows) - 50
        assert write_part(folder, "large", iter(rows), {"1": "+1"}) == len(rows)
        assert sorted(p.name for p in folder.iterdir()) == ["large.svm.gz", "small.svm"]
    first, second = ((tmp_path / f / "large.svm.gz").read_bytes() for f in "ab")
    assert first == second
    assert first[4:8] == bytes(4)  # no time of day in it
    assert gzip.decompress(first) == b"".join(b"+1 %s\n" % r.encode() for _, r in rows)


def test_long_files_are_not_held_in_memory(tmp_path: Path) -> None:
    def rows() -> Iterator[Row]:
        for i in range(15_000):
            yield "1", f"{i + 1}:1 " + "99999:1 " * 200

    tracemalloc.start()
    write_part(tmp_path, "train", rows(), {"1": "+1"})  # 24 MB
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * LARGE
