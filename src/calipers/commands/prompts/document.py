"""Answers to the same prompts ──► a document: scores, how alike systems answer, and tests."""

from __future__ import annotations

from collections.abc import Iterator

from calipers.report import legend
from calipers.report.inference import percent
from calipers.report.names import VIEWS, clean
from calipers.report.numbers import (
    MISSING,
    below_value,
    beside_value,
    half_text,
    number,
    p_text,
    size_text,
    words_text,
)
from calipers.report.of_data import of_data, score_of
from calipers.report.shown import named, short
from calipers.report.table import (
    REFERENCE,
    SYSTEM,
    Block,
    Cell,
    Column,
    Data,
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


def document(data: Data) -> Document:
    """Give all that is shown.

    Parameters
    ----------
    data
        What ``ByPrompt.to_dict()`` gives.
    """
    sets = [(short(each["name"]), of_data(each)) for each in _sets(data)]
    blocks: tuple[Block, ...] = (
        _scores_table(data),
        _matrix(data),
        *([_tests_table(data)] if data["tests"] else []),
        *together(*legend.warnings(of_data(data), sets)),
        Notes((*glossary(_meanings(data)), Note("how", HOW))),
    )
    return Document(_title(data), blocks, legend.made_by(of_data(data)))


HOW = (
    "Intervals are over prompts, each of which counts once. Every score, and signatures: --json "
    "FILE, or .to_dict() in Python."
)


def _title(data: Data) -> str:
    settings, prompts = data["settings"], len(data["prompts"])
    pins = [f"{key} {clean(settings[key])}" for key in ("embedder", "k", "seed") if key in settings]
    systems = len(data["systems"])
    what = "1 system" if systems == 1 else f"{systems} systems"
    beside = "" if data["reference"] is None else " and a reference"
    count = "1 prompt" if prompts == 1 else f"{prompts} prompts"
    return " · ".join([f"{what}{beside} on {count}", *pins])


def _sets(data: Data) -> list[Data]:
    first = data["reference"]
    return [*([] if first is None else [first]), *data["systems"]]


def _kinds(data: Data) -> tuple[str, ...]:
    first = () if data["reference"] is None else (REFERENCE,)
    return (*first, *([SYSTEM] * len(data["systems"])))


def _scores_table(data: Data) -> Table:
    sets = _sets(data)
    lead = [
        Column("system", tuple(Text(named(each["name"])) for each in sets), align="left", share=0),
        Column("n", texts([size_text(of_data(each)) for each in sets])),
        Column("per prompt", texts([_range(each["per_prompt"]) for each in sets])),
    ]
    if any(each.get("words") for each in sets):
        lead.append(Column("words", texts([words_text(of_data(each)) for each in sets])))
    columns = [
        Column(
            SCORES[key][0],
            tuple(_score(each["scores"].get(key)) for each in sets),
            align="value",
            key=key,
            meaning=_meaning(data, key),
        )
        for key in _shown(data)
    ]
    return Table(tuple(lead), singles(columns), _kinds(data), id="scores")


def _shown(data: Data) -> list[str]:
    """The scores of the table that have a value for some set."""
    scores = [each["scores"] for each in _sets(data)]
    return [k for k in SHOWN if any((own.get(k) or {}).get("value") is not None for own in scores)]


def _range(sizes: list[int]) -> str:
    low, high = sizes
    return str(low) if low == high else f"{low}–{high}"


def _score(score: Data | None) -> Cell:
    if score is None or score.get("value") is None:
        return Text(MISSING)
    text = number(score["value"], unit=True)
    read = score_of(score)
    spread = beside_value(read, text) or below_value(read)
    return ScoreCell(text, spread, number=score["value"])


def _matrix(data: Data) -> Table:
    """A row and a column for each set; how alike each answers itself stands on the diagonal."""
    found, kinds = data["homogeneity"], _kinds(data)
    names = found["names"]
    columns = [
        Column(
            named(name),
            tuple(_alike(found, row, place) for row in range(len(names))),
            align="value",
        )
        for place, name in enumerate(names)
    ]
    others = [value for row in found["other_prompts"] for value in row if value is not None]
    scale = f"; of different prompts {min(others):.3f} to {max(others):.3f}" if others else ""
    return Table(
        (Column("", tuple(Text(named(name)) for name in names), align="left"),),
        singles(columns),
        kinds,
        id="homogeneity",
        heading=f"How alike the same prompts are answered (mean cosine{scale})",
        notes=tuple(notes("point", _pairs(found))),
        breaks="square",
        apart=False,
    )


def _alike(found: Data, row: int, place: int) -> Cell:
    value, low, high = (found[key][row][place] for key in ("values", "low", "high"))
    if value is None:
        return Text(MISSING, "dim")
    spread = "" if low is None else half_text((high - low) / 2, f"{value:.3f}")
    return ScoreCell(f"{value:.3f}", spread, style="dim" if row == place else "", number=value)


def _pairs(found: Data) -> Iterator[str]:
    """Say of each pair of sets how far it is from answering alike."""
    names = [short(name) for name in found["names"]]
    for i, first in enumerate(names):
        for j in range(i + 1, len(names)):
            apart, low, high = (found[key][i][j] for key in ("apart", "apart_low", "apart_high"))
            if apart is None or low is None:
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


def _tests_table(data: Data) -> Table:
    """A row for each pair, a column for each test that tells of one; below, why others do not."""
    pairs = list(dict.fromkeys((test["first"], test["second"]) for test in data["tests"]))
    tests = {(t["first"], t["second"], _tested_by(t)): t for t in data["tests"]}
    tested = list(dict.fromkeys(_tested_by(t) for t in data["tests"] if not t["reason"]))
    tested = tested or list(dict.fromkeys(map(_tested_by, data["tests"])))
    alpha = round(1 - data["settings"]["level"], 12)
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
    against = "the reference" if data["reference"] is not None else "each other"
    return Table(
        (lead,),
        singles(columns),
        (SYSTEM,) * len(pairs),
        id="tests",
        heading=f"Distinguishable from {against}, given the prompt?",
        notes=tuple(notes("point", _untestable(data["tests"]))),
        breaks="whole",
        apart=False,
    )


def _tested_by(test: Data) -> str:
    """The head of a test's column."""
    view = f", {clean(test['view'])}" if test["view"] in VIEWS else ""
    return TESTS.get(test["test"], clean(test["test"])).format(view)


def _test(test: Data, alpha: float) -> Cell:
    if test["reason"]:
        return Text("not testable")
    size = f"AUC {test['estimate']:.2f}, " if test["test"] == "classifier" else ""
    verdict = "yes" if test["distinguishable"] else "not shown"
    return Text(f"{verdict} ({size}{p_text(test['adjusted'], alpha)})")


def _untestable(tests: list[Data]) -> Iterator[str]:
    """Say once for every reason which tests and how many pairs it is about."""
    found: dict[str, list[Data]] = {}
    for test in tests:
        if test["reason"]:
            found.setdefault(test["reason"], []).append(test)
    for reason, about in found.items():
        by = "; ".join(dict.fromkeys(map(_tested_by, about)))
        pairs = list(dict.fromkeys((t["first"], t["second"]) for t in about))
        which = f"{len(pairs)} pairs are"
        if len(pairs) == 1:
            which = f"{short(pairs[0][0])} and {short(pairs[0][1])} are"
        yield f"{by}: {which} not testable, since {clean(reason)}"


def _meaning(data: Data, key: str) -> str:
    settings = data["settings"]
    return SCORES[key][1].format(k=settings["k"], t=settings["threshold"])


def _meanings(data: Data) -> Iterator[tuple[str, str]]:
    for key in _shown(data):
        yield SCORES[key][0], _meaning(data, key)
    view = data["settings"]["view"]
    if view in VIEWS:
        yield clean(view), f"cosines see {VIEWS[view]}"
    level = percent(data["settings"]["level"])
    yield "±", f"{level} interval over prompts, at as many samples of each"
    if data["tests"]:
        yield "p", "labels permuted within prompts; corrected over the pairs of a column (Holm)"
        yield from _meanings_of_tests(data["tests"])


def _meanings_of_tests(tests: list[Data]) -> Iterator[tuple[str, str]]:
    tested = {test["test"] for test in tests if not test["reason"]}
    if "classifier" in tested:
        yield "across", "a classifier of what differs alike from prompt to prompt"
        yield "AUC", "chance to tell which of two answers to a prompt is whose; 0.5 by chance"
    if tested & {"gaussian", "hamming"}:
        yield "within", "MMD of the samples of each prompt, by embeddings (Gaussian) or characters"
