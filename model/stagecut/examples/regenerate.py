"""Write the packaged examples anew: ``python -m stagecut.examples.regenerate [FOLDER]``."""

import sys
from pathlib import Path

from stagecut.examples.catalogue import BUILDERS
from stagecut.formats import save_profile


def regenerate(folder: Path) -> list[Path]:
    """Write every example into ``folder`` and return the files."""
    files = []
    for name, build in BUILDERS.items():
        files.append(folder / f"{name}.json")
        save_profile(build(), files[-1])
    return files


if __name__ == "__main__":
    regenerate(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
