"""The memory that is available, and sizes as text."""

from __future__ import annotations

import mmap
from pathlib import Path

from cwtool.errors import UsageError
from cwtool.records import dataclass

# bytes of text before that unpacking keeps, at most, if there is no limit: 128 MiB, as zstd has it,
# and what xz counts beside it
UNPACKING = (1 << 27) + (1 << 17)
COUNTS = 4 << 20  # bytes of the counts that a model is judged by, at most
FEW = 1 << 20  # bytes that are there, without asking the system
MODEST = 8 << 20  # bytes of one thing that are there


def available() -> int:
    """Bytes that are still free, by the system or the control group."""
    free = 1 << 62
    for line in _lines("/proc/meminfo"):
        if line.startswith("MemAvailable:"):
            free = int(line.split()[1]) * 1024
    limit = "".join(_lines("/sys/fs/cgroup/memory.max"))
    used = "".join(_lines("/sys/fs/cgroup/memory.current"))
    if limit.isdigit() and used.isdigit():
        free = min(free, int(limit) - int(used))
    return free


@dataclass
class Bounds:
    """What this process may use, where no other limit is given; set once."""

    limit: int = 0  # bytes of all processes together; 0: most of what is free
    processes: int = 1  # that share it
    threads: int = 1  # of this process that share its part
    reading: int = 0  # bytes for reading and metrics, which limits that are checked leave out
    unpacking: int = UNPACKING  # bytes of text before that unpacking may keep


BOUNDS = Bounds()


def forget_reading() -> None:
    """Let reading take what it takes where there is no limit."""
    BOUNDS.reading, BOUNDS.unpacking = 0, UNPACKING


def most(limit: int = 0) -> int:
    """Bytes that all processes together may take: the limit, or most of the free memory."""
    return limit or BOUNDS.limit or int(0.9 * available())


def limited(limit: int = 0) -> bool:
    """Whether anything but the free memory sets a limit."""
    return bool(limit or BOUNDS.limit)


def allowed(limit: int = 0) -> int:
    """Bytes that one object may take: its part of the limit, or of most of the free memory."""
    return of_process(limit) // BOUNDS.threads


def of_process(limit: int = 0) -> int:
    """Bytes that this process may take: its part of the limit, or of most of the free memory."""
    return most(limit) // BOUNDS.processes


def beside(held: int, limit: int = 0) -> int:
    """The limit for memory besides the given bytes of rows, which each worker process and the
    process that started them hold; 0 if there is no limit."""
    limit = limit or BOUNDS.limit
    held *= BOUNDS.processes + 1 if BOUNDS.processes > 1 else 1
    if 0 < limit <= held:
        raise UsageError(
            f"the rows, which are kept in memory, need {words(held)} with copies of them, and "
            f"{may_be_used(limit)}",
            "give fewer rows, or raise `max_memory`",
        )
    return limit - held if limit else 0


def beside_workers(limit: int = 0) -> int:
    """The limit without what reading takes in each worker process, or in this one if the limit was
    not given; 0 if there is none."""
    again = BOUNDS.processes if BOUNDS.processes > 1 else int(not limit)
    needed, limit = again * BOUNDS.reading, limit or BOUNDS.limit
    if 0 < limit <= needed:
        raise UsageError(
            f"reading in {BOUNDS.processes} processes needs {words(needed)}, and {words(limit)} "
            "may be used",
            "use fewer `jobs`, or raise `max_memory`",
        )
    return limit - needed if limit else 0


def allowed_for(wanted: int, limit: int = 0) -> int:
    """The same for a thing that wants so many bytes. Where there is no limit, the system is not
    asked for few bytes: that takes longer than to use them, and each of many classes wants some."""
    unasked = wanted <= MODEST and not limited(limit)
    return MODEST if unasked else allowed(limit)


def check(what: str, needed: float, limit: int, instead: str, purpose: str = "") -> None:
    """Refuse what needs more bytes, for this purpose, than one thing may take; `instead` is what
    else can be done, if anything."""
    if needed > (free := allowed(limit)):
        raise UsageError(
            f"{what} needs {' '.join([words(needed), *purpose.split()])}, and {may_be_used(free)}",
            f"{instead}, or raise `max_memory`" if instead else "raise `max_memory`",
        )


def counted(needed: int) -> int:
    """The bytes of a part of a run, as they count: few do not, because the program has them
    anyway."""
    return needed if needed > FEW else 0


def bytes_of_counts(models: int, rows: float) -> int:
    """The bytes of the counts that so many models are judged by, each with its predictions of these
    rows; a row touches a page of them."""
    return counted(int(models * min(COUNTS, mmap.PAGESIZE * rows)))


def without(what: str, needed: int, limit: int, instead: str) -> int:
    """What is left of a limit beside a thing that is held all the time; 0 if there is no limit."""
    if not limit:
        return 0
    check(what, needed, limit, instead)
    return max(1, limit - needed)


def may_be_used(free: float) -> str:
    """How much may be used, as a clause; with what reading and its metrics take beside it."""
    aside = f", beside {words(BOUNDS.reading)} for reading and metrics" if BOUNDS.reading else ""
    return f"{words(free)} may be used{aside}"


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def parse_size(text: str) -> int:
    """The number of bytes of a text such as 4GB, 500 MB or 1e9."""
    number = text.strip().upper().removesuffix("B").strip()
    factor = 1
    for power, unit in enumerate("KMGT", 1):
        if number.endswith(unit):
            number, factor = number[:-1], 1000**power
    try:
        size = int(float(number) * factor)
    except (ValueError, OverflowError):
        size = 0
    if size <= 0:
        raise UsageError(f"`max_memory` is {text!r}, which is not a size", "write for example 4GB")
    return size


def words(n_bytes: float) -> str:
    """A number of bytes as text, such as 512 B, 2.4 MB or 31 GB."""
    for unit in ("B", "kB", "MB", "GB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:,.3g} TB"
