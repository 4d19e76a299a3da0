"""What the embedder `characters` sees of texts in six languages, of stories, code and proteins.

    python research/experiments/character_views.py
    python research/experiments/character_views.py --embedder tfidf
    python research/experiments/character_views.py --draws 1 --embedder minilm --only stories,de
    python research/experiments/character_views.py --false-alarms --draws 10
    python research/experiments/character_views.py --changes slips --slips 8 --only stories
    python research/experiments/character_views.py --longest 3 --size 64 --only ar,ja,stories,code

A draw takes 200 texts of a corpus as the reference and 200 others, and changes the others in a way
that is known: words shuffled (characters where a text has no spaces), text of an n-gram model of
order 3 fitted on them, slips (3 % of the characters turned around, dropped or replaced),
punctuation dropped, small letters, five texts repeated, the largest of three topics dropped
(clusters of the words by `tfidf`, of proteins by `characters`). `found` is how often the classifier
test says at the level of 5 % that the sets differ; P, R, C are precision, recall and coverage, mean
over the draws, as `compare` measures them (rows of length one, k = 4). `--false-alarms` draws sets
without any change, as many as the corpus has texts for against each reference.

The corpora are the languages and the stories in the folder that the environment variable
CALIPERS_DATA names, by default ``../shared/data`` beside the checkout; pieces of the standard
library of this Python; and strings that resemble proteins: copies of twelve ancestors with 15 % of
the amino acids replaced and 3 % dropped.

The tables are in docs/embedders.md. What the choices rest on (area under the curve of de, ja,
stories or code, one or two draws): the first five numbers beside the axes find slips of stories
(0.90 against 0.45) and their shuffled words (0.86 against 0.55); those of n-grams across words,
apart from the others, shuffled words of de (0.71 against 0.56, mean of four draws). 1 to 3
characters lose shuffled words of code (0.54 against 0.64), 1 to 5 gain little; 32 axes a half lose
a dropped topic of stories (0.56 against 0.60), 128 gain 0.01 to 0.03; 10,000 known n-grams are
nearly as good as 50,000; plain counts lose slips (code 0.53 against 0.68). Without idf dropped
punctuation and small letters are found better (de 0.81 and 0.91 against 0.63 and 0.81, ja 0.93
against 0.64) and shuffled words and slips less well (code 0.57 and 0.65 against 0.64 and 0.68); a
square root of idf lies between the two. Of shuffled words of de it is 0.54 without idf (four
draws), 0.67 with n-grams across words apart.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sysconfig
import unicodedata
from collections.abc import Callable
from pathlib import Path

import numpy as np

import calipers
from calipers.embedders import Embedder, load_embedder
from calipers.embedders.words import character_ngrams, characters
from calipers.metrics import density_coverage, precision_recall, preprocess
from calipers.uncertainty.two_sample_classifier import classifier_test

DATA = Path(os.environ.get("CALIPERS_DATA", Path(__file__).resolve().parents[3] / "shared/data"))
LANGUAGES = ("ar", "de", "fr", "ja", "ru", "zh")
WITHOUT_SPACES = ("ja", "zh", "proteins")
N, K, LEVEL = 200, 4, 0.05
FREQUENT = "LLLLAAAAGGGVVVEEEESSSSIIIKKKRRRDDDTTTPPNNQQFFYYMHCW"
"""Amino acids about as often as proteins have them."""

Rng = np.random.Generator
Texts = list[str]


def read(path: Path) -> Texts:
    return [json.loads(line)["text"] for line in path.open(encoding="utf-8")]


def code() -> Texts:
    """Functions and classes of the standard library, 300 to 1,200 characters each."""
    found: Texts = []
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        parts = re.split(r"\n(?=(?:def|class) )", path.read_text(encoding="utf-8"))
        found += [part for part in parts if 300 <= len(part) <= 1200]
    return found


def proteins(rng: Rng, families: int = 12, count: int = 600) -> Texts:
    """Strings of amino acids that descend from a few ancestors."""
    alphabet = np.array(list(FREQUENT))
    ancestors = [rng.choice(alphabet, rng.integers(120, 300)) for _ in range(families)]
    found = []
    for _ in range(count):
        own = ancestors[rng.integers(families)].copy()
        changed = rng.random(len(own)) < 0.15
        own[changed] = rng.choice(alphabet, int(changed.sum()))
        found.append("".join(own[rng.random(len(own)) > 0.03]))
    return found


def corpora(only: tuple[str, ...]) -> dict[str, Texts]:
    made: dict[str, Callable[[], Texts]] = {
        name: lambda name=name: read(DATA / "languages" / f"{name}.jsonl") for name in LANGUAGES
    }
    made["stories"] = lambda: read(DATA / "writing_prompts" / "human.jsonl")
    made |= {"code": code, "proteins": lambda: proteins(np.random.default_rng(0))}
    return {name: make() for name, make in made.items() if not only or name in only}


def units(text: str, name: str) -> list[str]:
    return list(text) if name in WITHOUT_SPACES else text.split()


def shuffled(texts: Texts, name: str, rng: Rng) -> Texts:
    between = "" if name in WITHOUT_SPACES else " "
    return [between.join(rng.permutation(units(text, name)).tolist()) for text in texts]


def by_ngrams(texts: Texts, name: str, rng: Rng) -> Texts:
    """Texts of an n-gram model of order 3, of words or of characters."""
    spaced = name in WITHOUT_SPACES
    given = [" ".join(units(text, name)) if spaced else text for text in texts]
    written = calipers.generate(
        model="ngram:order=3", reference=given, n=len(given), max_tokens=400, threads=1
    )
    found = list(written.samples)
    return [text.replace(" ", "") for text in found] if spaced else found


def slips(texts: Texts, name: str, rng: Rng) -> Texts:
    """Of the characters 3 %, at random: turned around, dropped, or another one of these texts."""
    signs = np.array(sorted(set("".join(texts))))

    def spoilt(text: str) -> str:
        characters = list(text)
        for place in np.flatnonzero(rng.random(len(characters)) < 0.03).tolist():
            kind = rng.integers(3)
            if kind == 0 and place + 1 < len(characters):
                turned = characters[place + 1], characters[place]
                characters[place], characters[place + 1] = turned
            else:
                characters[place] = "" if kind == 1 else str(rng.choice(signs))
        return "".join(characters)

    return list(map(spoilt, texts))


def without_punctuation(texts: Texts, name: str, rng: Rng) -> Texts:
    def kept(text: str) -> str:
        return "".join(sign for sign in text if unicodedata.category(sign)[0] != "P")

    return list(map(kept, texts))


def lower(texts: Texts, name: str, rng: Rng) -> Texts:
    return [text.lower() for text in texts]


def repeated(texts: Texts, name: str, rng: Rng) -> Texts:
    return [texts[row % 5] for row in range(len(texts))]


def topic_dropped(texts: Texts, name: str, rng: Rng) -> Texts:
    """Without the largest of three topics, its place taken by others of the rest."""
    from scipy.cluster.vq import kmeans2

    by_words = name != "proteins"
    embedder = load_embedder("tfidf" if by_words else "characters", size=32).fitted(texts)
    rows = next(iter(embedder.embed(texts).views.values()))
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    _, topic = kmeans2(rows.astype(np.float64), 3, seed=0, minit="++")
    rest = np.flatnonzero(topic != np.bincount(topic).argmax())
    return [texts[rest[row % len(rest)]] for row in range(len(texts))]


CHANGES: dict[str, Callable[[Texts, str, Rng], Texts]] = {
    "none": lambda texts, name, rng: texts,
    "shuffled": shuffled,
    "n-grams": by_ngrams,
    "slips": slips,
    "no punctuation": without_punctuation,
    "small letters": lower,
    "repeated": repeated,
    "topic dropped": topic_dropped,
}


def rows_of(embedder: Embedder, texts: Texts) -> np.ndarray:
    """The view of form, or the only one."""
    views = [
        embedder.embed(texts[start : start + 256]).views for start in range(0, len(texts), 256)
    ]
    view = "form" if "form" in views[0] else next(iter(views[0]))
    return np.concatenate([batch[view] for batch in views])


def scores(
    reference: np.ndarray, generated: np.ndarray, tested: tuple[np.ndarray, np.ndarray], seed: int
) -> np.ndarray:
    """Whether the sets differ by the test, precision, recall, coverage, the classifier's area."""
    rows = preprocess(reference, generated, pca=None)
    support = precision_recall(rows.reference, rows.generated, k=K, threads=1)
    coverage = density_coverage(rows.reference, rows.generated, threads=1).coverage
    both = preprocess(*tested, pca=None)
    test = classifier_test(both.reference, both.generated, permutations=199, seed=seed, threads=1)
    values = support.precision, support.recall, coverage
    return np.array([test.p_value <= LEVEL, *(score.value for score in values), test.estimate])


def fitted(asked: argparse.Namespace, texts: Texts) -> Embedder:
    embedder = load_embedder(asked.embedder, **({"size": asked.size} if asked.size else {}))
    return embedder.fitted(texts) if embedder.needs_fitting else embedder


def on_both(
    asked: argparse.Namespace, texts: Texts, others: Texts
) -> tuple[np.ndarray, np.ndarray]:
    """The rows of both sets by an embedder that was fitted on both, as they are tested."""
    embedder = fitted(asked, texts + others)
    return rows_of(embedder, texts), rows_of(embedder, others)


def draw(pool: Texts, seed: int) -> tuple[Texts, Texts, Rng]:
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(pool)).tolist()
    return [pool[row] for row in order[:N]], [pool[row] for row in order[N:]], rng


def power(pool: Texts, name: str, asked: argparse.Namespace) -> dict[str, np.ndarray]:
    """For each change the means over the draws."""
    found: dict[str, list[np.ndarray]] = {}
    for seed in range(asked.first_seed, asked.first_seed + asked.draws):
        texts, others, rng = draw(pool, seed)
        embedder = fitted(asked, texts)
        reference = rows_of(embedder, texts)
        for change in asked.changes:
            generated = others[:N]
            for _ in range(asked.slips if change == "slips" else 1):
                generated = CHANGES[change](generated, name, rng)
            if change == "none" or generated != others[:N]:
                rows, tested = rows_of(embedder, generated), on_both(asked, texts, generated)
                found.setdefault(change, []).append(scores(reference, rows, tested, seed))
    return {change: np.mean(values, axis=0) for change, values in found.items()}


def alarms(pool: Texts, asked: argparse.Namespace) -> tuple[int, int]:
    """How often two sets of one corpus differ by the test, and how many were drawn."""
    count = total = 0
    for seed in range(asked.first_seed, asked.first_seed + asked.draws):
        texts, others, _ = draw(pool, 1000 + seed)
        embedder = fitted(asked, texts)
        reference = rows_of(embedder, texts)
        for start in range(0, len(others) - N + 1, N):
            generated = others[start : start + N]
            rows, tested = rows_of(embedder, generated), on_both(asked, texts, generated)
            count += int(scores(reference, rows, tested, seed)[0])
            total += 1
    return count, total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedder", default="characters")
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--only", type=lambda given: tuple(given.split(",")), default=())
    parser.add_argument("--false-alarms", action="store_true")
    parser.add_argument("--first-seed", type=int, default=0, help="other draws than the first")
    parser.add_argument("--changes", type=lambda given: given.split(","), default=list(CHANGES))
    parser.add_argument("--slips", type=int, default=1, help="how often 3 %% of them are made")
    parser.add_argument("--size", type=int)
    parser.add_argument("--longest", type=int, help="characters of the longest n-grams")
    parser.add_argument("--known", type=int, help="most n-grams that a half knows")
    asked = parser.parse_args()
    if asked.longest:
        longest = asked.longest
        characters.count_ngrams = lambda texts: character_ngrams.count_ngrams(
            texts, longest=longest
        )
    if asked.known:
        characters.MOST_NGRAMS = asked.known
    together: list[tuple[int, int]] = []
    for name, pool in corpora(asked.only).items():
        if asked.false_alarms:
            together.append(alarms(pool, asked))
            print(f"{name:10} {together[-1][0]} of {together[-1][1]}", flush=True)
            continue
        for change, (found, *support, area) in power(pool, name, asked).items():
            shown = " ".join(f"{value:.2f}" for value in support)
            print(
                f"{name:10} {change:15} found {found:.0%}  P R C {shown}  AUC {area:.2f}",
                flush=True,
            )
    if together:
        count, total = np.sum(together, axis=0)
        print(f"{'all':10} {count} of {total}: {count / total:.1%}")


if __name__ == "__main__":
    main()
