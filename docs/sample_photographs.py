"""Copy photographs of CIFAR-10 into folders whose faults are known.

``python docs/sample_photographs.py FOLDER``, where FOLDER has the photographs as
``CLASS/NAME.jpg``, writes into the current folder

- ``real/``: 30 photographs each of airplanes, automobiles, birds, cats and deer;
- ``good/``: 30 others of each of the same classes;
- ``dropped/``: 75 each of birds and cats, so that three classes are missing;
- ``invented/``: 15 each of the same five classes and of five others; and
- ``train/``: 30 others of each of the five classes, 20 of which are in ``good/`` once more, so that
  it copies.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

FIRST = ("airplane", "automobile", "bird", "cat", "deer")
OTHERS = ("dog", "frog", "horse", "ship", "truck")
COPIED = 20


def copied(source: Path, target: str, classes: tuple[str, ...], start: int, count: int) -> None:
    """Copy some photographs of each class into a folder."""
    Path(target).mkdir(exist_ok=True)
    for name in classes:
        for path in sorted((source / name).glob("*.jpg"))[start : start + count]:
            shutil.copyfile(path, Path(target) / f"{name}-{path.name}")


def main(source: Path) -> None:
    """Write all folders."""
    copied(source, "real", FIRST, 0, 30)
    copied(source, "good", FIRST, 30, 30)
    copied(source, "train", FIRST, 60, 30)
    copied(source, "dropped", FIRST[2:4], 90, 75)
    copied(source, "invented", FIRST + OTHERS, 170, 15)
    for place, path in enumerate(sorted(Path("train").iterdir())[:COPIED]):
        shutil.copyfile(path, sorted(Path("good").iterdir())[place])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
