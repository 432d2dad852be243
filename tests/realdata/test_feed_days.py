"""The gates of feed on a real feed: with its defaults, every clean day passes, and damaged ones are
refused without a change to the model."""

import gzip
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from cwtool.cli import run

pytestmark = pytest.mark.slow

Lines = list[bytes]


def flipped(line: bytes) -> bytes:
    return (b"-1" if line.startswith(b"+1") else b"+1") + line[2:]


def some_flipped(lines: Lines, share: float) -> Lines:
    draw = random.Random(7)
    return [flipped(line) if draw.random() < share else line for line in lines]


DAMAGE: dict[str, tuple[int, Callable[[Lines], Lines]]] = {
    "all labels flipped": (5, lambda lines: [flipped(line) for line in lines]),
    "20 % flipped": (5, lambda lines: some_flipped(lines, 0.2)),
    "last rows flipped": (5, lambda x: x[:-1000] + [flipped(line) for line in x[-1000:]]),
    "some rows flipped": (
        5,
        lambda x: x[:7300] + [flipped(line) for line in x[7300:8300]] + x[8300:],
    ),
    "half corrupt": (
        3,
        lambda x: [line if k % 2 else line.replace(b":", b"", 3) for k, line in enumerate(x)],
    ),
    "half cut off": (
        5,
        lambda x: [
            line if k % 2 else line[: len(line) // 2].rpartition(b" ")[0] + b"\n"
            for k, line in enumerate(x)
        ],
    ),
    "single class": (5, lambda lines: [line for line in lines if line.startswith(b"+1")]),
    "empty": (3, lambda lines: []),
}


@pytest.mark.parametrize(("start", "algo"), [(0, "arow"), (7, "arow"), (0, "pa1")])
def test_gates(shared_data: Path, tmp_path: Path, start: int, algo: str) -> None:
    """On the second, fifth and fourteenth day; also where a new model begins in the middle of the
    feed."""
    days = sorted((shared_data / "phishurl").glob("day*.svm.gz"))[start:]
    model = tmp_path / "m.cw"
    args = ["-m", str(model), "-q", "--keep", "1", "-a", algo]
    for k, day in enumerate(days):
        if k in (1, 4, 13):
            before = model.read_bytes()
            lines = gzip.decompress(day.read_bytes()).splitlines(keepends=True)
            for what, (code, damage) in DAMAGE.items():
                bad = tmp_path / f"{k} {what}.svm"  # threads may still look at the last one
                bad.write_bytes(b"".join(damage(lines)))
                assert run(["feed", str(bad), *args]) == code, (day.name, what)
                assert model.read_bytes() == before, (day.name, what)
        assert run(["feed", str(day), *args]) == 0, day.name


def test_a_first_day_that_ends_with_wrong_labels(shared_data: Path, tmp_path: Path) -> None:
    day = shared_data / "phishurl" / "day00.svm.gz"
    lines = gzip.decompress(day.read_bytes()).splitlines(keepends=True)
    model = tmp_path / "m.cw"
    for what in ("last rows flipped", "some rows flipped", "half corrupt", "single class", "empty"):
        bad = tmp_path / f"{what}.svm"
        bad.write_bytes(b"".join(DAMAGE[what][1](lines)))
        assert run(["feed", str(bad), "-m", str(model), "-q"]) in (3, 5), what
        assert not model.exists()
