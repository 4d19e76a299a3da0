"""``judge``: language models judge samples, and are judged as instruments.

Which texts are shown depends on the files and the seed alone, so that people and several models
meet on the same ones (:mod:`calipers.judgements.items`). Every answer is kept as it came, in a file
for each judge beside the output; under one configuration of the judge an answer to an item holds
whatever else is asked, so that a longer run, another system or another judge pays for what is new
alone. The table of judgements and the report are made of these answers.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from calipers.errors import InputError
from calipers.evaluate.inputs import Reader
from calipers.evaluate.judge_report import People, Reporting, people_among
from calipers.evaluate.option import one_side
from calipers.evaluate.options import JudgeOptions
from calipers.files import at_home
from calipers.judgements.designs import pair_design
from calipers.judgements.items import Item, Items, Shown, make_items, make_shown
from calipers.judgements.judgement import PairJudgement, Rating, Side
from calipers.judgements.rubric import Rubric, find_rubric
from calipers.judgements.tables import check_path, read_judgements, write_judgements
from calipers.language_model.decoding import Decoding
from calipers.language_model.judging import (
    WORDING,
    Answer,
    Inquiry,
    Prompts,
    answer_tokens,
    estimated_tokens,
    inquiries,
    is_refusal,
    read_answer,
)
from calipers.language_model.model import Completion, LanguageModel, Request
from calipers.language_model.models import find_language_model, is_fitted
from calipers.language_model.samples_file import REMEDY, Journal, Row, SamplesFile, kept_first
from calipers.numeric.threads import limit_threads
from calipers.progress import Advance, Progress, Silent
from calipers.results.judging import Judging, JudgingPlan, PlannedJudge
from calipers.samples import SampleSet
from calipers.service.client import RequestLimitError

ATTEMPTS = 2
"""How often an answer that cannot be read is asked for."""


@one_side(JudgeOptions)
def judge(generated: Any, options: JudgeOptions) -> Judging:
    """Have language models judge samples, and tell how far they can be trusted.

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
        If samples are no texts or share no contexts, a judge, the rubric or an option cannot be,
        or `output` holds answers of another configuration.
    MissingExtraError
        If the backend of a judge is not installed.
    """
    study = open_study(generated, options)
    people = _people(options.people, study.rubric)
    progress = options.progress or Silent()
    with limit_threads(options.threads), _answer_folder(options, make=True) as folder:
        table = _check_table(options, folder)
        judges = [
            AskedJudge(name, model, study, options, folder) for name, model in _open_judges(options)
        ]
        for each in judges:
            each.file(overwrite=options.overwrite)
        for each in judges:
            each.ask(progress)
    rows = [row for each in judges for row in each.judgements()]
    items = {item.id: item for item in study.items}
    if table is not None:
        write_judgements(
            table,
            cast("Iterable[PairJudgement] | Iterable[Rating]", rows),
            shown=items,
            questions=[question.name for question in study.rubric.questions],
            pairs=study.rubric.task == "pairs",
        )
    report = Reporting(
        study.rubric, study.systems, items, people, options.level, options.seed
    ).report(
        {each.name: each.judgements() for each in judges},
        {each.name: (each.configuration, each.counts()) for each in judges},
    )
    return Judging(
        task=study.rubric.task,
        systems=study.systems,
        reference=study.reference,
        items=len(study.items),
        judges=report.judges,
        between=report.between,
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
            dict.fromkeys((*study.items.notes, *(note for each in judges for note in each.notes())))
        ),
        warnings=(*(w for each in judges for w in each.warnings()), *report.warnings),
        judgements=tuple(rows),
    )


@one_side(JudgeOptions)
def judging_plan(generated: Any, options: JudgeOptions) -> JudgingPlan:
    """Tell what judging would ask and cost; nothing is asked and no model loaded.

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
        As for :func:`calipers.judge`, short of what only the judges themselves can tell.
    """
    study = open_study(generated, options)
    prompts = Prompts(study.rubric)
    sizes = {each.number(): estimated_tokens(prompts.request(each)) for each in study.inquiries}
    judges = []
    with _answer_folder(options, make=False) as folder:
        for name in _names(options.model):
            known = _known_numbers(folder, name)
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
                    cost=_cost(options.price, read, written),
                )
            )
    return JudgingPlan(
        study.rubric.task,
        study.systems,
        len(study.items),
        tuple(judges),
        options.price,
        study.items.notes,
    )


# What is judged ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Study:
    """What is judged, and by which questions."""

    rubric: Rubric
    systems: tuple[str, ...]
    reference: str | None
    items: Items[Item] | Items[Shown]
    inquiries: tuple[Inquiry, ...]


def open_study(generated: Any, options: JudgeOptions) -> Study:
    """Read the rubric and the samples, and choose what is shown.

    Raises
    ------
    InputError
        If one of them cannot be.
    """
    rubric = find_rubric(options.task, options.rubric)
    reading = Reader(options.field)
    reference = None if options.reference is None else reading.one(options.reference, "reference")
    sets = [system.sets[0].renamed(system.name) for system in reading.systems(generated)]
    if reference is not None:
        sets = [reference, *sets]
    items = _items(sets, rubric, options)
    return Study(
        rubric,
        tuple(samples.name for samples in sets),
        None if reference is None else reference.name,
        items,
        tuple(inquiries(items, repeat_share=options.repeat_share, seed=options.seed)),
    )


def _items(
    sets: Sequence[SampleSet], rubric: Rubric, options: JudgeOptions
) -> Items[Item] | Items[Shown]:
    seed, shortest, longest = options.seed, options.min_words, options.max_words
    if rubric.task == "pairs":
        if len(sets) < 2:
            raise InputError(
                "pairs are of two systems, but there is one; give another, or the reference "
                "(--reference FILE), or judge by --task quality"
            )
        design = pair_design([samples.name for samples in sets], opponents=options.opponents)
        return make_items(
            sets,
            pairs=design.pairs,
            per_pair=options.per_pair,
            seed=seed,
            shortest=shortest,
            longest=longest,
        )
    return make_shown(sets, rubric, n=options.n, seed=seed, shortest=shortest, longest=longest)


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
    for each in (models := _models(given)):
        if isinstance(each, LanguageModel):
            names.append(each.name)
            continue
        if is_fitted(str(each)):
            raise InputError(f"model must be one that follows instructions; found {str(each)!r}")
        if models.count(each) > 1:
            raise InputError(f"model names {str(each)!r} twice; name each judge once")
        names.append(_called(str(each)))
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
    for name, each in zip(_names(options.model), _models(options.model), strict=True):
        if isinstance(each, LanguageModel):
            yield name, each
        else:
            yield (
                name,
                find_language_model(
                    str(each), options.of_models(), max_requests=options.max_requests, chat=True
                ),
            )


@dataclass(eq=False)
class AskedJudge:
    """One judge: what it is asked, what it answered, what that says.

    Attributes
    ----------
    name
        As the column ``rater`` has it.
    model
        The judge.
    study
        What is judged.
    options
        Of the run.
    folder
        Where answers are kept; None for nowhere.
    rows
        Its answers as they came, by the numbers of their requests; also those of other items.
    new
        How many answers came in this run.
    """

    name: str
    model: LanguageModel
    study: Study
    options: JudgeOptions
    folder: Path | None
    rows: dict[int, Row] = field(default_factory=dict)
    new: int = 0

    def __post_init__(self) -> None:
        """Choose the form in which it is asked."""
        self.prompts = Prompts(self.study.rubric, chats=self.model.chats)
        self.decoding = Decoding.parse(self.options.decoding)
        self._file: SamplesFile | None = None
        self._read: dict[int, tuple[Answer, Row]] = {}

    @property
    def configuration(self) -> dict[str, Any]:
        """All that an answer depends on beside its item."""
        rubric = self.study.rubric.to_dict()
        digest = hashlib.sha256(json.dumps(rubric, sort_keys=True).encode()).hexdigest()
        return {
            "model": self.model.name,
            "revision": self.model.revision,
            "backend": dict(self.model.signature),
            "decoding": self.decoding.to_dict(),
            "max_tokens": self.options.max_tokens,
            "seed": self.options.seed,
            "task": self.study.rubric.task,
            "rubric": f"{self.study.rubric.name} ({digest[:16]})",
            "wording": WORDING,
        }

    def file(self, *, overwrite: bool) -> None:
        """Read the answers that are on disk.

        Raises
        ------
        InputError
            If they are of another configuration.
        """
        if self.folder is None:
            return
        path = self.folder / f"{_file_name(self.name)}.jsonl"
        self._file = SamplesFile.at(
            path, self.configuration, REMEDY, noun="answer", command="judge"
        )
        self.rows = self._file.known(overwrite=overwrite)

    def ask(self, progress: Progress) -> None:
        """Ask for all answers that are missing, and again for those that cannot be read."""
        inquired = self.study.inquiries
        first, again = self._missing(0), self._missing(1)
        # What the model cannot do is refused here, before anything is on disk
        begun = self._asking(first, 0) if first else iter(())
        opened: AbstractContextManager[Journal | None] = nullcontext(None)
        if self._file is not None and (first or again):
            opened = self._file.writing(self.rows)
        with opened as journal, progress.task(f"Asking {self.name}", len(inquired)) as advance:
            advance(len(inquired) - len(first))
            self._keep(begun, first, 0, journal, advance)
            if again := self._missing(1):
                self._keep(self._asking(again, 1), again, 1, journal, lambda steps: None)
        if self._file is not None and (first or again or not self._file.path.exists()):
            ordered = [self.rows[number] for number in sorted(self.rows)]
            self._file.finish(ordered, self.counts())

    def _asking(self, asked: Sequence[Inquiry], attempt: int) -> Iterator[Completion]:
        """Begin to ask; nothing is sent before the first answer is taken."""
        after = [self._after(each) if attempt else None for each in asked]
        requests = [
            self.prompts.request(each, after=before)
            for each, before in zip(asked, after, strict=True)
        ]
        try:
            return self._generate(requests)
        except InputError as error:
            if attempt == 0:
                longer = "are longer than the context" in str(error)
                hint = "; --max-words N shows less of each text" if longer else ""
                raise InputError(f"{error}{hint}") from None
        # With the answer before it, a request may be too long for the context
        return self._generate([request for request in requests if self._takes(request)])

    def _keep(
        self,
        completions: Iterator[Completion],
        asked: Sequence[Inquiry],
        attempt: int,
        journal: Journal | None,
        advance: Advance,
    ) -> None:
        """Keep each answer as it comes."""
        by_number = {each.number(attempt): each for each in asked}

        def row_of(text: Completion) -> Row:
            return _row(text, by_number[text.id], attempt)

        arriving = kept_first(self.model, completions, row_of, journal)
        try:
            with closing(arriving):
                for row in arriving:
                    self.rows[row["id"]] = row
                    self.new += 1
                    advance(1)
        except (KeyboardInterrupt, RequestLimitError) as stop:
            if journal is None:
                raise
            words = str(stop) or "stopped"
            raise type(stop)(f"{words}; the same command continues from there") from None

    def _generate(self, requests: Sequence[Request]) -> Iterator[Completion]:
        return self.model.generate(
            requests, self.decoding, max_tokens=self.options.max_tokens, seed=self.options.seed
        )

    def _takes(self, request: Request) -> bool:
        try:
            self._generate([request])
        except InputError:
            return False
        return True

    def _missing(self, attempt: int) -> list[Inquiry]:
        """What is left to be asked for the first time, or again."""
        if attempt == 0:
            return [each for each in self.study.inquiries if each.number() not in self.rows]
        return [
            each
            for each in self.study.inquiries
            if each.number() in self.rows
            and each.number(1) not in self.rows
            and (answer := self._answer(each, 0)).values is None
            and not answer.refused
        ]

    def _after(self, inquiry: Inquiry) -> tuple[str, str]:
        return self.rows[inquiry.number()]["text"], self._answer(inquiry, 0).problem

    def _answer(self, inquiry: Inquiry, attempt: int) -> Answer:
        row = self.rows[inquiry.number(attempt)]
        held = self._read.get(row["id"])
        if held is None or held[1] is not row:
            answer = read_answer(
                row["text"],
                inquiry,
                self.study.rubric,
                reason=row["finish_reason"],
                refusal="refusal" in row,
                chats=self.model.chats,
            )
            self._read[row["id"]] = held = (answer, row)
        return held[0]

    def answered(self) -> Iterator[tuple[Inquiry, Answer, Row]]:
        """Give every inquiry with the answer that counts: the second, where there was one."""
        for each in self.study.inquiries:
            for attempt in reversed(range(ATTEMPTS)):
                if (row := self.rows.get(each.number(attempt))) is not None:
                    yield each, self._answer(each, attempt), row
                    break

    def judgements(self) -> list[PairJudgement | Rating]:
        """Give the answers that can be read, as rows of a table, in the order of the items."""
        return [
            _judgement(inquiry, answer.values, self.name, row.get("time", ""))
            for inquiry, answer, row in self.answered()
            if answer.values is not None
        ]

    def counts(self) -> dict[str, Any]:
        """Count what was asked, answered and paid for."""
        answers = [answer for _, answer, _ in self.answered()]
        numbers = [
            number
            for each in self.study.inquiries
            for attempt in range(ATTEMPTS)
            if (number := each.number(attempt)) in self.rows
        ]
        asked = [self.rows[number] for number in numbers]
        read = sum(row.get("prompt_tokens") or 0 for row in asked)
        written = sum(row["tokens"] or 0 for row in asked)
        cost = _cost(self.options.price, read, written)
        again = [each for each in self.study.inquiries if each.number(1) in self.rows]
        return {
            "asked": len(self.study.inquiries),
            "answered": sum(answer.values is not None for answer in answers),
            "refused": sum(answer.refused for answer in answers),
            "malformed": sum(answer.values is None and not answer.refused for answer in answers),
            "asked_again": len(again),
            "new": self.new,
            "prompt_tokens": read,
            "tokens": written,
            "uncounted": sum(row["tokens"] is None for row in asked),
            **({} if cost is None else {"cost": round(cost, 6)}),
        }

    def notes(self) -> Iterator[str]:
        """Tell what a person should know of how it was asked."""
        if not self.model.chats:
            yield (
                f"{self.name} has no chat template: it continued what it was asked as plain text, "
                "and the first JSON object counts"
            )
        if isinstance(self.model.reproducible, str):
            yield self.model.reproducible
        yield from self.model.told()

    def warnings(self) -> Iterator[str]:
        """Tell which answers are missing, and why."""
        counts = self.counts()
        if counts["refused"]:
            yield (
                f"{self.name} refused {counts['refused']:,} of {counts['asked']:,} answers: what "
                "it refuses is not judged, and may not be a random part"
            )
        if counts["malformed"]:
            problems = Counter(
                answer.problem
                for _, answer, _ in self.answered()
                if answer.values is None and not answer.refused
            )
            problem, times = problems.most_common(1)[0]
            most = "" if len(problems) == 1 else f", {times:,} times"
            yield (
                f"{self.name}: {counts['malformed']:,} of {counts['asked']:,} answers cannot be "
                f"read, though asked for again ({problem}{most})"
            )


def _row(completion: Completion, inquiry: Inquiry, attempt: int) -> Row:
    refused = {"refusal": str(completion.details["refusal"])} if is_refusal(completion) else {}
    details = {name: value for name, value in completion.details.items() if name != "refusal"}
    return {
        "id": completion.id,
        "item": inquiry.item.id,
        **({"first": inquiry.first} if inquiry.first else {}),
        "repeat": inquiry.repeat,
        "attempt": attempt,
        "text": completion.text,
        "finish_reason": completion.finish_reason,
        "tokens": completion.tokens,
        "prompt_tokens": completion.prompt_tokens,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        **refused,
        **details,
    }


def _judgement(
    inquiry: Inquiry, values: Mapping[str, int], rater: str, time: str
) -> PairJudgement | Rating:
    item = inquiry.item
    if isinstance(item, Item):
        return PairJudgement(
            item=item.id,
            a=item.a,
            b=item.b,
            answers=values,
            rater=rater,
            rater_kind="model",
            first=cast(Side, inquiry.first),
            repeat=inquiry.repeat,
            time=time,
        )
    return Rating(
        item=item.id,
        system=item.system,
        answers=values,
        rater=rater,
        rater_kind="model",
        repeat=inquiry.repeat,
        time=time,
    )


def _cost(price: str | None, read: int, written: int) -> float | None:
    if price is None:
        return None
    of_read, of_written = map(float, price.split(","))
    return (read * of_read + written * of_written) / 1e6


# Where answers are kept --------------------------------------------------------------------------


@contextmanager
def _answer_folder(options: JudgeOptions, *, make: bool) -> Iterator[Path | None]:
    """Give the folder of the answers, beside the output; one that stays empty is taken away.

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
            f"{output}: there is such a file already, which calipers judge did not write; {REMEDY}"
        )
    return output


def _file_name(name: str) -> str:
    """Give the name of a file for a judge: its letters and digits, and a hash where others go."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:80]
    if plain == name:
        return plain
    return f"{plain}-{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:8]}".strip("-")


def _known_numbers(folder: Path | None, name: str) -> set[int]:
    """Number the answers of a judge that are on disk, of whatever configuration."""
    if folder is None or not folder.is_dir():
        return set()
    found: set[int] = set()
    path = folder / f"{_file_name(name)}.jsonl"
    for place in (path, path.with_name(f"{path.name}.part")):
        if not place.is_file():
            continue
        for line in place.read_bytes().splitlines():
            with suppress(ValueError):
                row = json.loads(line)
                if isinstance(row, dict) and isinstance(row.get("id"), int):
                    found.add(row["id"])
    return found
