"""One JSON object that says all that a scorer needs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from typing import Any

from cwtool.export.scorer import AT_ONCE, Scorer

END = ""  # pieces of the text are no lines


def described(scorer: Scorer) -> dict[str, Any]:
    """Everything by name. Weights and variances, which are objects too, are iterators over their
    entries: features, and lists in the order of `columns`."""
    found: dict[str, Any] = {
        "form": "cwtool linear model 1",
        "algorithm": scorer.algorithm,
        "reading": asdict(scorer.reading),
        "labels": scorer.labels,
        "columns": scorer.names,
        "intercept": scorer.intercept.tolist(),
        "weights": scorer.by_feature(scorer.weight),
    }
    if not scorer.several:
        found["threshold"] = scorer.threshold
    if scorer.has_probability:
        found["probability"] = {"slope": scorer.slope, "offset": scorer.offset}
        if scorer.variance is not None:
            found["probability"] |= {
                "variances": scorer.by_feature(scorer.variance),
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
        while some := {str(name): item for name, item in islice(value, AT_ONCE)}:
            yield separator + json.dumps(some, allow_nan=False)[1:-1]
            separator = ", "
        yield "}"
    else:
        yield json.dumps(value, allow_nan=False)
