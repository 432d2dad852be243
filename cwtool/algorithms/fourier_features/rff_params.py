"""The parameters of rff-markov."""

from __future__ import annotations

from cwtool.algorithms.batch.remembered_rows import RememberedRowsParams
from cwtool.algorithms.fourier_features.chains import ENOUGH
from cwtool.params import AUTO, param
from cwtool.records import dataclass

LEAST, MOST, WORK = 20_000, 300_000, 225_000_000  # iterations, and iterations times rows
LONGEST = 150_000  # iterations after which chains end whether they agree or not
RARE = 1000  # iterations for each row of the rarer class, of which few say little
FIRST = 15_000  # least iterations after which chains may end because they agree


@dataclass(frozen=True)
class RffParams(RememberedRowsParams):
    iterations: int | str = param(
        AUTO,
        "Number of iterations of each sampler chain. The first half finds the variables; 100 "
        "samples are taken from the second half. Raise it for many features. auto is about 20,000, "
        "doubled until the chains agree: until differences between them make up at most 5 % of the "
        "variance of the probabilities of the rows. At most it is 150,000, 1,000 for each row of "
        "the rarer class, or 225,000,000 divided by the number of rows, but never below 20,000; "
        "chains that have found nothing end after 50,000.",
        kind=int,
        low=1,
        high=10_000_000,
        auto=True,
        unasked=ENOUGH,
    )
    chains: int = param(
        4,
        "Number of sampler chains with different seeds. If they do not agree, the better half of "
        "them by likelihood is kept. More chains make it more likely that one finds the variables.",
        low=1,
        high=1000,
        unasked=4,
    )
    d_max: int = param(
        40,
        "Largest number of Fourier features in the model at any time. Raise it for boundaries "
        "with more detail.",
        low=1,
        high=1000,
        unasked=40,
    )
    t_max: int = param(
        3,
        "Largest number of variables of one Fourier feature, and so of variables that interact.",
        low=1,
        high=20,
        unasked=3,
    )
    alpha0: float = param(
        0.5,
        "Prior probability that the chain of variables of a Fourier feature ends after a variable. "
        "Larger values prefer features of fewer variables.",
        above=0,
        high=1,
    )
    gamma: float = param(
        2.0,
        "Prior weight of a uniformly drawn first variable of a Fourier feature, relative to each "
        "first variable in use. Larger values try more different variables.",
        above=0,
    )
    conc: float = param(
        1.0,
        "Prior weight of a uniformly drawn next variable of a Fourier feature, relative to each "
        "transition in use. Larger values try more different combinations.",
        above=0,
    )
    discriminant: str = param(
        "linear",
        "Score of a row. linear is the logarithm of the odds of the mean probability of all "
        "samples; nn compares the `k` most similar rows of each class by the learned kernel.",
        choices=("linear", "nn"),
    )
    k: int = param(
        3, "Number of rows of each class that `discriminant=nn` compares.", low=1, high=1024
    )

    def lengths_for(self, rows: int, rare: int) -> list[int]:
        """The numbers of iterations for so many rows, after which the chains end if they agree; the
        rarer class has `rare` rows. Each number is twice the one before."""
        if self.iterations != AUTO:
            return [int(self.iterations)]
        most = max(LEAST, min(MOST, RARE * rare, WORK // max(1, rows)))
        doublings = (most // FIRST).bit_length() - 1
        lengths = [most >> doublings << k for k in range(doublings + 1)]
        return [length for length in lengths if length <= LONGEST]
