"""Models that learn the same rows side by side share the look-up of features."""

from __future__ import annotations

from collections.abc import Sequence

from cwtool.model.model import Model
from cwtool.state.index import SharedIndex


def share_features(models: Sequence[Model]) -> None:
    """Let these models, which have learned nothing, use one feature index; two if some of them
    give ids slots in another way than the rest."""
    shared = {direct: SharedIndex(direct) for direct in {model.index.direct for model in models}}
    for model in models:
        index = shared[model.index.direct]
        model.index, model.state = index, model.algorithm.new_state(index)
