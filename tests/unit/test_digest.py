import numpy as np
import pytest

from cwtool_ext.digest import CELL, cells


def digest(data: bytes, start: int = 0, stop: int | None = None) -> list[tuple[int, int]]:
    stop = len(data) if stop is None else stop
    count = -(-(stop - start) // CELL)
    out = np.zeros(2 * count, np.uint64)
    cells(data, start, stop, out)
    return [(int(a), int(b)) for a, b in out.reshape(-1, 2)]


def sample(size: int) -> bytes:
    return np.random.default_rng(size).integers(0, 256, size, np.uint8).tobytes()


def test_cells_are_cut_every_64_kib_and_hashed_alone() -> None:
    data = sample(2 * CELL + 777)
    whole = digest(data)
    assert len(whole) == 3
    assert whole == [digest(data[i : i + CELL])[0] for i in range(0, len(data), CELL)]
    assert digest(b"xyz" + data, 3) == whole
    assert digest(data + b"more", 0, len(data)) == whole
    assert digest(b"") == []


def test_every_single_byte_change_shows_in_both_halves() -> None:
    data = bytearray(sample(1000))
    ((a, b),) = digest(bytes(data))
    for i in range(len(data)):
        for flip in (1, 128, 255):
            data[i] ^= flip
            ((c, d),) = digest(bytes(data))
            data[i] ^= flip
            assert c != a
            assert d != b


@pytest.mark.parametrize("data", [sample(200), bytes(range(100)) * 2])
def test_every_swap_of_two_bytes_shows(data: bytes) -> None:
    seen = digest(data)
    changed = bytearray(data)
    for i in range(len(data)):
        for j in range(i):
            if data[i] != data[j]:
                changed[i], changed[j] = data[j], data[i]
                assert digest(bytes(changed)) != seen
                changed[i], changed[j] = data[i], data[j]


def test_swaps_of_whole_words_and_shifts_show() -> None:
    data = sample(4096)
    variants = {tuple(digest(data))}
    for i in range(0, 512, 8):
        for j in range(0, i, 8):
            x = bytearray(data)
            x[i : i + 8], x[j : j + 8] = data[j : j + 8], data[i : i + 8]
            variants.add(tuple(digest(bytes(x))))
    for i in range(1, 64):
        variants.add(tuple(digest(data[i:] + data[:i])))
    assert len(variants) == 1 + 64 * 63 // 2 + 63


def test_runs_of_zeros_differ_by_length_only_and_still_differ() -> None:
    assert len({tuple(digest(bytes(n))) for n in range(1, 300)}) == 299


def test_both_halves_are_spread_evenly() -> None:
    base = bytes(64)
    bits = np.zeros(128)
    for i in range(64):
        for k in range(8):
            data = bytearray(base)
            data[i] = 1 << k
            a, b = digest(bytes(data))[0]
            bits += [int(c) for c in f"{a:064b}{b:064b}"]
    assert np.all(np.abs(bits / 512 - 0.5) < 0.15)


def test_refuses_wrong_sizes() -> None:
    with pytest.raises(ValueError, match="exceeds"):
        cells(b"abc", 0, 4, np.zeros(2, np.uint64))
    with pytest.raises(ValueError, match="1 cells take 2"):
        cells(b"abc", 0, 3, np.zeros(4, np.uint64))
