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


def slow_cell(data: bytes) -> tuple[int, int]:
    """As the description of the kernel says, word by word."""
    all_ones, k0, k1 = 2**64 - 1, 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F

    def step(h: int, w: int, k: int, turn: int) -> int:
        h = (h ^ w) * k & all_ones
        return (h << turn | h >> 64 - turn) & all_ones

    def joined(lanes: list[int], k: int, turn: int) -> int:
        h = len(data)
        for lane in lanes:
            h = step(h, lane, k, turn)
        h = (h ^ h >> 32) * k1 & all_ones
        h = (h ^ h >> 29) * k0 & all_ones
        return h ^ h >> 32

    padded = data + bytes(32 - len(data) % 32)
    a, b = [1, 2, 3, 4], [5, 6, 7, 8]
    for k in range(len(padded) // 8):
        word = int.from_bytes(padded[8 * k : 8 * k + 8], "little")
        a[k % 4] = step(a[k % 4], word, k0, 29)
        b[k % 4] = step(b[k % 4], word, 9, 23)
    return joined(a, k1, 31), joined(b, k0, 27)


@pytest.mark.parametrize(
    "size", [1, 8, 31, 32, 33, 1000, CELL - 1, CELL, CELL + 1, 2 * CELL, 3 * CELL + 40]
)
def test_the_same_as_word_by_word(size: int) -> None:
    data = sample(size + 3)
    expected = [slow_cell(data[i : min(i + CELL, size + 3)]) for i in range(3, size + 3, CELL)]
    assert digest(data, 3) == expected


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
