"""Confidence-weighted online learning on LIBSVM-format data."""

from __future__ import annotations

TYPE_CHECKING = False  # that of typing would cost an import
if TYPE_CHECKING:
    import os
    from typing import Any

__version__ = "0.2.0.dev0"


def load(path: str | os.PathLike[str], **given: Any) -> Any:
    """The classifier of a model file, written by `save` or by the command line. It needs
    scikit-learn. A model with settings that make learning very long, such as iterations=10000000,
    is continued by partial_fit only if they are `given` here."""
    from cwtool.estimators.loading import load as found

    return found(path, **given)


def read_libsvm(
    path: str | os.PathLike[str],
    *,
    n_features: int | None = None,
    zero_based: bool = False,
    return_weight: bool = False,
    n_jobs: int | None = None,
) -> Any:
    """The rows of a LIBSVM file as a SciPy CSR matrix X, and their labels y; with `return_weight`
    also their weights, which are None where all are 1. Feature 1 is column 0, or feature 0 if the
    file is `zero_based`. X has `n_features` columns, or as many as the file needs. `n_jobs` is the
    number of threads; None is all cores. Files may be compressed (gz, bz2, xz, zst)."""
    from cwtool.data.matrix import read_matrix

    X, y, weight = read_matrix(path, n_features, zero_based, n_jobs)
    return (X, y, weight) if return_weight else (X, y)
