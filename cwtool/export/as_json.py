"""One JSON object that says all that a scorer needs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from cwtool.errors import ModelError
from cwtool.export.scorer import Scorer
from cwtool_ext.shortest import lines

END = ""  # pieces of the text are no lines


def described(scorer: Scorer) -> dict[str, Any]:
    """Everything by name. Weights and variances, which are objects too, are iterators over portions
    of their entries: features, and lists in the order of `columns`."""
    found: dict[str, Any] = {
        "form": "cwtool linear model 1",
        "algorithm": scorer.algorithm,
        "reading": scorer.reading.settings,
        "labels": scorer.labels,
        "columns": scorer.names,
        "intercept": scorer.intercept.tolist(),
        "weights": scorer.portions(scorer.weight),
    }
    if not scorer.several:
        found["threshold"] = scorer.threshold
    if scorer.has_probability:
        found["probability"] = {"slope": scorer.slope}
        if scorer.several:
            found["probability"]["offsets"] = scorer.offsets
        else:
            found["probability"]["offset"] = scorer.offsets[0]
        if scorer.bend:
            found["probability"]["bend"] = scorer.bend
        if scorer.variance is not None:
            found["probability"] |= {
                "variances": scorer.portions(scorer.variance),
                "constant_variance": scorer.constant_variance.tolist(),
                "unknown_variance": scorer.unknown,
            }
        if scorer.pairs is not None and scorer.linear is not None:
            linear = scorer.by_feature(scorer.linear)
            found["probability"] |= {
                "linear_variances": {str(j): c for j, c in linear if c},
                "pair_variances": list(scorer.named_pairs),
            }
    return found


def text(scorer: Scorer) -> Iterator[str]:
    """The object in pieces: all numbers as Python's would take several times their memory."""
    yield from _pieces(described(scorer))
    yield "\n"


def _pieces(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield "{"
        for k, (name, item) in enumerate(value.items()):
            yield f"{', ' if k else ''}{json.dumps(name)}: "
            yield from _pieces(item)
        yield "}"
    elif isinstance(value, Iterator):  # entries of an object
        yield "{"
        separator = ""
        for features, some in value:
            if not np.isfinite(some).all():
                raise ModelError("JSON has no infinite numbers, and the model does", "use tsv")
            yield separator + lines(features, some, b'"', b'": [', b", ", b"], ")[:-2]
            separator = ", "
        yield "}"
    else:
        yield json.dumps(value, allow_nan=False)
