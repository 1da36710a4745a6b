"""``python -m stagecut`` is the command line."""

from stagecut.cli import main

main()
