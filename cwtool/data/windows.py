"""How much unpacking compressed data takes, told by its first bytes."""

from __future__ import annotations

from cwtool.data.compression import compression

HEAD = 64  # bytes that are enough to tell
STATE = 1 << 19  # bytes that unpacking takes beside the text before, at most
BZ2 = 3_700_000  # bytes for the largest blocks of bz2
XZ = 1 << 17  # bytes that xz counts beside its dictionary, at most
USUAL = (1 << 23) + XZ  # bytes of text before with the usual settings of xz and zstd
LZMA2 = 0x21


def window(head: bytes) -> int:
    """Bytes of text before that unpacking data with these first bytes keeps, as `unpacking` of
    `memory.BOUNDS` limits it; 0 if that is little."""
    found = {"xz": _xz, "zstd": _zstd}.get(compression(head) or "")
    try:
        return found(head) if found else 0
    except IndexError:  # the data ends in its head, which is told when it is read
        return 0


def bytes_of_unpacking(head: bytes) -> int:
    """Upper bound of the bytes that unpacking data with these first bytes takes."""
    kind = compression(head)
    return 0 if kind is None else STATE + (BZ2 if kind == "bz2" else window(head))


def _xz(head: bytes) -> int:
    """The dictionary of the first block: stream header of 12 bytes, size of block header, flags,
    perhaps two sizes, and filters: number, size of their settings, and settings."""
    flags, at = head[13], 14
    if head[12] == 0:  # there is no block
        return 0
    for bit in (0x40, 0x80):
        if flags & bit:
            _, at = _number(head, at)
    for _ in range((flags & 3) + 1):
        name, at = _number(head, at)
        size, at = _number(head, at)
        if name == LZMA2:
            bits = min(head[at], 40)
            return min((2 | bits & 1) << (bits // 2 + 11), (1 << 32) - 1) + XZ
        at += size
    return 0


def _number(head: bytes, at: int) -> tuple[int, int]:
    """A number in groups of 7 bits, and the place behind it."""
    found, shift = 0, 0
    while True:
        found |= (head[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if not head[at - 1] & 128:
            return found, at


def _zstd(head: bytes) -> int:
    """The window of the first frame, or its size if it is one segment, rounded up to a power of
    two: magic of 4 bytes, descriptor, and the window or the number of a dictionary and the size."""
    told = head[4]
    if told & 32:
        start, size = 5 + (0, 1, 2, 4)[told & 3], 1 << (told >> 6)
        found = int.from_bytes(head[start : start + size], "little") + 256 * (size == 2)
    else:
        base = 1 << (10 + (head[5] >> 3))
        found = base + base // 8 * (head[5] & 7)
    return 1 << max(10, (found - 1).bit_length())
