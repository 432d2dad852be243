"""A Vowpal Wabbit regressor, made with its own library."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from cwtool.errors import ModelError, UsageError
from cwtool.export.scorer import Scorer
from cwtool.scratch import Scratch

CONSTANT = 11650396  # the index of VW's constant feature
MOST_BITS = 28


def data(scorer: Scorer) -> bytes:
    """The bytes of a regressor for lines such as `| 12:1 40:0.5`. VW takes features whose names are
    numbers as indices. Two classes: the prediction is the score. Several: it is k for the k-th
    label in ascending order."""
    try:
        import vowpalwabbit
    except ImportError:
        raise UsageError("`format=vw` needs Vowpal Wabbit: pip install vowpalwabbit") from None
    classes = scorer.weight.shape[1]
    places = 1 << (classes - 1).bit_length()  # the weight of feature j and class k: j places + k
    bits = max(18, (places * (int(scorer.features.max(initial=0)) + 1)).bit_length())
    scorer.check_width(
        ((1 << MOST_BITS) // places - 2) * classes,
        "VW has a weight for each up to the last",
        "use `format=json` or tsv, which have the features of the model alone",
    )
    constant = CONSTANT % (1 << bits) % ((1 << bits) // places)
    if scorer.intercept.any() and (scorer.features == constant).any():
        raise ModelError(
            f"VW keeps its constant at the place of feature {constant}",
            "use another format, or train without `bias`",
        )
    settings = {"oaa": classes} if scorer.several else {}
    limits = {"min_prediction": -1e30, "max_prediction": 1e30}
    made = vowpalwabbit.Workspace(quiet=True, b=bits, link="identity", **limits, **settings)
    last = [(constant, scorer.intercept.tolist())]
    for j, line in chain(scorer.by_feature(scorer.weight), last):
        for k, w in enumerate(line):
            if w:
                made.set_weight(j * places + k, 0, w)
    with Scratch() as folder:
        path = Path(folder) / "model.vw"
        made.save(str(path))
        made.finish()
        return path.read_bytes()
