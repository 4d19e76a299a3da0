"""The document of answers to the same prompts: scores, similarity of the systems, and tests."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from calipers.commands.prompts.result import ByPrompt, Homogeneity, PromptSet, PromptTest
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
from calipers.wording.marks import OPEN
from calipers.wording.names import clean, sees
from calipers.wording.numbers import (
    MISSING,
    below_value,
    beside_value,
    half_text,
    length_head,
    number,
    p_text,
    percent,
    size_text,
    words_text,
)
from calipers.wording.short_names import short
from calipers.wording.words import Words, joined, listed, named

SCORES = {
    "distinct_k": ("distinct", "samples of {k} that are different answers (cosine below {t:g})"),
    "distinct_texts": ("texts", "samples of {k} that are different texts, letter case aside"),
    "similarity": ("alike", "mean cosine of two samples of one prompt"),
    "between": ("others", "mean cosine of samples of different prompts"),
    "contrast": ("contrast", "alike minus others: what the prompt explains"),
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


IN_FULL = 10
"""Sets up to which the screen shows every pair: matrix, sentences and tests."""

PAIRS = 5
"""Pairs that a sentence of the verdict names."""

LISTED = 10
"""Pairs that a table of tests lists where there are more sets; a page lists more."""

LISTED_IN_FULL = 100


def document(answers: ByPrompt) -> Document:
    """Return the document for the screen: for many sets, one line for each."""
    return _document(answers, whole=len(answers.sets) <= IN_FULL)


def whole(answers: ByPrompt) -> Document:
    """Return all tables, with the matrix of every pair, for pages and papers."""
    return _document(answers, whole=True)


def _document(answers: ByPrompt, *, whole: bool) -> Document:
    summaries = [(short(answered.name), answered.summary) for answered in answers.sets]
    many = len(answers.sets) > IN_FULL
    tables: list[Block] = [_overview(answers)] if many else []
    if whole:
        tables += [_scores_table(answers), _matrix(answers)]
    if answers.tests and not many:
        tables.append(_tests_table(answers))
    elif answers.tests:
        tables.append(_closest_tests(answers, LISTED_IN_FULL if whole else LISTED))
    blocks: tuple[Block, ...] = (
        *together(*notes("verdict", verdict(answers))),
        *tables,
        *together(*legend.warnings(answers, summaries)),
        Notes((*glossary(_meanings(answers, whole=whole)), Note("how", _how(whole=whole)))),
    )
    return Document(_title(answers), blocks, legend.made_by(answers))


def _how(*, whole: bool) -> str:
    return HOW if whole else f"The matrix of all pairs: `.summary()`. {HOW}"


HOW = (
    "Intervals are over prompts, each of which counts once. Every score, and signatures: "
    "`.to_dict()`."
)


def _title(answers: ByPrompt) -> str:
    settings, prompts = answers.settings, len(answers.prompts)
    pins = [f"{key} {clean(settings[key])}" for key in ("embedder", "k", "seed") if key in settings]
    systems = len(answers.systems)
    what = "1 system" if systems == 1 else f"{systems} systems"
    beside = "" if answers.reference is None else " and a reference"
    count = "1 prompt" if prompts == 1 else f"{prompts} prompts"
    return " · ".join([f"{what}{beside} on {count}", *pins])


def _rows_of(answers: ByPrompt) -> tuple[list[PromptSet], tuple[str, ...]]:
    """The sets in the order in which neighbours are alike, and what each row is."""
    known = {answered.name: answered for answered in answers.sets}
    rows = [known[name] for name in answers.homogeneity.families.order]
    return rows, tuple(REFERENCE if row is answers.reference else SYSTEM for row in rows)


def _overview(answers: ByPrompt) -> Table:
    """A line for each set, those that are alike below each other: whom it is most like."""
    rows, kinds = _rows_of(answers)
    likeness = answers.homogeneity
    several = max(row.per_prompt[1] for row in rows) > 1
    judged = answers.reference is not None
    share = 4 if judged or several else 3
    nearest = {row.name: _nearest(likeness, row.name) for row in rows}
    lead = [Column("system", tuple(Text(named(row.name, share)) for row in rows), align="left")]
    if any(row.summary.words for row in rows):
        head = length_head(row.summary for row in rows)
        lead.append(Column(head, texts([words_text(row.summary) for row in rows])))
    columns = []
    if several:
        for key in ("distinct_k", "similarity"):
            scores = [row.scores.get(key) for row in rows]
            cells = tuple(_plain(math.nan if score is None else score.value) for score in scores)
            columns.append(Column(SCORES[key][0], cells, meaning=_meaning(answers, key)))
    if judged:
        columns += _beside_reference(answers, rows)
    columns += [
        Column("mean", tuple(_plain(_mean_likeness(likeness, row.name)) for row in rows)),
        Column("most", tuple(_plain(nearest[row.name][1]) for row in rows)),
        Column(
            "like", tuple(Text(named(nearest[row.name][0], share)) for row in rows), align="left"
        ),
    ]
    return Table(
        tuple(lead),
        singles(columns),
        kinds,
        id="overview",
        heading="How alike each answers the same prompts as the others, neighbours most alike",
        breaks="systems",
        apart=False,
    )


def _beside_reference(answers: ByPrompt, rows: Sequence[PromptSet]) -> Iterator[Column]:
    """How alike each is to the reference, and how well a classifier tells it from that."""
    likeness, view = answers.homogeneity, answers.settings["view"]
    tests = {
        test.second: test
        for test in answers.tests
        if test.test == "classifier" and test.view == view and not test.reason
    }
    place = likeness.names.index(answers.reference.name if answers.reference else "")
    values = [
        math.nan if row is answers.reference else float(likeness.values[place, i])
        for row in rows
        for i in [likeness.names.index(row.name)]
    ]
    yield Column("ref", tuple(map(_plain, values)))
    areas = [
        Text(MISSING)
        if row.name not in tests
        else ScoreCell(
            f"{tests[row.name].estimate:.2f}",
            mark="" if tests[row.name].distinguishable else OPEN,
            number=tests[row.name].estimate,
        )
        for row in rows
    ]
    yield Column("AUC", tuple(areas), align="value", marked=True)


def _plain(value: float) -> Cell:
    return Text(MISSING) if math.isnan(value) else ScoreCell(f"{value:.3f}", number=value)


def _nearest(likeness: Homogeneity, name: str) -> tuple[str, float]:
    """The set that one is most like, and how alike they are."""
    place = likeness.names.index(name)
    others = likeness.values[place].copy()
    others[place] = np.nan
    if np.isnan(others).all():
        return "", math.nan
    nearest = int(np.nanargmax(others))
    return likeness.names[nearest], float(others[nearest])


def _mean_likeness(likeness: Homogeneity, name: str) -> float:
    """How alike a set is to the others on average."""
    place = likeness.names.index(name)
    others = np.delete(likeness.values[place], place)
    others = others[np.isfinite(others)]
    return float(others.mean()) if others.size else math.nan


def verdict(answers: ByPrompt) -> Iterator[Words]:
    """Describe which systems are most alike, their families, and which are distinguishable."""
    likeness, names = answers.homogeneity, [row.name for row in answers.sets]
    if len(names) > 2:
        pairs = likeness.most_alike()[: PAIRS if len(names) > PAIRS else 2]
        if pairs:
            yield joined(
                ("most alike: ",),
                listed(
                    [(named(a, 2), " and ", named(b, 2), f" {v:.3f}") for a, b, v in pairs], "; "
                ),
            )
    yield from _families(likeness)
    if len(names) > IN_FULL:
        means = {name: _mean_likeness(likeness, name) for name in names}
        known = [name for name in names if not math.isnan(means[name])]
        if known:
            least = min(known, key=means.__getitem__)
            yield ("least like the others: ", named(least), f" {means[least]:.3f} on average")
    yield from _apart(answers)
    yield from _distinguishable(answers)


def _families(likeness: Homogeneity) -> Iterator[Words]:
    """Name the families, the most alike first."""
    places = {name: place for place, name in enumerate(likeness.names)}
    for group in likeness.families.groups:
        members = [places[name] for name in group]
        pairs = likeness.values[np.ix_(members, members)][np.triu_indices(len(members), 1)]
        size = "family of two" if len(group) == 2 else f"family of {len(group)}"
        names = listed([(named(name, 2),) for name in group])
        yield joined((f"{size}, {pairs.mean():.3f}: ",), names)


def _apart(answers: ByPrompt) -> Iterator[Words]:
    """Say which sets answer as alike as each answers itself, where there are many pairs."""
    likeness = answers.homogeneity
    if len(likeness.names) <= IN_FULL or not np.isfinite(likeness.apart_low).any():
        return
    measured = int(np.isfinite(likeness.apart_low).sum()) // 2
    alike = likeness.alike()
    if not alike:
        yield (f"all {measured} pairs answer less alike than each answers itself",)
        return
    named_pairs = [(named(a, 2), " and ", named(b, 2)) for a, b in alike[:PAIRS]]
    rest = f" and {len(alike) - PAIRS} more" if len(alike) > PAIRS else ""
    begin = f"{len(alike)} of {measured} pairs answer as alike as each answers itself: "
    yield joined((begin,), listed(named_pairs, "; "), (rest,))


def _distinguishable(answers: ByPrompt) -> Iterator[Words]:
    """Say how many pairs are distinguishable by any test, and which are not."""
    by_pair: dict[tuple[str, str], list[PromptTest]] = {}
    for test in answers.tests:
        if not test.reason:
            by_pair.setdefault((test.first, test.second), []).append(test)
    if not by_pair:
        return
    not_shown = [
        pair for pair, tests in by_pair.items() if not any(t.distinguishable for t in tests)
    ]
    against = answers.reference is not None
    unit = "systems" if against else "pairs"
    count, total = len(by_pair) - len(not_shown), len(by_pair)
    begin = f"distinguishable{' from the reference' if against else ''}, given the prompt: "
    many = "all" if count == total > 1 else f"{count} of"
    first = f"{begin}{many} {total} {unit if total > 1 else unit[:-1]}"
    if not not_shown:
        yield (first,)
        return
    shown = [
        (named(b, 2),) if against else (named(a, 2), " and ", named(b, 2))
        for a, b in not_shown[:PAIRS]
    ]
    rest = f" and {len(not_shown) - PAIRS} more" if len(not_shown) > PAIRS else ""
    yield joined((f"{first}; not shown of ",), listed(shown, "; "), (rest,))


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
        head = length_head(answered.summary for answered in sets)
        lead.append(Column(head, texts([words_text(answered.summary) for answered in sets])))
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
    """A row and a column for each set, neighbours alike, each beside itself on the diagonal.

    Intervals of many sets are in the JSON alone.
    """
    homogeneity, order = answers.homogeneity, answers.homogeneity.order
    names, kinds = homogeneity.families.order, _rows_of(answers)[1]
    many = len(names) > IN_FULL
    columns = [
        Column(
            named(name),
            tuple(_alike(homogeneity, row, place, spread=not many) for row in order),
            align="value",
        )
        for place, name in zip(order, names, strict=True)
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
        notes=() if many else tuple(notes("point", _pairs(homogeneity))),
        breaks="square",
        apart=False,
    )


def _alike(homogeneity: Homogeneity, row: int, place: int, *, spread: bool) -> Cell:
    matrices = (homogeneity.values, homogeneity.low, homogeneity.high)
    value, low, high = (float(matrix[row, place]) for matrix in matrices)
    if math.isnan(value):
        return Text(MISSING, "dim")
    half = half_text((high - low) / 2, f"{value:.3f}") if spread and low == low else ""
    return ScoreCell(f"{value:.3f}", half, style="dim" if row == place else "", number=value)


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
    return _tests_of(answers, list(dict.fromkeys((t.first, t.second) for t in answers.tests)))


def _closest_tests(answers: ByPrompt, most: int) -> Table:
    """The same of the pairs that are hardest to tell apart, where there are many."""
    hardest: dict[tuple[str, str], tuple[bool, float]] = {}
    for test in answers.tests:
        pair = (test.first, test.second)
        known, p = hardest.get(pair, (False, 2.0))
        area = test.estimate if test.test == "classifier" and not test.reason else p
        hardest[pair] = (known or bool(test.distinguishable), min(p, area))
    pairs = sorted(hardest, key=hardest.__getitem__)
    table = _tests_of(answers, pairs[:most])
    if len(pairs) <= most:
        return table
    heading = f"{table.heading} The {most} of {len(pairs)} pairs that are hardest to tell apart"
    return replace(table, heading=heading)


def _tests_of(answers: ByPrompt, pairs: Sequence[tuple[str, str]]) -> Table:
    tests = {(test.first, test.second, _tested_by(test)): test for test in answers.tests}
    tested = list(dict.fromkeys(_tested_by(test) for test in answers.tests if not test.reason))
    tested = tested or list(dict.fromkeys(map(_tested_by, answers.tests)))
    alpha = round(1 - answers.settings["level"], 12)
    many = len(answers.sets) > IN_FULL
    columns = [
        Column(
            by.replace(" prompts", "") if many else by,
            tuple(_test(tests[(*pair, by)], alpha, brief=many) for pair in pairs),
            align="left",
        )
        for by in tested
    ]
    share = 5 if many else 3
    alone = many and answers.reference is not None
    names = (named(b) if alone else (named(a, share), " and ", named(b, share)) for a, b in pairs)
    lead = Column("system" if alone else "pair", tuple(map(Text, names)), align="left")
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
    view = f", {clean(test.view)}" if sees(test.view) else ""
    return TESTS.get(test.test, clean(test.test)).format(view)


def _test(test: PromptTest, alpha: float, *, brief: bool) -> Cell:
    if test.reason:
        return Text("not testable")
    if brief:
        size = f"AUC {test.estimate:.2f}, " if test.test == "classifier" else ""
        return Text(f"{size}{p_text(test.adjusted, alpha)}")
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


def _meanings(answers: ByPrompt, *, whole: bool) -> Iterator[tuple[str, str]]:
    many = len(answers.sets) > IN_FULL
    if many:
        yield "mean, most", "mean cosine with answers of the others, and of the one it is most like"
        if answers.reference is not None:
            yield f"AUC {OPEN}", "not distinguishable from the reference"
            yield "ref", "mean cosine with answers of the reference"
        if answers.homogeneity.families.groups:
            threshold = answers.homogeneity.families.threshold
            yield (
                "family",
                f"members more alike, on average, than {threshold:.3f}, as few pairs are",
            )
    for key in _shown(answers):
        if whole or key in ("distinct_k", "similarity"):
            yield SCORES[key][0], _meaning(answers, key)
    view = answers.settings["view"]
    if seen := sees(view, answers.settings.get("samples")):
        yield clean(view), f"cosines see {seen}"
    level = percent(answers.settings["level"])
    if whole:
        yield "±", f"{level} interval over prompts, at as many samples of each"
    if answers.tests:
        yield "p", "labels permuted within prompts; corrected over the pairs of a column (Holm)"
        yield from _meanings_of_tests(answers.tests)


def _meanings_of_tests(tests: Sequence[PromptTest]) -> Iterator[tuple[str, str]]:
    tested = {test.test for test in tests if not test.reason}
    if "classifier" in tested:
        yield "across", "a classifier of differences that recur across prompts"
        yield (
            "AUC",
            "probability of telling which of two answers to a prompt is whose; 0.5 is chance",
        )
    if tested & {"gaussian", "hamming"}:
        yield "within", "MMD of the samples of each prompt, by embeddings (Gaussian) or characters"
