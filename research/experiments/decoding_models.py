"""Small GPT-2-shaped models, trained on AG News for the experiment on decoding algorithms.

    python research/experiments/decoding_models.py test.csv --output models/

A byte-level BPE tokenizer and three models of growing width and depth are trained on the texts that
the experiment keeps for training (5,100 of 7,600); each is kept as it was when its loss on 500
validation texts was lowest. The remaining 2,000 texts are the reference of
research/experiments/decoding.py.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import time
from pathlib import Path

import numpy as np

SIZES = {
    "small": {"n_embd": 48, "n_layer": 1, "n_head": 2},
    "medium": {"n_embd": 128, "n_layer": 3, "n_head": 4},
    "large": {"n_embd": 192, "n_layer": 4, "n_head": 6},
}
VOCABULARY, CONTEXT = 4_096, 128
REFERENCE, VALIDATION = 2_000, 500
EPOCHS, BATCH, RATE = 14, 32, 2e-3
END = "<|endoftext|>"


def read_parts(path: Path, *, seed: int = 0) -> dict[str, list[str]]:
    """Read AG News (label, title, description) and divide it."""
    with open(path, newline="", encoding="utf-8") as file:
        texts = [f"{row[1].strip()}. {row[2].strip()}" for row in csv.reader(file)]
    order = np.random.default_rng(seed).permutation(len(texts))
    shuffled = [" ".join(texts[row].split()) for row in order]
    return {
        "reference": shuffled[:REFERENCE],
        "validation": shuffled[REFERENCE : REFERENCE + VALIDATION],
        "train": shuffled[REFERENCE + VALIDATION :],
    }


def train_tokenizer(texts: list[str], folder: Path) -> None:
    """Train a byte-level BPE tokenizer and keep it as transformers loads it."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import GPT2TokenizerFast

    made = ByteLevelBPETokenizer()
    made.train_from_iterator(texts, VOCABULARY, min_frequency=2, special_tokens=[END])
    folder.mkdir(parents=True, exist_ok=True)
    made.save(str(folder / "tokenizer.json"))
    tokenizer = GPT2TokenizerFast(
        tokenizer_file=str(folder / "tokenizer.json"),
        bos_token=END,
        eos_token=END,
        unk_token=END,
        model_max_length=CONTEXT,
    )
    tokenizer.save_pretrained(folder)


def train(size: str, parts: dict[str, list[str]], folder: Path, *, epochs: int) -> dict[str, float]:
    """Train one model and keep it; give what is known of it."""
    import torch
    from transformers import AutoTokenizer, GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    end = tokenizer.eos_token_id
    coded = {name: _coded(tokenizer(texts)["input_ids"], end) for name, texts in parts.items()}
    config = GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=CONTEXT,
        bos_token_id=end,
        eos_token_id=end,
        resid_pdrop=0.15,
        embd_pdrop=0.15,
        attn_pdrop=0.15,
        **SIZES[size],
    )
    model = GPT2LMHeadModel(config)
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.05, betas=(0.9, 0.98))
    batches = math.ceil(len(coded["train"]) / BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, max_lr=RATE, total_steps=epochs * batches, pct_start=0.1
    )
    rng, best, started = np.random.default_rng(0), math.inf, time.perf_counter()
    for epoch in range(epochs):
        model.train()
        for batch in _batches(coded["train"], rng):
            loss = model(**_padded(batch, end)).loss
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
        held_out = _loss(model, coded["validation"], end)
        seconds = time.perf_counter() - started
        print(
            f"{size} epoch {epoch + 1}: validation {math.exp(held_out):.1f}, {seconds:.0f} s",
            flush=True,
        )
        if held_out < best:
            best = held_out
            model.save_pretrained(folder)
    return {
        "parameters": sum(p.numel() for p in model.parameters()),
        "validation_perplexity": math.exp(best),
        "seconds": time.perf_counter() - started,
    }


def _coded(texts: list[list[int]], end: int) -> list[list[int]]:
    return [[end, *ids[: CONTEXT - 2], end] for ids in texts]


def _batches(texts: list[list[int]], rng: np.random.Generator) -> list[list[list[int]]]:
    """Texts of about one length together, in a random order."""
    noisy = np.array([len(text) for text in texts]) + rng.uniform(0, 4, len(texts))
    order = np.argsort(noisy)
    made = [[texts[row] for row in order[i : i + BATCH]] for i in range(0, len(texts), BATCH)]
    rng.shuffle(made)
    return made


def _padded(batch: list[list[int]], end: int) -> dict[str, object]:
    import torch

    longest = max(map(len, batch))
    ids = torch.tensor([text + [end] * (longest - len(text)) for text in batch])
    mask = torch.tensor([[1] * len(text) + [0] * (longest - len(text)) for text in batch])
    return {
        "input_ids": ids,
        "attention_mask": mask,
        "labels": torch.where(mask.bool(), ids, torch.tensor(-100)),
    }


def _loss(model: object, texts: list[list[int]], end: int) -> float:
    import torch

    model.eval()
    total = count = 0.0
    with torch.inference_mode():
        for start in range(0, len(texts), BATCH):
            batch = texts[start : start + BATCH]
            tokens = sum(len(text) - 1 for text in batch)
            total += float(model(**_padded(batch, end)).loss) * tokens
            count += tokens
    return total / count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("data", type=Path, help="test.csv of AG News: label, title, description")
    parser.add_argument("--output", type=Path, required=True, help="folder for the models")
    parser.add_argument("--sizes", nargs="+", default=list(SIZES), choices=list(SIZES))
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    options = parser.parse_args()
    parts = read_parts(options.data)
    for size in options.sizes:
        folder = options.output / size
        train_tokenizer(parts["train"], folder)
        about = train(size, parts, folder, epochs=options.epochs)
        (folder / "training.json").write_text(json.dumps(about, indent=1) + "\n")
        print(size, about, flush=True)


if __name__ == "__main__":
    main()
