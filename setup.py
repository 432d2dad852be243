"""Build the Cython kernels; everything else is declared in pyproject.toml."""

import os
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

DEBUG = os.environ.get("CWTOOL_DEBUG") == "1"  # set by `make debug`
SANITIZE = os.environ.get("CWTOOL_SANITIZE") == "1"  # set by `make sanitize`

# No contraction to fma, no fast-math, no -march: what is compiled here rounds in the same way on
# every x86-64 machine. exp, log and cos are of the C library, which rounds some of their results
# differently on processors with FMA instructions.
# -g0 because Python's own flags ask for debug information, a quarter of the time of gcc.
FLAGS = ["-O1", "-g"] if DEBUG or SANITIZE else ["-O3", "-g0"]
# a read or write outside an array, or what C does not define, ends the process with its place
WATCHED = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"] if SANITIZE else []
FLAGS += WATCHED
FLAGS += ["-ffp-contract=off", "-Wno-unused-function", "-Wno-unreachable-code"]

# Cython generates this module: the memoryview code that each kernel would else repeat.
# No row passes through it, so it is compiled with -O1; and first, because it takes longest.
SHARED = "cwtool_ext._cyutility"
EXTENSIONS = [
    Extension(
        SHARED,
        ["cwtool_ext/_cyutility.c"],
        extra_compile_args=[*FLAGS, "-O1"],
        extra_link_args=WATCHED,
    )
]
# No code reads errno or the floating-point exception flags. Without them gcc also vectorizes loops
# with square roots and conditions, of which these modules have many, to the same bits.
QUIET = ("all_paths", "diagonal_learners")
EXTENSIONS += [
    Extension(
        f"cwtool_ext.{path.stem}",
        [str(path)],
        include_dirs=["cwtool_ext"],
        depends=["cwtool_ext/vectors.h"],
        extra_compile_args=FLAGS + ["-fno-math-errno", "-fno-trapping-math"] * (path.stem in QUIET),
        extra_link_args=WATCHED,
    )
    for path in sorted(Path("cwtool_ext").glob("*.pyx"))
]

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
        EXTENSIONS,
        compiler_directives=DIRECTIVES,
        shared_utility_qualified_name=SHARED,
        build_dir="build/cython",
        force=DEBUG,
        nthreads=CORES,
    ),
    options={"build_ext": {"parallel": CORES}},
)
