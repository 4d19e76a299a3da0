"""The judgements behind table 18 of Pillutla et al. (JMLR 2023), for whoever has their file.

    python research/experiments/mauve_judgements.py mauve-human-eval-anon.csv
    python research/experiments/mauve_judgements.py mauve-human-eval-anon.csv --output pairs.csv
    calipers rank examples/rankings/webtext_scores.csv --judgements pairs.csv --reference human

The authors' repository of experiments (krishnap25/mauve-experiments on GitHub, the page
human_evaluation.md) links the answers of the crowd as a CSV file outside the repository. It holds
no ties: an answer of neither is kept as *slightly A*, and which text is A was drawn at random.
Answers faster than 25 seconds, by the column Answer.te, are left out, as in the authors' notebook.

Printed are, for each of the three questions, the Bradley-Terry scores of the nine sources by
Calipers with their 95 % intervals, beside those that the paper prints. The output is the table that
`calipers annotate` writes.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from calipers.errors import InputError
from calipers.uncertainty.bradley_terry import BradleyTerry, fit_bradley_terry
from calipers.uncertainty.preferences import Preferences

HERE = Path(__file__).resolve()
PRINTED = HERE.parents[2] / "examples" / "rankings" / "webtext_human.csv"
HUMANS = {"human_like": 47.251, "interesting": 25.503, "sensible": 43.229}
"""Bradley-Terry scores of human text in table 18; those of the settings stand in PRINTED."""

QUESTIONS = {"interesting": "Answer.q1", "sensible": "Answer.q2", "human_like": "Answer.q3"}
ANSWERS = {
    "2a": "definitely a",
    "1a": "slightly a",
    "1b": "slightly b",
    "2b": "definitely b",
}
SIZES = {"gpt2": "small", "gpt2-medium": "medium", "gpt2-large": "large", "gpt2-xl": "xl"}
FASTEST = 25.0
"""Seconds; faster answers are left out."""

SIDES = ("Input.model_a", "Input.model_b")
NEEDED = ("WorkerId", "Input.idx", *SIDES, *QUESTIONS.values(), "Answer.te")
Row = dict[str, str]


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the file, print both sets of scores, and write the table if asked."""
    options = parse(arguments)
    rows = read(options.file)
    print(f"{len(rows):,} answers of {len({row['rater'] for row in rows})} people\n")
    for question in QUESTIONS:
        print("\n".join(table(question, fit(rows, question))) + "\n")
    if options.output:
        write(rows, options.output)
    return 0


def read(path: Path) -> list[Row]:
    """Read the crowd's answers as rows of judgements.

    Raises
    ------
    InputError
        If the file cannot be read, lacks a column, or has an answer or a source of no known kind.
    """
    try:
        with path.open(newline="", encoding="utf-8") as file:
            given = list(csv.DictReader(file))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    missing = [name for name in NEEDED if not given or name not in given[0]]
    if missing:
        raise InputError(f"{path}: the column {missing[0]!r} is missing, or there is no row")
    kept = []
    for place, row in enumerate(given, start=2):
        where = f"{path}, line {place}"
        if float(row["Answer.te"]) <= FASTEST:
            continue
        answers = {}
        for question, column in QUESTIONS.items():
            if row[column] not in ANSWERS:
                known = ", ".join(ANSWERS)
                raise InputError(f"{where}: {column} must be one of {known}; found {row[column]!r}")
            answers[question] = ANSWERS[row[column]]
        kept.append(
            {
                "item": f"{row['Input.idx']}",
                "a": source(row["Input.model_a"], where),
                "b": source(row["Input.model_b"], where),
                **answers,
                "rater": row["WorkerId"],
                "rater_kind": "person",
                "seconds": row["Answer.te"],
            }
        )
    return kept


def source(name: str, where: str) -> str:
    """Name a source as table 18 does: human, or a size of GPT-2 and how it was decoded.

    Examples
    --------
    >>> source("('gpt2-xl', 'p0.95')", "line 2"), source("human", "line 2")
    ('xl nucleus', 'human')
    """
    if name == "human":
        return name
    parts = re.fullmatch(r"\('([a-z0-9-]+)', 'p([0-9.]+)'\)", name)
    if parts is None or parts[1] not in SIZES:
        raise InputError(f"{where}: {name!r} is no source of table 18")
    return f"{SIZES[parts[1]]} {'sampling' if parts[2] == '1.0' else 'nucleus'}"


def fit(rows: Sequence[Row], question: str) -> BradleyTerry:
    """Fit Bradley-Terry scores to the answers to one question."""
    names = tuple(sorted({row[side] for row in rows for side in "ab"}))
    wins = np.zeros((len(names), len(names)))
    for row in rows:
        first, second = names.index(row["a"]), names.index(row["b"])
        pair = (first, second) if row[question].endswith(" a") else (second, first)
        wins[pair] += 1
    return fit_bradley_terry(Preferences(names, wins, np.zeros_like(wins)))


def printed(question: str) -> dict[str, float]:
    """The scores that table 18 prints."""
    with PRINTED.open(newline="", encoding="utf-8") as file:
        scores = {row["system"]: float(row[question]) for row in csv.DictReader(file)}
    return {"human": HUMANS[question], **scores}


def table(question: str, found: BradleyTerry) -> list[str]:
    """Both scores of every source, as Markdown, the best first."""
    theirs = printed(question)
    lines = [question, "", "| source | table 18 | Calipers | 95 % interval |"]
    lines.append("| --- | ---: | ---: | --- |")
    for place in np.argsort(-found.scores):
        name, (low, high) = found.names[place], found.intervals[place]
        told = f"{theirs[name]:.3f}" if name in theirs else ""
        lines.append(f"| {name} | {told} | {found.scores[place]:.3f} | [{low:.1f}, {high:.1f}] |")
    return lines


def write(rows: Sequence[Row], path: Path) -> None:
    """Write the judgements as a table."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, help="mauve-human-eval-anon.csv of the authors")
    parser.add_argument("--output", type=Path, metavar="FILE.csv", help="write the judgements")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except InputError as error:
        sys.exit(str(error))
