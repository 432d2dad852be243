"""How far choices of features agree with each other, and how dense the chosen features are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from cwtool.data.rows import Ints, Longs
from cwtool.metrics.tally import ratio


def kappa(first: Ints, second: Ints, p: int) -> float:
    """Cohen's kappa of two supports out of p features, each ascending: agreement beyond chance;
    2 (p n11 - n1 n2) / (p (n1 + n2) - 2 n1 n2), and 1 where both are empty or full."""
    n1, n2 = len(first), len(second)
    merged = np.sort(np.concatenate([first, second]), kind="stable")  # two runs: one merge
    both = int(np.count_nonzero(merged[1:] == merged[:-1]))
    below = p * (n1 + n2) - 2 * n1 * n2
    return 2 * (p * both - n1 * n2) / below if below else 1.0


def stability(supports: Sequence[Ints], p: int) -> float | None:
    """The mean kappa over all pairs of supports."""
    pairs = [kappa(a, b, p) for a, b in combinations(supports, 2)]
    return ratio(sum(pairs), len(pairs))


def density_shares(support: Ints, ids: Ints, nnz: Longs, n_rows: int) -> list[dict[str, Any]]:
    """How many of the features of each density level (nonzeros / rows, by powers of ten) are in
    the support; Ma 2017, Figure 3.3."""
    level = np.ceil(np.log10(np.maximum(nnz, 1) / max(n_rows, 1)) - 1e-12).astype(np.int64)
    chosen = np.isin(ids, support)
    return [
        {
            "density_up_to": 10.0**k,
            "features": int((level == k).sum()),
            "selected": int((chosen & (level == k)).sum()),
            "share": ratio(int((chosen & (level == k)).sum()), int((level == k).sum())),
        }
        for k in np.unique(level).tolist()
    ]
