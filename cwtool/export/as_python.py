"""A Python module that scores rows and needs nothing but Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cwtool.export.scorer import Scorer
from cwtool_ext.shortest import lines

HEAD = '''\
"""A linear model of cwtool ({algorithm}), in plain Python.

Rows are dicts of features and values: predict({{12: 1.0, 40: 0.5}}).
"""

from math import asinh, exp, sqrt
'''
FOLD = '''

def fold(features):
    """The row with its features folded into 2^{bits}."""
    found = {{}}
    for j, x in features.items():
        j -= {first}
        while j > {mask}:
            j = (j & {mask}) ^ (j >> {bits})
        found[j + {first}] = found.get(j + {first}, 0.0) + x
    return found
'''
UNIT = '''

def unit(features):
    """The row divided by its length."""
    length = sqrt(sum(x * x for x in features.values())) or 1.0
    return {j: x / length for j, x in features.items()}
'''
SCORES = '''

def scores(features):
    """The score of each class; of two classes only that of the second."""
    total = list(INTERCEPT)
    for j, x in {row}.items():
        for k, w in enumerate(WEIGHTS.get(j, ())):
            total[k] += w * x
    return total
'''
TWO = '''

def predict(features):
    """The class of a row."""
    return LABELS[scores(features)[0] >= THRESHOLD]
'''
SEVERAL = '''

def predict(features):
    """The class of a row: the one with the highest score."""
    found = scores(features)
    return LABELS[found.index(max(found))]
'''
VARIANCE = '''

def variance(features):
    """The variance of the score; of several classes the mean of those of the two highest scores."""
    total = list(CONSTANT_VARIANCE)
    for j, x in {row}.items():
        for k, v in enumerate(VARIANCES.get(j, UNKNOWN)):
            total[k] += v * x * x
{joint}    found = scores(features)
    top = sorted(range(len(total)), key=lambda k: -found[k])[:2]
    return sum(total[k] for k in top) / len(top)
'''
JOINT = """\
    row = {row}
    joint = sum(LINEAR.get(j, 0.0) * x for j, x in row.items())
    for i, x in row.items():
        joint += sum(c * x * row[j] for j, c in PAIRS.get(i, {}).items() if j in row)
    total = [v + joint for v in total]
"""
PROBABILITY = '''

def probability(features):
    """The probability of each class of LABELS."""
    factor = {factor}
    z = [SLOPE * {g} + b for s, b in zip(scores(features), OFFSETS)]
    if len(z) == 1:
        z = [0.0, z[0]]
    e = [exp(v - max(z)) for v in z]
    return [v / sum(e) for v in e]
'''


def text(scorer: Scorer) -> Iterator[str]:
    """The module."""
    yield HEAD.format(algorithm=scorer.algorithm)
    yield f"LABELS = {scorer.labels!r}"
    yield f"INTERCEPT = {scorer.intercept.tolist()!r}"
    if not scorer.several:
        yield f"THRESHOLD = {scorer.threshold!r}"
    yield from _table("WEIGHTS", scorer, scorer.weight)
    row, bits = "features", scorer.reading.hash_bits
    functions = ""
    if bits:
        first = int(not scorer.reading.zero_based)
        functions += FOLD.format(bits=bits, mask=(1 << bits) - 1, first=first)
        row = f"fold({row})"
    if scorer.reading.normalize == "l2":
        functions += UNIT
        row = f"unit({row})"
    functions += SCORES.replace("{row}", row) + (SEVERAL if scorer.several else TWO)
    if scorer.has_probability:
        yield f"SLOPE, OFFSETS = {scorer.slope!r}, {scorer.offsets!r}"
        if scorer.variance is not None:
            yield f"CONSTANT_VARIANCE = {scorer.constant_variance.tolist()!r}"
            yield f"UNKNOWN = {[scorer.unknown] * scorer.weight.shape[1]!r}"
            yield from _table("VARIANCES", scorer, scorer.variance)
            joint = JOINT if scorer.pairs is not None else ""
            functions += VARIANCE.replace("{joint}", joint).replace("{row}", row)
            yield from _joint(scorer)
        factor = "1.0" if scorer.variance is None else "1 / sqrt(1 + variance(features))"
        g = (
            f"asinh({scorer.bend!r} * s * factor) / {scorer.bend!r}"
            if scorer.bend
            else "s * factor"
        )
        functions += PROBABILITY.replace("{factor}", factor).replace("{g}", g)
    yield functions.rstrip("\n")


def _joint(scorer: Scorer) -> Iterator[str]:
    """What the variance has besides one variance per feature."""
    if scorer.pairs is None or scorer.linear is None:
        return
    nonzero = {j: c for j, c in scorer.by_feature(scorer.linear) if c}
    yield f"LINEAR = {nonzero!r}"
    pairs: dict[int, dict[int, float]] = {}
    for i, j, c in scorer.named_pairs:
        pairs.setdefault(i, {})[j] = c
    yield "PAIRS = {"
    yield from (f"    {i}: {others!r}," for i, others in pairs.items())
    yield "}"


def _table(name: str, scorer: Scorer, values: Any) -> Iterator[str]:
    yield f"{name} = {{"
    for portion in scorer.portions(values):
        yield lines(*portion, b"    ", b": [", b", ", b"],\n")[:-1]
    yield "}"
