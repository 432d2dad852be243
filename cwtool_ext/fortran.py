"""The compiled BLAS and LAPACK of SciPy, without the package scipy.linalg around them.

To import that package takes twice the time that NumPy takes, and as long as a batch learner needs
for ten thousand rows. Its modules of Fortran routines need nothing but NumPy. Where they are not
found, or the package has been imported anyway, the routines are those of the package.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import Any

import numpy as np


@cache
def lapack() -> Any:
    """The routines of LAPACK by their names, such as dpotrf."""
    return _routines("_flapack", "lapack")


@cache
def blas() -> Any:
    """The routines of BLAS by their names, such as dsymv."""
    return _routines("_fblas", "blas")


def _routines(compiled: str, public: str) -> Any:
    found = find_spec("scipy") if "scipy.linalg" not in sys.modules else None
    if found is not None and found.origin is not None:
        folder = Path(found.origin).parent / "linalg"
        spec = PathFinder.find_spec(f"scipy.linalg.{compiled}", [str(folder)])
        if spec is not None and spec.loader is not None:
            module = module_from_spec(spec)
            spec.loader.exec_module(module)
            sys.modules.pop(spec.name, None)  # so that an import of the package finds it there
            return module
    return import_module(f"scipy.linalg.{public}")


def cho_solve(factor: Any, b: Any) -> Any:
    """P^-1 b from L with LL' = P, as scipy.linalg.cho_solve((L, True), b) computes it."""
    if not (np.isfinite(factor).all() and np.isfinite(b).all()):
        raise ValueError("a matrix or vector has a value that is no finite number")
    if b.size == 0:  # LAPACK refuses systems without unknowns
        return np.empty_like(b)
    return lapack().dpotrs(factor, b, lower=1)[0]


def lu_solver(matrix: Any) -> Callable[[Any, bool], Any]:
    """The function that gives A^-1 b, or A'^-1 b if its second argument is true, for a matrix A."""
    factors, pivots, failed = lapack().dgetrf(matrix)
    if failed:
        raise ArithmeticError("a matrix has no inverse")
    return lambda b, transposed: lapack().dgetrs(factors, pivots, b, trans=int(transposed))[0]
