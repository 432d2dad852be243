"""BLAS and LAPACK without scipy.linalg."""

import subprocess
import sys

import numpy as np
import pytest

from cwtool_ext import fortran

ALONE = """
import sys
import numpy as np
from cwtool_ext import dual_dense
from cwtool_ext.fortran import blas, cho_solve, lapack
assert lapack().__name__.endswith("._flapack") and blas().__name__.endswith("._fblas")
assert not any(name.partition(".")[0] == "scipy" for name in sys.modules)
P = np.array([[4.0, 1.0], [1.0, 3.0]])
L, failed = lapack().dpotrf(P, lower=1, clean=1)
found = cho_solve(L, P[0])
import scipy.linalg, scipy.linalg.cython_blas, scipy.sparse.linalg
assert (scipy.linalg.cho_solve((L, True), P[0]) == found).all()
assert (scipy.linalg.cholesky(P, lower=True) == L).all()
"""


def test_routines_need_no_scipy_linalg_and_leave_it_as_it_is() -> None:
    subprocess.run([sys.executable, "-c", ALONE], check=True)


def test_routines_are_those_of_the_package_once_it_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from scipy.linalg import lapack

    assert fortran._routines("_flapack", "lapack") is lapack
    monkeypatch.delitem(sys.modules, "scipy.linalg")
    monkeypatch.setattr(fortran, "find_spec", lambda name: None)
    assert hasattr(fortran._routines("_flapack", "lapack"), "dpotrf")


def test_cho_solve_is_that_of_scipy_to_the_bit() -> None:
    from scipy.linalg import cho_solve

    rng = np.random.default_rng(1)
    for n in (1, 5, 60):
        X = rng.normal(size=(n + 3, n))
        L = np.linalg.cholesky(X.T @ X + np.eye(n))
        for b in (rng.normal(size=n), np.eye(n)):
            assert (fortran.cho_solve(L, b) == cho_solve((L, True), b)).all()
    assert fortran.cho_solve(np.empty((0, 0)), np.empty(0)).shape == (0,)
    with pytest.raises(ValueError, match="finite"):
        fortran.cho_solve(np.eye(2), np.array([1.0, np.inf]))


SLOW = ("scipy", "numpy.ma", "tempfile", "shutil", "glob", "shlex")
TRAIN = f"""
import numpy, pathlib, sys
own = set(sys.modules)  # NumPy 1 imports numpy.ma itself, and pathlib of Python 3.13 glob
sys.argv[0] = "cwtool"
from cwtool.cli import run
assert run(["train", *sys.argv[1:]]) == 0
print(sorted((set(sys.modules) - own) & set({SLOW!r})))
"""


@pytest.mark.parametrize("more", ["arow", "bcw", "sbcw", "stsgd --passes 2"])
def test_training_imports_nothing_slow(more: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Each of these takes as long as to learn some thousand rows."""
    folder = tmp_path_factory.mktemp("few")
    data = folder / "few.svm"
    data.write_text("1 1:1 2:1\n0 2:1 3:1\n1 1:2 2:1\n0 1:0.1 3:1\n" * 5)
    args = ["--algo", *more.split(), str(data), "-m", str(folder / "m"), "-q"]
    command = [sys.executable, "-c", TRAIN, *args]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"
