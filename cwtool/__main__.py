"""python -m cwtool"""

from cwtool.cli import main

if __name__ == "__main__":  # processes that are started from here import this file
    main()
