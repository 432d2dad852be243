"""LIBSVM files as SciPy matrices, and matrices as the blocks that a file would give."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cwtool.data.parse import Block, Reading, prepared
from cwtool.data.pipeline import ReadOptions, read_blocks, size_of
from cwtool.data.rows import Floats, Origin, Rows, check_csr
from cwtool.data.sources import display
from cwtool.errors import DataError
from cwtool.parallel import cores

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

ENTRY_BYTES = 4  # of text that an entry takes at least: " 1:1"
ROW_BYTES = 2


class Growing:
    """An array that parts are appended to. Memory that stays unused is never touched."""

    def __init__(self, room: int, dtype: Any) -> None:
        self.array: NDArray[Any] = np.empty(max(room, 1), dtype)
        self.size = 0

    def add(self, part: NDArray[Any]) -> None:
        end = self.size + len(part)
        if end > len(self.array):
            self.array.resize(max(end, 2 * len(self.array)), refcheck=False)
        self.array[self.size : end] = part
        self.size = end

    def done(self) -> NDArray[Any]:
        self.array.resize(self.size, refcheck=False)
        return self.array


def read_matrix(
    path: str | os.PathLike[str], n_features: int | None, zero_based: bool, jobs: int | None
) -> tuple[csr_matrix, Floats, Floats | None]:
    """The rows of a LIBSVM file, their labels, and their weights (None: all 1)."""
    name, options = os.fspath(path), ReadOptions(Reading(zero_based), jobs=jobs or cores())
    size = size_of([name])
    indptr, labels = Growing(size // ROW_BYTES, np.int64), Growing(size // ROW_BYTES, np.float64)
    indices = Growing(size // ENTRY_BYTES, np.int32)
    values = Growing(size // ENTRY_BYTES, np.float64)
    weights: dict[int, Floats] = {}  # by the number of their first row
    indptr.add(np.zeros(1, dtype=np.int64))
    for block in read_blocks([name], options):
        if block.weight is not None:
            weights[labels.size] = block.weight.copy()
        indptr.add(block.indptr[1:] + values.size)
        for whole, part in (indices, block.indices), (values, block.values), (labels, block.labels):
            whole.add(part)
        del block, part  # so that the reader can use their memory again
    if labels.size == 0:
        raise DataError(f"{display(name)}: no rows")
    weight = np.ones(labels.size)
    for first, some in weights.items():
        weight[first : first + len(some)] = some
    parts = values.done(), indices.done(), indptr.done()
    matrix = _matrix(display(name), parts, n_features, zero_based)
    return matrix, labels.done(), weight if weights else None


def _matrix(
    name: str, parts: tuple[Any, Any, Any], n_features: int | None, zero_based: bool
) -> csr_matrix:
    from scipy.sparse import csr_matrix

    values, indices, indptr = parts
    width = int(indices.max(initial=-1)) + 1
    if n_features is not None and width > n_features:
        raise DataError(
            f"{name}: there is a feature {width - zero_based}, and `n_features` is {n_features}",
            "read all files with an `n_features` that is large enough for each of them",
        )
    if len(values) < 2**31:  # SciPy has one type for both
        indptr = indptr.astype(np.int32)
    matrix = csr_matrix((len(indptr) - 1, n_features or width), dtype=np.float64)
    matrix.indptr, matrix.indices, matrix.data = indptr, indices, values
    matrix.has_canonical_format = True  # the parser has made sure of it
    return matrix


def block_of(matrix: Any, labels: Floats, weight: Any, reading: Reading) -> Block:
    """The rows of a SciPy CSR matrix, equal to those of a file with the same rows. The values are
    shared if the reading settings do not change them, and the matrix is never changed."""
    if matrix.nnz and not matrix.data.all():  # a file has no entries of value 0
        check_csr(matrix)
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    rows = Rows.from_csr(matrix, np.empty(len(labels), dtype=np.int32), weight)
    indptr, indices, values, nnz = rows.indptr, rows.indices, rows.values, rows.nnz
    if reading.hash_bits or reading.normalize != "none" or reading.bias:
        room = np.empty(nnz + reading.room(rows.n_rows))
        indptr, indices, values = indptr.copy(), np.empty(len(room), dtype=np.int32), room
        indices[:nnz], values[:nnz] = rows.indices, rows.values
        nnz = prepared(reading, indptr, indices, values, nnz)
    origin = Origin("the rows", 0, 1, np.arange(len(labels), dtype=np.int32))
    return Block(indptr, indices[:nnz], values[:nnz], labels, origin, rows.weight)
