"""Weights in a table: one line per feature, one column per class."""

from __future__ import annotations

from collections.abc import Iterator

from cwtool.export.scorer import Scorer
from cwtool_ext.shortest import lines


def text(scorer: Scorer) -> Iterator[str]:
    """Tab-separated under a header; the lines `intercept` and, for two classes, `threshold` are the
    last."""
    yield "\t".join(["feature", *scorer.names])
    for features, weight in scorer.portions(scorer.weight):
        some = weight.any(axis=1)
        if some.any():
            yield lines(features[some], weight[some], b"", b"\t", b"\t", b"\n")[:-1]
    yield "\t".join(["intercept", *map(repr, scorer.intercept.tolist())])
    if not scorer.several:
        yield f"threshold\t{scorer.threshold!r}"
