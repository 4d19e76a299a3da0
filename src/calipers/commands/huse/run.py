"""``huse``: measure quality and diversity of texts together, by judgements and likelihoods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from calipers.commands.huse.judged import JudgedSet, judged_texts
from calipers.commands.huse.likelihoods import KEY, log_probabilities, read_likelihoods
from calipers.commands.huse.options import HuseOptions
from calipers.commands.huse.result import HuseResult, UsedTexts
from calipers.commands.likelihood.options import LikelihoodOptions
from calipers.commands.likelihood.result import LikelihoodComparison
from calipers.commands.likelihood.run import likelihood
from calipers.errors import InputError
from calipers.evaluate.inputs import FEW, InputSet, Reader, summarise, where
from calipers.numeric.arrays import Vector
from calipers.options.keywords import keywords_of
from calipers.samples import SampleSet
from calipers.samples.wording import counted
from calipers.uncertainty.huse import huse as score_of

UNREAD = "unread"
"""The caution of a model that does not know words of the texts."""


@keywords_of(HuseOptions)
def huse(reference: Any, generated: Any, options: HuseOptions) -> HuseResult:
    """Tell from judgements and likelihoods how well human and generated texts can be told apart.

    HUSE is twice the error of a classifier of nearest neighbours that sees of every text how
    people judged it and how likely the model finds it (Hashimoto, Zhang and Liang, NAACL 2019,
    section 3). Texts without one of the two are left out, and counted.

    Parameters
    ----------
    reference, generated
        The texts of people and of one model, as for :func:`calipers.compare`, under the names that
        the judgements have for them.

    Returns
    -------
    HuseResult
        ``result.huse.value``, ``result.quality.interval``; printing it shows the table.

    Raises
    ------
    InputError
        If samples, judgements or likelihoods cannot be read or are of other texts, fewer than two
        texts of a set have both, k is too large for them, or an option is out of its range.

    Examples
    --------
    >>> import calipers
    >>> from calipers import SampleSet
    >>> people = [f"people wrote {number}" for number in range(20)]
    >>> model = [f"model {number}" for number in range(20)]
    >>> ratings = [
    ...     {"system": name, "text": text, "rater": "ada", "typical": value}
    ...     for name, texts, value in (("people", people, 5), ("model", model, 1)) for text in texts
    ... ]
    >>> result = calipers.huse(
    ...     SampleSet.from_texts(people, name="people"), SampleSet.from_texts(model, name="model"),
    ...     judgements=ratings, model="ngram:order=1", fit_on=people, k=3,
    ... )
    >>> result.huse.value
    0.0
    """
    ours, theirs = _read(reference, generated, options)
    judged = judged_texts(
        options.judgements,
        ours,
        theirs,
        question=options.question,
        longest=options.max_words,
        drop_flagged=options.drop_flagged,
    )
    if options.model is None:
        scored, source = read_likelihoods(options.likelihoods)
    else:
        wanted = LikelihoodOptions.of(options, reference=ours, metrics=[KEY], keep_sizes=True)
        scored, source = likelihood({theirs.name: theirs}, options=wanted), "likelihoods"
    likely = log_probabilities(scored, source, ours, theirs)
    masks = [
        np.isfinite(side.values) & np.isfinite(values)
        for side, values in zip(judged.sets, likely, strict=True)
    ]
    used = [
        _used(samples, side, mask)
        for samples, side, mask in zip((ours, theirs), judged.sets, masks, strict=True)
    ]
    for one in used:
        if one.used < 2:
            raise InputError(
                f"{one.name}: HUSE needs at least two texts with a judgement and a likelihood; "
                f"found {one.used} of {one.summary.n}"
            )
    answers = [side.values[mask] for side, mask in zip(judged.sets, masks, strict=True)]
    values: list[Vector] = [side[mask] for side, mask in zip(likely, masks, strict=True)]
    made = score_of(*answers, *values, k=options.k, level=options.level, seed=options.seed)
    settings: Mapping[str, Any] = {
        **options.settings(),
        "question": judged.question,
        "judged_by": judged.by,
        **{name: scored.settings.get(name) for name in ("model", "revision", "decoding")},
        "given_prompt": bool(scored.settings.get("given_prompt")),
    }
    pins = {
        "question": judged.question,
        "judged_by": judged.by,
        "model": settings["model"],
        "given_prompt": settings["given_prompt"],
        "reference": ours.content_hash[:16],
        "generated": theirs.content_hash[:16],
    }
    return HuseResult(
        used[0],
        used[1],
        made.huse.signed(**pins),
        made.quality.signed(**pins),
        made.diversity.signed(**pins),
        settings,
        (*_left_out(used), *judged.notes, *_of_likelihoods(scored, theirs)),
    )


def _read(reference: Any, generated: Any, options: HuseOptions) -> tuple[SampleSet, SampleSet]:
    """Read both sets, which must be texts, and one file of one system."""
    reader = Reader(options.field)
    ours = reader.one(reference, "reference")
    systems = reader.systems(generated)
    if len(systems) > 1 or len(systems[0].sets) > 1:
        raise InputError(
            "HUSE is of one file of one system, for likelihoods are those of the model that wrote "
            f"it; found {counted(sum(len(system.sets) for system in systems), 'file')}"
        )
    theirs = systems[0].sets[0].renamed(systems[0].name)
    for samples in (ours, theirs):
        if samples.kind != "texts":
            raise InputError(f"{where(samples)}: HUSE is of texts; this set holds {samples.kind}")
    if ours.name == theirs.name:
        raise InputError(
            f"both sets are called {ours.name!r}; give them different names, as their judgements "
            "do (NAME=FILE)"
        )
    return ours, theirs


def _used(samples: SampleSet, side: JudgedSet, mask: Any) -> UsedTexts:
    """Count the texts of a set by what they have."""
    judged, used = int(np.isfinite(side.values).sum()), int(mask.sum())
    return UsedTexts(
        summarise([InputSet(samples, len(samples))], name=samples.name),
        used=used,
        not_judged=len(samples) - judged,
        not_likely=judged - used,
        answers=side.answers,
        raters=side.raters,
    )


def _of_likelihoods(scored: LikelihoodComparison, generated: SampleSet) -> Iterator[str]:
    """Pass on what could spoil likelihoods: a model that was fitted to the texts, unknown words."""
    yield from scored.warnings
    cautions = (caution for system in scored.systems for caution in system.cautions)
    yield from (f"{generated.name}: {one.text}" for one in cautions if one.kind == UNREAD)


def _left_out(used: list[UsedTexts]) -> Iterator[str]:
    """Say which texts are not among those that were used."""
    for one in used:
        n = one.summary.n
        if one.not_judged:
            missing = f"{one.not_judged} of {counted(n, 'text')}"
            yield f"{one.name}: {missing} left out: without a judgement"
        if one.not_likely:
            yield (
                f"{one.name}: {one.not_likely} of {counted(n, 'text')} left out: without a finite "
                "likelihood, as empty texts and those that the model could not have written"
            )
    few = min(one.used for one in used)
    if few < FEW:
        yield f"{counted(few, 'text')} of a set are few: the scores vary a lot by chance"
