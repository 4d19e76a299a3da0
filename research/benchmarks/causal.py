"""Any causal model against mauve-text's own featuriser as it comes (batch 1), on the same tokens.

    python research/benchmarks/causal.py --n 200 --threads 2

A model of the shape of GPT-2 (or, with ``--shape large``, GPT-2 large) is made with random weights,
and texts of 10 to 500 random tokens with it. Ours gives two views, theirs the last state of the
last token, which is our view ``meaning``. All sides run in one process, in turn in every round, so
that a busy moment hits all of them; each is warmed up on a few texts. Needs mauve-text.

On a graphics card (``--device cuda``) it also prints the share of the card's bfloat16 peak.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from calipers.embedders import embed
from calipers.embedders.models.find import FoundModel
from calipers.embedders.options import EmbedderOptions
from calipers.samples import SampleSet

THEIRS = "mauve-text"
SHAPES = {
    "tiny": {"n_embd": 64, "n_layer": 2, "n_head": 4},
    "small": {"n_embd": 768, "n_layer": 12, "n_head": 12},
    "large": {"n_embd": 1280, "n_layer": 36, "n_head": 20},
}
PEAKS = {"H100": 989, "H200": 989, "A100": 312, "L40": 362, "L4": 121, "A10": 125, "4090": 165}
"""TFLOP/s in bfloat16 with float32 sums, without sparsity, by the makers' data sheets."""
Vectors = Callable[[list[np.ndarray]], np.ndarray]


def make_model(shape: str, folder: Path) -> None:
    import tokenizers
    import torch
    import transformers

    transformers.logging.disable_progress_bar()
    torch.manual_seed(0)
    config = transformers.GPT2Config(**SHAPES[shape])
    transformers.GPT2Model(config).save_pretrained(folder)
    words = {f"t{token}": token for token in range(config.vocab_size)}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="t0"))
    end = f"t{config.eos_token_id}"
    transformers.PreTrainedTokenizerFast(tokenizer_object=made, eos_token=end).save_pretrained(
        folder
    )


def make_texts(n: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.integers(0, 50_000, length) for length in rng.integers(10, 501, n)]


def theirs(folder: Path, device: str) -> Vectors:
    import torch
    from mauve.utils import featurize_tokens_from_model, get_model, get_tokenizer

    tokenizer = get_tokenizer(str(folder))
    model = get_model(str(folder), tokenizer, 0 if device == "cuda" else -1)

    def work(texts: list[np.ndarray]) -> np.ndarray:
        tokens = [torch.from_numpy(each)[None] for each in texts]
        return featurize_tokens_from_model(model, tokens, 1).numpy()

    return work


def ours(folder: Path, device: str, dtype: str) -> tuple[str, Vectors]:
    from calipers.embedders.states.transformer import TransformersEmbedder

    options = EmbedderOptions(device=device, dtype=dtype)
    embedder = TransformersEmbedder(FoundModel(folder, "gpt2", "random", {}), options)

    def work(texts: list[np.ndarray]) -> np.ndarray:
        samples = SampleSet.from_tokens(texts, name="texts")
        return embed(samples, embedder).views["meaning"]

    return f"calipers {dtype} ({embedder.signature['dtype']})", work


def side_by_side(
    sides: dict[str, Vectors], texts: list[np.ndarray], repeats: int
) -> tuple[dict[str, list[float]], dict[str, np.ndarray]]:
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    found: dict[str, np.ndarray] = {}
    for work in sides.values():
        work(texts[:16])
    for _ in range(repeats):
        for name, work in sides.items():
            start = time.perf_counter()
            found[name] = work(texts)
            seconds[name].append(time.perf_counter() - start)
    return seconds, found


def operations(shape: str, texts: list[np.ndarray]) -> float:
    """Additions and multiplications of one pass, of attention only what its mask lets through."""
    width, layers = SHAPES[shape]["n_embd"], SHAPES[shape]["n_layer"]
    return sum(layers * (24 * width**2 * len(t) + 2 * width * len(t) ** 2) for t in texts)


def show(
    seconds: dict[str, list[float]], found: dict[str, np.ndarray], work: float, tokens: int
) -> None:
    base = statistics.median(seconds[THEIRS])
    for name, runs in seconds.items():
        median = statistics.median(runs)
        line = f"{name:26} {median:8.2f} s  ({min(runs):.2f} to {max(runs):.2f})"
        line += f"  {tokens / median:8,.0f} tokens/s  {work / median / 1e9:8,.0f} GFLOP/s"
        if name != THEIRS:
            apart = np.abs(found[name] - found[THEIRS]).max()
            line += f"  {base / median:.2f}x faster, largest difference {apart:.1e}"
            line += f", mean cosine {cosine(found[name], found[THEIRS]):.6f}"
        print(line)


def cosine(one: np.ndarray, two: np.ndarray) -> float:
    norms = np.linalg.norm(one, axis=1) * np.linalg.norm(two, axis=1)
    return float(((one * two).sum(axis=1) / norms).mean())


def show_share(rate: float, peak: float | None) -> None:
    import torch

    card = torch.cuda.get_device_name()
    peak = peak or next((most for name, most in PEAKS.items() if name in card), None)
    share = f"{rate / peak / 1e12:.1%} of its peak of {peak} TFLOP/s" if peak else "give --peak"
    print(f"{card}, bfloat16: {rate / 1e12:.0f} TFLOP/s, {share}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=1000, help="texts (default: 1000)")
    parser.add_argument("--threads", type=int, help="threads of torch (default: its own choice)")
    parser.add_argument("--repeats", type=int, default=3, help="rounds (default: 3)")
    parser.add_argument("--shape", choices=SHAPES, default="small")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--peak", type=float, help="the card's bfloat16 peak in TFLOP/s")
    options = parser.parse_args()
    os.environ["DISABLE_TQDM"] = "1"  # read by mauve-text
    try:
        import mauve.utils  # noqa: F401
        import torch
    except ImportError as error:
        sys.exit(f"{error}: pip install 'calipers[bench]' brings what this needs")
    if options.threads:
        torch.set_num_threads(options.threads)
    texts = make_texts(options.n)
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / "gpt2"  # mauve-text takes no model without such a name
        make_model(options.shape, folder)
        sides: dict[str, Any] = {THEIRS: theirs(folder, options.device)}
        sides |= dict(ours(folder, options.device, dtype) for dtype in ("float32", "auto"))
    where = f"{options.device}, {torch.get_num_threads()} threads, torch {torch.__version__}"
    print(f"{options.shape}: {len(texts)} texts, {where}, medians of {options.repeats} rounds")
    seconds, found = side_by_side(sides, texts, options.repeats)
    work = operations(options.shape, texts)
    show(seconds, found, work, sum(map(len, texts)))
    if options.device == "cuda":
        show_share(work / statistics.median(seconds[list(sides)[-1]]), options.peak)


if __name__ == "__main__":
    main()
