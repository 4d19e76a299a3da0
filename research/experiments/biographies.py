"""People's biographies from Wikipedia, as two public repositories hold them.

    git clone https://github.com/natbolon/wiki-gender
    git clone https://github.com/nirmezamer/NLP_final_project
    python research/experiments/biographies.py wiki-gender NLP_final_project \\
        "$CALIPERS_SAMPLES/people.jsonl"

The first has the leads of 2,259 random pages about women (commit c86e9f0b, of 2019), the second the
summaries of 1,997 random pages (commit 1e2b4836), of which those of people are taken. What is left
are texts of 80 to 160 words without marks of references, pronunciations and holes of templates that
the first repository dropped. They are Wikipedia's (CC BY-SA), and four in five are about women; the
paper (Le Bronnec et al., ACL 2024, appendix B.5) took good and featured articles, which random
pages are not.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

WOMEN = Path("data/wikipedia_female_sample.json")
SUMMARIES = Path("wikipedia/human_wikipedia_summaries.json")
LEAST, MOST = 80, 160
"""Words of a text."""

MARKUP = re.compile(r"-->|<!--|\{\{|\}\}|\[\[|\]\]|\||<ref|</|thumb|''")
HOLE = re.compile(
    r"(?<![.!?\"”)])  +(?=[a-z(])|"
    r"\b(?:the|an?|of|as|in|to|and|called|by|single|with|for|is|was|are|were|includ\w+) ?[.,;]"
)
GLUED = re.compile(r"(?<=[a-z0-9)\"”’\]][.!?])(?=[A-Z])")
SOUND = "ˈˌəɪʊɛɔæɑʌːʃʒθðŋɡɒɜɐ"
DROPPED = (
    r"\[(?:\d+|[a-z]{1,2}|note \d+|citation needed)\]",
    rf"\s*/[^/\n()]*[{SOUND}][^/\n()]*/",
    rf"(?:[A-Z][a-z]+:? ?)?\[[^\]\n]*[{SOUND}][^\]\n]*\]",
)
LIFE = re.compile(r"\([^()]{0,120}?(?:\bborn\b|\bdied\b|\b\d{3,4}\s*[–-])")
IS_A = re.compile(r"\b(?:was|is) (?:an?|the|one)\b")
PRONOUN = re.compile(r"\b(?:he|she|his|her|him)\b", re.IGNORECASE)


def clean(text: str) -> str:
    """Take away marks of references and pronunciations, and what they leave behind."""
    text = GLUED.sub(" ", text.replace("\u00a0", " "))
    for pattern in DROPPED:
        text = re.sub(pattern, "", text)
    text = re.sub(r"\(\s*[;,:]\s*", "(", text)
    text = re.sub(r"\s*[;,:]\s*\)", ")", text)
    text = re.sub(r"\s*\(\s*\)", "", text)
    return re.sub(r"\s+([,.;:)])", r"\1", " ".join(text.split()))


def is_person(text: str) -> bool:
    """Whether a summary begins as that of a person does."""
    first = text[:300]
    return bool(LIFE.search(first) and IS_A.search(text[:450])) and len(PRONOUN.findall(text)) > 1


def people(women: Path, summaries: Path) -> Iterator[tuple[str, str]]:
    """Names and texts of both files that are whole and of the length that is asked for."""
    for line in women.read_text("utf-8").splitlines():
        row = json.loads(line)
        if not MARKUP.search(row["overview"]) and not HOLE.search(row["overview"]):
            yield row["wiki-title"], row["overview"]
    for title, text in json.loads(summaries.read_text("utf-8")).items():
        if is_person(text):
            yield title, text


def main() -> int:
    """Write them, one a line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("women", type=Path, help="clone of natbolon/wiki-gender")
    parser.add_argument("summaries", type=Path, help="clone of nirmezamer/NLP_final_project")
    parser.add_argument("output", type=Path)
    options = parser.parse_args()
    kept: dict[str, str] = {}
    for title, text in people(options.women / WOMEN, options.summaries / SUMMARIES):
        name = re.sub(r"\s*\(.*\)$", "", title.strip())
        whole = clean(text)
        if LEAST <= len(whole.split()) <= MOST and re.search(r"[.!?\"”)]$", whole):
            kept.setdefault(name, whole)
    with options.output.open("w", encoding="utf-8") as file:
        for name, text in kept.items():
            file.write(json.dumps({"name": name, "text": text}, ensure_ascii=False) + "\n")
    print(f"{len(kept)} biographies: {options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
