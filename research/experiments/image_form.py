"""Which maps of EfficientNet-Lite0 show the form of pictures, and how much each view minds it.

    python research/experiments/image_form.py features --work WORK
    python research/experiments/image_form.py layers --work WORK
    python research/experiments/image_form.py views --work WORK

Known answers: photographs of CIFAR-10, 32 × 32, thirty of each of ten classes as the reference, and
twenty others of each class beside it: as they are, and changed in six ways at five strengths. The
first command changes them and computes maps once; the second compares candidates for the view of
form; the third writes the table of docs/images.md. For each view, over random draws of 200 pictures
a side, are given the mean precision (k = 4) and how many of the draws a permutation test of the
energy distance tells apart at 5 %. A view of form should leave pictures alone as they are and find
the changes, and the view of meaning should not mind them much.

What was found: means and standard deviations of an early map, as they are, are mostly the colours
and the contrast of a picture, and precision hardly falls under anything (of the first convolution
.90 to .97 under JPEG, .94 and .95 under noise). Logarithms of the standard deviations, less their
mean, fall most, of the maps behind three and behind five blocks, and both side by side most of all;
behind eight less. Means of the first map beside them let a shift of colours cost more precision,
and nothing else less.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image as Pillow
from PIL import ImageFilter

from calipers.embedders.vision.efficientnet import RESOLUTION, forms, load_network, resized
from calipers.embedders.vision.efficientnet_kernels import features
from calipers.metrics import precision_recall, preprocess

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("CALIPERS_DATA", ROOT.parent / "shared" / "data")) / "cifar10"
DEPTHS = (0, 1, 3, 5, 8)
REFERENCE, OTHERS = slice(0, 30), slice(30, 50)
"""Of each class."""
Array = np.ndarray


def jpeg(image: Array, quality: float) -> Array:
    file = io.BytesIO()
    Pillow.fromarray(image).save(file, "JPEG", quality=int(quality))
    return np.asarray(Pillow.open(file).convert("RGB"))


def blur(image: Array, radius: float) -> Array:
    return np.asarray(Pillow.fromarray(image).filter(ImageFilter.GaussianBlur(radius)))


def noise(image: Array, deviation: float) -> Array:
    rng = np.random.default_rng(image[:4].sum())
    return _bytes(image + rng.normal(0, deviation, image.shape))


def upscaling(image: Array, side: float) -> Array:
    small = Pillow.fromarray(image).resize((int(side), int(side)), Pillow.Resampling.BICUBIC)
    return np.asarray(small.resize(image.shape[1::-1], Pillow.Resampling.BICUBIC))


def colour(image: Array, shift: float) -> Array:
    return _bytes(image + np.array([shift, 0, -shift]))


def checkerboard(image: Array, height: float) -> Array:
    rows, columns = np.indices(image.shape[:2])
    return _bytes(image + (height * (1 - 2 * ((rows + columns) % 2)))[..., None])


def _bytes(values: Array) -> Array:
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)


CHANGES: dict[str, tuple[Callable[[Array, float], Array], tuple[float, ...]]] = {
    "JPEG, quality": (jpeg, (80, 60, 40, 20, 10)),
    "blur, radius": (blur, (0.3, 0.5, 0.7, 1, 1.5)),
    "noise, deviation": (noise, (4, 8, 12, 20, 32)),
    "upscaled from": (upscaling, (28, 24, 20, 16, 12)),
    "red up, blue down by": (colour, (5, 10, 15, 25, 40)),
    "checkerboard of": (checkerboard, (2, 4, 6, 10, 16)),
}
"""Each way to change a picture, and its five strengths."""


def pictures(data: Path, part: slice) -> list[Array]:
    """Some pictures of each class."""
    files = [
        path for folder in sorted(data.iterdir()) for path in sorted(folder.glob("*.jpg"))[part]
    ]
    return [np.asarray(Pillow.open(path).convert("RGB")) for path in files]


def compute(data: Path, work: Path) -> None:
    network = load_network()
    sets = {"reference": pictures(data, REFERENCE), "as they are": pictures(data, OTHERS)}
    for name, (change, strengths) in CHANGES.items():
        for strength in strengths:
            sets[f"{name} {strength}"] = [change(image, strength) for image in sets["as they are"]]
    work.mkdir(parents=True, exist_ok=True)
    for name, images in sets.items():
        path = work / f"{name}.npz"
        if path.exists():
            continue
        found = features(np.stack([resized(image) for image in images]), network, DEPTHS)
        moments = {str(depth): m for depth, m in zip(DEPTHS, found.moments, strict=True)}
        pixels = np.stack(images).reshape(len(images), -1) / 255
        np.savez(path, last=found.last, pixels=pixels.astype(np.float32), **moments)
        print(name, flush=True)


def spreads(depth: int) -> Callable[[dict[str, Array]], Array]:
    """Logarithms of the standard deviations of a map's channels, less their mean."""

    def view(file: dict[str, Array]) -> Array:
        logarithms = np.log(np.sqrt(file[str(depth)][:, 1]) + RESOLUTION)
        return logarithms - logarithms.mean(axis=1, keepdims=True)

    return view


def moments(depth: int) -> Callable[[dict[str, Array]], Array]:
    """Means and standard deviations of a map's channels as they are."""

    def view(file: dict[str, Array]) -> Array:
        mean, variance = file[str(depth)].swapaxes(0, 1)
        return np.hstack([mean, np.sqrt(variance)])

    return view


CANDIDATES = {f"moments {depth}": moments(depth) for depth in DEPTHS}
CANDIDATES |= {f"spreads {depth}": spreads(depth) for depth in DEPTHS}
VIEWS: dict[str, Callable[[dict[str, Array]], Array]] = {
    "pixels": lambda file: file["pixels"],
    "meaning": lambda file: file["last"],
    "form": lambda file: forms([file[depth] for depth in "035"]),
}


def told_apart(x: Array, y: Array, rng: np.random.Generator, permutations: int = 99) -> bool:
    """Whether a permutation test of the energy distance of two sets of one size says so at 5 %."""
    rows = np.concatenate([x, y])
    squares = (rows**2).sum(axis=1)
    distances = np.sqrt(np.maximum(squares[:, None] + squares - 2 * rows @ rows.T, 0))
    signs = np.ones((len(rows), permutations + 1))
    signs[: len(x)] = -1
    signs[:, 1:] = rng.permuted(signs[:, 1:], axis=0)
    energies = -np.einsum("ip,ij,jp->p", signs, distances, signs, optimize=True)
    return bool((energies >= energies[0]).sum() <= 0.05 * (permutations + 1))


def table(work: Path, views: dict[str, Callable[[dict[str, Array]], Array]], draws: int) -> None:
    def read(name: str) -> dict[str, Array]:
        with np.load(work / f"{name}.npz") as file:
            return {view: make(dict(file)) for view, make in views.items()}

    reference = read("reference")
    names = ["as they are"]
    names += [f"{name} {one}" for name, (_, strengths) in CHANGES.items() for one in strengths]
    print("| pictures | " + " | ".join(views) + " |\n" + "|---" * (len(views) + 1) + "|")
    for name in names:
        generated, cells = read(name), []
        for view in views:
            precision, apart = [], 0
            for draw in range(draws):
                rng = np.random.default_rng(draw)
                rows = rng.permutation(len(reference[view]))[: len(generated[view])]
                near = preprocess(reference[view][rows], generated[view], pca=None)
                precision.append(precision_recall(near.reference, near.generated).precision.value)
                apart += told_apart(near.reference, near.generated, rng)
            cells.append(f"{np.mean(precision):.2f}, {apart} of {draws}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=("features", "layers", "views"))
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--work", type=Path, required=True, help="keeps what was computed")
    parser.add_argument("--draws", type=int, default=10)
    given = parser.parse_args()
    if not given.data.is_dir():
        sys.exit(f"there is no folder {given.data}; name that of CIFAR-10 with --data")
    if given.what == "features":
        compute(given.data, given.work)
    else:
        table(given.work, VIEWS if given.what == "views" else CANDIDATES, given.draws)


if __name__ == "__main__":
    main()
