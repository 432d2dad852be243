"""Confidence-weighted online learning on LIBSVM-format data."""

import os

# Threads are ours to place: results must not depend on how many there are.
for _library in ("OPENBLAS", "MKL", "OMP"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

__version__ = "0.1.0"
