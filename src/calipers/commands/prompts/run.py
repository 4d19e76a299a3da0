"""``prompts``: score samples for the same prompts prompt by prompt, and pool over prompts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.commands.prompts.options import PromptsOptions
from calipers.commands.prompts.result import ByPrompt, PromptSet
from calipers.commands.prompts.scores import PromptSamples, homogeneity_of, scores_of
from calipers.commands.prompts.tests import tests_between
from calipers.embedders import Embedder, embed
from calipers.errors import InputError
from calipers.evaluate.embedding import (
    cache_of,
    check_columns,
    chosen_setting,
    embedder_cautions,
    notes_of_all,
    open_embedder,
    with_embedder,
)
from calipers.evaluate.inputs import InputSet, Reader, read_of, summarise, where
from calipers.evaluate.prompts import strip_prompts
from calipers.numeric.threads import limit_threads
from calipers.options.keywords import keywords_of
from calipers.progress import Progress, Silent
from calipers.results.caution import sentences
from calipers.results.reading import SetReading, too_little, unread_note
from calipers.results.sets import SetSummary
from calipers.samples import SampleSet, System
from calipers.samples.columns import StringColumn
from calipers.samples.wording import counted, first_names
from calipers.text.unicode_forms import as_seen

NAMED = 3
"""Prompts that a message names."""

FEW = 20
"""Prompts below which an interval over prompts rests on little."""

MOST_LOST = 0.5
"""The share of the samples of a set that may be left out: their prompts are lost to all sets."""

LONGEST = 60
"""Characters of a prompt that a message shows."""


@keywords_of(PromptsOptions)
def prompts(reference: Any, generated: Any, options: PromptsOptions) -> ByPrompt:
    """Tell how varied the samples of a prompt are, and how alike systems answer the same prompts.

    Each set has one or several samples for each prompt; the files of one system are taken together,
    so that k files with one sample for each prompt are k samples. One sample per prompt is enough
    to compare the answers of systems; several are needed to tell how varied the samples of a prompt
    are. Only prompts that all sets share count. Scores are means over prompts, with intervals over
    prompts; tests permute labels within prompts.

    Parameters
    ----------
    reference
        What people answered, in any form that :func:`calipers.compare` takes, one or several for
        each prompt; None for systems alone.
    generated
        The systems: a dict from name to samples, or one set. Rows of files name their prompt; sets
        made in Python have ``prompts`` or ``clusters``.

    Returns
    -------
    ByPrompt
        ``result["model_a"].scores["distinct_k"]``, ``result.homogeneity.values``,
        ``result.tests``; printing it shows the tables.

    Raises
    ------
    InputError
        If samples cannot be read or do not fit together, a set has no prompts, no prompt is shared,
        or an option is out of its range.

    Examples
    --------
    >>> import calipers
    >>> words = ("one", "two", "three")
    >>> varied = [{"prompt": p, "text": f"{p} {word}"} for p in "xyz" for word in words]
    >>> same = [{"prompt": p, "text": f"{p} one"} for p in "xyz" for _ in range(3)]
    >>> result = calipers.prompts(None, {"varied": varied, "same": same}, embedder="characters")
    >>> [result[name].scores["distinct_texts"].value for name in ("varied", "same")]
    [3.0, 1.0]
    """
    first, systems = _read(reference, generated, options)
    first, systems = _kind_checked(first, systems, options)
    sets = [*([] if first is None else [System(first.name, (first,))]), *systems]
    labels = [_prompts_of(system, options.by_prompt) for system in sets]
    shared, lost = _shared(sets, labels)
    generated_labels = labels if first is None else labels[1:]
    k = _samples_for_each(generated_labels, shared, options.k, alone=len(labels) == 1)
    every = [one for system in sets for one in system.sets]
    options, chosen = with_embedder(options, every, alone=first is None)
    model = open_embedder(options, every, fit_on_all=True)
    progress = options.progress or Silent()
    with limit_threads(options.threads):
        answers, notes, read = _embed(sets, labels, shared, model, options, progress)
        answers, kept, unseen = _with_directions(answers, shared)
        ours, theirs = (None, answers) if first is None else (answers[0], answers[1:])
        with progress.task("Scoring prompts", len(answers)) as advance:
            scored = []
            for given in answers:
                scored.append(scores_of(given, k=k, options=options))
                advance(1)
        matrix = homogeneity_of(answers, level=options.level)
        tests = tests_between(ours, theirs, options, view=model.views[0])
    made = [
        PromptSet(replace(_summary(system, answer), reading=reading), _sizes(answer), scores)
        for system, answer, scores, reading in zip(sets, answers, scored, read, strict=True)
    ]
    return ByPrompt(
        prompts=kept,
        reference=None if first is None else made[0],
        systems=tuple(made if first is None else made[1:]),
        homogeneity=matrix,
        tests=tests,
        settings={
            "embedder": model.name,
            "view": model.views[0],
            **options.settings(),
            "k": k,
            "samples": sets[0].sets[0].kind,
            "embedding": dict(model.signature),
            **chosen_setting(chosen),
        },
        warnings=(
            *_unread(model.name, answers, read),
            *lost,
            *unseen,
            *_cautions(kept, answers),
            *sentences(embedder_cautions(options, model, every, chosen)),
            *notes,
        ),
    )


def _read(
    reference: Any, generated: Any, options: PromptsOptions
) -> tuple[SampleSet | None, tuple[System, ...]]:
    reading = Reader(options.field, cluster=options.by_prompt)
    systems = reading.systems(generated)
    return None if reference is None else reading.one(reference, "reference"), systems


def _kind_checked(
    reference: SampleSet | None, systems: tuple[System, ...], options: PromptsOptions
) -> tuple[SampleSet | None, tuple[System, ...]]:
    """Refuse samples of several kinds, and take the prompts off texts where that is asked for."""
    every = [*([] if reference is None else [reference]), *(s for x in systems for s in x.sets)]
    for samples in every:
        if samples.kind != every[0].kind:
            raise InputError(
                f"{where(every[0])} holds {every[0].kind} and {where(samples)} holds "
                f"{samples.kind}; all sets must be samples of one kind"
            )
    if not options.strip_prompt:
        return reference, systems
    stripped = strip_prompts(reference, [s for system in systems for s in system.sets])
    left = iter(stripped.generated)
    return stripped.reference, tuple(
        System(system.name, tuple(next(left) for _ in system.sets)) for system in systems
    )


def _prompts_of(system: System, field: str | None) -> list[StringColumn]:
    """The prompt of every sample of every file, in one Unicode form, so that equal ones meet."""
    columns = []
    for samples in system.sets:
        column = samples.clusters if samples.clusters is not None else samples.prompts
        if field is not None and samples.clusters is None:
            raise InputError(
                f"{where(samples)}: its rows have no field {field!r} that names their prompt "
                "(`by_prompt`)"
            )
        if column is None:
            raise InputError(
                f"{where(samples)}: its samples name no prompts; the field of each row that holds "
                "them is named by `by_prompt`, by default it is 'prompt'"
            )
        columns.append(StringColumn.of(map(as_seen, column)))
    return columns


def _shared(
    sets: Sequence[System], labels: Sequence[Sequence[StringColumn]]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The prompts that every set has, in order, and what is reported about the others."""
    known = [{label for column in columns for label in column} for columns in labels]
    shared = set.intersection(*known)
    if not shared:
        names = first_names([system.name for system in sets], 4)
        raise InputError(
            f"{names} have no prompt in common; the samples of a prompt must name it alike, "
            f"but {sets[0].name} has {_quoted(sorted(known[0])[:1])} and {sets[-1].name} "
            f"{_quoted(sorted(known[-1])[:1])}"
        )
    lost = sorted(set.union(*known) - shared)
    if not lost:
        return tuple(sorted(shared)), ()
    lacking: dict[tuple[str, ...], list[str]] = {}
    for system, prompts in zip(sets, known, strict=True):
        if gone := tuple(prompt for prompt in lost if prompt not in prompts):
            lacking.setdefault(gone, []).append(system.name)
    groups = [
        f"{first_names(names, NAMED)} {'lack' if names[1:] else 'lacks'} "
        f"{counted(len(gone), 'prompt')} ({_quoted(gone[:NAMED])}{', …' if gone[NAMED:] else ''})"
        for gone, names in sorted(lacking.items(), key=lambda group: len(group[1]))
    ]
    rest = f"; {len(groups) - NAMED} more groups of sets lack others" if groups[NAMED:] else ""
    note = (
        f"{counted(len(lost), 'prompt')} of {len(lost) + len(shared)} left out, which not every "
        f"set has: {'; '.join(groups[:NAMED])}{rest}"
    )
    return tuple(sorted(shared)), (note,)


def _quoted(prompts: Iterable[str]) -> str:
    cut = (p if len(p) <= LONGEST else p[: LONGEST - 1] + "…" for p in prompts)
    return ", ".join(repr(" ".join(prompt.split())) for prompt in cut)


@dataclass(frozen=True, eq=False)
class _Part:
    """Rows of one file, with their vectors by every view."""

    views: Mapping[str, NDArray[Any]]
    texts: list[str] | None
    prompts: NDArray[np.int64]


def _embed(
    sets: Sequence[System],
    labels: Sequence[Sequence[StringColumn]],
    shared: Sequence[str],
    model: Embedder,
    options: PromptsOptions,
    progress: Progress,
) -> tuple[list[PromptSamples], tuple[str, ...], list[SetReading | None]]:
    """Embed the samples of shared prompts, those of a system in one array sorted by prompt.

    Beside them, what was read of each set.
    """
    places = {prompt: place for place, prompt in enumerate(shared)}
    cache = cache_of(options)
    every, answers, read = [], [], list[SetReading | None]()
    for system, columns in zip(sets, labels, strict=True):
        parts, made = [], []
        for samples, column in zip(system.sets, columns, strict=True):
            codes = np.array([places.get(prompt, -1) for prompt in column], np.int64)
            rows = np.flatnonzero(codes >= 0)
            if not len(rows):
                continue
            answered = samples.take(rows)
            embedded = embed(answered, model, cache=cache, progress=progress)
            every.append((system.name, [embedded]))
            made.append(embedded)
            texts = None if answered.texts is None else list(answered.texts)
            parts.append(_Part(embedded.views, texts, codes[rows]))
        read.append(read_of(made))
        unread = too_little(model.name, [(f"{system.name}'s", read[-1])])
        joined = _joined(system.name, parts, len(shared), model.views)
        answers.append(replace(joined, unread=unread))
    check_columns(f"those of {every[0][0]},", every[0][1][0], every[1:])
    return answers, notes_of_all([embeddings[0] for _, embeddings in every]), read


def _unread(
    embedder: str, answers: Sequence[PromptSamples], read: Sequence[SetReading | None]
) -> Iterable[str]:
    """Say what the embedder did not read of each set."""
    for answer, reading in zip(answers, read, strict=True):
        note = unread_note(embedder, answer.name, reading)
        if note is not None:
            yield note


def _joined(name: str, parts: Sequence[_Part], prompts: int, views: Sequence[str]) -> PromptSamples:
    codes = np.concatenate([part.prompts for part in parts])
    order = np.argsort(codes, kind="stable")
    vectors, *others = (
        np.concatenate([part.views[view] for part in parts])[order] for view in views
    )
    listed = [text for part in parts for text in part.texts or ()]
    texts = [listed[row] for row in order.tolist()] if listed else None
    further = dict(zip(views[1:], others, strict=True))
    return PromptSamples(name, vectors, texts, codes[order], prompts, further=further)


def _with_directions(
    answers: list[PromptSamples], shared: tuple[str, ...]
) -> tuple[list[PromptSamples], tuple[str, ...], tuple[str, ...]]:
    """Leave out samples without a direction, prompts of which a set then has none, and say so."""
    lost = {
        answer.name: count
        for answer in answers
        if (count := int((~answer.vectors.any(axis=1)).sum()))
    }
    if not lost:
        return answers, shared, ()
    seen = [answer.take(np.flatnonzero(answer.vectors.any(axis=1))) for answer in answers]
    left = np.flatnonzero(np.all([answer.sizes > 0 for answer in seen], axis=0))
    whose = "; ".join(f"{counted(count, 'sample')} of {name}" for name, count in lost.items())
    why = "vectors that are all zero (empty texts, or words that the embedder does not know)"
    most = max(lost[answer.name] / len(answer.vectors) for answer in answers if answer.name in lost)
    if most > MOST_LOST or not len(left):
        raise InputError(f"too few prompts are left to compare by direction: {whose} have {why}")
    gone = len(shared) - len(left)
    also = f", and with them {counted(gone, 'prompt')}, for every set" if gone else ""
    note = f"left out, since they have {why}: {whose}{also}"
    return [answer.of_prompts(left) for answer in seen], tuple(shared[i] for i in left), (note,)


def _samples_for_each(
    systems: Sequence[Sequence[StringColumn]],
    shared: Sequence[str],
    asked: int | None,
    *,
    alone: bool,
) -> int:
    """How many samples of a prompt count for scores that grow with their number."""
    sizes = []
    for columns in systems:
        counts = Counter(prompt for column in columns for prompt in column)
        sizes += [counts[prompt] for prompt in shared]
    several = [size for size in sizes if size > 1]
    if not several and alone:
        raise InputError(
            "a single system with one sample for each prompt has nothing to be compared with; give "
            "several files of the system (NAME=GLOB), several systems, or a reference"
        )
    if asked is not None and asked > max(sizes):
        raise InputError(
            f"k is {asked}, but no prompt of a system has more than {max(sizes)} samples"
        )
    return min(several, default=1) if asked is None else asked


def _summary(system: System, answers: PromptSamples) -> SetSummary:
    """Describe a set by all its files, with as many samples as count."""
    files = [InputSet(samples, len(samples)) for samples in system.sets]
    summary = summarise(files, name=system.name)
    given = sum(len(samples) for samples in system.sets)
    return SetSummary(
        name=summary.name,
        source=summary.source,
        n=len(answers.prompts),
        n_given=given,
        words=summary.words,
        content_hash=summary.content_hash,
        warnings=summary.warnings,
        field=summary.field,
        word_unit=summary.word_unit,
    )


def _sizes(answers: PromptSamples) -> tuple[int, int]:
    return int(answers.sizes.min()), int(answers.sizes.max())


def _cautions(shared: Sequence[str], answers: Sequence[PromptSamples]) -> Iterable[str]:
    """Say what makes intervals and similarities mean less."""
    if len(shared) < FEW:
        yield (
            f"{counted(len(shared), 'prompt')} tell little of others: intervals are over prompts, "
            "and rest on how far these differ"
        )
    single = [answer.name for answer in answers if answer.sizes.max() == 1]
    if single:
        names = f"{first_names(single, 4)} {'have' if single[1:] else 'has'}"
        who = "every set has" if len(single) == len(answers) else names
        yield (
            f"{who} one sample of each prompt, so that how varied the samples of a prompt are is "
            "not measured, nor how alike such a set answers itself"
        )
    for answer in answers:
        if answer.texts is None:
            continue
        begun = sum(_begins(text, shared[code]) for text, code in answer.with_prompts())
        if begun > len(answer.texts) / 2:
            yield (
                f"{answer.name}: {begun} of {len(answer.texts)} texts begin with their prompt, "
                "which makes samples of a prompt alike; `strip_prompt` leaves it out"
            )


def _begins(text: str, prompt: str) -> bool:
    return len(prompt) > 0 and text.lstrip().startswith(prompt.strip())
