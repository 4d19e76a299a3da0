"""One judge: its inquiries, its saved answers, and their counts, notes and warnings.

The answers are in a file of their own, which is a journal while the judge is asked
(:mod:`calipers.language_model.samples_file`): raw, under the numbers of their requests, including
those of earlier runs and of other items.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from calipers.commands.judge.options import JudgeOptions
from calipers.errors import InputError
from calipers.judgements.items import Item
from calipers.judgements.judgement import PairJudgement, Rating, Side
from calipers.judgements.rubric import Rubric
from calipers.language_model.decoding import Decoding
from calipers.language_model.judging import (
    WORDING,
    Inquiry,
    JudgeAnswer,
    JudgePrompts,
    is_refusal,
    read_answer,
)
from calipers.language_model.model import Completion, LanguageModel, Request
from calipers.language_model.samples_file import REMEDY, Journal, Row, SamplesFile, kept_first
from calipers.progress import Advance, Progress
from calipers.service.client import RequestLimitError

ATTEMPTS = 2
"""How often an answer that cannot be read is asked for."""


@dataclass(eq=False)
class AskedJudge:
    """One judge with its inquiries and its answers.

    Attributes
    ----------
    name
        As the column ``rater`` has it.
    model
        The judge.
    rubric
        The questions.
    inquiries
        All that it is asked.
    options
        Of the run.
    folder
        Where answers are saved; None for nowhere.
    rows
        Its answers as they came, by the numbers of their requests; also those of other items.
    new
        How many answers came in this run.
    """

    name: str
    model: LanguageModel
    rubric: Rubric
    inquiries: Sequence[Inquiry]
    options: JudgeOptions
    folder: Path | None
    rows: dict[int, Row] = field(default_factory=dict)
    new: int = 0

    def __post_init__(self) -> None:
        """Choose the form in which it is asked."""
        self.prompts = JudgePrompts(self.rubric, chats=self.model.chats)
        self.decoding = Decoding.parse(self.options.decoding)
        self._file: SamplesFile | None = None
        self._read: dict[int, tuple[JudgeAnswer, Row]] = {}

    @property
    def configuration(self) -> dict[str, Any]:
        """Everything that an answer depends on besides its item, as plain data."""
        rubric = self.rubric.to_dict()
        digest = hashlib.sha256(json.dumps(rubric, sort_keys=True).encode()).hexdigest()
        return {
            "model": self.model.name,
            "revision": self.model.revision,
            "backend": dict(self.model.signature),
            "decoding": self.decoding.to_dict(),
            "max_tokens": self.options.max_tokens,
            "seed": self.options.seed,
            "task": self.rubric.task,
            "rubric": f"{self.rubric.name} ({digest[:16]})",
            "wording": WORDING,
        }

    def file(self, *, overwrite: bool) -> None:
        """Read the answers that are saved already.

        Raises
        ------
        InputError
            If they are of another configuration.
        """
        if self.folder is None:
            return
        path = answer_file(self.folder, self.name)
        self._file = SamplesFile.at(
            path, self.configuration, REMEDY, noun="answer", command="judge"
        )
        self.rows = self._file.known(overwrite=overwrite)

    def ask(self, progress: Progress) -> None:
        """Ask for all missing answers, and once more for those that cannot be parsed."""
        inquired = self.inquiries
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
        after = [self._after(inquiry) if attempt else None for inquiry in asked]
        requests = [
            self.prompts.request(inquiry, after=before)
            for inquiry, before in zip(asked, after, strict=True)
        ]
        try:
            return self._generate(requests)
        except InputError as error:
            if attempt == 0:
                longer = "are longer than the context" in str(error)
                hint = "; `max_words=N` shows less of each text" if longer else ""
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
        """Save each answer as it comes."""
        by_number = {inquiry.number(attempt): inquiry for inquiry in asked}

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
            return [inquiry for inquiry in self.inquiries if inquiry.number() not in self.rows]
        return [
            inquiry
            for inquiry in self.inquiries
            if inquiry.number() in self.rows
            and inquiry.number(1) not in self.rows
            and (answer := self._answer(inquiry, 0)).values is None
            and not answer.refused
        ]

    def _after(self, inquiry: Inquiry) -> tuple[str, str]:
        return self.rows[inquiry.number()]["text"], self._answer(inquiry, 0).problem

    def _answer(self, inquiry: Inquiry, attempt: int) -> JudgeAnswer:
        row = self.rows[inquiry.number(attempt)]
        answer, answered_row = self._read.get(row["id"], (None, None))
        if answer is None or answered_row is not row:
            answer = read_answer(
                row["text"],
                inquiry,
                self.rubric,
                reason=row["finish_reason"],
                refusal="refusal" in row,
                chats=self.model.chats,
            )
            self._read[row["id"]] = answer, row
        return answer

    def answered(self) -> Iterator[tuple[Inquiry, JudgeAnswer, Row]]:
        """Return every inquiry with the answer that counts: the second, where there is one."""
        for inquiry in self.inquiries:
            for attempt in reversed(range(ATTEMPTS)):
                if (row := self.rows.get(inquiry.number(attempt))) is not None:
                    yield inquiry, self._answer(inquiry, attempt), row
                    break

    def judgements(self) -> list[PairJudgement | Rating]:
        """Return the parsed answers as rows of a table, in the order of the items."""
        return [
            _judgement(inquiry, answer.values, self.name, row.get("time", ""))
            for inquiry, answer, row in self.answered()
            if answer.values is not None
        ]

    def counts(self) -> dict[str, Any]:
        """Count inquiries, answers, tokens and cost."""
        answers = [answer for _, answer, _ in self.answered()]
        numbers = [
            number
            for inquiry in self.inquiries
            for attempt in range(ATTEMPTS)
            if (number := inquiry.number(attempt)) in self.rows
        ]
        asked = [self.rows[number] for number in numbers]
        read = sum(row.get("prompt_tokens") or 0 for row in asked)
        written = sum(row["tokens"] or 0 for row in asked)
        cost = cost_of(self.options.price, read, written)
        again = [inquiry for inquiry in self.inquiries if inquiry.number(1) in self.rows]
        return {
            "asked": len(self.inquiries),
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
        """Describe how the judge was asked."""
        if not self.model.chats:
            yield (
                f"{self.name} has no chat template: it continued what it was asked as plain text, "
                "and the first JSON object counts"
            )
        if isinstance(self.model.reproducible, str):
            yield self.model.reproducible
        yield from self.model.told()

    def warnings(self) -> Iterator[str]:
        """List which answers are missing, and why."""
        counts = self.counts()
        if counts["refused"]:
            yield (
                f"{self.name} refused {counts['refused']:,} of {counts['asked']:,} answers: "
                "refused items are not judged, and may not be a random sample"
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
                f"read, even after asking again ({problem}{most})"
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


def cost_of(price: str | None, read: int, written: int) -> float | None:
    """Compute the cost of input and output tokens from prices per million; None without prices."""
    if price is None:
        return None
    of_read, of_written = map(float, price.split(","))
    return (read * of_read + written * of_written) / 1e6


def answer_file(folder: Path, judge: str) -> Path:
    """Name the file of a judge's answers: letters and digits, and a hash of replaced characters."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", judge).strip("-.")[:80]
    if plain != judge:
        plain += f"-{hashlib.sha256(judge.encode('utf-8', 'replace')).hexdigest()[:8]}"
    return folder / f"{plain.strip('-')}.jsonl"


def known_numbers(folder: Path | None, name: str) -> set[int]:
    """List the numbers of a judge's saved answers, of any configuration."""
    if folder is None or not folder.is_dir():
        return set()
    numbers: set[int] = set()
    path = answer_file(folder, name)
    for place in (path, path.with_name(f"{path.name}.part")):
        if not place.is_file():
            continue
        for line in place.read_bytes().splitlines():
            with suppress(ValueError, RecursionError):
                row = json.loads(line)
                if isinstance(row, dict) and isinstance(row.get("id"), int):
                    numbers.add(row["id"])
    return numbers
