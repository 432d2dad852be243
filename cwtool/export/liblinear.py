"""The text of a LIBLINEAR model, as its predict reads it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cwtool.data.rows import Floats, Longs
from cwtool.errors import ModelError
from cwtool.export.scorer import AT_ONCE, Scorer
from cwtool_ext.shortest import lines

MOST = 1 << 27  # numbers in a file, which has a line for every feature up to the last


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
    yield from _lines(scorer.places, weight + 0.0)  # no -0.0
    if bias == 1:
        yield from _lines(np.zeros(1, dtype=np.int64), constant[None, :] + 0.0)


def _lines(places: Longs, weight: Floats) -> Iterator[str]:
    """The lines of these weights, some at a time, and lines of zeros for places between them."""
    order, nothing = np.argsort(places), _text(np.zeros((1, weight.shape[1])))
    done, step = 0, max(1, AT_ONCE // weight.shape[1])
    for start in range(0, len(order), step):
        some = order[start : start + step]
        at, here = places[some], weight[some]
        cuts = np.flatnonzero(np.diff(at, prepend=done - 1) > 1)  # before which places are left out
        for cut, end in zip([0, *cuts.tolist()], [*cuts.tolist(), len(some)], strict=True):
            if cut < end:
                yield from _zeros(nothing, int(at[cut]) - done)
                yield _text(here[cut:end])
                done = int(at[end - 1]) + 1


def _zeros(nothing: str, n: int) -> Iterator[str]:
    """This number of lines of zeros."""
    step = max(1, AT_ONCE // len(nothing))
    for start in range(0, n, step):
        yield "\n".join([nothing] * min(step, n - start))


def _text(weight: Floats) -> str:
    """Each number and a blank, a line after the other."""
    return lines(np.empty((len(weight), 0), dtype=np.int64), weight, b"", b"", b" ", b" \n")[:-1]
