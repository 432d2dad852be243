"""Compare the parser with a slow one on changed lines: python tools/fuzz_lines.py --lines 1000000.

Files of 100 to 20,000 lines are made from seeds, which failures name.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(HERE), str(HERE / "tests"), str(HERE / "tests" / "fuzz")]

import line_mutants  # noqa: E402
from slow_libsvm import check  # noqa: E402

SIZES = (100, 1000, 5000, 20_000)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    done, failed, seed, begin = 0, 0, options.seed, time.monotonic()
    while done < options.lines:
        size = SIZES[seed % len(SIZES)]
        text = line_mutants.text(seed, size)
        try:
            check(text, seed % 2)
            for line in text.split(b"\n"):  # after many unusual pairs all are read in another way
                check(b"1 1:1 2:0.5\n" + line, seed % 2)
        except (AssertionError, ValueError) as failure:
            failed += 1
            print(f"seed {seed}, {size} lines: {str(failure)[:300]}", flush=True)
        done += text.count(b"\n") + 1
        seed += 1
    print(f"{done:,} lines, {failed} files failed, {time.monotonic() - begin:.0f} s", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
