"""Freeze the results of cwtool as golden files: python tests/golden/freeze.py

It is run with the environment of the version to freeze (the package with its extra `test`), and
only on purpose: when a rule of an algorithm is meant to change. The change must then be told in
the changelog. Without such a reason, a difference that test_golden.py finds is a mistake.

    python tests/golden/freeze.py            write cases.json and continued.json
    python tests/golden/freeze.py --bits     write nothing; compare the digests of all cases, also
                                             of those that are not exact; for the machine and the
                                             libraries on which they were frozen
    python tests/golden/freeze.py --only stsgd,tg
                                             freeze the cases of these algorithms anew and leave
                                             all others as they are stored
    python tests/golden/freeze.py --probabilities
                                             freeze the probabilities of all cases anew, and
                                             nothing else
    python tests/golden/freeze.py --progressive
                                             the same for the metrics before learning
    python tests/golden/freeze.py --models   also write the files of models/; only with a version
                                             that writes file format 2 (cwtool 0.1.0)
"""

import io
import json
import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from cwtool.parallel import one_blas_thread  # noqa: E402

one_blas_thread()

import golden  # noqa: E402

from cwtool import cli  # noqa: E402

BORDER = 4_194_304  # ids below are their own slot, ids above are hashed

DATA: dict[str, dict[str, Any]] = {
    "a.svm": {"seed": 1, "n_rows": 300},
    "b.svm": {"seed": 2, "n_rows": 150, "first": 20},
    "few.svm": {"seed": 3, "n_rows": 100},
    "long.svm": {"seed": 4, "n_rows": 1300, "width": 60},  # the row scale settles at 1,000 rows
    "large.svm": {"seed": 5, "n_rows": 200, "first": BORDER - 15},
    "t.svm": {"seed": 6, "n_rows": 60, "first": 6},  # has ids that a.svm does not have
    "t-large.svm": {"seed": 7, "n_rows": 60, "first": BORDER - 10},
}
MODEL_DATA: dict[str, dict[str, Any]] = {
    "day1.svm": {"seed": 11, "n_rows": 70, "width": 16, "entries": 5},
    "day2.svm": {"seed": 12, "n_rows": 50, "first": 6, "width": 16, "entries": 5},
    "day3.svm": {"seed": 13, "n_rows": 30, "first": 1, "width": 24, "entries": 5},
}

NOT_LINEAR = {"sop", "narow", "knn", "sdist", "rff-markov"}  # have no weights to write as TSV
SLOTTED = {"bcw", "dcd", "sbcw", "fgm", "l1svm", "spar-dca", "knn", "sdist", "rff-markov"}
NO_PRIOR = {"perceptron", "pa", "stsgd", "knn", "sdist", "rff-markov"}

# Not made of + - * / and square roots alone:
NOT_EXACT = {
    "bcw": "Cholesky factors from LAPACK",
    "sbcw": "Cholesky factors from LAPACK, dot products from BLAS",
    "fgm": "dot products from BLAS",
    "l1svm": "pow in the search for C",
    "spar-dca": "pow in the search for C",
    "stsgd": "log1p or exp in the share of moves that gravity rejects",
    "sdist": "eigenvectors from LAPACK, exp",
    "rff-markov": "cos, exp, log",
}

# A buffer so small that every file fills it many times
FACTORED = ["--covariance", "factored", "--rank", "3", "--buffer", "5"]
EM = ["--fit", "em", "--em-iterations", "2"]
STSGD = ["--burst", "50", "--rejection", "0.5", "--stability", "0.3"]
SDIST = ["--k", "9", "--steps", "40", "--scale", "std", "--update-every", "25", "--runs", "1"]
LAST = ["--order", "1", "--stop", "last"]
RFF = ["--iterations", "2000", "--chains", "2", "--d-max", "15"]

# One of each kind, for everything that does not depend on the options of the algorithm
BASES: dict[str, list[str]] = {
    "perceptron": [],
    "perceptron average": ["--average"],
    "pa": [],
    "pa1": [],
    "pa1 average": ["--average"],
    "pa2": [],
    "sop": [],
    "sop full": ["--covariance", "full"],
    "cw": [],
    "cw-var": [],
    "cw-fact": FACTORED[2:],
    "arow": [],
    "arow l2": ["--projection", "l2"],
    "arow full": ["--covariance", "full"],
    "arow factored": FACTORED,
    "narow": [],
    "narow full": ["--covariance", "full"],
    "nherd": [],
    "scw1": [],
    "scw2": [],
    "bcw": [],
    "dcd": ["--loss", "hinge"],
    "sgd": [],
    "tg": ["--gravity", "0.01"],
    "fobos": ["--lam", "0.01"],
    "rda": ["--lam", "0.01"],
    "cw-sparse smooth-tg": ["--mode", "smooth-tg", "--lam", "0.01"],
    "cw-sparse smooth-da": ["--mode", "smooth-da", "--lam", "0.01"],
    "cw-sparse aggressive": ["--mode", "aggressive", "--budget", "9"],
    "sofs": ["--budget", "9"],
    "stsgd": STSGD,
    "sbcw": ["--features", "12"],
    "fgm": ["--features", "12"],
    "l1svm": ["--features", "10"],
    "spar-dca": ["--features", "10"],
    "knn": ["--k", "5"],
    "sdist": SDIST,
    "rff-markov": RFF,
}


def variants() -> dict[str, list[str]]:
    """The options that belong to single algorithms; the first word is the name of one."""
    found: dict[str, list[str]] = {}
    for name in ("sop", "cw", "cw-var", "arow", "narow", "nherd", "scw1", "scw2"):
        for projection in ("kl", "l2"):
            found[f"{name} {projection}"] = ["--covariance", "diag", "--projection", projection]
        found[f"{name} full"] = ["--covariance", "full"]
        if name not in ("sop", "narow"):  # their variances stay above
            found[f"{name} floor"] = ["--floor", "0.05"]
        if name not in ("sop", "narow", "nherd"):
            found[f"{name} factored spectral"] = FACTORED
            found[f"{name} factored em"] = [*FACTORED, *EM]
            found[f"{name} factored default"] = ["--covariance", "factored"]
    found |= {
        "cw-fact": [],
        "cw-fact spectral": FACTORED[2:],
        "cw-fact spectral then em": [*FACTORED[2:], "--em-iterations", "2"],
        "cw-fact em": [*FACTORED[2:], *EM],
        "arow r": ["--r", "2.5"],
        "narow b": ["--b", "3"],
        "narow b full": ["--b", "3", "--covariance", "full"],
        "nherd C": ["--C", "0.3"],
        "cw eta": ["--eta", "0.7"],
        "scw1 C": ["--C", "0.2", "--eta", "0.8"],
        "scw2 C": ["--C", "0.2", "--eta", "0.8"],
        "pa1 C": ["--C", "0.1"],
        "pa2 C": ["--C", "0.1"],
        "cw extreme eta": ["--eta", "0.99"],
    }
    for name in ("perceptron", "pa", "pa1", "pa2"):
        found[name] = ["--no-average"]
        found[f"{name} average"] = ["--average"]

    for name, own in {
        "sgd": [],
        "tg": ["--gravity", "0.01"],
        "fobos": ["--lam", "0.01"],
        "rda": ["--lam", "0.01"],
    }.items():
        found[name] = []  # with the default of --loss
        for loss in ("hinge", "logistic"):
            found[f"{name} {loss}"] = [*own, "--loss", loss]
        for power in () if name == "rda" else ("0.5", "0.75", "1"):
            found[f"{name} power {power}"] = [*own, "--eta", "0.5", "--power", power]
    found |= {
        "tg theta": ["--gravity", "0.05", "--theta", "0.3", "--every", "7"],
        "tg not by rate": ["--gravity", "0.002", "--no-by-rate", "--power", "0.5"],
        "rda gamma rho": ["--lam", "0.01", "--gamma", "0.2", "--rho", "0.5"],
    }
    for mode in ("smooth-tg", "smooth-da"):
        one = ["--mode", mode, "--lam", "0.01"]
        found[f"cw-sparse {mode}"] = one
        found[f"cw-sparse {mode} l2"] = [*one, "--projection", "l2"]
        found[f"cw-sparse {mode} every round"] = [*one, "--every-round"]
    found["cw-sparse proximal"] = ["--mode", "smooth-da", "--lam", "0.01", "--proximal"]
    found["cw-sparse"] = []
    for ranking in ("mahalanobis", "certain", "weight", "printed"):
        one = ["--mode", "aggressive", "--ranking", ranking, "--budget", "9"]
        found[f"cw-sparse aggressive {ranking}"] = one
    found["cw-sparse aggressive unbounded"] = ["--mode", "aggressive"]
    found |= {"sofs": [], "sofs 29": ["--budget", "29"], "sofs 9": ["--budget", "9", "--r", "0.3"]}
    found |= {
        "stsgd": [],
        "stsgd short": STSGD,
        "stsgd logistic": [*STSGD, "--loss", "logistic"],
        "stsgd count": [*STSGD, "--gravity", "count", "--paths", "2"],
        "stsgd std": [*STSGD, "--scale", "std", "--least", "20"],
        "stsgd unscaled": [*STSGD, "--scale", "none", "--eta", "0.1"],
        "stsgd intercept": [*STSGD, "--intercept", "on"],
        "stsgd intercept passes": [*STSGD, "--intercept", "on", "--passes", "3", "--seed", "5"],
        "stsgd no intercept": [*STSGD, "--intercept", "off"],
        "stsgd growth": [*STSGD, "--growth", "0.3", "--annealing", "2", "--bursts", "2"],
        "stsgd gradients": [*STSGD, "--informed-by", "gradients"],
        "stsgd pull on weight": [*STSGD, "--pull-on", "weight", "--share", "1"],
        "stsgd tol": [*STSGD, "--tol", "0.05", "--passes", "4"],
    }

    found |= {
        "bcw": [],
        "bcw no average": ["--no-average"],
        "bcw squared hinge": ["--loss", "squared-hinge"],
        "bcw kappa 1": ["--kappa", "1"],
        "bcw kappa 10": ["--kappa", "10", "--C", "0.3"],
        "bcw epochs": ["--epochs", "3", "--kappa", "100"],
        "bcw epochs squared hinge": ["--epochs", "3", "--loss", "squared-hinge"],
        "dcd hinge": ["--loss", "hinge"],
        "dcd squared hinge": ["--loss", "squared-hinge", "--C", "0.2"],
        "dcd tol": ["--loss", "hinge", "--tol", "0.001"],
    }
    for name in ("sbcw", "fgm"):
        own = ["--features", "12"]
        found |= {
            name: [],
            f"{name} 12": own,
            f"{name} hinge": [*own, "--loss", "hinge"],
            f"{name} exact": [*own, "--solver", "exact", "--sigma", "0.1"],
            f"{name} printed": [*own, "--solver", "printed"],
            f"{name} mm sigma": [*own, "--solver", "mm", "--sigma", "0.1"],
            f"{name} block": [*own, "--block", "5", "--sweeps", "3", "--final-sweeps", "4"],
            f"{name} in order": [*own, "--no-shuffle", "--change", "0.01"],
        }
    for score in ("gain", "diag", "plain"):
        found[f"sbcw score {score}"] = ["--features", "9", "--score", score, "--kappa", "10"]
    found["sbcw score gain hinge"] = ["--features", "9", "--score", "gain", "--loss", "hinge"]
    found |= {
        "l1svm": [],
        "l1svm 10": ["--features", "10"],
        "l1svm C": ["--features", "0", "--C", "0.5"],
        "l1svm logistic": ["--features", "10", "--loss", "logistic"],
        "spar-dca": [],
        "spar-dca 10": ["--features", "10"],
        "spar-dca C": ["--features", "0", "--C", "0.5"],
        "spar-dca hinge": ["--features", "10", "--loss", "hinge"],
    }

    found |= {f"knn {s}": ["--k", "7", "--scale", s] for s in ("auto", "std", "global")}
    found |= {
        "sdist": SDIST,
        "sdist runs": [*SDIST[:-1], "3", "--steps", "15"],
        "sdist fw": [*SDIST, *LAST, "--predict", "fw", "--w0", "0.1"],
        "sdist stsgd": [*SDIST, *LAST, "--engine", "stsgd", "--kappa", "6", "--steps", "12"],
        "sdist logistic": [*SDIST, "--loss", "logistic"],
        "sdist thesis": [*SDIST, "--weight-on", "bag", "--stop", "thesis", "--sample", "none"],
        "sdist uniform": [*SDIST, "--sample", "uniform", "--rho", "0.1", "--scale", "global"],
        "rff-markov": RFF,
        "rff-markov nn": [*RFF, "--discriminant", "nn", "--k", "5"],
        "rff-markov t-max": [*RFF, "--t-max", "2", "--gamma", "1", "--conc", "2"],
    }
    return found


def over_slots() -> dict[str, list[str]]:
    """For two files, cut into slots."""
    found = {
        "bcw": ["--kappa", "100"],
        "dcd": ["--loss", "hinge"],
        "dcd squared hinge": ["--loss", "squared-hinge"],
        "l1svm": ["--features", "10"],
        "spar-dca": ["--features", "10"],
        "knn": ["--k", "5"],
        "sdist": SDIST,
        "rff-markov": RFF,
    }
    for carry in ("dual", "printed", "forget"):
        found[f"bcw carry {carry}"] = ["--carry", carry, "--kappa", "10"]
        found[f"bcw epochs carry {carry}"] = ["--carry", carry, "--epochs", "2", "--kappa", "10"]
    for name in ("sbcw", "fgm"):
        for carry in ("keep", "restart"):
            found[f"{name} carry {carry}"] = ["--features", "12", "--carry", carry]
            found[f"{name} exact carry {carry}"] = [
                *("--features", "12", "--carry", carry, "--solver", "exact", "--sigma", "0.1")
            ]
    return found


def all_cases() -> list[dict[str, Any]]:
    found = [case(name, options, ["a.svm"]) for name, options in variants().items()]
    for name, options in over_slots().items():
        slots = [*options, "--slot-rows", "120"]
        found.append(case(f"{name}, slots", slots, ["a.svm", "b.svm"]))
    for name, options in BASES.items():
        algo = name.split()[0]
        two = [] if algo in NO_PRIOR else ["--prior", "1"]
        few = ["few.svm"] if algo in SLOTTED - {"sdist"} else ["a.svm"]
        hashed = [*options, "--hash-bits", "4", "--bias"]
        plain = [*options, "--normalize", "l2", "--zero-based", *two]
        found.append(case(f"{name}, hashed with bias", hashed, few))
        found.append(case(f"{name}, normalized", plain, few))
        found.append(case(f"{name}, large ids", options, ["large.svm"], "t-large.svm"))
        if algo not in SLOTTED:
            passes = [*options, "--passes", "3", "--seed", "3"]
            found.append(case(f"{name}, passes", passes, ["few.svm", "b.svm"]))
        if algo not in ("sdist", "rff-markov"):
            found.append(case(f"{name}, long", options, ["long.svm"]))
    for name in ("arow", "cw-sparse smooth-da", "stsgd"):
        held = [*BASES[name], "--passes", "3", "--holdout", "0.2"]
        found.append(case(f"{name}, holdout", held, ["a.svm"]))
    return found


def case(name: str, options: list[str], files: list[str], test: str = "t.svm") -> dict[str, Any]:
    algo = name.split()[0].rstrip(",")
    return {
        "name": name,
        "exact": exact(algo, options),
        "linear": algo not in NOT_LINEAR,
        "train": ["--algo", algo, *options, *files],
        "predict": test,
    }


def exact(algo: str, options: list[str]) -> bool:
    """Whether the results are the same on every machine. Beside NOT_EXACT there are exp in the
    logistic loss, pow in rates that fall with another power than 0.5, and log in the quantile of an
    eta above 0.925."""
    given = dict(pairwise(options))
    return (
        algo not in NOT_EXACT
        and given.get("--loss") != "logistic"
        and given.get("--power") in (None, "0.5")
        and not (algo.startswith(("cw", "scw")) and float(given.get("--eta", 0.9)) > 0.925)
    )


# Models that are stored as files; those of FORMAT_1 in both formats. They have columns that are
# mostly zero, which is where the formats differ.
STORED: dict[str, list[str]] = {
    "arow diag": [],
    "arow full": ["--covariance", "full"],
    "arow factored": FACTORED,
    "cw": [],
    "cw-fact": FACTORED[2:],
    "scw1": [],
    "pa1 average": ["--average"],
    "narow": [],
    "sop": [],
    "sgd": ["--power", "0.5"],
    "tg": ["--gravity", "0.02"],
    "rda": ["--lam", "0.02"],
    "cw-sparse smooth-da": ["--lam", "0.02"],
    "cw-sparse smooth-tg": ["--mode", "smooth-tg", "--lam", "0.02"],
    "cw-sparse aggressive": ["--mode", "aggressive", "--budget", "4"],
    "sofs": ["--budget", "4"],
    # with 70 rows in the middle of a burst of the second stage
    "stsgd": ["--burst", "20", "--bursts", "2", "--paths", "3", "--intercept", "on"],
    "bcw": ["--kappa", "10"],
    "dcd": [],
    "sbcw": ["--features", "5"],
    "fgm": ["--features", "5"],
    "l1svm": ["--features", "4"],
    "spar-dca": ["--features", "4"],
    "knn": ["--k", "5"],
    "sdist": [*SDIST[2:], "--k", "5", "--steps", "20"],
    "rff-markov": ["--iterations", "600", "--chains", "2", "--d-max", "4", "--t-max", "1"],
}
FORMAT_1 = ("arow diag", "cw-sparse aggressive", "sofs", "l1svm", "stsgd")


def stored_cases() -> list[dict[str, Any]]:
    found = []
    for version, names in ((2, tuple(STORED)), (1, FORMAT_1)):
        for name in names:
            algo = name.split()[0]
            found.append(
                {
                    "name": f"{name}, format {version}",
                    "exact": exact(algo, STORED[name]),
                    "linear": algo not in NOT_LINEAR,
                    "format": version,
                    "model": f"{name.replace(' ', '-')}.{version}.cw",
                    "train": ["--algo", algo, *STORED[name], "day1.svm"],
                    "then": "day2.svm",
                    "predict": "day3.svm",
                }
            )
    return found


def run(*args: object) -> str:
    """Run a command that has to succeed in this process; what it printed on stdout."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = cli.run([str(a) for a in args])
    if code:
        sys.exit(f"{' '.join(map(str, args))}: {err.getvalue()}")
    return out.getvalue()


def write_models(cases: list[dict[str, Any]], data: dict[str, Any], folder: Path) -> None:
    """Write the old model files that test_golden.py loads; must run with cwtool 0.1, which writes
    model format 2. Models of format 1 are made from these by writing columns with their zeros."""
    from cwtool import modelfile
    from cwtool.state import State

    if modelfile.VERSION != 2:
        sys.exit(f"this version writes file format {modelfile.VERSION}, not 2")
    packed_sparse = State.pack

    def packed_full(state: State) -> dict[str, Any]:
        packed, full = packed_sparse(state), {}
        for name, values in packed.items():
            if name.endswith(".at"):
                continue
            full[name] = values
            if f"{name}.at" in packed:
                full[name] = packed["ids"] * 0.0
                full[name][packed[f"{name}.at"]] = values
        return full

    golden.MODELS.mkdir(exist_ok=True)
    for one in cases:
        golden.write_data(data, one["train"], folder)
        target = golden.MODELS / one["model"]
        modelfile.VERSION = one["format"]
        State.pack = packed_sparse if one["format"] == 2 else packed_full  # type: ignore
        run("train", *one["train"], "-m", target, "-q")
        assert target.read_bytes()[7] == one["format"]
        target.with_name(f"{target.name}.lock").unlink(missing_ok=True)
    modelfile.VERSION, State.pack = 2, packed_sparse  # type: ignore
    for one in cases:
        if one["format"] == 1:
            old = (golden.MODELS / one["model"]).stat().st_size
            new = (golden.MODELS / one["model"].replace(".1.", ".2.")).stat().st_size
            print(f"{one['name']}: {old} bytes, {new} in format 2")


def write(path: Path, data: dict[str, Any], cases: list[dict[str, Any]]) -> None:
    """As JSON with a line for each case, so that a change shows which cases it concerns."""
    for recipe in data.values():
        recipe["sha256"] = golden.digest(golden.text_of(recipe))
    lines = ",\n".join(json.dumps(one, separators=(",", ":"), allow_nan=False) for one in cases)
    path.write_text(f'{{"data": {json.dumps(data, indent=1)},\n"cases": [\n{lines}\n]}}\n')


def check_bits(folder: Path) -> int:
    """Compare all digests with the stored ones; returns how many cases differ."""
    found = 0
    frozen, continued = golden.stored(golden.CASES), golden.stored(golden.CONTINUED)
    for one in frozen["cases"]:
        got = {"": golden.run_case(run, one, frozen["data"], folder)}
        found += differs(one, {"": one["result"]}, got)
    for one in continued["cases"]:
        got = golden.run_continued(run, one, continued["data"], folder)
        found += differs(one, one["result"], got)
    print(f"{found} of {len(frozen['cases']) + len(continued['cases'])} cases differ")
    return found


def differs(one: dict[str, Any], want: dict[str, Any], got: dict[str, Any]) -> bool:
    found = [
        f"{one['name']} {when}: {what}"
        for when in want
        for what in golden.differences(want[when], got[when], exact=True)
    ]
    print(*found[:5], sep="\n", end="\n" * bool(found))
    return bool(found)


def kept(names: str) -> dict[str, Any]:
    """The stored results of all cases but those of these algorithms, by the name of the case."""
    cases = [*golden.stored(golden.CASES)["cases"], *golden.stored(golden.CONTINUED)["cases"]]
    anew = names.split(",")
    return {c["name"]: c["result"] for c in cases if c["name"].split()[0].rstrip(",") not in anew}


def freeze_part(take: Callable[[dict[str, Any], dict[str, Any]], None], folder: Path) -> None:
    frozen, continued = golden.stored(golden.CASES), golden.stored(golden.CONTINUED)
    for one in frozen["cases"]:
        take(one["result"], golden.run_case(run, one, frozen["data"], folder))
    for one in continued["cases"]:
        got = golden.run_continued(run, one, continued["data"], folder)
        for when, result in one["result"].items():
            take(result, got[when])
    write(golden.CASES, DATA, frozen["cases"])
    write(golden.CONTINUED, MODEL_DATA, continued["cases"])


def take_probabilities(result: dict[str, Any], got: dict[str, Any]) -> None:
    for key, row in result["predictions"]["sample"].items():
        row[2] = got["predictions"]["sample"][key][2]


def take_progressive(result: dict[str, Any], got: dict[str, Any]) -> None:
    result["progressive"] = got["progressive"]


PARTS = {"--probabilities": take_probabilities, "--progressive": take_progressive}


def main(words: list[str]) -> int:
    for name in [n for n in os.environ if n.startswith("CWTOOL_")]:
        del os.environ[name]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        os.chdir(folder)
        if "--bits" in words:
            return min(1, check_bits(folder))
        for word, take in PARTS.items():
            if word in words:
                freeze_part(take, folder)
                return 0
        cases, continued = all_cases(), stored_cases()
        if "--models" in words:
            write_models(continued, MODEL_DATA, folder)
        keep = kept(words[words.index("--only") + 1]) if "--only" in words else {}
        for one in cases:
            one["result"] = keep.get(one["name"]) or golden.run_case(run, one, DATA, folder)
        for one in continued:
            known = keep.get(one["name"])
            one["result"] = known or golden.run_continued(run, one, MODEL_DATA, folder)
    write(golden.CASES, DATA, cases)
    write(golden.CONTINUED, MODEL_DATA, continued)
    print(f"{len(cases)} cases and {len(continued)} models")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
