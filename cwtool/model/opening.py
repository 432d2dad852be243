"""Models of files that may be damaged, hostile, or of other versions of cwtool."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwtool import __version__, registry
from cwtool.errors import Damage, ModelError, UsageError
from cwtool.model import file, packing
from cwtool.params import declared

if TYPE_CHECKING:
    from cwtool.model.model import Model


def unpacked(path: Path, header: dict[str, Any], arrays: file.Arrays) -> Model:
    """The model of this header and these arrays of a file; what is wrong with them is a
    ModelError."""
    try:
        return packing.unpack(header, arrays)
    except Damage as failure:
        raise ModelError(f"{path} is damaged: {failure}", "restore it from a copy") from None
    except UsageError as failure:  # of parameters and settings
        version = str(header["cwtool"])
        raise ModelError(
            f"{path} is a model of another version of cwtool: {str(failure)[:400]}",
            f"it was written by cwtool {version}; this is {__version__}",
        ) from None
    except (ArithmeticError, LookupError, MemoryError, OSError, TypeError, ValueError) as failure:
        raise ModelError(
            f"{path} is damaged: {str(failure)[:400]}", "restore it from a copy"
        ) from None


def algorithm_of(path: Path) -> str:
    """The algorithm of a saved model, from its header alone."""
    name = str(file.load_header(path)["algorithm"])
    if name not in registry.names():
        raise ModelError(f"{path} is a model of {name}, which this cwtool does not have")
    return name


def doubt_labels(model: Model, path: Path) -> None:
    """Make the error for a third label name the model file if no run in its history confirms its
    two labels, because the file may have been changed."""
    if model.labels.complete and not any("labels" in run for run in model.history):
        model.labels.doubted = str(path)


def unasked_work(model: Model, given: Collection[str]) -> str:
    """The first parameter, if there is one, with which this model asks for much more work than the
    defaults, other than those that were `given` as well. A model file from an untrusted source
    could otherwise make learning take very long."""
    for p in declared(type(model.algorithm.params)):
        if p.name not in given and p.takes_long(getattr(model.algorithm.params, p.name)):
            return p.name
    return ""
