"""Readers of LIBSVM text, each in a process of its own: `python -m cwtool.bench.readers NAME`.

The clock starts after the imports and stops when the whole file is in memory.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cwtool.data.parse import Block


def cwtool_blocks(path: str, jobs: str) -> Callable[[], Iterator[Block]]:
    from cwtool.data.pipeline import ReadOptions, read_blocks

    options = ReadOptions(jobs=int(jobs))
    return lambda: read_blocks([path], options)


def cwtool_keep(path: str, jobs: str) -> Callable[[], int]:
    """All blocks stay in memory, as all rows do in the other programs."""
    blocks = cwtool_blocks(path, jobs)
    return lambda: sum(len(block.values) for block in list(blocks()))


def cwtool_stream(path: str, jobs: str) -> Callable[[], int]:
    """Each block is dropped when its entries were counted, as training does."""
    blocks = cwtool_blocks(path, jobs)
    return lambda: sum(len(block.values) for block in blocks())


def sklearn(path: str) -> Callable[[], int]:
    load = import_module("sklearn.datasets").load_svmlight_file
    return lambda: int(load(path)[0].nnz)


def xgboost(path: str) -> Callable[[], int]:
    matrix = import_module("xgboost").DMatrix
    return lambda: int(matrix(f"{path}?format=libsvm", nthread=1).num_nonmissing())


READERS: dict[str, Callable[..., Callable[[], int]]] = {
    "cwtool-keep": cwtool_keep,
    "cwtool-stream": cwtool_stream,
    "sklearn": sklearn,
    "xgboost": xgboost,
}


def main(name: str, *args: str) -> None:
    read = READERS[name](*args)
    cpu, wall = time.process_time(), time.perf_counter()
    nnz = read()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    print(json.dumps({"cpu": cpu, "wall": wall, "nnz": nnz}))


if __name__ == "__main__":
    main(*sys.argv[1:])
