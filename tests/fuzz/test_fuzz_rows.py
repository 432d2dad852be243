"""Changed files of rows, signed anew: each is read as rows that keep every rule of rows, or is a
DataError, and never takes more memory than its size allows."""

import random
from pathlib import Path

import numpy as np
import pytest
import slow_rows

from cwtool.convert.row import Input
from cwtool.convert.rows_file import copied
from cwtool.data.pipeline import ReadOptions, read_blocks
from cwtool.data.rowfile import Writer
from cwtool.errors import DataError

MUTANTS = 300


def text(rng: random.Random) -> str:
    """Lines of many kinds."""
    lines = []
    for _ in range(rng.randint(1, 30)):
        ids = sorted(
            {rng.choice([rng.randint(1, 50), rng.randint(1, 2**31 - 1)]) for _ in range(9)}
        )
        some = [f"{j}:{rng.choice(['1', '1', '1', '0.5', repr(rng.random())])}" for j in ids]
        weight = rng.choice(["", "", ":2.5"])
        note = rng.choice(["", " # note"])
        lines.append(f"{rng.choice(['+1', '-1'])}{weight} {' '.join(some)}{note}")
    return "\n".join(lines) + "\n"


def mutant(rng: random.Random, data: bytes) -> bytes:
    """Some bytes changed, left out or doubled."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(changed)) if rng.random() < 0.7 else rng.randrange(17)
        how = rng.random()
        if how < 0.6:
            changed[at] = rng.choice([0, 1, 255, rng.randrange(256), changed[at] ^ 1])
        elif how < 0.8:
            del changed[at : at + rng.randint(1, 8)]
        else:
            changed[at:at] = changed[at : at + rng.randint(1, 8)]
        if not changed:
            return b""
    return bytes(changed)


@pytest.mark.parametrize("seed", range(4))
def test_mutants(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    source, path, read, refused = tmp_path / "a.svm", tmp_path / "a.cwrows", 0, 0
    for _ in range(MUTANTS):
        source.write_text(text(rng))
        with path.open("wb") as out:
            copied([str(source)], Input(ReadOptions(comments=True)), out)
        frames = slow_rows.frames(path.read_bytes())
        with path.open("wb") as out:
            writer = Writer(out)
            for kind, data in frames:
                writer.frame(kind, mutant(rng, data) if kind == b"ROWS" else data)
        try:
            for block in read_blocks([str(path)], ReadOptions(comments=rng.random() < 0.5)):
                assert len(block.indices) == len(block.values) == block.indptr[-1]
                assert (np.diff(block.indptr) >= 0).all()
                inside = np.ones(max(len(block.indices) - 1, 0), dtype=bool)
                inside[[k - 1 for k in block.indptr[1:-1] if 0 < k < len(block.indices)]] = False
                assert (np.diff(block.indices.astype(np.int64)) > 0)[inside].all()
                assert block.indices.min(initial=0) >= 0
                assert block.indices.max(initial=0) <= 2**31 - 2
                assert np.isfinite(block.values).all()
                assert np.isfinite(block.labels).all()
                assert block.weight is None or (block.weight >= 0).all()
                assert (np.diff(block.origin.lines) > 0).all()
            read += 1
        except DataError as refusal:
            assert "damaged" in str(refusal)
            refused += 1
    assert read > 0
    assert refused > MUTANTS / 4
