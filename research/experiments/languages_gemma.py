"""Continue paragraphs of each language with Gemma 3 270M: texts for the experiment on languages.

    python research/experiments/languages_gemma.py --model gemma-3-270m --output machines/

MODEL is the folder of the base model as transformers loads it; no test of Calipers needs it. The
first 30 columns of each of the 250 paragraphs that are kept apart are continued by nucleus sampling
(p = 0.95, temperature 1), for about as many tokens as the paragraph has, and cut at the end of a
sentence near its length. A line of JSON for each text, a file for each language; a run that was
stopped goes on with the next language.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ag_news import DATA
from languages_texts import LANGUAGES, ended, kept_apart, paragraphs, prompt_of

BATCH, ROWS = 250, 16
LIKELY, GROUP = 2_048, 16
NUCLEUS = 0.95
SPARE, FEWEST, MOST = 12, 20, 100
"""Tokens beyond those of the paragraph, in which a sentence may end; the fewest and the most."""


def nucleus(logits: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Draw a token of each row from the fewest that hold 95 % of the probability."""
    likely, tokens = leading(logits)
    top = likely[:, :1]
    total = (logits.float() - top).exp_().sum(dim=1, keepdim=True)
    chances = (likely - top).exp_() / total
    drawn = torch.empty(len(logits), dtype=torch.long)
    flat = chances.sum(dim=1) < NUCLEUS
    for rows in (~flat).nonzero()[:, 0], flat.nonzero()[:, 0]:
        if not len(rows):
            continue
        known, names = chances[rows], tokens[rows]
        if bool(flat[rows[0]]):  # the likeliest tokens do not hold as much: look at all
            known, names = logits[rows].float().softmax(dim=1).sort(dim=1, descending=True)
        known[known.cumsum(dim=1) - known >= NUCLEUS] = 0
        drawn[rows] = names.gather(1, torch.multinomial(known, 1, generator=generator))[:, 0]
    return drawn


def leading(logits: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The likeliest tokens of each row, which lie in the groups whose largest are the largest."""
    groups = logits.view(len(logits), -1, GROUP)
    best = groups.amax(dim=2).topk(LIKELY, dim=1).indices
    among = groups.gather(1, best[:, :, None].expand(-1, -1, GROUP)).flatten(1)
    values, places = among.float().topk(LIKELY, dim=1)
    return values, best.gather(1, places // GROUP) * GROUP + places % GROUP


def continued(
    model: Any, prompts: list[list[int]], budgets: list[int], generator: torch.Generator, stop: int
) -> list[list[int]]:
    """Continue prompts by as many tokens as each may have, side by side."""
    longest = max(map(len, prompts))
    ids = torch.tensor([[0] * (longest - len(prompt)) + prompt for prompt in prompts])
    mask = torch.tensor([[0] * (longest - len(p)) + [1] * len(p) for p in prompts])
    rows, cache = torch.arange(len(prompts)), None
    written: list[list[int]] = [[] for _ in prompts]
    while len(rows):
        states = model.model(
            input_ids=ids,
            attention_mask=mask,
            position_ids=(mask.cumsum(dim=1) - 1).clamp(min=0)[:, -ids.shape[1] :],
            past_key_values=cache,
            use_cache=True,
        )
        cache, last = states.past_key_values, states.last_hidden_state[:, -1]
        tokens = torch.cat([nucleus(model.lm_head(part), generator) for part in last.split(ROWS)])
        for row, token in zip(rows.tolist(), tokens.tolist(), strict=True):
            written[row].append(token)
        going = [
            place
            for place, row in enumerate(rows.tolist())
            if written[row][-1] != stop and len(written[row]) < budgets[row]
        ]
        if len(going) < len(rows):
            kept = torch.tensor(going, dtype=torch.long)
            rows, tokens, mask = rows[kept], tokens[kept], mask[kept]
            if going:
                cache.batch_select_indices(kept)
        ids = tokens[:, None]
        mask = torch.cat([mask, torch.ones_like(ids)], dim=1)
    return [[token for token in tokens if token != stop] for tokens in written]


def texts_of(
    model: Any, tokenizer: Any, language: str, texts: list[str], done: int
) -> Iterator[list[str]]:
    """Continue the paragraphs that are not done, a batch at a time."""
    for first in range(done, len(texts), BATCH):
        part = texts[first : first + BATCH]
        prompts = [prompt_of(text, language) for text in part]
        ids = tokenizer(prompts)["input_ids"]
        lengths = [len(each) for each in tokenizer(part)["input_ids"]]
        budgets = [
            int(np.clip(length - len(prompt) + SPARE, FEWEST, MOST))
            for length, prompt in zip(lengths, ids, strict=True)
        ]
        generator = torch.Generator().manual_seed(first + 1000 * list(LANGUAGES).index(language))
        with torch.inference_mode():
            made = continued(model, ids, budgets, generator, tokenizer.eos_token_id)
        yield [
            ended(tokenizer.decode(prompt + more, skip_special_tokens=True), len(text))
            for prompt, more, text in zip(ids, made, part, strict=True)
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, required=True, help="folder of the model")
    parser.add_argument("--output", type=Path, required=True, help="folder for the texts")
    parser.add_argument("--data", type=Path, default=DATA, help="has languages/, writing_prompts/")
    parser.add_argument("--languages", nargs="+", choices=LANGUAGES, default=list(LANGUAGES))
    parser.add_argument("--dtype", choices=("bfloat16", "float32"), default="bfloat16")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(options.threads)
    tokenizer = AutoTokenizer.from_pretrained(options.model, local_files_only=True)
    model = AutoModelForCausalLM.from_pretrained(
        options.model, local_files_only=True, dtype=getattr(torch, options.dtype)
    ).eval()
    options.output.mkdir(parents=True, exist_ok=True)
    for language in options.languages:
        path = options.output / f"gemma-{language}.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        done = len(lines) // BATCH * BATCH
        texts = kept_apart(paragraphs(options.data, language), language)
        begun = time.monotonic()
        with path.open("a", encoding="utf-8") as file:
            for made in texts_of(model, tokenizer, language, texts, done):
                file.write("".join(json.dumps({"text": text}) + "\n" for text in made))
                file.flush()
        print(f"{language}: {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
