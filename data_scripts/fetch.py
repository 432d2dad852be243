"""python data_scripts/fetch.py NAME... fetches and prepares public data sets; see --help."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])  # the project, not this folder
    from data_scripts.command import main

    sys.exit(main())
