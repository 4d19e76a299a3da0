"""The document of HUSE: the three scores, and the texts that they rest on."""

from __future__ import annotations

from collections.abc import Iterator

from calipers.commands.huse.result import HuseResult
from calipers.report import legend
from calipers.report.table import (
    METRIC,
    SYSTEM,
    Block,
    Column,
    Document,
    Note,
    Notes,
    ScoreCell,
    Table,
    glossary,
    notes,
    singles,
    texts,
    together,
)
from calipers.score import Score
from calipers.wording.names import clean
from calipers.wording.numbers import bounds_of, percent
from calipers.wording.short_names import short

LABELS = {"huse": "HUSE", "quality": "HUSE-Q", "diversity": "HUSE-D"}
MEANINGS = {
    "huse": "by judgements and likelihoods: 1 where the sets cannot be told apart, 0 where each "
    "text can",
    "quality": "by judgements alone, the quality",
    "diversity": "1 + HUSE - HUSE-Q, what likelihoods add: the diversity",
}


def document(result: HuseResult) -> Document:
    """Return the document of HUSE: its tables and notes."""
    blocks: tuple[Block, ...] = (
        _scores(result),
        _sets(result),
        *together(*notes("note", _remarks(result)), *legend.warnings(result, _summaries(result))),
        Notes(
            (
                *glossary((LABELS[name], text) for name, text in MEANINGS.items()),
                Note(
                    "how",
                    f"Intervals of {percent(result.settings['level'])} by random halves of both "
                    "sets. Full precision and signatures: `.to_dict()`.",
                ),
            )
        ),
    )
    return Document(_title(result), blocks, legend.made_by(result))


def _title(result: HuseResult) -> str:
    settings = result.settings
    pins = (
        f"HUSE of {short(result.generated.name)} beside {short(result.reference.name)}",
        f"{clean(settings['question'])} by {settings['judged_by']}",
        f"likelihoods by {clean(str(settings['model']))}",
        f"k {settings['k']}",
        f"seed {settings['seed']}",
    )
    return " · ".join(pins)


def _summaries(result: HuseResult) -> list[tuple[str, legend.HasWarnings]]:
    return [(short(one.name), one.summary) for one in result.sets]


def _scores(result: HuseResult) -> Table:
    """Return a row for each score, with its interval."""
    return Table(
        (Column("score", texts([LABELS[name] for name in result.scores]), align="left"),),
        singles([Column("value", tuple(map(_cell, result.scores.values())), align="value")]),
        (METRIC,) * len(result.scores),
        id="scores",
        breaks="whole",
    )


def _cell(score: Score) -> ScoreCell:
    bounds = bounds_of(score)
    spread = "" if bounds is None else f"[{bounds[0]:.2f}, {bounds[1]:.2f}]"
    return ScoreCell(f"{score.value:.2f}", spread, number=float(score.value))


def _sets(result: HuseResult) -> Table:
    """Return the texts of both sets by what they have."""
    sets = result.sets
    columns = {
        "texts": [one.summary.n for one in sets],
        "used": [one.used for one in sets],
        "not judged": [one.not_judged for one in sets],
        "no likelihood": [one.not_likely for one in sets],
        "judgements": [one.answers for one in sets],
        "raters": [one.raters for one in sets],
    }
    return Table(
        (Column("set", texts([clean(one.name) for one in sets]), align="left", share=3),),
        singles([Column(head, texts([f"{n:,}" for n in ns])) for head, ns in columns.items()]),
        (SYSTEM,) * len(sets),
        id="sets",
        breaks="whole",
    )


def _remarks(result: HuseResult) -> Iterator[str]:
    """Say what the likelihoods are."""
    prompted = ", each text given its prompt" if result.settings["given_prompt"] else ""
    yield (
        "likelihoods are the log-probability of a text per token"
        f"{prompted}, under the model as it is, without truncation or temperature: HUSE-D is about "
        "texts that the model wrote so"
    )
