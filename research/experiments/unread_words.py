"""How many words an embedder may fail to read before a comparison no longer sees a difference.

    python research/experiments/unread_words.py
    python research/experiments/unread_words.py --languages   # what MiniLM knows of six languages

Pairs of sets that differ (topics of AG News, continuations against stories, answers of language
models to other instructions than the reference's) lose words: each word becomes, with a chance, one
that MiniLM does not know. In other runs whole texts do. The table has, for each share, how much of
the scores is left and how often the classifier test still tells the sets apart, over all pairs; the
rows "equal" are two halves of one set that lose words on one side alone.

Reads ``ag_news``, ``writing_prompts``, ``alpaca_eval`` and ``languages`` in the folder that the
environment variable CALIPERS_DATA names, by default ``../shared/data`` beside the checkout.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from calipers.embedders.catalogue import load_embedder
from calipers.embedders.minilm import load_tokenizer
from calipers.embedders.reading import of_tokenizers
from calipers.metrics import mauve, precision_recall
from calipers.uncertainty.two_sample_classifier import classifier_test

DATA = Path(os.environ.get("CALIPERS_DATA", Path(__file__).resolve().parents[3] / "shared/data"))
UNKNOWN = "ముసలివాడు"
SHARES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0)
WORDS = 40
ANSWERS = ("alpaca-7b", "gemma-7b-it", "gpt4", "Mistral-7B-Instruct-v0.2", "vicuna-13b-v1.5")

Texts = list[str]
Lose = Callable[[Texts, float, np.random.Generator], Texts]


def pairs(folder: Path, n: int) -> Iterator[tuple[str, Texts, Texts]]:
    """Sets that differ, of n texts each."""
    topics: dict[str, Texts] = {}
    with (folder / "ag_news" / "test.csv").open(encoding="utf-8", newline="") as file:
        for topic, title, text in csv.reader(file):
            topics.setdefault(topic, []).append(f"{title}. {text}".replace("\\", " "))
    tenth = n // 10
    yield (
        "topics 50:50 / 30:70",
        topics["1"][: n // 2] + topics["3"][: n // 2],
        (topics["1"][-3 * tenth :] + topics["3"][-7 * tenth :]),
    )
    yield (
        "topics 50:50 / 40:60",
        topics["3"][: n // 2] + topics["4"][: n // 2],
        (topics["3"][-4 * tenth :] + topics["4"][-6 * tenth :]),
    )
    stories = {
        name: [
            json.loads(line)["text"]
            for line in (folder / "writing_prompts" / f"{name}.jsonl").open(encoding="utf-8")
        ]
        for name in ("human", "gpt2-xl", "gpt-neox-20b")
    }
    # Beyond the first 30 words, which are shared by stories and continuations
    for name in ("gpt2-xl", "gpt-neox-20b"):
        yield (
            f"human / {name}",
            *(
                [" ".join(text.split()[40:]) for text in side]
                for side in (stories["human"][:n], stories[name][-n:])
            ),
        )
    answers = {
        name: [
            each["output"]
            for each in json.loads(
                (folder / "alpaca_eval" / name / "model_outputs.json").read_text("utf-8")
            )
        ]
        for name in ("gpt4_1106_preview", *ANSWERS)
    }
    for name in ANSWERS:
        yield f"gpt4_1106 / {name}", answers["gpt4_1106_preview"][:n], answers[name][-n:]


def lose_words(texts: Texts, share: float, rng: np.random.Generator) -> Texts:
    """Each word becomes an unknown one with this chance."""
    return [
        " ".join(UNKNOWN if rng.random() < share else word for word in text.split()[:WORDS])
        for text in texts
    ]


def lose_texts(texts: Texts, share: float, rng: np.random.Generator) -> Texts:
    """All words of this share of the texts become unknown ones."""
    lost = rng.permutation(len(texts)) < round(share * len(texts))
    cut = [text.split()[:WORDS] for text in texts]
    return [
        " ".join([UNKNOWN] * len(words) if gone else words)
        for words, gone in zip(cut, lost, strict=True)
    ]


def rows(texts: Texts, view: str) -> np.ndarray:
    """Vectors of length one."""
    found = EMBEDDER.embed(texts).views[view]
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def projected(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both sets on the axes that keep 90 % of the variance of the two."""
    both = np.concatenate([x, y]).astype(float)
    both -= both.mean(axis=0)
    values, axes = np.linalg.svd(both, full_matrices=False)[1:]
    kept = np.searchsorted(np.cumsum(values**2) / max((values**2).sum(), 1e-30), 0.9) + 1
    rows = both @ axes[:kept].T
    return rows[: len(x)], rows[len(x) :]


def measure(x: Texts, y: Texts) -> tuple[float, ...]:
    """AUC, whether the test rejects, precision, recall, MAUVE*."""
    left, right = (rows(side, "meaning") for side in (x, y))
    test = classifier_test(*projected(left, right), permutations=199, seed=0)
    found = precision_recall(left, right)
    near = mauve(left, right).mauve_star.value
    return test.statistic, test.p_value < 0.05, found.precision.value, found.recall.value, near


def table(name: str, sides: list[tuple[str, Texts, Texts]], lose: Lose, *, both: bool) -> None:
    """Print what is left at every share, the mean over the pairs."""
    print(f"\n{name}\nshare    AUC  told apart  precision  recall  MAUVE*", flush=True)
    for share in SHARES:
        measured = []
        for place, (_, x, y) in enumerate(sides):
            rng = np.random.default_rng(place)
            left = lose(x, share if both else 0.0, rng)
            measured.append(measure(left, lose(y, share, rng)))
        auc, apart, precision, recall, near = np.nanmean(measured, axis=0)
        scores = f"{precision:9.3f}  {recall:6.3f}  {near:6.3f}"
        print(f"{share:5.0%}  {auc:5.3f}  {apart:10.0%}  {scores}", flush=True)


def count_languages(folder: Path) -> None:
    """Print the share of the words of each language that MiniLM does not know."""
    for path in sorted((folder / "languages").glob("*.jsonl")):
        texts = [json.loads(line)["text"] for line in path.open(encoding="utf-8")]
        ids = [each.ids for each in TOKENIZER.encode_batch_fast(texts)]
        read = of_tokenizers(TOKENIZER, TOKENIZER.token_to_id("[UNK]")).read(texts, ids)
        print(f"{path.stem}  {read.unread.sum() / read.words.sum():6.1%}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=100, help="texts of each set")
    parser.add_argument("--languages", action="store_true", help="count by language, and stop")
    given = parser.parse_args()
    if given.languages:
        count_languages(DATA)
        return
    n = given.n
    unlike = list(pairs(DATA, n))
    alike = [(name, x[0::2] + y[0::2], x[1::2] + y[1::2]) for name, x, y in unlike]
    table("words lost on both sides", unlike, lose_words, both=True)
    table("texts lost on both sides", unlike, lose_texts, both=True)
    table("words lost on one side of equal sets", alike, lose_words, both=False)
    table("texts lost on one side of equal sets", alike, lose_texts, both=False)


EMBEDDER, TOKENIZER = load_embedder("minilm"), load_tokenizer()

if __name__ == "__main__":
    main()
