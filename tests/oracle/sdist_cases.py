"""Frozen vectors, parameters and rows that the tests of sdist share."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from cwtool.algorithms.neighbours.boosting import Boost, hood
from cwtool.algorithms.neighbours.monomials import Monomials
from cwtool.algorithms.neighbours.sdist_params import SdistParams
from cwtool_ext import sdist

VECTORS = Path(__file__).parent / "vectors" / "sdist"


def frozen(name):
    """A file of frozen vectors, with lists of numbers as arrays."""
    found = json.loads((VECTORS / f"frozen_{name}.json").read_text())
    lists = "terms", "support"
    return {
        k: np.array(v) if isinstance(v, list) and k not in lists else v for k, v in found.items()
    }


PARAMS = SdistParams(  # nothing is auto
    engine="power", order=2, direction_columns=2, steps=30, runs=1, w0=0.0, k=3
)
PLAIN = replace(  # of the frozen run, in which nothing is drawn at random
    PARAMS, bag=1.0, sample="none", weight_on="bag", update_every=10, scale="std",
    init_squares=False,
)  # fmt: skip


def boost_of(x, y, params, seed=0):
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    return Boost(Monomials(x, np.ones(x.shape[1])), y > 0, params, (seed,), 1)


def crowd():
    """70 rows whose class is the sign of a product, and their neighbourhoods."""
    rng = np.random.default_rng(11)
    x = rng.normal(size=(70, 6))
    y = np.where(x[:, 0] * x[:, 1] + 0.3 * rng.normal(size=70) > 0, 1.0, -1.0)
    return x, y, hood(x, y > 0, 4, 1)


def pulled(x, around, bag, u):
    """Lam x"""
    out = np.zeros(x.shape)
    sdist.laplacian(np.ascontiguousarray(x), around.same, around.opposite, bag, u, out)
    return out
