"""What a shard has learned, as a file: the features that differ from the base, and all counts.

A change file has the form of a model file, so that what is read is checked. Its model leaves out
the features whose columns are, in bits, those of the base.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from cwtool.data.known import RowSample
from cwtool.data.parse import Block
from cwtool.data.rows import Origin
from cwtool.errors import ModelError
from cwtool.metrics.confusion import Confusion
from cwtool.metrics.tally import AnyTally, Tally, Weighted, dense, sparse
from cwtool.model import Model, file, packing
from cwtool.model.file import Arrays
from cwtool.records import dataclass

SHARD = "shard"
NAMED = "file"  # the entry of a header that has the name of the file
ASIDE = "~"  # what separates a name from what makes a temporary name of it
TAIL = ("indptr", "indices", "values", "labels")


@dataclass
class Piece:
    """Counts and faults of a part of a file, read by a shard or in the head."""

    file: int  # number of the file among those of the run
    start: int
    size: int = 0  # bytes
    rows: int = 0
    nnz: int = 0
    qids: int = 0
    bad_lines: int = 0
    first_bad: str = ""
    stored: str = ""  # digest of a compressed file as it is stored
    cells: bytes = b""
    sample: RowSample = field(default_factory=RowSample)
    tally: AnyTally = field(default_factory=Tally)  # of the rows learned


@dataclass
class Change:
    """The result of a shard: what it has changed in the model of the round."""

    model: Model
    pieces: list[Piece]
    tail: list[Block]
    heaviest: float = 0.0  # the largest weight that a row was learned with
    error: tuple[float, float] = (0.0, 0.0)  # of a further pass: wrong rows and all, by weight
    bytes: int = 0  # of the file
    seconds: float = 0.0


def save(path: Path, change: Change) -> None:
    """Write the change."""
    header, arrays = packing.pack(change.model, calibrated=False)
    described, more = pack_pieces(change.pieces)
    arrays |= more
    for k, block in enumerate(change.tail):
        arrays |= {f"tail.{k}.{name}": getattr(block, name) for name in TAIL}
        if block.weight is not None:
            arrays[f"tail.{k}.weight"] = block.weight
    header[SHARD] = {
        "pieces": described,
        "tail": [[block.origin.source, block.origin.file] for block in change.tail],
        "heaviest": change.heaviest,
        "error": change.error,
        "seconds": change.seconds,
    }
    write(path, header, arrays)


def write(path: Path, header: dict[str, Any], arrays: Arrays) -> int:
    """Write a file whose name appears when it is complete; its size. The temporary name is one of
    its own, because a lost worker may still be writing."""
    mine = f"{socket.gethostname()}.{os.getpid()}.{uuid4().hex}"
    aside = path.with_name(f".{path.name}{ASIDE}{mine}")
    named = {"algorithm": "", **header, NAMED: path.name}
    try:
        with aside.open("wb") as out:
            size = sum(map(out.write, file.written(named, arrays)))
        aside.replace(path)
        return size
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


def contents(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Header and arrays of a file that `write` wrote. A file that is damaged, or has the contents
    of another one, is a ModelError."""
    try:
        header, arrays = file.load(path)
        if header.pop(NAMED, "") != path.name:
            raise ModelError(f"{path} is damaged: it has the contents of another file")
    except ModelError as failure:
        raise ModelError(str(failure), "delete it, and run the same command again") from None
    return header, arrays


def remove(folder: Path, paths: Sequence[Path]) -> None:
    """Remove these files of the folder in this order, and their temporary files that killed
    processes have left. A process that is killed meanwhile leaves the later files, which a repeated
    run can use."""
    order = {path.name: k for k, path in enumerate(paths)}
    found = []
    for path in folder.glob("*"):
        hidden, aside, _ = path.name.partition(ASIDE)
        name = hidden[1:] if aside else path.name
        if name in order:
            found.append((order[name], path))
    for _, path in sorted(found):
        path.unlink(missing_ok=True)


def load(path: Path) -> Change:
    """The change of a file; everything wrong with it is a ModelError."""
    header, arrays = contents(path)
    about = header.pop(SHARD)
    of_model = {k: a for k, a in arrays.items() if not k.startswith((f"{SHARD}.", "tail."))}
    model = packing.unpack(header, of_model)
    pieces = unpack_pieces(about["pieces"], arrays, model.labels.several)
    tail = []
    for k, (source, number) in enumerate(about["tail"]):
        indptr, indices, values, labels = (arrays[f"tail.{k}.{name}"] for name in TAIL)
        origin = Origin(source, number, 1, np.zeros(len(labels), dtype=np.int32))
        weight = arrays.get(f"tail.{k}.weight")
        tail.append(Block(indptr, indices, values, labels, origin, weight))
    size = path.stat().st_size
    wrong, rows = about["error"]
    return Change(model, pieces, tail, about["heaviest"], (wrong, rows), size, about["seconds"])


# -- pieces ---------------------------------------------------------------------------------------

PLAIN = ("file", "start", "size", "rows", "nnz", "qids", "bad_lines", "first_bad", "stored")


def pack_pieces(pieces: Sequence[Piece]) -> tuple[list[dict[str, Any]], Arrays]:
    """What the header has of the pieces, and their arrays."""
    arrays: Arrays = {}
    for k, piece in enumerate(pieces):
        arrays |= {f"{SHARD}.{k}.{name}": array for name, array in _arrays(piece).items()}
    return [_described(piece) for piece in pieces], arrays


def unpack_pieces(
    described: list[dict[str, Any]], arrays: Arrays, labels: list[float] | None
) -> list[Piece]:
    """The pieces that were packed; `labels` are those of the shard, if it has several classes."""
    return [_piece(p, arrays, f"{SHARD}.{k}.", labels) for k, p in enumerate(described)]


def _described(piece: Piece) -> dict[str, Any]:
    """The description of a piece for the header of the file."""
    return {**{name: getattr(piece, name) for name in PLAIN}, "level": piece.sample.level}


def _arrays(piece: Piece) -> Arrays:
    """The arrays of a piece."""
    found: Arrays = {
        "cells": np.frombuffer(piece.cells, dtype=np.uint8),
        "sample": piece.sample.hashes.view(np.int64),
    }
    if isinstance(piece.tally, Confusion):
        return found | {**piece.tally.pack()}
    assert isinstance(piece.tally, Tally)
    kinds = {"": piece.tally.scores, "weight.": None}
    found["called"] = piece.tally.confusion
    if piece.tally.weighted is not None:
        kinds["weight."], found["weight.called"] = piece.tally.weighted
    for kind, scores in kinds.items():
        if scores is not None:
            found |= {f"{kind}{name}": part for name, part in sparse(scores).items()}
    return found


def _piece(header: dict[str, Any], arrays: Arrays, key: str, labels: list[float] | None) -> Piece:
    """The piece, with copies of its arrays, which would keep the whole file in memory."""
    own = {n.removeprefix(key): a.copy() for n, a in arrays.items() if n.startswith(key)}
    piece = Piece(**{name: header[name] for name in PLAIN})
    piece.cells = own["cells"].tobytes()
    piece.sample = RowSample(own["sample"].view(np.uint64), header["level"])
    if labels is not None:
        piece.tally = Confusion.unpack(labels, own, len(labels) + 1)
        return piece
    weighted = None
    if "weight.called" in own:
        scores = dense(own["weight.at"], own["weight.n"])
        weighted = Weighted(scores, own["weight.called"])
    piece.tally = Tally(dense(own["at"], own["n"]), own["called"], weighted)
    return piece
