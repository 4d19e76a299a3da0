"""Pictures that the generators of ``picture_generators.py`` have drawn, as they were kept."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

SIZE = 150
"""Pictures of each checkpoint that are compared."""
KINDS = {"gan": "GAN", "vae": "VAE"}
ABOUT = "a VAE and a GAN of 0.4 M numbers or fewer, trained on 1,500 photographs of 32 × 32"


def folder() -> Path:
    """Where the pictures of the checkpoints lie."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("CALIPERS_GENERATORS") or cache / "calipers-generators")


def file_of(kind: str, seed: int, step: int) -> Path:
    """Where the pictures of one checkpoint lie."""
    return folder() / f"{kind}-{seed}-{step}.npz"


def drawn(seed: int = 0) -> dict[str, np.ndarray]:
    """Give the first pictures of every checkpoint, uint8 of shape (150, 32, 32, 3), by its name."""
    found = {}
    for kind, name in KINDS.items():
        paths = folder().glob(f"{kind}-{seed}-*.npz")
        for step, path in sorted((int(path.stem.split("-")[2]), path) for path in paths):
            with np.load(path, allow_pickle=False) as kept:
                spent = float(kept["seconds"])
                found[f"{name}, {step:,} steps ({spent:.0f} s)"] = kept["images"][:SIZE]
    return found
