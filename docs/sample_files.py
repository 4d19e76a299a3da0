"""Write the small files of the tutorials into the current folder, from texts inside Python.

``python docs/sample_files.py`` writes

- ``human.txt`` and ``held_out.txt``: paragraphs that people wrote, of one kind;
- ``weak.txt`` and ``collapsed.txt``: a Markov chain of them, and near copies of five;
- ``forgetful.jsonl``: ``held_out.txt`` without the paragraphs about classes;
- ``train.txt``, ``unseen.txt`` and ``synthetic.txt``: what a generator is trained on, texts that it
has
  not seen, and a set of which a fifth are copies of the first and a tenth repeats itself;
- ``real/``, ``fake/``: small pictures of discs, and pictures of which some kinds are missing.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from PIL import Image

from calipers.demo.systems import systems

SEED = 0


def write_texts() -> None:
    """Write the files of texts."""
    human, models = systems(SEED)
    held_out = models["held_out"]
    unseen, fresh = held_out[:169], held_out[169:]
    files = {
        "human": human,
        "held_out": held_out,
        "weak": models["markov_chain"],
        "collapsed": models["near_copies"],
        "train": human,
        "unseen": unseen,
        "synthetic": human[:34] + fresh[:119] + fresh[:16],
    }
    for name, texts in files.items():
        Path(f"{name}.txt").write_text("".join(f"{text}\n" for text in texts), "utf-8")
    kept = [{"text": text} for text in held_out if "class" not in text]
    Path("forgetful.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in kept), "utf-8")


def disc(rng: np.random.Generator, places: int) -> Image.Image:
    """Draw a bright disc near one of `places` places, on a grey ground of 16 x 16 pixels."""
    place = rng.integers(places)
    x, y = 4 + 8 * (place % 2), 4 + 8 * (place // 2)
    rows, columns = np.mgrid[:16, :16] - rng.normal(0, 0.5, 2)[:, None, None]
    light = np.exp(-((rows - y) ** 2 + (columns - x) ** 2) / rng.uniform(6, 12))
    return Image.fromarray(np.uint8(60 + 180 * light))


def write_images(count: int = 200) -> None:
    """Write the folders of images: real discs in four places, generated ones in two of them."""
    rng = np.random.default_rng(SEED)
    for folder, places in (("real", 4), ("fake", 2)):
        Path(folder).mkdir(exist_ok=True)
        for number in range(count):
            disc(rng, places).save(Path(folder) / f"{number:03}.png")


if __name__ == "__main__":
    write_texts()
    write_images()
