"""The ids of features by their names: of a dictionary, which is kept in a file, or hashed."""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from pathlib import Path
from zlib import crc32

from cwtool.data.names import HASHED, LABEL, Names, cleaned, read_names
from cwtool.data.rows import BIAS
from cwtool.errors import DataError, UsageError
from cwtool.files import complete_bytes
from cwtool.memory import words

GOLDEN = 0x9E3779B1  # 2^32 divided by the golden ratio: spreads the bits of a CRC
NAME = 180  # bytes of a name besides its characters, with its id, and of its line in a file
CACHED = 1 << 18  # names whose hashes are kept, whatever the number of names


def hashed(name: str, bits: int) -> int:
    """1 .. 2^bits: one more than the first `bits` bits of CRC-32(UTF-8 text of the name) times
    0x9E3779B1, modulo 2^32. It is the same on every machine and in every version."""
    return 1 + (
        (crc32(name.encode("utf-8", "backslashreplace")) * GOLDEN & 0xFFFFFFFF) >> 32 - bits
    )


class Naming(ABC):
    """Gives ids, and keeps names that are not in the file yet."""

    bits = 0

    def __init__(self, path: Path | None, max_memory: int = 0) -> None:
        """`max_memory` is the limit of the bytes of all names that are kept; 0: none."""
        self.path, self.max_memory, self.held = path, max_memory, 0
        self.exists = path is not None and path.exists()
        self.names = read_names(path) if path is not None and self.exists else Names()
        if self.exists and self.names.hash_bits != self.bits and self.names.pairs:
            kept = self.names.hash_bits
            raise UsageError(
                f"{path} has the names of "
                + (f"ids hashed with {kept} bits" if kept else "a dictionary"),
                f"use `hash_bits={kept}`" if kept else "leave out `hash_bits`, or name a new file",
            )
        self.ids: dict[str, int] = {}
        self.fresh: list[str] = []  # lines to be added to the file
        self.given = 0  # number of ids that were given to new names

    def hold(self, name: str) -> None:
        """Count the memory of one more name that is kept; refuse it if there is none."""
        self.held += NAME + len(name)
        if self.path is not None:
            self.held += NAME + 2 * len(name)
        if 0 < self.max_memory < self.held:
            raise UsageError(
                f"the names of {len(self.ids):,} features and those that follow need more than "
                f"{words(self.max_memory)}, which may be used",
                "give features hashed ids with `hash_bits`, without `names`, or raise `max_memory`",
            )

    @abstractmethod
    def id_of(self, name: str) -> int:
        """The id of the feature of this name, 1 or more; a new name may get a new id."""

    def label(self, number: str, name: str) -> None:
        """Keep the number of a class."""
        if self.path is not None:
            self.fresh.append(f"{LABEL}{number} {name}")

    def save(self) -> None:
        """Append new names to the file, which is complete at any time."""
        if self.path is None or not (self.fresh or not self.exists):
            return
        with complete_bytes(self.path) as out:
            if self.exists:
                with self.path.open("rb") as before:
                    shutil.copyfileobj(before, out)
                    if before.tell():
                        before.seek(-1, 2)
                        out.write(b"" if before.read() == b"\n" else b"\n")
            elif self.bits:
                out.write(f"{HASHED}{self.bits}\n".encode())
            out.write("".join(f"{line}\n" for line in self.fresh).encode())
        self.exists = True
        self.fresh.clear()


class Dictionary(Naming):
    """Names get the ids 1, 2, 3, ... in the order in which they are met. A name that is a whole
    number is its own id, unless that id is taken."""

    def __init__(self, path: Path | None, max_memory: int = 0) -> None:
        super().__init__(path, max_memory)
        self._next = 1  # all ids below are taken
        self._ahead: set[int] = set()  # taken ids from there on
        for key, name in self.names.pairs:
            if not key.isdecimal() or len(key) > 19 or not 0 < int(key) <= BIAS:
                raise UsageError(f"{path}: {key[:40]} is not a feature id", "ids start at 1")
            self.hold(name)
            self.ids.setdefault(name, int(key))
            self._ahead.add(int(key))
        self.names.pairs.clear()

    def id_of(self, name: str) -> int:
        return self.ids.get(name) or self._new(name)

    def _new(self, name: str) -> int:
        self.hold(name)
        clean = cleaned(name)
        if clean != name:
            self.ids[name] = found = self.id_of(clean)
            return found
        found = own_id(name)
        if found < self._next or found in self._ahead:
            found = self._free()
            self.given += 1
        self._ahead.add(found)
        self.ids[name] = found
        if self.path is not None:
            self.fresh.append(f"{found}\t{name}")
        return found

    def _free(self) -> int:
        while self._next in self._ahead:
            self._ahead.remove(self._next)
            self._next += 1
        if self._next > BIAS:
            raise DataError("there are more than 2^31 names of features", "use `hash_bits`")
        return self._next

    def known(self) -> dict[int, str]:
        """The name of each id."""
        return {number: name for name, number in reversed(self.ids.items())}


class Hashing(Naming):
    """Names get their hashes as ids; names are stored only if `path` names a file."""

    def __init__(self, path: Path | None, bits: int, max_memory: int = 0) -> None:
        self.bits = bits
        super().__init__(path, max_memory)
        self._met = {name for _, name in self.names.pairs}
        for name in self._met:
            self.hold(name)
        self.names.pairs.clear()

    def id_of(self, name: str) -> int:
        found = self.ids.get(name)
        if found is None:
            if len(self.ids) >= CACHED:
                self.ids.clear()
            clean = cleaned(name)
            self.ids[name] = found = hashed(clean, self.bits)
            if self.path is not None and clean not in self._met:
                self.hold(clean)
                self._met.add(clean)
                self.fresh.append(f"{found}\t{clean}")
        return found


def own_id(name: str) -> int:
    """The id that a name spells, such as 17; 0 if it is not a whole number."""
    if not (name.isascii() and name.isdecimal()) or name[0] == "0" or len(name) > 10:
        return 0
    return int(name) if int(name) <= BIAS else 0
