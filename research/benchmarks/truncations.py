"""Nucleus and locally typical sampling beside the processors of transformers, which sort all.

    python research/benchmarks/truncations.py                           # logits made at random
    python research/benchmarks/truncations.py --model FOLDER --texts FILE.jsonl

Both sides change the same logits of 50 texts over a vocabulary, on one thread, in turn in every
round; printed are milliseconds of processor time for a text, their ratio, and how many tokens one
side keeps and the other does not, at most: the sums of transformers are in the precision of the
logits, ours in float64, so that many near-equal tokens at the border can differ. The logits are
those of a model behind the first words of texts, or of a Zipf distribution with noise.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from torch import Tensor
from transformers.generation import logits_process

from calipers.language_model.processors import top_p, typical

VOCABULARIES = (49_152, 262_144)
TEXTS = 50
Change = Callable[[Tensor], Tensor]


def made(vocabulary: int) -> Tensor:
    """Logits of a Zipf distribution of exponent 1.5 with noise, another order for each text."""
    generator = torch.Generator().manual_seed(0)
    ranks = torch.arange(1, vocabulary + 1).float()
    rows = [ranks[torch.randperm(vocabulary, generator=generator)] for _ in range(TEXTS)]
    noise = torch.randn(TEXTS, vocabulary, generator=generator)
    return -1.5 * torch.stack(rows).log() + noise


def of_model(folder: Path, texts: Path) -> Tensor:
    """Logits of the token behind the first twenty of each text."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True).float().eval()
    lines = texts.read_text("utf-8").splitlines()[:TEXTS]
    ids = [tokenizer(json.loads(line)["text"])["input_ids"][:20] for line in lines]
    with torch.inference_mode():
        return torch.cat([model(torch.tensor([each])).logits[:, -1] for each in ids]).clone()


def sides(value: float) -> Iterator[tuple[str, Change, Change]]:
    """Our function and that of transformers, of both truncations."""
    theirs = logits_process.TopPLogitsWarper(value)
    yield f"top_p={value:g}", lambda logits: top_p(logits, value), lambda each: theirs(None, each)
    other = logits_process.TypicalLogitsWarper(value)
    yield f"typical={value:g}", lambda logits: typical(logits, value), lambda it: other(None, it)


def seconds(change: Change, logits: Tensor) -> float:
    """Processor time of a change."""
    given, start = logits.clone(), time.process_time()
    change(given)
    return time.process_time() - start


def main() -> None:
    """Time all changes of all logits and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, help="folder of a model of transformers")
    parser.add_argument("--texts", type=Path, help="JSON lines with the field text, for --model")
    parser.add_argument("--repeats", type=int, default=5, help="rounds (default: 5)")
    options = parser.parse_args()
    if options.model and not options.texts:
        parser.error("--model needs --texts")
    torch.set_num_threads(1)
    given = [of_model(options.model, options.texts)] if options.model else map(made, VOCABULARIES)
    for logits in given:
        for value in (0.2, 0.9, 0.95):
            for name, ours, theirs in sides(value):
                runs = [
                    (seconds(ours, logits), seconds(theirs, logits)) for _ in range(options.repeats)
                ]
                new, old = (statistics.median(side) for side in zip(*runs, strict=True))
                kept = [torch.isfinite(each(logits.clone())) for each in (ours, theirs)]
                apart = int((kept[0] != kept[1]).sum(1).max())
                print(
                    f"{logits.shape[1]:,} tokens, {name}: ours {new / len(logits) * 1e3:.2f} ms, "
                    f"transformers {old / len(logits) * 1e3:.2f} ms, {old / new:.1f}x; "
                    f"{int(kept[0].sum(1).float().median())} kept, at most {apart} apart"
                )


if __name__ == "__main__":
    main()
