"""Features have any id, come at any time, and are unknown until they were learned."""

import numpy as np
import pytest
from contract import (
    BORDER,
    LAST,
    Variant,
    essence,
    every,
    few,
    frozen,
    learned,
    planted,
    scores,
    shifted,
    with_constant,
)

from cwtool.data.rows import BIAS, Rows

pytestmark = pytest.mark.usefixtures("spare_time")


@every
@pytest.mark.parametrize(
    "first",
    [
        pytest.param(BORDER - 15, id="around the border"),
        pytest.param(LAST - 29, id="the last", marks=pytest.mark.slow),
    ],
)
def test_new_features_of_any_id(variant: Variant, first: int) -> None:
    n = max(60, few(variant, 150))  # enough to meet all features
    a, b = planted(1, n), planted(2, n, first=first)
    model = learned(variant.new(), a)
    assert model.index.count == 30
    model = learned(model.copy(), b)
    assert essence(model) == essence(learned(variant.new(), a, b))
    ids = model.weights().ids
    assert ids.tolist() == [*range(30), *range(first, first + 30)]
    size = sum(len(data) for _, _, data in essence(model)[1].values())
    assert size < 100_000  # the memory of ids that were not seen is not saved


@every
def test_only_the_ids_differ(variant: Variant) -> None:
    """The same rows under small, mixed and hashed ids give the same scores."""
    rows = planted(1, few(variant, 250))
    want = scores(learned(variant.new(), rows), rows)
    for by in (1000, BORDER - 15, LAST - 29):
        other = shifted(rows, by)
        assert scores(learned(variant.new(), other), other) == want


@every
def test_a_constant_feature(variant: Variant) -> None:
    """The id of the constant feature, which no file reaches, is one like all others."""
    rows = planted(1, few(variant, 250))
    constant, last = (with_constant(rows, id_) for id_ in (BIAS, 100))
    model = learned(variant.new(), constant)
    assert model.weights().ids[-1] == BIAS
    assert scores(model, constant) == scores(learned(variant.new(), last), last)


@every
def test_unknown_features(variant: Variant) -> None:
    """Entries of features never seen are counted and leave the score as it is."""
    a, b = planted(1, 300), planted(2, 100)
    model = learned(variant.new(), a)
    known = model.scores(b)
    assert known.unknown == 0
    ends = b.indptr[1:]
    more = frozen(
        Rows(
            b.indptr + np.arange(101),
            np.insert(b.indices, ends, LAST),
            np.insert(b.values, ends, -2.0),
            b.y,
        )
    )
    found = model.scores(more)
    assert found.unknown == 100
    assert found.score.tobytes() == known.score.tobytes()
    added = 4 * model.scale.value**2 if getattr(model.algorithm, "counts_unknown", False) else 0
    assert np.allclose(found.variance, known.variance + added, rtol=1e-12, atol=0)
    nothing = variant.new().scores(b)
    assert nothing.unknown == b.nnz
    assert not nothing.score.any()
