"""BERTScore against the package bert-score on the same pairs, model, layer, idf and threads.

    python research/benchmarks/bertscore.py --n 2000 --threads 2

Each description of AG News is held against its title (``ag_news/test.csv``, in the folder that
CALIPERS_DATA names, by default ``../shared/data`` beside the checkout). Both sides load the model
in every run, and take turns in one process, so that a busy moment hits both. Then, untimed: several
references, and encoders of other kinds with random weights, which go through transformers.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from calipers.embedders.minilm import find_model
from calipers.text import bert_score

MODEL = find_model()
LAYER = 5
Values = np.ndarray


def news(n: int) -> tuple[list[str], list[str]]:
    root = Path(__file__).resolve().parents[2]
    path = Path(os.environ.get("CALIPERS_DATA", root.parent / "shared" / "data"))
    path = path / "ag_news" / "test.csv"
    if not path.is_file():
        sys.exit(f"{path} is missing: set CALIPERS_DATA to a folder that holds ag_news/test.csv")
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.reader(file) if row[1].strip() and row[2].strip()][:n]
    return [about for _, _, about in rows], [title for _, title, _ in rows]


def ours(texts: list[str], references: list, model: object, layer: int, idf: bool) -> Values:
    found = bert_score(texts, references, model=model, layer=layer, idf=idf, device="cpu")
    parts = (found.precision, found.recall, found.f1)
    return np.column_stack([part.per_sample for part in parts])


def theirs(
    texts: list[str], references: list, model: object, layer: int, idf: bool, batch: int = 64
) -> Values:
    import bert_score as peer
    import torch

    found = peer.score(
        texts,
        references,
        model_type=str(model),
        num_layers=layer,
        idf=idf,
        device="cpu",
        batch_size=batch,
        nthreads=torch.get_num_threads(),
    )
    return np.column_stack([part.numpy() for part in found])


def in_turn(asked: tuple, repeats: int) -> tuple[dict[str, list[float]], dict[str, Values]]:
    seconds: dict[str, list[float]] = {"theirs": [], "ours": []}
    values: dict[str, Values] = {}
    for round_ in range(repeats + 1):
        for side in (theirs, ours):
            start = time.perf_counter()
            values[side.__name__] = side(*asked)
            if round_:  # the first round warms up
                seconds[side.__name__].append(time.perf_counter() - start)
    return seconds, values


def timed(texts: list[str], references: list[str], repeats: int) -> None:
    for idf in (False, True):
        seconds, values = in_turn((texts, references, MODEL, LAYER, idf), repeats)
        medians = {name: statistics.median(runs) for name, runs in seconds.items()}
        for name, runs in seconds.items():
            print(f"{name:8} {medians[name]:7.2f} s  ({min(runs):.2f} to {max(runs):.2f})")
        ratio = medians["theirs"] / medians["ours"]
        print(f"idf {'on' if idf else 'off'}: {ratio:.2f}x faster, {differences(**values)}\n")


def differences(theirs: Values, ours: Values) -> str:
    largest = np.abs(theirs - ours).max(axis=0)
    return "largest difference P {:.1e}, R {:.1e}, F1 {:.1e}".format(*largest)


def several(texts: list[str], references: list[str]) -> None:
    groups = [list(group) for group in zip(references, [*references[1:], "news"], strict=True)]
    for idf in (False, True):
        pair = {side.__name__: side(texts, groups, MODEL, LAYER, idf) for side in (theirs, ours)}
        print(f"2 references, idf {'on' if idf else 'off'}: {differences(**pair)}")


@contextlib.contextmanager
def other_kinds(texts: list[str]) -> Iterator[dict[str, Path]]:
    """Folders of encoders with random weights and a byte-level tokenizer."""
    import tokenizers
    import torch
    import transformers

    sizes = {"vocab_size": 3000, "num_hidden_layers": 4, "num_attention_heads": 4}
    sizes |= {"hidden_size": 256, "intermediate_size": 1024, "max_position_embeddings": 258}
    configs = {
        "roberta": transformers.RobertaConfig(**sizes, pad_token_id=1),
        "albert": transformers.AlbertConfig(**sizes, embedding_size=128),
        "deberta-v2": transformers.DebertaV2Config(**sizes, relative_attention=True),
        "t5": transformers.T5Config(vocab_size=3000, d_model=256, d_ff=512, num_layers=4),
    }
    marks = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    words = tokenizers.ByteLevelBPETokenizer()
    words.train_from_iterator(texts, vocab_size=3000, special_tokens=marks, show_progress=False)
    with tempfile.TemporaryDirectory() as folder:
        words.save_model(folder)
        parts = {"vocab": f"{folder}/vocab.json", "merges": f"{folder}/merges.txt"}
        tokenizer = transformers.RobertaTokenizer(**parts, model_max_length=256)
        for name, config in configs.items():
            torch.manual_seed(0)
            transformers.AutoModel.from_config(config).save_pretrained(Path(folder) / name)
            tokenizer.save_pretrained(Path(folder) / name)
        yield {name: Path(folder) / name for name in configs}


def kinds(texts: list[str], references: list[str]) -> None:
    """Padding reaches the values of bert-score, so its batches of one pair are shown too."""
    print("\nrandom weights, layer 3, idf on; bert-score in batches of 64 and of 1")
    with other_kinds(texts) as folders:
        for name, folder in folders.items():
            asked = (texts, references, folder, 3, True)
            seconds, values = in_turn(asked, repeats=1)
            ratio = seconds["theirs"][0] / seconds["ours"][0]
            print(f"{name}: {ratio:.2f}x faster, {differences(**values)}")
            print(f"    alone: {differences(theirs(*asked, batch=1), values['ours'])}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=2000)
    parser.add_argument("--threads", type=int, help="threads of torch (default: its own choice)")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    import torch
    import transformers

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    if options.threads:
        torch.set_num_threads(options.threads)
        os.environ["RAYON_NUM_THREADS"] = str(options.threads)  # those of the tokenizers
    texts, references = news(options.n)
    where = f"{torch.get_num_threads()} threads, torch {torch.__version__}"
    print(f"{len(texts)} pairs, all-MiniLM-L6-v2, layer {LAYER}, {where}")
    print(f"medians of {options.repeats} runs in turn\n")
    timed(texts, references, options.repeats)
    several(texts, references)
    kinds(texts[:300], references[:300])


if __name__ == "__main__":
    main()
