"""The experiments of Ma et al., AISTATS 2010, on cwtool: `python -m cwtool.bench.cwfact`.

Markdown on stdout; every sentence about who wins is made from the numbers above it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from cwtool.algorithms.base import Algorithm
from cwtool.bench.duel import table
from cwtool.data import Block, Reading, ReadOptions, read_blocks
from cwtool.data.block import Floats, Longs
from cwtool.data.labels import Labels
from cwtool.model import Model
from cwtool.state import State

PAPER = {"prior": 1.0}  # Sigma_0 = I
L2, KL = "CW diag, L2", "CW diag, KL"
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "perceptron": ("perceptron", {}),
    "perceptron, averaged": ("perceptron", {"average": True}),
    "PA": ("pa", {}),
    "PA, averaged": ("pa", {"average": True}),
    L2: ("cw", {**PAPER, "projection": "l2"}),
    KL: ("cw", PAPER),
    **{f"CW-fact {m}": ("cw-fact", {**PAPER, "rank": m, "buffer": m}) for m in (2, 4, 8, 16)},
    "CW-fact 8, buffer 64": ("cw-fact", PAPER),
    "CW full": ("cw", {**PAPER, "covariance": "full"}),
}
CHAIN = ("perceptron", "PA", L2, "CW-fact 2", "CW-fact 4", "CW-fact 8", "CW-fact 16")
TABLE3 = ("perceptron, averaged", "PA, averaged", L2, KL, "CW-fact 8, buffer 64")
# folder -> files, and whether they are one feed in time
SETS = {
    "news20_comp": ("*.svm*", False),
    "sentiment_books": ("*.svm*", False),
    "sentiment_electronics": ("*.svm*", False),
    "url_mini": ("Day*.svm*", False),
    "phishurl": ("day0[0-4].svm*", True),
}
GRID_ROWS = (50, 100, 200, 500, 1000)


@dataclass
class Played:
    """One pass of one method: what it got wrong, in the order of the rows, and what it cost."""

    wrong: NDArray[np.bool_]
    seconds: float
    held: int  # bytes of the state

    @property
    def error(self) -> float:
        return 100 * float(self.wrong.mean())


def ready(method: str, block: Block) -> tuple[Algorithm, State, Block]:
    """A new learner, and the rows in its slots."""
    name, params = METHODS[method]
    model = Model.new(name, params, Reading())
    mine = replace(block, indices=block.indices.copy(), scale=model.scale.value)
    model.state.features.observe(mine)
    return model.algorithm, model.state, mine


def play(method: str, block: Block, order: Longs) -> Played:
    algorithm, state, mine = ready(method, block)
    start = process_time()
    score = algorithm.learn(mine, state, order).score
    seconds = process_time() - start
    packed = [array for name, array in state.pack().items() if name != "ids"]
    wrong = (score >= 0) != (mine.y > 0)
    return Played(wrong[order], seconds, sum(array.nbytes for array in packed))


def copies(rng: np.random.Generator, rows: int, k: int) -> Block:
    """Ten true bits, the label by a random plane, k copies of the bits with 5 % of them flipped."""
    bits = rng.choice([-1.0, 1.0], (rows, 10))
    y = np.where(bits @ rng.standard_normal(10) > 0, 1.0, -1.0)
    seen = np.tile(bits, k) * np.where(rng.random((rows, 10 * k)) < 0.05, -1.0, 1.0)
    return Block(
        np.arange(0, seen.size + 1, 10 * k),
        np.tile(np.arange(10 * k, dtype=np.int32), rows),
        seen.ravel(),
        y,
        np.arange(rows, dtype=np.int32),
        y=y,
    )


def compared(one: str, a: Floats, other: str, b: Floats, unit: str) -> str:
    """Who has less, and by how much: better or worse if a paired t-test sees it at 5 %."""
    difference = a - b
    mean, error = difference.mean(), difference.std(ddof=1) / np.sqrt(len(difference))
    seen = abs(mean) > student.ppf(0.975, len(difference) - 1) * error
    word = ("**better** than" if mean < 0 else "**worse** than") if seen else "not told from"
    share = 100 * mean / b.mean()
    return f"- {one} is {word} {other}: {mean:+.2f} ± {error:.2f} {unit} ({share:+.1f} %)"


def mean_and_sd(values: Floats) -> str:
    return f"{values.mean():.2f} ± {values.std(ddof=1):.2f}"


def synthetic(runs: int, say: Callable[[str], None]) -> None:
    """Figure 2 and Table 1: 1,000 rows, 1,000 features."""
    played: dict[str, list[Played]] = {method: [] for method in METHODS}
    for run in range(runs):
        block = copies(np.random.default_rng(run), 1000, 100)
        for method, results in played.items():
            results.append(play(method, block, block.order))
    mistakes = {m: np.array([float(p.wrong.sum()) for p in ps]) for m, ps in played.items()}
    say(f"## Figure 2 and Table 1: mistakes in 1,000 rows of 1,000 features, {runs} runs\n")
    say(
        table(
            ["method", "mistakes", "CPU s", "state, kB"],
            [
                [
                    method,
                    mean_and_sd(mistakes[method]),
                    f"{np.mean([p.seconds for p in results]):.4f}",
                    f"{results[0].held / 1e3:,.0f}",
                ]
                for method, results in played.items()
            ],
        )
    )
    say("\nThe paper's order, each step from the one before:\n")
    for worse, better in pairwise(CHAIN):
        say(compared(better, mistakes[better], worse, mistakes[worse], "mistakes"))
    others = [("CW-fact 8", KL), ("CW-fact 8", "PA, averaged"), (L2, "PA, averaged")]
    for one, other in [("CW-fact 16", "CW full"), ("CW-fact 8", "CW full"), *others]:
        say(compared(one, mistakes[one], other, mistakes[other], "mistakes"))
    fact, full = played["CW-fact 8"], played["CW full"]
    faster = sum(p.seconds for p in full) / sum(p.seconds for p in fact)
    say(
        f"- CW full takes {faster:.1f} times the time and {full[0].held / fact[0].held:.1f} times "
        "the memory of CW-fact 8\n"
    )


def effective_dimension(trials: int, say: Callable[[str], None]) -> None:
    """Figure 1(b): tr(Sigma) / largest eigenvalue, 50 features."""
    rounds = [0, 10, 25, 50, 100, 200, 300, 400, 500]
    found = {method: np.zeros((trials, len(rounds))) for method in ("CW full", L2, KL)}
    for trial in range(trials):
        block = copies(np.random.default_rng(trial), rounds[-1], 5)
        for method, values in found.items():
            algorithm, state, mine = ready(method, block)
            slots = np.arange(50, dtype=np.int32)
            for n, stop in enumerate(rounds):
                if n:
                    algorithm.learn(mine, state, np.arange(rounds[n - 1], stop))
                variance = np.asarray(algorithm.weights(state, slots)[1])
                sigma = state.squares.get("sigma", np.diag(variance))
                spread = np.linalg.eigvalsh(sigma[:50, :50])
                values[trial, n] = spread.sum() / spread.max()
    say(f"## Figure 1(b): effective dimension tr(Sigma)/lambda_1, 50 features, {trials} trials\n")
    means = {method: values.mean(axis=0) for method, values in found.items()}
    say(
        table(
            ["round", *found],
            [
                [str(stop), *(f"{means[method][n]:.1f}" for method in found)]
                for n, stop in enumerate(rounds)
            ],
        )
    )
    at = rounds.index(100)
    lowest = min(means, key=lambda method: float(means[method][at]))
    say(f"\n- after 100 rounds the lowest is that of {lowest}, {means[lowest][at]:.1f} of 50\n")


def gap_grid(trials: int, say: Callable[[str], None]) -> None:
    """Figure 1(a): accuracy of the full covariance minus that of the L2 diagonal."""
    errors = {method: np.zeros((10, trials, len(GRID_ROWS))) for method in ("CW full", L2)}
    for k in range(1, 11):
        for trial in range(trials):
            block = copies(np.random.default_rng((k, trial)), GRID_ROWS[-1], k)
            for method, found in errors.items():
                wrong = play(method, block, block.order).wrong
                found[k - 1, trial] = [100 * wrong[:n].mean() for n in GRID_ROWS]
    full, diag = errors.values()
    say(f"## Figure 1(a): accuracy of full minus diagonal (L2), points, {trials} trials\n")
    gaps = (diag - full).mean(axis=1)
    say(
        table(
            ["features", *(f"{n} rows" for n in GRID_ROWS)],
            [[str(10 * k), *(f"{g:+.2f}" for g in gaps[k - 1])] for k in range(1, 11)],
        )
    )
    say("")
    for k, n in ((10, 0), (10, -1), (1, 0), (1, -1)):
        who = f"with {10 * k} features and {GRID_ROWS[n]:,} rows, full"
        say(compared(who, full[k - 1, :, n], "diagonal", diag[k - 1, :, n], "points of error"))
    say("")


def loaded(paths: list[str]) -> Block:
    """All rows of some files, as one block."""
    blocks = list(Labels().settle(read_blocks(paths, ReadOptions(jobs=1))))

    def joined(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(block, name) for block in blocks])

    lengths = np.concatenate([np.diff(block.indptr) for block in blocks])
    return Block(
        np.concatenate([[0], np.cumsum(lengths)]),
        joined("indices"),
        joined("values"),
        joined("labels"),
        joined("lines"),
        y=joined("y"),
    )


def orders(block: Block, n: int, timed: bool) -> Iterator[Longs]:
    """Random orders; of a feed, random halves in time order, as the paper does."""
    for seed in range(n):
        rng = np.random.default_rng(seed)
        chosen = rng.random(block.n_rows) < 0.5
        yield np.flatnonzero(chosen) if timed else rng.permutation(block.n_rows)


def real(data: Path, n: int, say: Callable[[str], None]) -> None:
    """Table 3: online error over several orders."""
    rows, words = [], []
    for name, (pattern, timed) in SETS.items():
        paths = sorted(map(str, (data / name).glob(pattern)))
        if not paths:
            words.append(f"- {name} is not in the data folder")
            continue
        block = loaded(paths)
        ways = list(orders(block, n, timed))
        played = {m: [play(m, block, order) for order in ways] for m in TABLE3}
        errors = {m: np.array([p.error for p in ps]) for m, ps in played.items()}
        size = f"{len(ways[0]):,} x {len(np.unique(block.indices)):,}"
        rows.append([name, size, *(mean_and_sd(errors[m]) for m in TABLE3)])
        for other in (L2, KL):
            fact = errors[TABLE3[-1]]
            words.append(compared(f"{name}: CW-fact 8", fact, other, errors[other], "points"))
    say(f"## Table 3: online error %, {n} orders (phishurl: random halves of days 0-4 in time)\n")
    say(table(["data", "rows x features", *TABLE3], rows))
    say("")
    for line in words:
        say(line)


def main() -> None:
    parser = argparse.ArgumentParser(description="The experiments of CW-fact, as Markdown.")
    parser.add_argument("--quick", action="store_true", help="few runs, to see that it works")
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="folders of real data: Table 3 too"
    )
    args = parser.parse_args()

    def say(text: str) -> None:
        print(text, flush=True)

    synthetic(3 if args.quick else 20, say)
    effective_dimension(2 if args.quick else 20, say)
    gap_grid(3 if args.quick else 100, say)
    if args.data is not None:
        real(args.data, 2 if args.quick else 10, say)


if __name__ == "__main__":
    main()
