"""A causal model on many texts at a time against plain transformers, one text at a time.

    python research/benchmarks/language_model.py --texts test.csv --n 200 --threads 2

A model of the shape of GPT-2 is made with random weights (by default 8 layers 256 wide with 8,000
tokens, 8 million parameters), and a byte-level tokenizer of the texts. Likelihood: the
log-probability of every token, ours against `log_softmax` of the logits of one text after the
other. Generation: some tokens behind the first ten words of each text, by nucleus sampling, ours
against `model.generate` prompt by prompt. Both sides run in one process, in turn in every round, so
that a busy moment hits both; printed are medians, by the clock and of processor time, their ratios,
and the largest difference of a log-probability. Greedy texts must be those of transformers, but for
near-ties.

Without `--texts` (a CSV file whose last column holds texts) the texts of the demo are taken; with
`--model FOLDER` a model of transformers in place of the random one. Likelihood is also measured
with all logits of a pass at once (`all logits`), as for models that are not a body and a head.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from calipers.embedders.options import EmbedderOptions
from calipers.language_model.causal import load_causal
from calipers.language_model.decoding import Decoding
from calipers.language_model.model import Passage, Request

SHAPES = {
    "5M": {"n_embd": 192, "n_layer": 8, "n_head": 6, "vocab_size": 8_000},
    "8M": {"n_embd": 256, "n_layer": 8, "n_head": 8, "vocab_size": 8_000},
    "16M": {"n_embd": 256, "n_layer": 4, "n_head": 8, "vocab_size": 50_257},
    "19M": {"n_embd": 384, "n_layer": 8, "n_head": 6, "vocab_size": 12_000},
}


def read_texts(path: str | None, n: int) -> list[str]:
    if path is None:
        from calipers.demo.corpora import paragraphs

        return paragraphs()[:n]
    with open(path, encoding="utf-8", newline="") as file:
        return [row[-1] for row, _ in zip(csv.reader(file), range(n), strict=False)]


def make_model(shape: str, texts: list[str], folder: Path) -> None:
    import tokenizers
    import torch
    import transformers

    transformers.logging.disable_progress_bar()
    transformers.logging.set_verbosity_error()
    made = tokenizers.ByteLevelBPETokenizer()
    size = SHAPES[shape]["vocab_size"]
    made.train_from_iterator(
        texts, vocab_size=size, special_tokens=["<|endoftext|>"], show_progress=False
    )
    mark = "<|endoftext|>"
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=made._tokenizer, bos_token=mark, eos_token=mark
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        **SHAPES[shape], n_positions=512, bos_token_id=0, eos_token_id=0
    )
    model = transformers.GPT2LMHeadModel(config)
    model.save_pretrained(folder)


Runs = dict[str, list[tuple[float, float]]]
"""Name of a side to the seconds of its rounds, by the clock and of processor time."""


def side_by_side(sides: dict[str, Callable[[], Any]], repeats: int) -> tuple[Runs, dict[str, Any]]:
    runs: Runs = {name: [] for name in sides}
    found: dict[str, Any] = {}
    for _ in range(repeats):
        for name, work in sides.items():
            start = time.perf_counter(), time.process_time()
            found[name] = work()
            runs[name].append((time.perf_counter() - start[0], time.process_time() - start[1]))
    return runs, found


def show(what: str, runs: Runs, tokens: int) -> None:
    print(what)
    middles = {
        name: [statistics.median(each) for each in zip(*own, strict=True)]
        for name, own in runs.items()
    }
    for name, (clock, processor) in middles.items():
        times = [each[0] for each in runs[name]]
        spread = f"({min(times):.2f} to {max(times):.2f})"
        print(
            f"  {name:14}{clock:8.2f} s {spread:18} {processor:8.2f} s of processor time "
            f"{tokens / clock:9,.0f} tokens/s"
        )
    *others, ours = middles.values()
    for name, one in zip(middles, others, strict=False):
        ratios = [theirs / mine for theirs, mine in zip(one, ours, strict=True)]
        print(f"  {name}: {ratios[0]:.2f} times by the clock, {ratios[1]:.2f} of processor time")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", help="a CSV file whose last column holds texts")
    parser.add_argument("--n", type=int, default=200, help="texts (default: 200)")
    parser.add_argument("--shape", choices=SHAPES, default="8M")
    parser.add_argument("--model", help="folder of a model of transformers; the random one if none")
    parser.add_argument("--max-tokens", type=int, default=64, help="of a continuation (64)")
    parser.add_argument("--threads", type=int, default=2, help="threads of torch (default: 2)")
    parser.add_argument("--repeats", type=int, default=3, help="rounds (default: 3)")
    parser.add_argument("--part", choices=("likelihood", "generation"), help="one of the two only")
    options = parser.parse_args()

    import torch
    import transformers

    torch.set_num_threads(options.threads)
    texts = read_texts(options.texts, options.n)
    with tempfile.TemporaryDirectory() as root:
        if options.model is None:
            make_model(options.shape, texts, Path(root))
        folder = options.model or root
        ours = load_causal(folder, EmbedderOptions(device="cpu"))
        model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype="float32").eval()
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    size = sum(weight.numel() for weight in model.parameters())

    @torch.inference_mode()
    def plain_scores() -> np.ndarray:
        found = []
        for text in texts:
            ids = tokenizer(text, return_tensors="pt").input_ids
            if ids.shape[1] < 2:
                continue
            logits = model(ids).logits[0, :-1].log_softmax(-1)
            found.append(logits.gather(1, ids[0, 1:, None])[:, 0].double().numpy())
        return np.concatenate(found)

    def our_scores(divided: bool) -> np.ndarray:
        before, ours._divided = ours._divided, ours._divided and divided
        try:
            return ours.score([Passage(text) for text in texts]).log_probability
        finally:
            ours._divided = before

    prompts = [" ".join(text.split()[:10]) for text in texts]

    @torch.inference_mode()
    def plain_texts(**how: Any) -> list[str]:
        found = []
        for prompt in prompts:
            ids = tokenizer(prompt, return_tensors="pt").input_ids
            made = model.generate(ids, max_new_tokens=options.max_tokens, pad_token_id=0, **how)[
                0, ids.shape[1] :
            ]
            found.append(tokenizer.decode(made, skip_special_tokens=True))
        return found

    def our_texts(decoding: str) -> list[str]:
        requests = [Request(row, prompt) for row, prompt in enumerate(prompts)]
        made = ours.generate(
            requests, Decoding.parse(decoding), max_tokens=options.max_tokens, seed=0
        )
        return [each.text for each in sorted(made, key=lambda each: each.id)]

    print(
        f"{type(model).__name__} of {size / 1e6:.1f} million parameters, {len(texts)} texts, "
        f"{options.threads} threads, torch {torch.__version__}, medians of {options.repeats} rounds"
    )
    ours.score([Passage(text) for text in texts[:8]])
    if options.part != "generation":
        sides: dict[str, Any] = {
            "one at a time": plain_scores,
            "all logits": lambda: our_scores(False),
            "ours": lambda: our_scores(True),
        }
        runs, found = side_by_side(sides, options.repeats)
        show("log-probabilities", runs, len(found["ours"]))
        for name in ("one at a time", "all logits"):
            apart = np.abs(found["ours"] - found[name]).max()
            print(f"  largest difference from {name}: {apart:.1e}")
    if options.part != "likelihood":
        sides = {
            "one at a time": lambda: plain_texts(do_sample=True, top_p=0.9, top_k=0),
            "ours": lambda: our_texts("top_p=0.9"),
        }
        runs, _ = side_by_side(sides, options.repeats)
        show("nucleus sampling", runs, len(texts) * options.max_tokens)
        one, two = plain_texts(do_sample=False), our_texts("greedy")
        same = sum(a == b for a, b in zip(one, two, strict=True))
        print(f"  greedy: {same} of {len(texts)} texts are those of transformers")


if __name__ == "__main__":
    main()
