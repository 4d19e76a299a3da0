"""Answers to the same prompts ──► a document: scores, how alike systems answer, and tests."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from calipers.commands.prompts.result import ByPrompt, Homogeneity, PromptTest
from calipers.report import legend
from calipers.report.table import (
    REFERENCE,
    SYSTEM,
    Block,
    Cell,
    Column,
    Document,
    Note,
    Notes,
    ScoreCell,
    Table,
    Text,
    glossary,
    notes,
    singles,
    texts,
    together,
)
from calipers.score import Score
from calipers.wording.names import VIEWS, clean
from calipers.wording.numbers import (
    MISSING,
    below_value,
    beside_value,
    half_text,
    number,
    p_text,
    percent,
    size_text,
    words_text,
)
from calipers.wording.short_names import short
from calipers.wording.words import (
    named,
)

SCORES = {
    "distinct_k": ("distinct", "samples of {k} that are different answers (cosine below {t:g})"),
    "distinct_texts": ("texts", "samples of {k} that are different texts, letter case aside"),
    "similarity": ("alike", "mean cosine of two samples of one prompt"),
    "between": ("others", "mean cosine of samples of different prompts"),
    "contrast": ("contrast", "alike less others: what the prompt explains"),
    "string_similarity": ("strings", "share of word trigrams that two samples of a prompt share"),
    "vendi_within": ("Vendi", "Vendi score of {k} samples of a prompt"),
    "conditional_vendi": ("cond V", "conditional Vendi: different samples for a given prompt"),
    "information_vendi": ("info V", "information Vendi: different samples that prompts call forth"),
}
"""Key of a score to the head of its column, and what it tells."""

SHOWN = (
    *("distinct_k", "distinct_texts", "similarity", "string_similarity", "between"),
    "conditional_vendi",
)
"""The scores that the table shows; the others are in the JSON."""

TESTS = {
    "classifier": "across prompts{}",
    "gaussian": "within prompts{}",
    "hamming": "within prompts, strings",
}
"""What the samples were tested by, and the head of its column."""


def document(answers: ByPrompt) -> Document:
    """Give all that is shown of answers to the same prompts."""
    summaries = [(short(answered.name), answered.summary) for answered in answers.sets]
    blocks: tuple[Block, ...] = (
        _scores_table(answers),
        _matrix(answers),
        *([_tests_table(answers)] if answers.tests else []),
        *together(*legend.warnings(answers, summaries)),
        Notes((*glossary(_meanings(answers)), Note("how", HOW))),
    )
    return Document(_title(answers), blocks, legend.made_by(answers))


HOW = (
    "Intervals are over prompts, each of which counts once. Every score, and signatures: --json "
    "FILE, or .to_dict() in Python."
)


def _title(answers: ByPrompt) -> str:
    settings, prompts = answers.settings, len(answers.prompts)
    pins = [f"{key} {clean(settings[key])}" for key in ("embedder", "k", "seed") if key in settings]
    systems = len(answers.systems)
    what = "1 system" if systems == 1 else f"{systems} systems"
    beside = "" if answers.reference is None else " and a reference"
    count = "1 prompt" if prompts == 1 else f"{prompts} prompts"
    return " · ".join([f"{what}{beside} on {count}", *pins])


def _kinds(answers: ByPrompt) -> tuple[str, ...]:
    first = () if answers.reference is None else (REFERENCE,)
    return (*first, *([SYSTEM] * len(answers.systems)))


def _scores_table(answers: ByPrompt) -> Table:
    sets = answers.sets
    names = tuple(Text(named(answered.name)) for answered in sets)
    lead = [
        Column("system", names, align="left", share=0),
        Column("n", texts([size_text(answered.summary) for answered in sets])),
        Column("per prompt", texts([_range(answered.per_prompt) for answered in sets])),
    ]
    if any(answered.summary.words for answered in sets):
        lead.append(Column("words", texts([words_text(answered.summary) for answered in sets])))
    columns = [
        Column(
            SCORES[key][0],
            tuple(_score(answered.scores.get(key)) for answered in sets),
            align="value",
            key=key,
            meaning=_meaning(answers, key),
        )
        for key in _shown(answers)
    ]
    return Table(tuple(lead), singles(columns), _kinds(answers), id="scores")


def _shown(answers: ByPrompt) -> list[str]:
    """The scores of the table that have a value for some set."""
    known = {
        key
        for answered in answers.sets
        for key, score in answered.scores.items()
        if math.isfinite(score.value)
    }
    return [key for key in SHOWN if key in known]


def _range(sizes: Sequence[int]) -> str:
    low, high = sizes
    return str(low) if low == high else f"{low}–{high}"


def _score(score: Score | None) -> Cell:
    if score is None or not math.isfinite(score.value):
        return Text(MISSING)
    text = number(score.value, unit=True)
    spread = beside_value(score, text) or below_value(score)
    return ScoreCell(text, spread, number=score.value)


def _matrix(answers: ByPrompt) -> Table:
    """A row and a column for each set; how alike each answers itself stands on the diagonal."""
    homogeneity, kinds = answers.homogeneity, _kinds(answers)
    names = homogeneity.names
    columns = [
        Column(
            named(name),
            tuple(_alike(homogeneity, row, place) for row in range(len(names))),
            align="value",
        )
        for place, name in enumerate(names)
    ]
    others = homogeneity.other_prompts[np.isfinite(homogeneity.other_prompts)]
    scale = (
        f"; of different prompts {others.min():.3f} to {others.max():.3f}" if others.size else ""
    )
    return Table(
        (Column("", tuple(Text(named(name)) for name in names), align="left"),),
        singles(columns),
        kinds,
        id="homogeneity",
        heading=f"How alike the same prompts are answered (mean cosine{scale})",
        notes=tuple(notes("point", _pairs(homogeneity))),
        breaks="square",
        apart=False,
    )


def _alike(homogeneity: Homogeneity, row: int, place: int) -> Cell:
    matrices = (homogeneity.values, homogeneity.low, homogeneity.high)
    value, low, high = (float(matrix[row, place]) for matrix in matrices)
    if math.isnan(value):
        return Text(MISSING, "dim")
    spread = "" if math.isnan(low) else half_text((high - low) / 2, f"{value:.3f}")
    return ScoreCell(f"{value:.3f}", spread, style="dim" if row == place else "", number=value)


def _pairs(homogeneity: Homogeneity) -> Iterator[str]:
    """Say of each pair of sets how far it is from answering alike."""
    names = [short(name) for name in homogeneity.names]
    matrices = (homogeneity.apart, homogeneity.apart_low, homogeneity.apart_high)
    for i, first in enumerate(names):
        for j in range(i + 1, len(names)):
            apart, low, high = (float(matrix[i, j]) for matrix in matrices)
            if math.isnan(apart) or math.isnan(low):
                continue
            if low > 0:
                yield (
                    f"{first} and {names[j]} answer less alike than each answers itself: by "
                    f"{apart:.3f} [{low:.3f},{high:.3f}]"
                )
            else:
                yield (
                    f"{first} and {names[j]} answer as alike as each answers itself, as far as "
                    f"this tells: {apart + 0.0:.3f} [{low:.3f},{high:.3f}] apart"
                )


def _tests_table(answers: ByPrompt) -> Table:
    """A row for each pair, a column for each test that tells of one; below, why others do not."""
    pairs = list(dict.fromkeys((test.first, test.second) for test in answers.tests))
    tests = {(test.first, test.second, _tested_by(test)): test for test in answers.tests}
    tested = list(dict.fromkeys(_tested_by(test) for test in answers.tests if not test.reason))
    tested = tested or list(dict.fromkeys(map(_tested_by, answers.tests)))
    alpha = round(1 - answers.settings["level"], 12)
    columns = [
        Column(
            by,
            tuple(_test(tests[(*pair, by)], alpha) for pair in pairs),
            align="left",
        )
        for by in tested
    ]
    lead = Column(
        "pair", tuple(Text((named(a), " and ", named(b))) for a, b in pairs), align="left"
    )
    against = "the reference" if answers.reference is not None else "each other"
    return Table(
        (lead,),
        singles(columns),
        (SYSTEM,) * len(pairs),
        id="tests",
        heading=f"Distinguishable from {against}, given the prompt?",
        notes=tuple(notes("point", _untestable(answers.tests))),
        breaks="whole",
        apart=False,
    )


def _tested_by(test: PromptTest) -> str:
    """The head of a test's column."""
    view = f", {clean(test.view)}" if test.view in VIEWS else ""
    return TESTS.get(test.test, clean(test.test)).format(view)


def _test(test: PromptTest, alpha: float) -> Cell:
    if test.reason:
        return Text("not testable")
    size = f"AUC {test.estimate:.2f}, " if test.test == "classifier" else ""
    verdict = "yes" if test.distinguishable else "not shown"
    return Text(f"{verdict} ({size}{p_text(test.adjusted, alpha)})")


def _untestable(tests: Sequence[PromptTest]) -> Iterator[str]:
    """Say once for every reason which tests and how many pairs it is about."""
    by_reason: dict[str, list[PromptTest]] = {}
    for test in tests:
        if test.reason:
            by_reason.setdefault(test.reason, []).append(test)
    for reason, about in by_reason.items():
        by = "; ".join(dict.fromkeys(map(_tested_by, about)))
        pairs = list(dict.fromkeys((test.first, test.second) for test in about))
        which = f"{len(pairs)} pairs are"
        if len(pairs) == 1:
            which = f"{short(pairs[0][0])} and {short(pairs[0][1])} are"
        yield f"{by}: {which} not testable, since {clean(reason)}"


def _meaning(answers: ByPrompt, key: str) -> str:
    settings = answers.settings
    return SCORES[key][1].format(k=settings["k"], t=settings["threshold"])


def _meanings(answers: ByPrompt) -> Iterator[tuple[str, str]]:
    for key in _shown(answers):
        yield SCORES[key][0], _meaning(answers, key)
    view = answers.settings["view"]
    if view in VIEWS:
        yield clean(view), f"cosines see {VIEWS[view]}"
    level = percent(answers.settings["level"])
    yield "±", f"{level} interval over prompts, at as many samples of each"
    if answers.tests:
        yield "p", "labels permuted within prompts; corrected over the pairs of a column (Holm)"
        yield from _meanings_of_tests(answers.tests)


def _meanings_of_tests(tests: Sequence[PromptTest]) -> Iterator[tuple[str, str]]:
    tested = {test.test for test in tests if not test.reason}
    if "classifier" in tested:
        yield "across", "a classifier of what differs alike from prompt to prompt"
        yield "AUC", "chance to tell which of two answers to a prompt is whose; 0.5 by chance"
    if tested & {"gaussian", "hamming"}:
        yield "within", "MMD of the samples of each prompt, by embeddings (Gaussian) or characters"
