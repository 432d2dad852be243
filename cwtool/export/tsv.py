"""Weights in a table: a line a feature, a column a class."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from cwtool.export.scorer import AT_ONCE, Scorer


def text(scorer: Scorer) -> Iterator[str]:
    """Tab-separated under a header; the lines `intercept` and, for two classes, `threshold` are the
    last."""
    yield "\t".join(["feature", *scorer.names])
    lines = scorer.by_feature(scorer.weight)
    while some := list(islice(lines, AT_ONCE)):
        text = "\n".join([f"{j}\t{repr(line)[1:-1]}" for j, line in some if any(line)])
        if text:
            yield text.replace(", ", "\t")
    yield "\t".join(["intercept", *map(repr, scorer.intercept.tolist())])
    if not scorer.several:
        yield f"threshold\t{scorer.threshold!r}"
