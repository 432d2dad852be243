"""Names of features: a text file with one feature a line, written `id TAB name`.

Lines that begin with # and have no tab are no names. Two kinds of them mean something: `# hash bits
N` says that ids are hashes of names, and `# label NUMBER NAME` how the name of a class is written
in LIBSVM files.
"""

from __future__ import annotations

from dataclasses import field
from pathlib import Path

from cwtool.errors import UsageError
from cwtool.records import dataclass

HASHED = "# hash bits "
LABEL = "# label "
NAME = 240  # bytes of a pair of strings in a list and in a dictionary, without their characters
PART = 1 << 20  # bytes that are read at a time


@dataclass
class Names:
    """The contents of a names file."""

    pairs: list[tuple[str, str]] = field(default_factory=list)  # id, name
    hash_bits: int = 0  # 0: ids were given in the order of the names
    labels: dict[str, str] = field(default_factory=dict)  # name of a class -> number

    @property
    def by_id(self) -> dict[str, str]:
        """id -> name; names that share an id, as hashed ones may, are joined by `or`."""
        found: dict[str, str] = {}
        for key, name in self.pairs:
            found[key] = f"{found[key]} or {name}" if key in found else name
        return found


def read_names(path: Path) -> Names:
    """The names in a file."""
    names = Names()
    try:
        with path.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                _add(line, names, f"{path}:{number}")
    except OSError as failure:
        raise UsageError(f"{path}: {failure.strerror}") from None
    except UnicodeDecodeError as failure:
        raise UsageError(f"{path}: {failure}", "names are UTF-8 text") from None
    return names


def bytes_of_names(path: Path | None) -> int:
    """Upper bound of the bytes that the names in a file, if there is one, take while they are read
    and by id. A pipe is refused, because its lines could not be read again after this count."""
    if path is None:
        return 0
    try:
        if path.is_fifo():
            raise UsageError(
                f"{path} is a pipe, and the file of names is read twice",
                "write the names to a file and give its name",
            )
        with path.open("rb") as file:
            n_lines = sum(part.count(b"\n") for part in iter(lambda: file.read(PART), b""))
        return NAME * (n_lines + 1) + 4 * path.stat().st_size  # up to 4 bytes a character
    except OSError:
        return 0  # reading says what is wrong


def _add(line: str, names: Names, place: str) -> None:
    key, tab, name = line.partition("\t")
    if tab:
        names.pairs.append((key.strip(), name.strip()))
    elif line.startswith("#"):
        _remark(line.strip(), names, place)
    elif line.strip():
        raise UsageError(
            f"{place}: expected id, tab, name",
            "a line of a names file is a feature id, a tab and a name",
        )


def _remark(line: str, names: Names, place: str) -> None:
    if line.startswith(HASHED):
        bits = line.removeprefix(HASHED)
        if not bits.isdecimal() or len(bits) > 2:
            raise UsageError(
                f"{place}: the number of hash bits is {bits[:40]}", "write a number from 1 to 30"
            )
        names.hash_bits = int(bits)
    elif line.startswith(LABEL):
        number, _, name = line.removeprefix(LABEL).partition(" ")
        try:
            float(number)
        except ValueError:
            raise UsageError(
                f"{place}: the label {name[:40]} has the number {number[:40]}",
                f"write {LABEL.strip()}, a number and a name",
            ) from None
        names.labels[name] = number


def cleaned(name: str) -> str:
    """A name that fits on a line: what cannot be printed is written with a backslash, and blanks
    around it are left out."""
    name = name.strip()
    if name.isprintable():
        return name
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in name
    )
