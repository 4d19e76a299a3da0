"""What raters are asked: a rubric of questions, one of the built-in ones or a person's own.

Three tasks are known. ``pairs`` shows two texts in one context and asks which is better, in five
steps (Pillutla et al., JMLR 2023, section 6.4 and appendix E); ``quality`` shows one text and asks
for numbers on scales; ``diversity`` shows a batch of texts and asks yes or no (Le Bronnec et al.,
ACL 2024, appendix B.2). The same rubric serves people and models.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
    """What raters are asked of one item.

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
"""Quality on three scales, in our own words (ACL 2024, appendix B.2)."""

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
"""The built-in rubrics by their names."""
