"""``judge``: have language models judge samples, and measure their reliability.

Which texts are shown depends on the files and the seed alone, so that people and several models
judge the same ones (:mod:`calipers.judgements.items`). Every answer is saved as it came, in a file
for each judge beside the output; under one configuration of the judge an answer to an item is
valid whatever else is asked, so that a longer run, another system or another judge pays only for
what is new. The table of judgements and the report are made of these answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from calipers.commands.judge.asking import AskedJudge, cost_of, known_numbers
from calipers.commands.judge.basis import Basis, People, people_among
from calipers.commands.judge.options import JudgeOptions
from calipers.commands.judge.reliability import analyse
from calipers.commands.judge.result import Judging, JudgingPlan, PlannedJudge
from calipers.errors import InputError
from calipers.evaluate.judged_samples import read_judged_samples, rubric_for
from calipers.files import at_home
from calipers.judgements.items import Item, Items, RatedTexts
from calipers.judgements.judgement import PairJudgement, Rating
from calipers.judgements.rubric import Rubric, find_rubric
from calipers.judgements.tables import check_path, read_judgements, write_judgements
from calipers.language_model.decoding import Decoding
from calipers.language_model.judging import (
    Inquiry,
    JudgePrompts,
    answer_tokens,
    estimated_tokens,
    inquiries,
)
from calipers.language_model.model import LanguageModel
from calipers.language_model.models import find_language_model, is_fitted
from calipers.language_model.samples_file import REMEDY
from calipers.numeric.threads import limit_threads
from calipers.options.keywords import keywords_of
from calipers.progress import Silent


@keywords_of(JudgeOptions)
def judge(generated: Any, options: JudgeOptions) -> Judging:
    """Have language models judge samples, and measure how reliable their judgements are.

    Pairs of texts are compared in both orders on three questions in five steps (Pillutla et al.,
    JMLR 2023, appendix E), single texts rated for quality from 1 to 5 on three scales, batches of
    ten for diversity, yes or no (Le Bronnec et al., ACL 2024, appendix B.2). All questions of an
    item are asked in one request.

    Parameters
    ----------
    generated
        What the systems wrote: a mapping from name to texts, or whatever else
        :func:`calipers.compare` takes. Of a system of several files the first is judged.

    Returns
    -------
    Judging
        ``judging["gpt-4o-mini"]["sensible"]["model_a"].score``, and ``.first`` of a question for
        the share of answers that prefer the text shown first; ``judging.judgements`` are the rows
        of the table. Printing it shows the report.

    Raises
    ------
    InputError
        If samples are not texts or share no contexts, a judge, the rubric or an option is invalid,
        or `output` holds answers of another configuration.
    MissingExtraError
        If the backend of a judge is not installed.

    Examples
    --------
    >>> import calipers
    >>> systems = {"a": ["a text", "another"], "b": ["some text", "more"]}
    >>> judging = calipers.judge(systems, model=["./a-chat-model"], n=2)  # doctest: +SKIP
    >>> judging.judgements  # doctest: +SKIP
    """
    study = open_study(generated, options)
    people = _people(options.people, study.rubric)
    progress = options.progress or Silent()
    with limit_threads(options.threads), _answer_folder(options, make=True) as folder:
        table = _check_table(options, folder)
        judges = [
            AskedJudge(name, model, study.rubric, study.inquiries, options, folder)
            for name, model in _open_judges(options)
        ]
        for asked in judges:
            asked.file(overwrite=options.overwrite)
        for asked in judges:
            asked.ask(progress)
    rows = [row for asked in judges for row in asked.judgements()]
    items = {item.id: item for item in study.items}
    if table is not None:
        write_judgements(
            table,
            cast("Iterable[PairJudgement] | Iterable[Rating]", rows),
            shown=items,
            questions=[question.name for question in study.rubric.questions],
            pairs=study.rubric.task == "pairs",
        )
    reliability = analyse(
        {asked.name: asked.judgements() for asked in judges},
        {asked.name: (asked.configuration, asked.counts()) for asked in judges},
        Basis(study.rubric, study.systems, items, people, options.level, options.seed),
    )
    return Judging(
        task=study.rubric.task,
        systems=study.systems,
        reference=study.reference,
        items=len(study.items),
        judges=reliability.judges,
        between=reliability.between,
        settings={
            **options.settings(),
            "task": study.rubric.task,
            "rubric": study.rubric.to_dict(),
            "decoding": str(Decoding.parse(options.decoding)),
            "people": None if options.people is None else str(options.people),
            "output": None if table is None else str(table),
            "max_tokens": options.max_tokens,
            "price": options.price,
            "seed": options.seed,
        },
        notes=tuple(
            dict.fromkeys(
                (
                    *study.notes,
                    *_flagged(people),
                    *(note for asked in judges for note in asked.notes()),
                )
            )
        ),
        warnings=(*(w for asked in judges for w in asked.warnings()), *reliability.warnings),
        judgements=tuple(rows),
    )


@keywords_of(JudgeOptions)
def judging_plan(generated: Any, options: JudgeOptions) -> JudgingPlan:
    """Estimate the requests and the cost of judging, without sending or loading anything.

    Parameters
    ----------
    generated
        As for :func:`calipers.judge`.

    Returns
    -------
    JudgingPlan
        ``plan.judges[0].asked``, ``plan.cost``; printing it shows a line for each judge.

    Raises
    ------
    InputError
        As for :func:`calipers.judge`, except for errors that only the judges can raise.

    Examples
    --------
    >>> import calipers
    >>> texts = [f"text {number}" for number in range(20)]
    >>> systems = {"a": texts, "b": texts[::-1]}
    >>> plan = calipers.judging_plan(systems, model=["./a-model"], n=10)
    >>> plan.judges[0].asked
    46
    """
    study = open_study(generated, options)
    prompts = JudgePrompts(study.rubric)
    sizes = {
        inquiry.number(): estimated_tokens(prompts.request(inquiry)) for inquiry in study.inquiries
    }
    judges = []
    with _answer_folder(options, make=False) as folder:
        for name in _names(options.model):
            known = known_numbers(folder, name)
            left = [number for number in sizes if number not in known]
            read = sum(sizes[number] for number in left)
            written = len(left) * answer_tokens(study.rubric)
            judges.append(
                PlannedJudge(
                    name,
                    asked=len(sizes),
                    known=len(sizes) - len(left),
                    prompt_tokens=read,
                    tokens=written,
                    cost=cost_of(options.price, read, written),
                )
            )
    return JudgingPlan(
        study.rubric.task,
        study.systems,
        len(study.items),
        tuple(judges),
        options.price,
        study.notes,
    )


# What is judged ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Study:
    """The items to be judged, and the questions on them."""

    rubric: Rubric
    systems: tuple[str, ...]
    reference: str | None
    items: Items[Item] | Items[RatedTexts]
    inquiries: tuple[Inquiry, ...]
    notes: tuple[str, ...] = ()


def open_study(generated: Any, options: JudgeOptions) -> Study:
    """Read the rubric and the samples, and choose the items.

    Raises
    ------
    InputError
        If one of them cannot be.
    """
    rubric = find_rubric(options.task, options.rubric)
    judged = read_judged_samples(generated, options.reference, options.field)
    items = judged.items(rubric, options, seed=options.seed)
    return Study(
        rubric_for(items, rubric),
        judged.names,
        judged.reference,
        items,
        tuple(inquiries(items, repeat_share=options.repeat_share, seed=options.seed)),
        (*judged.notes, *items.notes),
    )


def _people(given: Any, rubric: Rubric) -> People | None:
    """Read what people answered.

    Raises
    ------
    InputError
        If it is of another task, or answers none of the questions.
    """
    if given is None:
        return None
    people = read_judgements(given, "people")
    where = str(given) if isinstance(given, str | Path) else "people"
    kind = PairJudgement if rubric.task == "pairs" else Rating
    if not people or not isinstance(people[0], kind):
        raise InputError(
            f"{where}: people must have answered the task {rubric.task}; found "
            + ("no rows" if not people else "judgements of another task")
        )
    asked = {question.name for question in rubric.questions}
    answered = {name for row in people for name in row.answers}
    if not asked & answered:
        raise InputError(
            f"{where}: people must have answered one of the questions {', '.join(sorted(asked))}; "
            f"found {', '.join(sorted(answered)) or 'none'}"
        )
    return people_among(people, where)


def _flagged(people: People | None) -> Iterator[str]:
    """Say that answers which people's tables call doubtful are counted."""
    flagged = [row for row in people.rows if row.flags] if people is not None else []
    if people is not None and flagged:
        flags = ", ".join(sorted({flag for row in flagged for flag in row.flags}))
        yield (
            f"{people.source}: {len(flagged):,} of {len(people.rows):,} answers are flagged "
            f"({flags}) and count like the others"
        )


# The judges --------------------------------------------------------------------------------------


def _models(given: Any) -> list[Any]:
    return list(given) if isinstance(given, list | tuple) else [given]


def _names(given: Any) -> list[str]:
    """Name the judges; those of one name get a number.

    Raises
    ------
    InputError
        If a model is named twice, or cannot judge.
    """
    names: list[str] = []
    for model in (models := _models(given)):
        if isinstance(model, LanguageModel):
            names.append(model.name)
            continue
        if is_fitted(str(model)):
            raise InputError(f"model must be one that follows instructions; found {str(model)!r}")
        if models.count(model) > 1:
            raise InputError(f"model names {str(model)!r} twice; name each judge once")
        names.append(_called(str(model)))
    return [
        name if names.count(name) == 1 else f"{name} ({names[: place + 1].count(name)})"
        for place, name in enumerate(names)
    ]


def _called(model: str) -> str:
    """Name a judge as its backend does: the model of a server, a folder, or as on the hub."""
    if re.match(r"https?://", model, re.IGNORECASE):
        return model.partition("#")[2].strip() or model
    folder = at_home(model)
    return folder.resolve().name if folder.is_dir() else model


def _open_judges(options: JudgeOptions) -> Iterator[tuple[str, LanguageModel]]:
    """Find the judges; all of them before one is asked, so that a mistake costs nothing."""
    for name, model in zip(_names(options.model), _models(options.model), strict=True):
        if isinstance(model, LanguageModel):
            yield name, model
        else:
            yield (
                name,
                find_language_model(
                    str(model), options.of_models(), max_requests=options.max_requests, chat=True
                ),
            )


# Where answers are saved -------------------------------------------------------------------------


@contextmanager
def _answer_folder(options: JudgeOptions, *, make: bool) -> Iterator[Path | None]:
    """Return the folder of the answers, beside the output; one that stays empty is taken away.

    Raises
    ------
    InputError
        If the output cannot be written there.
    """
    if options.output is None:
        yield None
        return
    check_path(options.output)
    output = at_home(options.output)
    folder = output.with_name(f"{output.stem}.answers")
    if output.is_dir():
        raise InputError(f"{output}: judgements are written to a file, but this is a folder")
    if make:
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            why = error.strerror or error
            raise InputError(f"{folder}: cannot be made, for the answers: {why}") from error
    try:
        yield folder
    finally:
        if make:
            with suppress(OSError):
                folder.rmdir()


def _check_table(options: JudgeOptions, folder: Path | None) -> Path | None:
    """Refuse to replace a table that no run wrote: one without answers beside it.

    Raises
    ------
    InputError
        If there is such a file.
    """
    if folder is None:
        return None
    output = at_home(options.output)
    if output.exists() and not options.overwrite and not any(folder.iterdir()):
        raise InputError(
            f"{output}: the file already exists and was not written by calipers judge; {REMEDY}"
        )
    return output
