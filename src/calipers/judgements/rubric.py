"""Rubrics: the questions that raters answer, built-in or given by the user.

Three tasks are known. ``pairs`` shows two texts in one context and asks which is better, in five
steps (Pillutla et al., JMLR 2023, section 6.4 and appendix E); ``quality`` shows one text and asks
for numbers on scales; ``diversity`` shows a batch of texts and asks yes or no (Le Bronnec et al.,
ACL 2024, appendix B.2). The same rubric serves people and models.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from calipers.errors import InputError, either, require, unknown_name

Task = Literal["pairs", "quality", "diversity"]

BATCH = 10
"""Texts of a batch whose diversity is rated (Le Bronnec et al., ACL 2024, appendix B.2)."""


@dataclass(frozen=True)
class Question:
    """One question of a rubric.

    Attributes
    ----------
    name
        What the column of its answers is called: letters, digits and underscores.
    text
        As the rater reads it.
    least, most
        Ends of the scale of whole numbers; of pairs always 1 to 5, from "definitely a" to
        "definitely b", and of yes or no 0 to 1.
    least_means, most_means
        What the ends stand for, in words.
    """

    name: str
    text: str
    least: int = 1
    most: int = 5
    least_means: str = ""
    most_means: str = ""


@dataclass(frozen=True)
class Rubric:
    """The questions on one item.

    Attributes
    ----------
    name
        Of the rubric, as results name it.
    task
        What is shown: ``"pairs"``, ``"quality"`` or ``"diversity"``.
    instructions
        What raters read before they begin; of models the system message.
    questions
        Answered together, in this order.
    batch
        Texts shown at once where the task is diversity.
    """

    name: str
    task: Task
    instructions: str
    questions: tuple[Question, ...]
    batch: int = BATCH

    def to_dict(self) -> dict[str, Any]:
        """Return the rubric as plain data, in the form that :func:`read_rubric` reads."""
        return asdict(self)


PAIRS = Rubric(
    name="pairs",
    task="pairs",
    instructions=(
        "You see the beginning of a text and two ways in which it could go on, A and B. At least "
        "one of the two was written by a computer program. Compare them on three questions, each "
        "on its own: a text can be original and yet not fit, or fit well and be dull. Judge what "
        "is said rather than how long it is, and overlook an abrupt end or scraps of a web page. "
        "Answer with a tie only where you find no difference at all."
    ),
    questions=(
        Question("interesting", "Which of the two is the more interesting or original?"),
        Question("sensible", "Which of the two makes more sense after this beginning?"),
        Question("human_like", "Which of the two do you rather believe a person wrote?"),
    ),
)
"""Pairwise comparison on three questions, in our own words (JMLR 2023, appendix E.3)."""

PAIRS_ALONE = Rubric(
    name="pairs_alone",
    task="pairs",
    instructions=(
        "You see two texts, A and B. At least one of the two was written by a computer program. "
        "Compare them on three questions, each on its own: a text can be original and yet make "
        "little sense, or make sense and be dull. Judge what is said rather than how long it is, "
        "and overlook an abrupt end or scraps of a web page. Answer with a tie only where you find "
        "no difference at all."
    ),
    questions=(
        PAIRS.questions[0],
        Question("sensible", "Which of the two makes more sense?"),
        PAIRS.questions[2],
    ),
)
"""The same questions of texts that continue nothing."""

QUALITY = Rubric(
    name="quality",
    task="quality",
    instructions=(
        "You rate one text on three scales, each a whole number from 1 to 5. Judge each scale on "
        "its own."
    ),
    questions=(
        Question(
            "coherence",
            "How easy is the text to read and to follow?",
            least_means="hard to follow",
            most_means="very easy to follow",
        ),
        Question(
            "insightfulness",
            "How informative or interesting is the text?",
            least_means="not at all",
            most_means="very",
        ),
        Question(
            "likelihood",
            "How likely is it that the text is real, that is, not made up by a program?",
            least_means="not likely",
            most_means="very likely",
        ),
    ),
)
"""Quality of any text on three scales, in our own words.

The first two scales are those of ACL 2024, appendix B.2; its third, which is about biographies, is
that of :data:`BIOGRAPHIES`.
"""

BIOGRAPHIES = Rubric(
    name="biographies",
    task="quality",
    instructions=(
        "You rate one text about a person on three scales, each a whole number from 1 to 5. Judge "
        "each scale on its own."
    ),
    questions=(
        *QUALITY.questions[:2],
        Question(
            "plausibility",
            "How likely is it that an encyclopedia has this text as its entry on the person?",
            least_means="not likely",
            most_means="very likely",
        ),
    ),
)
"""Quality of biographies on three scales, in our own words (ACL 2024, appendix B.2)."""

DIVERSITY = Rubric(
    name="diversity",
    task="diversity",
    instructions="You compare the texts of a batch with one another and say whether they differ.",
    questions=(
        Question(
            "diverse",
            "Are the texts all different in what they are about: people, places, events, opinions?",
            least=0,
            most=1,
            least_means="some are alike",
            most_means="all are different",
        ),
    ),
)
"""Diversity of a batch of ten, yes or no, in our own words (ACL 2024, appendix B.2)."""

RUBRICS = {rubric.name: rubric for rubric in (PAIRS, QUALITY, DIVERSITY)}
"""The built-in rubrics of the tasks."""

NAMED = {BIOGRAPHIES.name: BIOGRAPHIES}
"""Further built-in rubrics, which are asked for by their names."""

# A person's own rubric ---------------------------------------------------------------------------

MOST_BYTES = 1 << 20
MOST_QUESTIONS, MOST_STEPS = 50, 1_000
"""Questions of a rubric, and steps of a scale, at most."""

MOST_BATCH = 1_000

RESERVED = frozenset(
    (
        *("item", "a", "b", "first", "system", "rater", "rater_kind", "repeat", "seconds", "time"),
        *("flags", "checks", "context", "text", "text_a", "text_b", "contexts", "texts"),
        *("prompt", "share"),
    )
)
"""Columns of the tables of judgements, which no question may be called."""

_ENDS: Mapping[Task, tuple[int, int]] = {"pairs": (1, 5), "quality": (1, 5), "diversity": (0, 1)}
_RUBRIC = ("name", "task", "instructions", "questions", "batch")
_QUESTION = ("name", "text", "least", "most", "least_means", "most_means")


def find_rubric(task: str | None, given: Any = None) -> Rubric:
    """Return the given rubric, or the built-in one of a task.

    Parameters
    ----------
    task
        ``"pairs"``, ``"quality"`` or ``"diversity"``; None for that of the rubric, else pairs.
    given
        A rubric, the name of one of :data:`NAMED`, the path of a file, or None.

    Raises
    ------
    InputError
        If there is no such task, the rubric has another one, or its file cannot be.
    """
    if task is not None and task not in RUBRICS:
        raise unknown_name("task", str(task), RUBRICS)
    if given is None:
        return RUBRICS[task or "pairs"]
    named = NAMED.get(given) if isinstance(given, str) else given
    rubric = named if isinstance(named, Rubric) else read_rubric(given)
    if task is not None and task != rubric.task:
        raise InputError(
            f"task must be that of the rubric {rubric.name!r}, which is {rubric.task}; found {task}"
        )
    return rubric


def read_rubric(path: str | Path) -> Rubric:
    """Read a rubric from a TOML or YAML file.

    It holds ``name`` (else the name of the file), ``task``, ``instructions``, ``questions`` and,
    for diversity, ``batch``. Each question has a ``name`` and a ``text``; of quality and diversity
    also ``least``, ``most``, ``least_means`` and ``most_means``.

    Raises
    ------
    InputError
        If it cannot be read, lacks a field, has one that is unknown, or a value breaks its rule.
    MissingExtraError
        If it is YAML and pyyaml is not installed.
    """
    place = Path(path)
    data = _read_data(place)
    if not isinstance(data, Mapping):
        raise InputError(f"{place}: a rubric is a table of fields; found {_kind(data)}")
    _check_fields(data, _RUBRIC, ("task", "instructions", "questions"), f"{place}:")
    name = _text(data.get("name", place.stem), f"{place}: name")
    task = data["task"]
    if task not in get_args(Task):
        raise InputError(f"{place}: task must be {either(get_args(Task))}; found {_short(task)}")
    questions = data["questions"]
    if not isinstance(questions, list) or not 1 <= len(questions) <= MOST_QUESTIONS:
        description = (
            f"{len(questions)} of them" if isinstance(questions, list) else _kind(questions)
        )
        raise InputError(
            f"{place}: questions must be a list of 1 to {MOST_QUESTIONS} questions; "
            f"found {description}"
        )
    batch = BATCH
    if "batch" in data:
        if task != "diversity":
            raise InputError(
                f"{place}: batch is of the task diversity alone; found the task {task}"
            )
        batch = _whole(data["batch"], 2, MOST_BATCH, f"{place}: batch")
    read = [
        _question(entry, task, f"{place}: question {number}")
        for number, entry in enumerate(questions, start=1)
    ]
    names = [question.name for question in read]
    for question_name in names:
        if names.count(question_name) > 1:
            raise InputError(
                f"{place}: two questions are called {question_name!r}; give each its own name"
            )
    return Rubric(
        name=name,
        task=task,
        instructions=_text(data["instructions"], f"{place}: instructions"),
        questions=tuple(read),
        batch=batch,
    )


def _read_data(place: Path) -> Any:
    ending = place.suffix.lower()
    if ending not in (".toml", ".yaml", ".yml"):
        raise InputError(f"{place}: a rubric is a file that ends in .toml, .yaml or .yml")
    try:
        with open(place, "rb") as file:
            content = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise InputError(f"{place}: there is no such file") from None
    except OSError as error:
        raise InputError(f"{place}: cannot be read: {error.strerror or error}") from error
    if len(content) > MOST_BYTES:
        raise InputError(f"{place}: a rubric has at most {MOST_BYTES:,} bytes; this file has more")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{place}: is not UTF-8, at byte {error.start + 1}") from None
    if ending == ".toml":
        try:
            return tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise InputError(f"{place}: is not TOML: {_line(error)}") from None
    yaml = require("yaml", extra="judge", purpose=f"the rubric {str(place)!r}, which is YAML,")
    try:
        events = yaml.parse(text, Loader=yaml.SafeLoader)
        if any(isinstance(event, yaml.AliasEvent) for event in events):
            raise InputError(
                f"{place}: aliases (*name) are not read; write out what they stand for"
            )
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise InputError(f"{place}: is not YAML: {_line(error)}") from None


def _question(data: Any, task: Task, where: str) -> Question:
    if not isinstance(data, Mapping):
        raise InputError(f"{where} must be a table with a name and a text; found {_kind(data)}")
    _check_fields(data, _QUESTION, ("name", "text"), where)
    name = _text(data["name"], f"{where}: name")
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,63}", name):
        raise InputError(
            f"{where}: name must be of letters, digits and underscores, at most 64 and no digit "
            f"first, since it is the head of a column; found {_short(name)}"
        )
    if name in RESERVED:
        raise InputError(
            f"{where}: name must not be that of another column of the table; found {name!r}"
        )
    least, most = _ENDS[task]
    if task == "pairs" and ("least" in data or "most" in data):
        raise InputError(
            f"{where}: pairs are answered in five steps, from definitely a to definitely b; leave "
            "least and most out"
        )
    least = _whole(data.get("least", least), 0, 10**6, f"{where}: least")
    most = _whole(data.get("most", most), 0, 10**6, f"{where}: most")
    if not least < most <= least + MOST_STEPS:
        raise InputError(
            f"{where}: most must be above least ({least}), by at most {MOST_STEPS:,}; found {most}"
        )
    words = {
        end: _text(data[end], f"{where}: {end}")
        for end in ("least_means", "most_means")
        if end in data
    }
    return Question(name, _text(data["text"], f"{where}: text"), least, most, **words)


def _check_fields(
    data: Mapping[Any, Any], known: tuple[str, ...], needed: tuple[str, ...], where: str
) -> None:
    for name in data:
        if name not in known:
            raise InputError(f"{where} {unknown_name('field', str(name)[:40], known)}")
    for name in needed:
        if name not in data:
            raise InputError(f"{where} lacks the field {name!r}")


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{where} must be a text that is not empty; found {_short(value)}")
    return value.strip()


def _whole(value: Any, least: int, most: int, where: str) -> int:
    if type(value) is not int or not least <= value <= most:
        raise InputError(
            f"{where} must be a whole number from {least} to {most:,}; found {_short(value)}"
        )
    return value


def _kind(value: Any) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:59]}…"


def _line(error: BaseException) -> str:
    message = " ".join(str(error).split()) or type(error).__name__
    return message if len(message) <= 200 else f"{message[:199]}…"
