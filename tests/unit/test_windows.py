"""How much of the text before unpacking keeps, and what is refused for it."""

from __future__ import annotations

import lzma
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cwtool import memory
from cwtool.data.pipeline import ReadOptions, read_blocks
from cwtool.data.reading_memory import beside_reading
from cwtool.data.windows import HEAD, STATE, USUAL, XZ, bytes_of_unpacking, window
from cwtool.errors import UsageError

Run = Callable[..., Any]
MB = 1_000_000
TEXT = b"1 1:1 2:1 3:1\n0 2:1 3:1 4:1\n" * 300


@pytest.fixture(autouse=True)
def bounds() -> Iterator[None]:
    yield
    memory.forget_reading()


def in_xz(data: bytes, dictionary: int) -> bytes:
    filters = [
        {"id": lzma.FILTER_DELTA, "dist": 1},
        {"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": dictionary},
    ]
    return lzma.compress(data, filters=filters)


def in_zstd(data: bytes, log: int) -> bytes:
    zstd = pytest.importorskip("backports.zstd")
    packer = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: log})
    return bytes(packer.compress(data) + packer.flush())


@pytest.mark.parametrize("preset", range(10))
def test_xz_takes_no_more_than_its_head_says(preset: int) -> None:
    """The limit of xz itself is the measure."""
    packed = lzma.compress(TEXT, preset=preset)
    needed = window(packed[:HEAD])
    assert lzma.LZMADecompressor(memlimit=needed).decompress(packed) == TEXT
    with pytest.raises(lzma.LZMAError, match="Memory usage limit"):
        lzma.LZMADecompressor(memlimit=needed - XZ).decompress(packed)


@pytest.mark.parametrize("dictionary", [4096, 5000, 3 << 20, 100 << 20])
def test_xz_with_another_filter(dictionary: int) -> None:
    packed = in_xz(TEXT, dictionary)
    assert dictionary <= window(packed[:HEAD]) - XZ <= 1.5 * dictionary
    found = lzma.LZMADecompressor(memlimit=window(packed[:HEAD])).decompress(packed)
    assert found == TEXT


@pytest.mark.parametrize("log", [10, 17, 21, 27])
def test_zstd_takes_no_more_than_its_head_says(log: int) -> None:
    zstd = pytest.importorskip("backports.zstd")
    packed = in_zstd(TEXT, log)
    assert window(packed[:HEAD]) == 1 << log
    limit = zstd.DecompressionParameter.window_log_max
    assert zstd.ZstdDecompressor(options={limit: log}).decompress(packed) == TEXT


@pytest.mark.parametrize("size", [0, 1, 255, 256, 5000, 65_791, 65_792, 70_000])
def test_a_segment_of_zstd_is_its_own_window(size: int) -> None:
    zstd = pytest.importorskip("backports.zstd")
    packed = zstd.compress(bytes(size))
    assert max(size, 1024) <= window(packed[:HEAD]) <= max(2 * size, 1024)


def test_other_data_have_no_window() -> None:
    assert window(TEXT) == window(b"") == window(b"\x1f\x8b" + bytes(20)) == 0
    assert bytes_of_unpacking(TEXT) == 0
    assert bytes_of_unpacking(b"BZh9" + bytes(20)) > 3_600_000
    packed = lzma.compress(TEXT)
    assert all(window(packed[:n]) in (0, window(packed)) for n in range(40))


def packed_file(folder: Path, kind: str, log: int) -> str:
    data = in_xz(TEXT, 1 << log) if kind == "xz" else in_zstd(TEXT, log)
    path = folder / f"{log}.svm.{kind}"
    path.write_bytes(data)
    return path.name


@pytest.mark.parametrize("kind", ["xz", "zst"])
def test_windows_of_128_mebibytes_are_read_without_a_limit(kind: str, folder: Path) -> None:
    (block,) = read_blocks([packed_file(folder, kind, 27)])
    assert block.n_rows == 600
    larger = packed_file(folder, kind, 28)
    with pytest.raises(UsageError, match=rf"^28\.svm\.{kind}: to unpack the .* 134 MB") as told:
        list(read_blocks([larger]))
    assert "unpack the data with another program" in str(told.value.hint)


@pytest.mark.parametrize("kind", ["xz", "zst"])
@pytest.mark.parametrize("log", [24, 28])
def test_the_window_counts(kind: str, log: int, folder: Path) -> None:
    path = packed_file(folder, kind, log)
    needed = STATE + (1 << log) + (XZ if kind == "xz" else 0)
    with pytest.raises(UsageError, match=rf"unpacking {log}\.svm\.{kind} needs .* MB, and 16 MB"):
        beside_reading(ReadOptions(max_memory=16 * MB), [path])
    limit = needed + 16 * MB
    found = beside_reading(ReadOptions(max_memory=limit), [path])
    assert limit - found.max_memory == memory.BOUNDS.reading > needed
    assert sum(block.n_rows for block in read_blocks([path], found)) == 600


@pytest.mark.parametrize("kind", ["xz", "zst"])
def test_a_later_part_may_need_no_more_than_was_counted(kind: str, folder: Path) -> None:
    """Or than the usual settings need, if the limit allows it."""
    first, second, third = (folder / packed_file(folder, kind, log) for log in (16, 22, 25))
    (folder / "two").write_bytes(first.read_bytes() + second.read_bytes())
    (folder / "three").write_bytes(first.read_bytes() + third.read_bytes())
    found = beside_reading(ReadOptions(max_memory=100 * MB), ["two", "three"])
    assert memory.BOUNDS.unpacking == USUAL
    assert sum(block.n_rows for block in read_blocks(["two"], found)) == 1200
    with pytest.raises(UsageError, match=r"^three: to unpack .* more than 8\.52 MB of the text"):
        list(read_blocks(["three"], found))


def test_a_pipe_is_looked_at_as_well(folder: Path, cwtool: Run) -> None:
    packed = lzma.compress(TEXT, preset=9)
    ended = cwtool("train", "-", "-m", "m.cw", "--max-memory", "40MB", stdin=packed)
    assert (ended.code, "unpacking <stdin> needs 67.8 MB, and 40 MB" in ended.err) == (2, True)
    assert "unpack it before it is read, or raise --max-memory" in ended.err
    assert cwtool("train", "-", "-m", "m.cw", "--max-memory", "90MB", stdin=packed).code == 0
