"""The bytes of a model file.

    CWTOOL\\0  version (1 byte)  length of the file (8)  length of the header (8)
    header (JSON, padded with blanks to a multiple of 8)
    arrays (raw, little-endian, each padded to a multiple of 8)
    SHA-256 of all that comes before it (32)

Older versions are read as well. Version 1 has all values of each column feature.NAME. Since version
2, a column that is mostly zero may have only its nonzero values, with their places among the ids in
feature.NAME.at. Since version 3, parameters and numbers have the names of cwtool 0.2, and
the header may have class_weight and weighted_confusion.

Saving never touches the old file until the new one is complete and on disk.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from math import prod
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from cwtool.ahead import beside
from cwtool.errors import Damage, ModelError
from cwtool.files import MAGIC, replacing
from cwtool.model import header_text
from cwtool.model.schema import entries, items, text, whole

VERSION = 3
PRELUDE = struct.Struct("<7sBQQ")
DTYPES = ("<f8", "<i8", "<i4", "|u1")
LISTED = items(
    entries(
        {
            "name": text(1000),
            "dtype": text(3, DTYPES),
            "shape": items(whole(0, 1 << 48), most=2),
        }
    )
)

LARGE = 1 << 20  # bytes of a file whose checksum is worth a thread

Arrays = dict[str, NDArray[Any]]
T = TypeVar("T")
Use = Callable[[dict[str, Any], Arrays], T]


def check_target(path: Path, data: Iterable[str] = ()) -> None:
    """Refuse, before any work, to replace a file that is not a model."""
    if not path.exists():
        return
    if not path.is_file():
        raise ModelError(f"{path} is not a regular file; a model cannot be put there")
    if any(Path(d).exists() and path.samefile(d) for d in data):
        raise ModelError(f"{path} is one of the data files; a model would replace it")
    try:
        with path.open("rb") as file:
            head = file.read(len(MAGIC))
    except OSError as failure:
        raise ModelError(f"{path}: {os.strerror(failure.errno or 0)}") from None
    if head and head != MAGIC:
        raise ModelError(
            f"{path} exists and is not a cwtool model; it will not be replaced",
            "choose another name, or remove the file",
        )


def _padded(size: int) -> int:
    return -(-size // 8) * 8


def written(header: dict[str, Any], arrays: Arrays, jobs: int = 1) -> Iterator[bytes | memoryview]:
    """The bytes of a file, piece by piece; the checksum is computed in another thread if there are
    several `jobs`."""
    plain = {k: np.ascontiguousarray(a, dtype=a.dtype.newbyteorder("<")) for k, a in arrays.items()}
    listed = [{"name": k, "dtype": a.dtype.str, "shape": list(a.shape)} for k, a in plain.items()]
    text = header_text.of({**header, "arrays": listed})
    text = text.ljust(_padded(PRELUDE.size + len(text)) - PRELUDE.size)
    size = PRELUDE.size + len(text) + sum(_padded(a.nbytes) for a in plain.values()) + 32
    pieces: list[bytes | memoryview] = [PRELUDE.pack(MAGIC, VERSION, size, len(text)), text]
    for array in plain.values():
        pieces += [array.data.cast("B") if array.size else b""]
        pieces += [bytes(_padded(array.nbytes) - array.nbytes)]
    hasher = sha256()
    pieces = [piece for piece in pieces if len(piece)]

    def hashed(piece: bytes | memoryview) -> bytes | memoryview:
        hasher.update(piece)
        return piece

    if jobs > 1:
        yield from (piece for piece, _ in beside(hashed, pieces))
    else:
        yield from map(hashed, pieces)
    yield hasher.digest()


def save(path: Path, header: dict[str, Any], arrays: Arrays, jobs: int = 1) -> int:
    """Write the file under a temporary name, make it durable, and put it in place at once.
    Returns its size."""
    try:
        with replacing(path, durable=True) as out:
            return sum(map(out.write, written(header, arrays, jobs)))
    except OSError as failure:
        raise ModelError(
            f"{path}: cannot write the model: {os.strerror(failure.errno or 0)}",
            "the old model, if there was one, is untouched",
        ) from None


def load(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Header and arrays of a verified file; ModelError says what is wrong with it."""
    return parsed(path, _read(path), lambda header, arrays: (header, arrays))


def used(path: Path, use: Use[T], jobs: int) -> T:
    """What `use` makes of the header and the arrays of a verified file, in `jobs` threads."""
    return parsed(path, _read(path), use, jobs)


def _read(path: Path) -> bytes | memoryview:
    try:
        with path.open("rb", buffering=0) as file:
            # an array, because NumPy asks for large pages: half of the time of bytes
            size, done = os.fstat(file.fileno()).st_size, 0
            room = np.empty(max(size, PRELUDE.size), dtype=np.uint8)
            while done < len(room) and (got := file.readinto(room[done:].data)):
                done += got
            if done == size:
                return room[:done].data.toreadonly()
            head = room[:done].tobytes()  # what is no regular file has no size, and may have no end
            return head + file.read() if head.startswith(MAGIC) else head
    except FileNotFoundError:
        raise ModelError(
            f"{path}: no such model", f"train it first: cwtool train DATA -m {path}"
        ) from None
    except OSError as failure:
        raise ModelError(f"{path}: {os.strerror(failure.errno or 0)}") from None


def parsed(path: Path, data: bytes | memoryview, use: Use[T], jobs: int = 1) -> T:
    """What `use` makes of the header and the arrays of the bytes of a file; `path` is for messages.
    With several `jobs`, the checksum of a large file is computed meanwhile. If that is wrong, what
    `use` returns or raises does not count."""
    header, at = _header(path, data)
    if jobs == 1 or len(data) < LARGE:
        if not _is_whole(data):
            raise _altered(path)
        return use(header, _arrays(path, header, data, at))
    from threading import Thread

    found: list[bool] = []
    thread = Thread(target=lambda: found.append(_is_whole(data)), name="cwtool-checksum")
    thread.start()
    try:
        return use(header, _arrays(path, header, data, at))
    finally:
        thread.join()
        if found != [True]:
            raise _altered(path) from None


def _is_whole(data: bytes | memoryview) -> bool:
    """Whether the last 32 bytes are the SHA-256 digest of all bytes before them."""
    return sha256(memoryview(data)[:-32]).digest() == data[-32:]


def _arrays(path: Path, header: dict[str, Any], data: bytes | memoryview, at: int) -> Arrays:
    """The arrays that the header lists, as views of `data`; the first begins at byte `at`."""
    arrays: Arrays = {}
    try:
        for one in _places(header, at):
            at = one.at + _padded(one.n_bytes)
            if one.name in arrays or at > len(data) - 32:
                raise Damage(f"its array {one.name[:60]!r} is twice there or too long")
            arrays[one.name] = np.frombuffer(data, one.dtype, prod(one.shape), one.at).reshape(
                one.shape
            )
        del header["arrays"]
        if at != len(data) - 32:
            raise Damage("its arrays are shorter than the file")
    except Damage as failure:
        raise _damaged(path, failure) from None
    return arrays


class Place(NamedTuple):
    """Where an array is in a file: it begins at byte `at`."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    at: int

    @property
    def n_bytes(self) -> int:
        return prod(self.shape) * self.dtype.itemsize  # in whole numbers that do not overflow


def _places(header: dict[str, Any], at: int) -> Iterator[Place]:
    """The places of the arrays that the header lists; the first begins at byte `at`."""
    LISTED(header["arrays"], "arrays")
    for entry in header["arrays"]:
        one = Place(entry["name"], np.dtype(entry["dtype"]), tuple(entry["shape"]), at)
        yield one
        at += _padded(one.n_bytes)


def array_places(path: Path) -> list[Place]:
    """Where the arrays of a file are, without verifying them."""
    return list(_places(*_load_header(path)))


def load_header(path: Path) -> dict[str, Any]:
    """Only the header, without verifying the arrays."""
    return _load_header(path)[0]


def _load_header(path: Path) -> tuple[dict[str, Any], int]:
    """The header and the byte at which the arrays begin."""
    try:
        with path.open("rb") as file:
            data = file.read(PRELUDE.size)
            if len(data) == PRELUDE.size:
                length = PRELUDE.unpack(data)[3] if data.startswith(MAGIC) else 0
                data += file.read(min(length, path.stat().st_size))
    except OSError:
        data = bytes(_read(path))
    return _header(path, data, whole=False)


def _header(
    path: Path, data: bytes | memoryview, *, whole: bool = True
) -> tuple[dict[str, Any], int]:
    if not data or bytes(data[: len(MAGIC)]) != MAGIC[: len(data)]:
        raise ModelError(
            f"{path} is not a cwtool model",
            "give a file that cwtool train, feed or tune has written",
        )
    if len(data) < PRELUDE.size:
        raise _truncated(path)
    _, version, size, length = PRELUDE.unpack_from(data)
    if version > VERSION:
        raise ModelError(
            f"{path} has model format {version}; this cwtool reads formats up to {VERSION}",
            "use a newer cwtool",
        )
    if len(data) < (size if whole else PRELUDE.size + length):
        raise _truncated(path)
    if whole and len(data) > size:
        raise _altered(path)
    if PRELUDE.size + length + 32 > size:
        raise _altered(path)
    try:
        header = header_text.read(bytes(data[PRELUDE.size : PRELUDE.size + length]))
        header["algorithm"], header["arrays"]
    except Damage as failure:
        raise _damaged(path, failure) from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _altered(path) from None
    return header, PRELUDE.size + length


def _damaged(path: Path, failure: Damage) -> ModelError:
    return ModelError(f"{path} is damaged: {failure}", "restore it from a copy")


def _truncated(path: Path) -> ModelError:
    return ModelError(
        f"{path} is truncated: part of the model is missing", "restore it from a copy"
    )


def _altered(path: Path) -> ModelError:
    return ModelError(f"{path} was altered: its checksum does not match", "restore it from a copy")
