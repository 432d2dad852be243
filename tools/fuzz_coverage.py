"""Let libFuzzer look for text that the parser and a plain reader in C read differently:
python tools/fuzz_coverage.py --seconds 300.

It compiles the parser with clang so that libFuzzer knows which inputs reach new branches, and stops
at the first difference, or where AddressSanitizer finds a read or write outside of an array. Inputs
that reached something new are added to build/coverage/corpus, and used beside those of
tests/fuzz/corpus.txt, a bytes literal a line. With --keep, those that reach branches which none of
that file reaches are added to it; the tests give them to the slow parser in Python too. With
--portable the parser is that of processors without SSE2.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
from ast import literal_eval
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
OUT = HERE / "build" / "coverage"
CORPUS = HERE / "tests" / "fuzz" / "corpus.txt"
SANITIZED = "address,undefined"
# lengths in the parser, and shorter ones that inputs of few hundred bytes exceed
SHORTER = {
    "define CWTOOL_STRETCH 4096": "define CWTOOL_STRETCH 128",
    "_PAUSE = 0x800": "_PAUSE = 4",
}


def shortened(source: str) -> str:
    """The source of the parser with the shorter lengths."""
    for old, new in SHORTER.items():
        if source.count(old) != 1:
            sys.exit(f"the compiled source of the parser does not have {old!r} once")
        source = source.replace(old, new)
    return source


def built(clang: str, *, portable: bool) -> Path:
    """The fuzzer, with a parser that counts its branches beside it."""
    package, source = OUT / "cwtool_ext", OUT / "libsvm.c"
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(HERE / "cwtool_ext", package, ignore=shutil.ignore_patterns("libsvm.*.so"))
    compiled = HERE / "build" / "cython" / "cwtool_ext" / "libsvm.c"
    source.write_text(shortened(compiled.read_text()))
    include, library = sysconfig.get_path("include"), sysconfig.get_config_var("LIBDIR")
    common = [clang, "-O2", "-g", "-ffp-contract=off", f"-I{include}", "-w"]
    common += ["-U__SSE2__"] * portable
    module = package / f"libsvm{sysconfig.get_config_var('EXT_SUFFIX')}"
    watched = f"-fsanitize=fuzzer-no-link,{SANITIZED}"
    subprocess.run([*common, watched, "-shared", "-fPIC", source, "-o", module], check=True)
    target = OUT / "parser_target"
    linked = [f"-L{library}", f"-Wl,-rpath,{library}", f"-lpython{sysconfig.get_python_version()}"]
    source = HERE / "tests" / "fuzz" / "parser_target.c"
    watched = f"-fsanitize=fuzzer,{SANITIZED}"
    subprocess.run([*common, watched, "-rdynamic", source, *linked, "-o", target], check=True)
    return target


def run(target: Path, *options: object) -> int:
    """The exit code of the fuzzer."""
    paths = [str(OUT), *filter(None, sys.path[1:])]
    settings = {"PYTHONPATH": os.pathsep.join(paths), "ASAN_OPTIONS": "detect_leaks=0"}
    words = [target, *map(str, options)]
    return subprocess.run(words, env=os.environ | settings, cwd=OUT).returncode


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="add to the corpus of the tests")
    parser.add_argument("--portable", action="store_true", help="the parser without SSE2")
    options = parser.parse_args()
    clang = shutil.which("clang")
    if clang is None:
        sys.exit("clang with its libFuzzer is needed: apt install clang libclang-rt-14-dev")
    target = built(clang, portable=options.portable)
    found, kept = OUT / "corpus", OUT / "kept"
    found.mkdir(exist_ok=True)
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir()
    for k, line in enumerate(CORPUS.read_text().splitlines()):
        (kept / f"kept-{k}").write_bytes(literal_eval(line))
    words = f"-dict={HERE / 'tests' / 'fuzz' / 'parser.dict'}"
    limits = (f"-max_total_time={options.seconds}", "-max_len=400", f"-seed={options.seed}")
    code = run(target, found, kept, words, *limits, "-print_final_stats=1", "-verbosity=1")
    if options.keep and code == 0:
        code = run(target, "-merge=1", "-use_counters=0", kept, found)
        inputs = sorted((path.read_bytes() for path in kept.iterdir()), key=lambda x: (len(x), x))
        CORPUS.write_text("".join(f"{found!a}\n" for found in inputs))
    sys.exit(code)


if __name__ == "__main__":
    main()
