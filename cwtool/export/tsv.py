"""Weights in a table: a line a feature, a column a class."""

from __future__ import annotations

from collections.abc import Iterator

from cwtool.export.scorer import Scorer


def text(scorer: Scorer) -> Iterator[str]:
    """Tab-separated under a header; the lines `intercept` and, for two classes, `threshold` are the
    last."""
    yield "\t".join(["feature", *scorer.names])
    for j, line in scorer.by_feature(scorer.weight):
        if any(line):
            yield "\t".join([str(j), *map(repr, line)])
    yield "\t".join(["intercept", *map(repr, scorer.intercept.tolist())])
    if not scorer.several:
        yield f"threshold\t{scorer.threshold!r}"
