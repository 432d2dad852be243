"""Bytes of paths and of stdin, plain or compressed, told by content."""

import bz2
import gzip
import lzma
import os
import sys
import tracemalloc
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwtool.data.compression import ZSTD, compression, decompressed
from cwtool.data.handles import Handle
from cwtool.data.sources import display, peek
from cwtool.errors import DataError


def in_zstd(data: bytes) -> bytes:
    """With a checksum; skips the test where the package is not installed."""
    zstd = pytest.importorskip(ZSTD)
    packed: bytes = zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1})
    return packed


PACK = {
    "gzip": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zstd": in_zstd,
}
kinds = pytest.mark.parametrize("kind", PACK)


class Bytes:
    """A source that gives at most `most` bytes at a time, as a pipe may."""

    size = 0

    def __init__(self, data: bytes, most: int = 1 << 20) -> None:
        self.data, self.most = data, most

    def read(self, size: int) -> bytes:
        cut = min(size, self.most)
        piece, self.data = self.data[:cut], self.data[cut:]
        return piece


def text_of(data: bytes, most: int = 1 << 20) -> bytes:
    head, stream = peek(Bytes(data, most))
    kind = compression(head)
    if kind:
        return b"".join(decompressed(kind, stream, "x"))
    pieces = []
    while piece := stream.read(100):
        pieces.append(piece)
    return b"".join(pieces)


@kinds
def test_kind_is_told_by_content(kind: str) -> None:
    assert compression(PACK[kind](b"+1 1:1\n")) == kind


@pytest.mark.parametrize(
    "head", [b"", b"+", b"+1 1:1", b"BZ", b"\x1f", b"\xef\xbb\xbf", b"\xfd7zX"]
)
def test_text_is_not_compressed(head: bytes) -> None:
    assert compression(head) is None


@given(
    data=st.binary(max_size=300),
    cuts=st.lists(st.integers(0, 300), max_size=3),
    most=st.integers(1, 50),
)
@kinds
def test_any_members_in_any_pieces(kind: str, data: bytes, cuts: list[int], most: int) -> None:
    ends = sorted({0, len(data), *(min(c, len(data)) for c in cuts)})
    members = [PACK[kind](data[a:b]) for a, b in pairwise(ends)]
    assert text_of(b"".join(members) or PACK[kind](b""), most) == data


@given(data=st.binary(max_size=50), most=st.integers(1, 9))
def test_plain_bytes_come_back(data: bytes, most: int) -> None:
    if compression(data[:6]) is None:
        assert text_of(data, most) == data


@kinds
def test_every_truncation_is_noticed(kind: str) -> None:
    whole = PACK[kind](bytes(range(256)) * 4)
    for length in range(7, len(whole)):
        with pytest.raises(DataError, match=rf"x: the {kind} data ends in the middle"):
            text_of(whole[:length])


@kinds
def test_every_flipped_byte_is_noticed(kind: str) -> None:
    """By an error, or by the same text where the format has bytes that mean nothing."""
    data = b"+1 1:0.5 2:7\n" * 50
    whole = bytearray(PACK[kind](data))
    for at in range(6, len(whole)):
        whole[at] ^= 0x10
        try:
            assert text_of(bytes(whole)) == data
        except DataError as failure:
            assert f"x: the {kind} data" in str(failure)
        whole[at] ^= 0x10


@kinds
def test_what_expands_much_stays_bounded(kind: str) -> None:
    """30 MB of blanks from some kB: at no time in memory at once."""
    data = PACK[kind](b" " * 30_000_000)
    _, stream = peek(Bytes(data))
    tracemalloc.start()
    total = sum(len(piece) for piece in decompressed(kind, stream, "x"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert total == 30_000_000
    assert peak < 25_000_000


def test_handle(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    handle = Handle(str(path))
    assert (handle.regular, handle.size) == (True, 3)
    assert handle.read(2) == b"ab"
    descriptor = handle.fd
    del handle
    with pytest.raises(OSError, match="Bad file"):
        os.fstat(descriptor)


def test_missing_and_directory(tmp_path: Path) -> None:
    (tmp_path / "day1.svm").write_bytes(b"")
    with pytest.raises(DataError, match="no such file") as failure:
        Handle(str(tmp_path / "day1.svn"))
    assert failure.value.hint == f"did you mean {tmp_path / 'day1.svm'}?"
    with pytest.raises(DataError, match="is a directory"):
        Handle(str(tmp_path))
    with pytest.raises(DataError) as failure:
        Handle(str(tmp_path / "no" / "x.svm"))
    assert "there is no folder" in str(failure.value.hint)


def test_display() -> None:
    assert display("-") == "<stdin>"
    assert display("a/b.svm") == "a/b.svm"


def test_zstd_without_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = PACK["zstd"](b"+1 1:1\n")
    monkeypatch.setitem(sys.modules, ZSTD, None)
    with pytest.raises(DataError, match="x: zstd data needs the package") as found:
        text_of(whole)
    assert "pip install" in str(found.value.hint)


def test_a_handle_that_was_not_opened_is_dropped_in_silence() -> None:
    Handle.__new__(Handle).__del__()
