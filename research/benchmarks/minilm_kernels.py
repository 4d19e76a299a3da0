"""The default embedder in compiled loops against the same encoder in torch, on the same texts.

    python research/benchmarks/minilm_kernels.py --data FOLDER --threads 1 2

Both compute float32 on the processor and take the same tokens; they run in turn in every round, so
that a busy moment hits both. The texts are AG News (title and description of each item in
``ag_news/test.csv``), their first 50 signs, as long as a caption, and all of them end to end, cut
every 200 words. Printed are texts per second, the median ratio of the rounds, and the largest
difference in both views. ``--start`` shows instead how long a process takes to load the embedder
and embed one text.
"""

from __future__ import annotations

import argparse
import csv
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("CALIPERS_DATA", ROOT.parent / "shared" / "data"))
ONE_TEXT = "import calipers; calipers.load_embedder('minilm', device='cpu').embed(['one text'])"
IN_TORCH = (
    "import numpy as np; from calipers.embedders.minilm import TorchEncoder, load_tokenizer; "
    "ids = np.array(load_tokenizer().encode('one text').ids, np.int32); "
    "TorchEncoder('cpu', 'float32').put_means([ids], np.empty((2, 1, 384), np.float32))"
)


def corpora(path: Path, n: int) -> dict[str, list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        news = [f"{title}. {about}" for _, title, about in csv.reader(file)]
    words = " ".join(news).split()
    long = [" ".join(words[start : start + 200]) for start in range(0, len(words), 200)]
    return {
        "captions": [text[:50] for text in news[: 2 * n]],
        "news": news[:n],
        "200 words": long[: n // 4],
    }


def compare(name: str, texts: list[str], threads: int, rounds: int) -> None:
    from calipers.embedders.minilm import MiniLM, TorchEncoder
    from calipers.numeric.threads import limit_threads

    ours, torchs = MiniLM(device="cpu"), MiniLM(device="cpu")
    torchs._encoder = TorchEncoder("cpu", "float32")
    seconds: dict[str, list[float]] = {"compiled": [], "torch": []}
    views = {}
    with limit_threads(threads):
        for round_ in range(rounds + 1):
            for side, embedder in (("compiled", ours), ("torch", torchs)):
                start = time.perf_counter()
                parts = [
                    embedder.encode(texts[first : first + embedder.at_once]).views
                    for first in range(0, len(texts), embedder.at_once)
                ]
                if round_:  # the first round warms up
                    seconds[side].append(time.perf_counter() - start)
                views[side] = {v: np.concatenate([part[v] for part in parts]) for v in parts[0]}
    rates = {side: len(texts) / statistics.median(taken) for side, taken in seconds.items()}
    ratio = statistics.median(
        theirs / own for own, theirs in zip(seconds["compiled"], seconds["torch"], strict=True)
    )
    apart = ", ".join(
        f"{view} {np.abs(views['compiled'][view] - other).max():.1e} of {np.abs(other).max():.2f}"
        for view, other in views["torch"].items()
    )
    print(
        f"{name:10} {len(texts):5} texts, {threads} threads: compiled {rates['compiled']:6.1f}/s, "
        f"torch {rates['torch']:6.1f}/s, ratio {ratio:.2f}; largest difference: {apart}",
        flush=True,
    )


def start(rounds: int) -> None:
    """Whole processes."""
    taken = {"compiled loops": ONE_TEXT, "torch": IN_TORCH}
    seconds: dict[str, list[float]] = {name: [] for name in taken}
    for _ in range(rounds):
        for name, code in taken.items():
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            seconds[name].append(time.perf_counter() - begin)
    for name, found in seconds.items():
        print(f"{name + ':':15} {statistics.median(found):5.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--n", type=int, default=500, help="news; captions twice as many")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--start", action="store_true")
    options = parser.parse_args()
    if options.start:
        start(options.rounds)
        return
    path = options.data / "ag_news" / "test.csv"
    if not path.is_file():
        sys.exit(f"{path} is missing: --data needs a folder that holds ag_news/test.csv")
    for threads in options.threads:
        os.environ["RAYON_NUM_THREADS"] = str(max(options.threads))  # those of the tokenizers
        for name, texts in corpora(path, options.n).items():
            compare(name, texts, threads, options.rounds)


if __name__ == "__main__":
    main()
