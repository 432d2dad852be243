"""Build the Cython kernels; everything else is declared in pyproject.toml."""

import os
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

DEBUG = os.environ.get("CWTOOL_DEBUG") == "1"  # set by `make debug`

# Same bits on every x86-64 machine: no contraction to fma, no fast-math, no -march.
FLAGS = ["-O1", "-g"] if DEBUG else ["-O3"]
FLAGS += ["-ffp-contract=off", "-Wno-unused-function", "-Wno-unreachable-code"]

CORES = os.cpu_count() or 1

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "wraparound": False,
    "initializedcheck": DEBUG,
    "cdivision": True,
    "embedsignature": True,
}

setup(
    ext_modules=cythonize(
        [
            Extension(f"cwtool_ext.{path.stem}", [str(path)], extra_compile_args=FLAGS)
            for path in sorted(Path("cwtool_ext").glob("*.pyx"))
        ],
        compiler_directives=DIRECTIVES,
        build_dir="build/cython",
        force=DEBUG,
        nthreads=CORES,
    ),
    options={"build_ext": {"parallel": CORES}},
)
