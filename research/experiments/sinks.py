"""What the form view of a causal model measures where its mean holds the attention sink: length.

    python research/experiments/sinks.py MODEL_FOLDER [MODEL_FOLDER ...]

Human stories, the same kind on both sides: the first half cut to 30 words is the reference, the
second half is cut to 30, 36 and 45 words. A view of form should hardly tell them apart: no word
differs but those that were added. Of each model: how long the states of the first token and of
others are beside the median of their text, at the layer of the form view; MAUVE* (mean and standard
deviation over the seeds of its clustering) of the mean over all tokens and of the mean without
sinks, which the form view takes; and how well the length of a vector tells that of its text, over
texts of 5 to 60 words (absolute rank correlation).

Reads ``writing_prompts/human.jsonl`` in the folder that CALIPERS_DATA names, by default
``../shared/data`` beside the checkout.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from scipy.stats import spearmanr

import calipers
from ag_news import DATA
from calipers.embedders.models.find import FoundModel, find_model
from calipers.embedders.options import EmbedderOptions
from calipers.embedders.states.pooling import SentencePlan, form_layer
from calipers.embedders.states.transformer import TransformersEmbedder

REFERENCE, WORDS = 30, (30, 36, 45)
VIEWS = {"meaning": "all tokens", "form": "without sinks"}


def embedder(model: FoundModel) -> TransformersEmbedder:
    """One whose ``meaning`` is the mean over all tokens at the layer of ``form``."""
    options = EmbedderOptions(device="cpu", layer=form_layer(model.config["num_hidden_layers"]))
    return TransformersEmbedder(model, options, plan=SentencePlan(pooling="mean", normalise=False))


def cut(texts: Sequence[str], words: int) -> list[str]:
    return [" ".join(text.split()[:words]) for text in texts]


def norms(model: FoundModel, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Norms of first tokens and of all others, as multiples of the median of their text."""
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model.folder, local_files_only=True)
    plain = AutoModel.from_pretrained(model.folder, local_files_only=True, dtype=torch.float32)
    first, others = [], []
    for text in texts:
        with torch.inference_mode():
            states = plain(**tokenizer(text, return_tensors="pt"), output_hidden_states=True)
        layer = states.hidden_states[form_layer(model.config["num_hidden_layers"])][0]
        found = layer.norm(dim=1) / layer.norm(dim=1).median()
        first.append(float(found[0]))
        others += found[1:].tolist()
    return np.array(first), np.array(others)


def mauve(reference: np.ndarray, generated: dict[int, np.ndarray], seeds: int) -> dict[int, str]:
    found: dict[int, list[float]] = {words: [] for words in generated}
    systems = {str(words): rows for words, rows in generated.items()}
    for seed in range(seeds):
        compared = calipers.compare(
            reference, systems, metrics=["mauve_star"], normalise="l2", level=None, floor=False,
            seed=seed,
        )  # fmt: skip
        for words in generated:
            found[words].append(compared[str(words)]["mauve_star"].value)
    return {words: f"{np.mean(each):.2f} ± {np.std(each):.2f}" for words, each in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("models", nargs="+", metavar="MODEL_FOLDER")
    parser.add_argument("--data", type=Path, default=DATA, help="has writing_prompts/")
    parser.add_argument("--n", type=int, default=250, help="texts a side")
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    with (options.data / "writing_prompts" / "human.jsonl").open(encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file][: 2 * options.n]
    first, second = texts[: options.n], texts[options.n :]
    lengths = np.random.default_rng(0).integers(5, 61, len(first))
    varied = [cut([text], words)[0] for text, words in zip(first, lengths, strict=True)]
    head = " | ".join(f"MAUVE* {words} words" for words in WORDS)
    rows = [
        f"| model | mean over | {head} | length told |",
        "| --- |" + " --- |" * (2 + len(WORDS)),
    ]
    for name in options.models:
        model = find_model(name, EmbedderOptions())
        sink, others = norms(model, cut(first[:40], 60))
        print(
            f"{Path(name).name}: first tokens {sink.min():.1f} to {sink.max():.1f} times the "
            f"median of their text, others at most {others.max():.1f} times"
        )
        made = embedder(model)
        reference = made.embed(cut(first, REFERENCE)).views
        systems = {words: made.embed(cut(second, words)).views for words in WORDS}
        other = made.embed(varied).views
        for view, label in VIEWS.items():
            sets = {words: found[view] for words, found in systems.items()}
            scores = mauve(reference[view], sets, options.seeds)
            told = abs(spearmanr(np.linalg.norm(other[view], axis=1), lengths).statistic)
            cells = " | ".join(scores.values())
            rows.append(f"| {Path(name).name} | {label} | {cells} | {told:.2f} |")
    print("\n" + "\n".join(rows))


if __name__ == "__main__":
    main()
