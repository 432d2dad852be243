"""Algorithm name -> class, importing only the module that is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from cwtool.errors import UsageError

if TYPE_CHECKING:
    from cwtool.algorithms.base import Algorithm

DEFAULT = "arow"

MODULES = {
    "perceptron": "perceptron",
    "pa": "passive_aggressive",
    "pa1": "passive_aggressive",
    "pa2": "passive_aggressive",
    "sop": "sop",
    "cw": "cw",
    "cw-var": "cw",
    "cw-fact": "cw",
    "arow": "arow",
    "narow": "narow",
    "nherd": "nherd",
    "scw1": "scw",
    "scw2": "scw",
    "bcw": "bcw",
    "dcd": "dcd",
    "sgd": "sgd",
    "tg": "sgd",
    "fobos": "sgd",
    "rda": "rda",
    "cw-sparse": "cw_sparse",
    "sofs": "sofs",
    "stsgd": "stsgd",
    "sbcw": "sbcw",
    "fgm": "fgm",
    "l1svm": "l1svm",
    "spar-dca": "spar_dca",
    "knn": "knn",
    "sdist": "sdist",
    "rff-markov": "rff_markov",
}


def names() -> list[str]:
    return list(MODULES)


def algorithm(name: str) -> type[Algorithm]:
    """The class that is registered under `name`."""
    if name not in MODULES:
        import difflib

        word = name.lower()
        near = [known for known in MODULES if word and known.startswith(word)]
        near = near or difflib.get_close_matches(word, MODULES, n=1)
        hint = (
            f"did you mean {' or '.join(near)}?" if near else f"choose one of {', '.join(MODULES)}"
        )
        raise UsageError(f"there is no algorithm {name!r}", hint)
    module = import_module(f"cwtool.algorithms.{MODULES[name]}")
    found: type[Algorithm] = module.ALGORITHMS[name]
    return found
