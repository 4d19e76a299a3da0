"""The default text embedder by ONNX Runtime and OpenVINO, against ours and sentence-transformers.

    pip install onnx onnxscript onnxruntime openvino
    python research/benchmarks/runtimes.py --n 2000 --threads 2

The same weights are exported to ONNX once, with both views as outputs; both runtimes get texts
sorted by length, in padded batches of `--tokens` tokens, and the tokenizer that ours uses. All
sides run in one process, in turn in every round. ``int8`` (weights and states quantised as they
come) and OpenVINO's bfloat16 do not agree to 1e-4 and stand there for information.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from calipers.embedders import load_embedder
from calipers.embedders.minilm import (
    LAYERS,
    MAX_LENGTH,
    WIDTH,
    find_model,
    load_tokenizer,
)
from embedder import THEIRS, Views, cosine, lines, news, ours, side_by_side, theirs

Forward = Callable[[np.ndarray, np.ndarray], Any]


class BothViews(torch.nn.Module):
    """The model of transformers with both views as outputs."""

    def __init__(self) -> None:
        from transformers import AutoModel

        super().__init__()
        self.model = AutoModel.from_pretrained(str(find_model()), local_files_only=True)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, ...]:
        states = self.model(ids, attention_mask=mask, output_hidden_states=True).hidden_states
        shares = mask.unsqueeze(-1) / mask.sum(1)[:, None, None]
        meaning, form = ((states[layer] * shares).sum(1) for layer in LAYERS.values())
        return torch.nn.functional.normalize(meaning, dim=1), form


def export(path: Path) -> None:
    """Write the model as ONNX, for any number and length of texts."""
    ids = torch.ones((2, 16), dtype=torch.int64)
    axes = {name: {0: "texts", 1: "tokens"} for name in ("ids", "mask")}
    axes |= {name: {0: "texts"} for name in LAYERS}
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tracing warns of branches that these inputs fix
        torch.onnx.export(
            BothViews().eval(),
            (ids, torch.ones_like(ids)),
            str(path),
            input_names=["ids", "mask"],
            output_names=list(LAYERS),
            dynamic_axes=axes,
            dynamo=False,
        )


def onnx_runtime(path: Path, threads: int) -> Forward:
    import onnxruntime

    choices = onnxruntime.SessionOptions()
    choices.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(str(path), choices, ["CPUExecutionProvider"])
    return lambda ids, mask: session.run(list(LAYERS), {"ids": ids, "mask": mask})


def openvino(path: Path, threads: int, precision: str) -> Forward:
    import openvino

    choices = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": precision}
    model = openvino.Core().compile_model(str(path), "CPU", choices)

    def forward(ids: np.ndarray, mask: np.ndarray) -> list[np.ndarray]:
        found = model({"ids": ids, "mask": mask})
        return [np.array(found[name]) for name in LAYERS]

    return forward


def quantised(path: Path) -> Path:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    small = path.with_name("int8.onnx")
    quantize_dynamic(str(path), str(small), weight_type=QuantType.QInt8)
    return small


def through(forward: Forward, texts: list[str], tokens: int) -> Callable[[], Views]:
    """Tokenise, sort, pad and run, as a backend would."""
    tokenizer = load_tokenizer()
    tokenizer.enable_truncation(MAX_LENGTH)

    def work() -> Views:
        ids = [each.ids for each in tokenizer.encode_batch_fast(texts)]
        order = sorted(range(len(ids)), key=lambda row: -len(ids[row]))
        views = {name: np.empty((len(ids), WIDTH), dtype=np.float32) for name in LAYERS}
        while order:
            rows = order[: max(tokens // len(ids[order[0]]), 1)]
            order = order[len(rows) :]
            found = forward(*_padded([ids[row] for row in rows]))
            for name, vectors in zip(LAYERS, found, strict=True):
                views[name][rows] = vectors
        return views

    return work


def _padded(ids: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    lengths = np.array([len(each) for each in ids])
    mask = (np.arange(lengths.max()) < lengths[:, None]).astype(np.int64)
    packed = np.zeros_like(mask)
    packed[mask.astype(bool)] = np.concatenate(ids)
    return packed, mask


def show(seconds: dict[str, list[float]], views: dict[str, Views], base: str) -> None:
    theirs_, ours_ = (statistics.median(seconds[name]) for name in (THEIRS, base))
    for name, runs in seconds.items():
        median = statistics.median(runs)
        line = f"{name:28} {median:7.2f} s  ({min(runs):.2f} to {max(runs):.2f})"
        line += f"  {theirs_ / median:.2f}x theirs  {ours_ / median:.2f}x ours"
        for view in set(views[name]) & set(views[base]):
            found, expected = views[name][view], views[base][view]
            line += f"\n{'':30}{view}: largest difference {np.abs(found - expected).max():.1e}"
            line += f", mean cosine {cosine(found, expected):.6f}"
        print(line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=2000)
    parser.add_argument("--texts", type=Path, help="a file with one text a line")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=2048, help="in a padded batch")
    parser.add_argument(
        "--processor", action="store_true", help="count processor time, for a machine in use"
    )
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    os.environ["RAYON_NUM_THREADS"] = str(options.threads)  # those of the tokenizers
    texts = lines(options.texts, options.n) if options.texts else news(options.n)
    sides = {THEIRS: theirs(texts, "cpu")}
    for dtype in ("float32", "auto"):
        sides[f"calipers {dtype}"] = ours(texts, load_embedder("minilm", device="cpu", dtype=dtype))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "minilm.onnx"
        export(path)
        runtimes = {
            "ONNX Runtime": onnx_runtime(path, options.threads),
            "OpenVINO float32": openvino(path, options.threads, "f32"),
            "OpenVINO bfloat16": openvino(path, options.threads, "bf16"),
            "ONNX Runtime int8": onnx_runtime(quantised(path), options.threads),
        }
        for name, forward in runtimes.items():
            sides[name] = through(forward, texts, options.tokens)
        print(f"{len(texts)} texts, {options.threads} threads, torch {torch.__version__}", end=", ")
        print(f"medians of {options.repeats} interleaved runs,", end=" ")
        print("processor time" if options.processor else "time", end="; ")
        print("differences from calipers float32")
        clock = time.process_time if options.processor else time.perf_counter
        seconds, views = side_by_side(sides, options.repeats, clock)
    show(seconds, views, "calipers float32")


if __name__ == "__main__":
    main()
