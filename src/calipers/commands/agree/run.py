"""``agree``: does the verdict on several systems depend on the embedder?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from calipers.catalogue.choosing import check_keys, choose, key, split_names
from calipers.catalogue.estimation import COUNTING
from calipers.catalogue.keys import split_key
from calipers.catalogue.shown import HEADLINE
from calipers.commands.agree.options import AgreeOptions
from calipers.commands.agree.result import Agreement, Column, MetricAgreement, merit, tie_width
from calipers.commands.compare.run import compare
from calipers.embedders import Embedder, EmbedderChoice, as_embedder, is_embedder
from calipers.embedders.processes import check_divides, may_divide
from calipers.errors import InputError
from calipers.evaluate.inputs import Reader
from calipers.evaluate.text_view import VIEW as TEXT
from calipers.options.comparison import CompareOptions
from calipers.options.embedding import Model
from calipers.options.keywords import keywords_of
from calipers.progress import Advance, Progress, Silent
from calipers.results import Comparison, SetSummary
from calipers.samples import SampleSet, System
from calipers.score import Score
from calipers.uncertainty import rank_agreement as ranks

VIEW = "any"
"""Stands for every view while keys are checked."""


@keywords_of(AgreeOptions)
def agree(reference: Any, generated: Any, options: AgreeOptions) -> Agreement:
    """Tell whether the verdict on several systems depends on the embedder.

    Every metric is taken by every view of every embedder, and the orders in which these columns
    put the systems are correlated (Le Bronnec et al., ACL 2024, table B.1; Pillutla et al., JMLR
    2023, section 7.5). Columns that agree may still be wrong together.

    Parameters
    ----------
    reference, generated
        As for :func:`calipers.compare`; at least two systems, of texts or images.

    Returns
    -------
    Agreement
        ``agreement["precision"].spearman`` is the matrix of rank correlations; printing it shows
        scores, correlations and the verdict in words.

    Raises
    ------
    InputError
        If there are fewer than two systems or columns, an embedder stands twice or cannot be
        loaded, samples cannot be read or do not fit together, or an option is out of its range.
    """
    keys = _keys(options.metrics, options.estimator)
    named = _name_embedders(options.embedders, options)
    sides = _read(reference, generated, options)
    progress = options.progress or Silent()
    _try_embedders(named, sides[0].kind, progress, processes=options.processes)
    verdicts: list[Verdict] = []
    for name, embedder in named.items():
        compared = CompareOptions.of(
            options,
            embedder=embedder,
            metrics=keys,
            processes=_processes_of(embedder, options.processes),
            progress=_Named(progress, name),
        )
        found = compare(*sides, options=compared)
        verdicts.append(Verdict.of(name, found))
    settings = {key: found.settings[key] for key in (*options.settings(), "pca")}
    return _build(
        verdicts,
        found.reference,
        [system.summary for system in found],
        {"metrics": list(verdicts[0].metrics), **settings},
    )


def _keys(metrics: str | Iterable[str] | None, estimator: str) -> list[str]:
    """Give the keys of the metrics; a view is not for one of them to choose."""
    check_keys(metrics)
    if metrics is None:
        counted = estimator == COUNTING
        return [name if counted else name.removesuffix("_star") for name in HEADLINE]
    keys = split_names(metrics)
    for each in keys:
        view, name, options = split_key(each)
        if view == TEXT or each == TEXT:
            raise InputError(
                f"{each!r} is computed from the texts themselves, so it does not depend on "
                "the embedder; use calipers text"
            )
        if view:
            plain = ":".join((name, *options))
            raise InputError(
                f"{each!r} names the view {view!r}; agree computes metrics in every view of "
                f"every embedder, so name them without a view, such as {plain!r}"
            )
    choose(keys, (VIEW,), estimator=estimator)
    return keys


def _read(
    reference: Any, generated: Any, options: AgreeOptions
) -> tuple[SampleSet, tuple[System, ...]]:
    """Read every file once, and see that there is something to agree about."""
    reading = Reader(options.field, skip_bad=options.skip_bad)
    first = reading.one(reference, "reference")
    if first.kind == "vectors":
        raise InputError(
            f"{first.name}: holds vectors; agree embeds the samples with several embedders, "
            "so it needs texts or images"
        )
    systems = reading.systems(generated)
    if len(systems) < 2:
        raise InputError(
            "agree compares rankings of systems, so it needs at least two systems; found "
            f"{systems[0].name!r} only. For the scores of one system use calipers compare"
        )
    return first, systems


@dataclass(frozen=True)
class _Named:
    """A progress that says whose work it is."""

    inner: Progress
    name: str

    def task(self, description: str, total: int | None) -> AbstractContextManager[Advance]:
        return self.inner.task(f"{self.name}: {description}", total)


@dataclass(frozen=True, eq=False)
class Verdict:
    """What one embedder said, without samples and vectors.

    Attributes
    ----------
    name
        Of the embedder.
    views
        Its views, the main one first.
    metrics
        Keys of the metrics that were asked for, without a view.
    scores
        One mapping from key to score for each system.
    warnings
        What is to be known of each set, the reference first.
    common
        What is to be known of the comparison as a whole.
    signature
        How it was made.
    """

    name: str
    views: tuple[str, ...]
    metrics: tuple[str, ...]
    scores: tuple[Mapping[str, Score], ...]
    warnings: tuple[tuple[str, ...], ...]
    common: tuple[str, ...]
    signature: Mapping[str, str]

    @classmethod
    def of(cls, name: str, comparison: Comparison) -> Verdict:
        """Keep of a comparison what an agreement needs."""
        settings = comparison.settings
        own = [each.summary.warnings + each.warnings for each in comparison]
        return cls(
            name=name,
            views=tuple(settings["views"]),
            metrics=tuple(settings["metrics_shown"]),
            scores=tuple(_light(system.scores) for system in comparison),
            warnings=(comparison.reference.warnings, *own),
            common=comparison.warnings,
            signature=settings["embedding"],
        )

    def column(self, view: str, metric: str) -> tuple[Score, ...]:
        """Give the score of every system by one view."""
        name = key(view, metric, self.views)
        return tuple(scores[name] for scores in self.scores)


def _build(
    verdicts: Sequence[Verdict],
    reference: SetSummary,
    systems: Sequence[SetSummary],
    settings: Mapping[str, Any],
) -> Agreement:
    """Bring the verdicts of all embedders together.

    Parameters
    ----------
    verdicts
        One for each embedder, on the same sets.
    reference, systems
        The sets, as any of the comparisons describes them.
    settings
        The choices that hold for all.
    """
    columns = tuple(Column(each.name, view) for each in verdicts for view in each.views)
    names = tuple(system.name for system in systems)
    shared = [_shared([each.warnings[row] for each in verdicts]) for row in range(len(systems) + 1)]
    common = _shared([each.common for each in verdicts])
    made = {each.name: {"views": list(each.views), **each.signature} for each in verdicts}
    tie = tie_width(min(each.n for each in (reference, *systems)))
    return Agreement(
        reference=replace(reference, warnings=shared[0]),
        systems=tuple(replace(s, warnings=w) for s, w in zip(systems, shared[1:], strict=True)),
        columns=columns,
        metrics={
            metric: _metric(metric, verdicts, columns, names, tie) for metric in verdicts[0].metrics
        },
        settings={**settings, "embedders": made},
        tie=tie,
        rarely_reached=ranks.rarely_reached(len(names)),
        warnings=(*common, *_own_warnings(verdicts, (reference.name, *names), shared, common)),
    )


def _metric(
    metric: str,
    verdicts: Sequence[Verdict],
    columns: tuple[Column, ...],
    names: tuple[str, ...],
    tie: float,
) -> MetricAgreement:
    scores = tuple(each.column(view, metric) for each in verdicts for view in each.views)
    merits = [np.array([merit(score) for score in column]) for column in scores]
    size = len(columns)

    def table(measure: Any) -> Any:
        found = [measure(merits[i], merits[j]) for i, j in product(range(size), repeat=2)]
        return [found[row * size : (row + 1) * size] for row in range(size)]

    return MetricAgreement(
        metric=metric,
        columns=columns,
        systems=names,
        scores=scores,
        spearman=np.array(table(ranks.spearman)),
        kendall=np.array(table(ranks.kendall)),
        chance=np.array(table(ranks.chance)),
        reasons=tuple(map(tuple, table(ranks.why_undefined))),
        tie=tie,
    )


def _light(scores: Mapping[str, Score]) -> dict[str, Score]:
    return {name: replace(score, per_sample=None) for name, score in scores.items()}


def _shared(warnings: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """What every embedder's comparison says."""
    return tuple(text for text in warnings[0] if all(text in each for each in warnings))


def _own_warnings(
    verdicts: Sequence[Verdict],
    names: Sequence[str],
    shared: Sequence[Sequence[str]],
    common: Sequence[str],
) -> list[str]:
    """What some embedder's comparison says alone, with its name in front."""
    found = []
    for each in verdicts:
        found += [_told(each.name, "", text) for text in each.common if text not in common]
        for name, own, known in zip(names, each.warnings, shared, strict=True):
            found += [_told(each.name, f"{name}: ", text) for text in own if text not in known]
    return found


def _told(embedder: str, about: str, text: str) -> str:
    """Put the embedder in front of a warning, unless the warning names it."""
    return f"{about}{text}" if text.startswith(f"{embedder} ") else f"{embedder}: {about}{text}"


Named = dict[str, Embedder | EmbedderChoice]


def _name_embedders(embedders: Any, options: Model) -> Named:
    """Give each embedder a name for its columns.

    Parameters
    ----------
    embedders
        Lines ``NAME[:option=value…]``, choices or embedders, in a sequence or in a dict from the
        name of the column.

    Returns
    -------
    dict
        From name to choice or embedder, in the order given. A line goes by its last part,
        ``./models/gpt2:layer=6`` by ``gpt2:layer=6``, and by all of it where two are alike.

    Raises
    ------
    InputError
        If it holds nothing, what is no embedder, or the same one twice.
    """
    if isinstance(embedders, Mapping):
        return {str(name): _choice(each, options) for name, each in embedders.items()}
    given = [embedders] if isinstance(embedders, str) else _listed(embedders)
    choices = [_choice(each, options) for each in given]
    lines = [_line(each) for each in choices]
    for line in lines:
        if lines.count(line) > 1:
            raise InputError(
                f"the embedder {line!r} is given twice; give each once, or give a dict from "
                "names to embedders"
            )
    short = [_short(line) for line in lines]
    names = [own if short.count(own) == 1 else line for own, line in zip(short, lines, strict=True)]
    return dict(zip(names, choices, strict=True))


def _processes_of(each: Embedder | EmbedderChoice, processes: int | None) -> int | None:
    """Give the processes that embed by one of several embedders: one where more cannot help."""
    divides = isinstance(each, EmbedderChoice) and may_divide(each)
    return processes if divides else None


def _try_embedders(
    named: Named, kind: str, progress: Progress, *, processes: int | None = None
) -> int:
    """Load every embedder once and let it go; tell how many columns they give.

    A misspelt last one is found before the first has embedded for an hour. One after another, so
    that no two models need memory at the same time.

    Raises
    ------
    InputError
        If one cannot be loaded or does not read samples of this kind, two are the same, they
        give fewer than two columns, or processes are asked for that could help none of them or
        not with a model where it runs.
    """
    if processes not in (None, 1) and not any(_processes_of(e, processes) for e in named.values()):
        raise InputError(
            "--processes (processes= in Python) applies to models on the CPU only; none of "
            f"these is one: {', '.join(named)}"
        )
    seen: dict[str, str] = {}
    columns = 0
    with progress.task("Trying embedders", len(named)) as advance:
        for name, each in named.items():
            model = each.load() if isinstance(each, EmbedderChoice) else each
            _check_kind(name, model, kind)
            if isinstance(each, EmbedderChoice) and _processes_of(each, processes) not in (None, 1):
                check_divides(each, model)
            if model.identity in seen:
                raise InputError(
                    f"the embedders {seen[model.identity]!r} and {name!r} are the same; their "
                    "columns would always agree"
                )
            seen[model.identity] = name
            columns += len(model.views)
            advance(1)
    if columns < 2:
        raise InputError(
            "agree compares columns with each other, one for each view of each embedder, and "
            f"needs at least two; found {columns}: {', '.join(named) or 'no embedder'}"
        )
    return columns


def _choice(each: Any, options: Model) -> Embedder | EmbedderChoice:
    if isinstance(each, str):
        return options.choice_of(each)
    if isinstance(each, EmbedderChoice):
        return each
    if is_embedder(each):
        return as_embedder(each)
    raise InputError(
        f"embedders must be names such as 'minilm', choices or embedders; found {each!r}"
    )


def _listed(embedders: Any) -> Sequence[Any]:
    if not isinstance(embedders, Iterable):
        raise InputError(f"embedders must be a list of embedders; found {embedders!r}")
    return list(embedders)


def _line(each: Embedder | EmbedderChoice) -> str:
    return each.line if isinstance(each, EmbedderChoice) else each.name


def _short(line: str) -> str:
    """Leave out the folders before a name, and an ending such as ``.txt``, but no option."""
    name, colon, options = line.partition(":")
    if options.startswith("//"):
        return line
    last = Path(name).name or name
    return f"{last}{colon}{options}"


def _check_kind(name: str, model: Embedder, kind: str) -> None:
    """Refuse early what the embedding would refuse late."""
    if kind not in model.reads:
        raise InputError(f"the embedder {name!r} does not read {kind}; leave it out")
