"""Writes a model as a file of another program."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path

from cwtool.data.rows import BIAS
from cwtool.errors import ModelError
from cwtool.export import BINARY, FORMATS
from cwtool.export.scorer import Scorer, scorer_of
from cwtool.files import complete_bytes, complete_text
from cwtool.model import Model
from cwtool.model.memory_estimate import MemoryEstimate

DENSE = 40  # bytes of a weight of a dense row, with its copies and its variance


def bytes_of_export(model: MemoryEstimate, format: str) -> int:
    """Upper bound of the bytes that an export takes beside the model: copies of its weights; in
    ONNX also of dense ones, and in VW a table with four numbers of 4 bytes for each place."""
    copies = 2 if model.classes == 1 else 6
    needed = len(model.ids) * (48 + copies * model.shown) + model.others
    width = int(model.ids[model.ids < BIAS].max(initial=-1)) + 2
    if format == "onnx":
        needed += DENSE * width * model.classes
    if format == "vw":
        needed += 2 * 16 << max(18, (2 * model.classes * width).bit_length())
    return needed


def export(
    model: Model, format: str, path: Path, sources: tuple[Path, ...] = (), max_memory: int = 0
) -> Scorer:
    """Write the model to this file; - is standard output. None of `sources` is replaced.
    `max_memory` limits the covariances that a scorer has, in bytes; 0: no limit."""
    name, without = FORMATS[format]
    scorer = scorer_of(model, max_memory)
    for setting in without:
        _refuse(format, setting, scorer)
    module = import_module(f"cwtool.export.{name}")
    if format in BINARY:
        data = module.data(scorer)
        to_stdout = nullcontext(sys.stdout.buffer)
        with to_stdout if str(path) == "-" else complete_bytes(path, sources) as binary:
            binary.write(data)
    else:
        with nullcontext(sys.stdout) if str(path) == "-" else complete_text(path, sources) as text:
            end = getattr(module, "END", "\n")
            text.writelines(f"{line}{end}" for line in module.text(scorer))
    return scorer


def _refuse(format: str, setting: str, scorer: Scorer) -> None:
    """Refuse what a format cannot express."""
    value = getattr(scorer.reading, setting)
    if setting == "hash_bits" and value:
        raise ModelError(
            f"{format} cannot fold feature ids, and the model has `hash_bits={value}`",
            "use `format=python` or `format=json`, which say how ids are folded",
        )
    if setting == "normalize" and value != "none":
        raise ModelError(
            f"{format} cannot divide rows by their length, and the model has `normalize={value}`",
            "use `format=python`, sql or onnx, which do, or train on rows of length 1",
        )
    if setting == "zero_based" and value:
        raise ModelError(
            f"{format} counts features from 1, and the model has a feature 0",
            "train on data whose features are counted from 1",
        )
