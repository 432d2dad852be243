"""One JSON object that says all that a scorer needs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from cwtool.export.scorer import Scorer


def described(scorer: Scorer) -> dict[str, Any]:
    """Everything by name; weights and variances are lists in the order of `columns`."""
    found: dict[str, Any] = {
        "form": "cwtool linear model 1",
        "algorithm": scorer.algorithm,
        "reading": asdict(scorer.reading),
        "labels": scorer.labels,
        "columns": scorer.names,
        "intercept": scorer.intercept.tolist(),
        "weights": _by_feature(scorer, scorer.weight),
    }
    if not scorer.several:
        found["threshold"] = scorer.threshold
    if scorer.has_probability:
        found["probability"] = {"slope": scorer.slope, "offset": scorer.offset}
        if scorer.variance is not None:
            found["probability"] |= {
                "variances": _by_feature(scorer, scorer.variance),
                "constant_variance": scorer.constant_variance.tolist(),
                "unknown_variance": scorer.unknown,
            }
        if scorer.pairs is not None and scorer.linear is not None:
            linear = zip(scorer.features, scorer.linear.tolist(), strict=True)
            found["probability"] |= {
                "linear_variances": {str(j): c for j, c in linear if c},
                "pair_variances": list(scorer.named_pairs),
            }
    return found


def _by_feature(scorer: Scorer, values: Any) -> dict[str, list[float]]:
    return {str(j): v for j, v in zip(scorer.features, values.tolist(), strict=True)}


def text(scorer: Scorer) -> Iterator[str]:
    yield json.dumps(described(scorer), allow_nan=False)
