"""python -m cwtool"""

from cwtool.cli import main

main()
