"""What a device of torch does beside the processor: neighbours, cells, axes, kernels, embedding.

python research/benchmarks/gpu.py                            # all, at 100,000 and 1,000,000 x 1,024
python research/benchmarks/gpu.py --only support --n 100000 --d 384
python research/benchmarks/gpu.py --device cpu --small       # the same code on the processor

Where a slice is named, the same is measured on so many rows on the device and on the processor, and
what differs is printed: of counts none may.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from _samples import Sets, samples
from calipers import metrics
from calipers.engine.torch_passes import TorchPasses
from calipers.engine.torch_products import TorchProducts
from calipers.estimate import neighbourhoods
from calipers.estimate.knn.passes import passes_on
from calipers.estimate.products import products_on
from calipers.evaluate.engines import running_where
from calipers.options.comparison import CompareOptions
from calipers.progress import Silent

COUNTS = ("held", "inside", "own_nearest", "nearest")
SHOWN = ("precision", "recall", "density", "coverage")

PEAKS = {
    "H100 PCIe": (51e12, 756e12),
    "H100": (67e12, 989e12),
    "H200": (67e12, 989e12),
    "A100": (19.5e12, 312e12),
    "L40S": (91.6e12, 362e12),
    "L4": (30.3e12, 121e12),
    "RTX 4090": (82.6e12, 165e12),
}
"""FLOP/s by a part of the device's name, as its maker states them: float32, and dense bfloat16."""


@contextmanager
def on(device: str) -> Iterator[None]:
    """Measure as `--device` does; on the processor by the same code as on a GPU."""
    with ExitStack() as stack:
        if device == "cpu":
            stack.enter_context(passes_on(TorchPasses("cpu")))
            stack.enter_context(products_on(TorchProducts("cpu", fewest=0)))
        else:
            stack.enter_context(running_where(CompareOptions(device=device), Silent()))
        yield


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of a call, and what it gave."""
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def peak_of(device: str, given: float | None, *, bfloat16: bool = False) -> float | None:
    """FLOP/s of a device: as given, or as its maker states them."""
    if given is not None or device == "cpu":
        return given
    import torch

    name = torch.cuda.get_device_name(device)
    return next((both[bfloat16] for part, both in PEAKS.items() if part in name), None)


def rate(operations: float, seconds: float, peak: float | None) -> str:
    """Operations a second in words, with the share of the peak where that is known."""
    share = f", {operations / seconds / peak:.0%} of {peak / 1e12:g} TFLOP/s" if peak else ""
    return f"{operations / seconds / 1e12:.3g} TFLOP/s{share}"


def support(sets: Sets, chosen: argparse.Namespace) -> None:
    """Precision, recall, density and coverage; counts held against the processor's on a slice."""
    n, d = sets[0].shape
    with on(chosen.device):
        metrics.support(*(rows[:500] for rows in sets), k=4)  # kernels are compiled, caches filled
        seconds, found = timed(lambda: metrics.support(*sets, k=4))
    peak = peak_of(chosen.device, chosen.peak)
    print(f"  P, R, D, C      {seconds:9.2f} s  {rate(4 * n * n * d, seconds, peak)}")
    values = ", ".join(f"{name} {getattr(found, name).value:.4f}" for name in SHOWN)
    print(f"                  {values}")
    cut = tuple(rows[: chosen.slice] for rows in sets)
    with on(chosen.device):
        there = neighbourhoods(*cut, k=4)
    own, here = timed(lambda: neighbourhoods(*cut, k=4))
    different = sum(
        int((getattr(getattr(there, side), name) != getattr(getattr(here, side), name)).sum())
        for side in ("reference", "generated")
        for name in COUNTS
    )
    print(f"                  processor, {len(cut[0]):,} rows a side: {own:.2f} s")
    print(f"                  counts and neighbours that differ: {different}")


def score(name: str, of: Callable[..., float]) -> Callable[[Sets, argparse.Namespace], None]:
    """Time a score on the device, and hold it against the processor's on a slice."""

    def measure(sets: Sets, chosen: argparse.Namespace) -> None:
        cut = tuple(rows[: chosen.slice] for rows in sets)
        with on(chosen.device):
            seconds, value = timed(lambda: of(*sets))
            there = of(*cut)
        own, here = timed(lambda: of(*cut))
        print(f"  {name:15s} {seconds:9.2f} s  {value:.6g}")
        print(
            f"                  processor, {len(cut[0]):,} rows a side: {own:.2f} s; "
            f"{there:.9g} and {here:.9g} differ by {abs(there - here):.1e}"
        )

    return measure


def axes(sets: Sets, chosen: argparse.Namespace) -> None:
    """Principal axes of the union that keep 90 % of its variance, and coordinates on them."""
    with on(chosen.device):
        seconds, found = timed(lambda: metrics.preprocess(*sets, norm="none", pca=0.9))
    q = found.reference.shape[1]
    print(f"  axes            {seconds:9.2f} s  {q} axes keep {found.explained_variance:.4f}")


def model_folder(folder: Path, *, small: bool) -> int:
    """Make a BERT with random weights and a vocabulary of words; give its weights in its layers."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *(f"w{i}" for i in range(1_000))]
    tokenizer = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    marks = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **marks).save_pretrained(folder)
    width, layers = (64, 2) if small else (1024, 24)  # 24 x 1,024 is BERT-large
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=width // 64,
        intermediate_size=4 * width,
        max_position_embeddings=512,
    )
    model = BertModel(config)
    model.save_pretrained(folder)
    return sum(each.numel() for each in model.encoder.parameters())


def embedding(chosen: argparse.Namespace) -> None:
    """Tokens a second of a transformers model, and its share of the device's peak."""
    from calipers.embedders import load_embedder

    rng, count = np.random.default_rng(0), 64 if chosen.small else 8_192
    texts = [
        " ".join(f"w{i}" for i in rng.integers(0, 1_000, size))
        for size in rng.integers(20, 400, count)
    ]
    tokens = sum(text.count(" ") + 3 for text in texts)
    with tempfile.TemporaryDirectory() as folder:
        weights = model_folder(Path(folder), small=chosen.small)
        for dtype in ("float32", "auto"):
            embedder = load_embedder(folder, device=chosen.device, dtype=dtype)
            embedder.embed(texts[:16])
            seconds, _ = timed(lambda model=embedder: model.embed(texts))
            bfloat16 = embedder.signature["dtype"] != "float32"
            peak = peak_of(chosen.device, chosen.peak, bfloat16=bfloat16)
            print(
                f"  embedding {embedder.signature['dtype']:9s} {tokens / seconds:12,.0f} tokens/s"
                f"  {rate(2 * weights * tokens, seconds, peak)}, {weights / 1e6:.1f} M weights"
            )


MEASURED: dict[str, Callable[[Sets, argparse.Namespace], None]] = {
    "support": support,
    "mauve": score("MAUVE*", lambda *sets: metrics.mauve(*sets).mauve_star.value),
    "axes": axes,
    "mmd": score("MMD", lambda *sets: metrics.mmd(*sets).value),
    "frechet": score("Fréchet", lambda *sets: metrics.frechet_distance(*sets).value),
}


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="cuda", help="such as cuda, cuda:1, or cpu")
    parser.add_argument("--n", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--d", type=int, default=1_024)
    parser.add_argument("--slice", type=int, default=20_000, help="rows for the processor too")
    parser.add_argument("--peak", type=float, help="FLOP/s of the device; else by its name")
    parser.add_argument("--only", nargs="+", choices=[*MEASURED, "embedding"])
    parser.add_argument("--small", action="store_true", help="2,000 x 64, to try the script")
    chosen = parser.parse_args()
    if chosen.small:
        chosen.n, chosen.d, chosen.slice = [2_000], 64, 1_000
    asked = chosen.only or [*MEASURED, "embedding"]
    print(f"device {chosen.device}")
    for n in chosen.n if set(asked) & set(MEASURED) else []:
        sets = samples(n, chosen.d)
        print(f"{n:,} x {chosen.d:,} a side")
        for name in asked:
            if name in MEASURED:
                MEASURED[name](sets, chosen)
    if "embedding" in asked:
        embedding(chosen)


if __name__ == "__main__":
    main()
