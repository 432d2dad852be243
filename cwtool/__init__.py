"""Confidence-weighted online learning on LIBSVM-format data."""

import os

# Threads are ours to place (--jobs): the last bits of BLAS depend on how many it has.
for _library in ("OPENBLAS", "MKL", "OMP"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"

__version__ = "0.1.0"
