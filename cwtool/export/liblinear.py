"""The text of a LIBLINEAR model, as its predict reads it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cwtool.errors import ModelError
from cwtool.export.scorer import Scorer

MOST = 1 << 27  # numbers in a file, which has a line for every feature up to the last
AT_ONCE = 1 << 16  # lines


def text(scorer: Scorer) -> Iterator[str]:
    """The header, and a line for each feature from 1 on, the last one for the constant.

    LIBLINEAR calls the first label of its header if the score is above 0. So scores of two classes
    are taken less the threshold; the positive class is the first label if scores of exactly 0 are
    negative, and otherwise the negative one, with all weights turned around."""
    if any(n != int(n) for n in scorer.numbers):
        raise ModelError("labels of LIBLINEAR are whole numbers", "use `format=json` or tsv")
    labels = [str(int(n)) for n in scorer.numbers]
    weight, constant = scorer.weight, scorer.intercept
    if not scorer.several and scorer.above:
        labels = labels[::-1]
    elif not scorer.several:
        weight, constant = -weight, scorer.threshold - constant
    scorer.check_width(
        MOST,
        "LIBLINEAR needs a line for each up to the last",
        "use `format=json` or tsv, which have the features of the model alone",
    )
    bias = 1 if np.any(constant) else -1
    yield from ("solver_type L2R_L2LOSS_SVC_DUAL", f"nr_class {len(labels)}")
    yield from (f"label {' '.join(labels)}", f"nr_feature {scorer.width}", f"bias {bias}", "w")
    dense = scorer.dense(weight)
    for start in range(0, len(dense), AT_ONCE):
        yield from map(_line, dense[start : start + AT_ONCE].tolist())
    if bias == 1:
        yield _line(constant.tolist())


def _line(weights: list[float]) -> str:
    return "".join(f"{w!r} " for w in (w + 0.0 for w in weights))  # no -0.0
