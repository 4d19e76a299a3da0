"""What pixels and EfficientNet-Lite0 see of real pictures: classes, and which of them are missing.

    python research/experiments/image_classes.py --per-class 120

Known answers on CIFAR-10. A linear classifier that is fitted on half of each class reads the class
of the other half. Five classes of the first half are the reference; the same five classes of the
other half, two of them, and all ten are compared with it as images are by default (rows of length
one, k = 4): two classes must cost recall and coverage, five foreign ones precision.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
from PIL import Image as Pillow

from calipers.embedders import load_embedder
from calipers.metrics import density_coverage, precision_recall, preprocess

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("CALIPERS_DATA", ROOT.parent / "shared" / "data")) / "cifar10"
Array = np.ndarray


def pictures(data: Path, count: int) -> tuple[list[Array], Array]:
    images: list[Array] = []
    folders = sorted(folder for folder in data.iterdir() if folder.is_dir())
    for folder in folders:
        paths = sorted(folder.glob("*.jpg"))[:count]
        images += [np.asarray(Pillow.open(path).convert("RGB")) for path in paths]
    return images, np.repeat(np.arange(len(folders)), count)


def read_share(x: Array, labels: Array, fitted: Array) -> float:
    """Share of the other rows whose class ridge regression reads; the best of five penalties."""
    x = x - x[fitted].mean(axis=0)
    x = x / np.linalg.norm(x, axis=1).mean()
    targets = np.eye(10)[labels[fitted]] - 0.1
    kernel = x[fitted] @ x[fitted].T
    shares = []
    for penalty in (0.001, 0.01, 0.1, 1, 10):
        weights = np.linalg.solve(kernel + penalty * np.eye(len(kernel)), targets)
        guessed = (x[~fitted] @ x[fitted].T @ weights).argmax(axis=1)
        shares.append(float((guessed == labels[~fitted]).mean()))
    return max(shares)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--per-class", type=int, default=120)
    given = parser.parse_args()
    images, labels = pictures(given.data, given.per_class)
    first = np.arange(len(labels)) % given.per_class < given.per_class // 2
    for name in ("pixels", "efficientnet"):
        embedder = load_embedder(name)
        parts = [embedder.embed(images[i : i + 50]).views for i in range(0, len(images), 50)]
        for view in embedder.views:
            x = np.concatenate([part[view] for part in parts])
            print(f"{name} {view}: reads the class of {read_share(x, labels, first):.0%}")
            reference = x[first & (labels < 5)]
            for words, classes in (("the same five", 5), ("two of them", 2), ("all ten", 10)):
                near = preprocess(reference, x[~first & (labels < classes)], pca=None)
                both = precision_recall(near.reference, near.generated)
                cover = density_coverage(near.reference, near.generated).coverage.value
                print(
                    f"  {words:14} precision {both.precision.value:.2f} "
                    f"recall {both.recall.value:.2f} coverage {cover:.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
