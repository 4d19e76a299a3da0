"""What is judged: tasks, rubrics and designs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from calipers.options.option import (
    INPUT,
    Group,
    one_of,
    option,
    options_class,
    whole,
)

if TYPE_CHECKING:
    pass


@options_class
class Judged(Group):
    """What is judged, by people or by models."""

    reference: Any = option(
        None,
        "Real texts, judged like those of a system.",
        panel=INPUT,
        flag=("--reference", "-r"),
        metavar="FILE",
        source=True,
        common=True,
    )
    task: str | None = option(
        None,
        "What is judged: pairs of texts of two systems; the quality of single texts; or the "
        "diversity of batches of ten texts. By default that of --rubric, else pairs.",
        one_of("pairs", "quality", "diversity", optional=True),
        kept=True,
        common=True,
    )
    rubric: Any = option(
        None,
        "Your own questions, as a file of TOML or YAML. By default the built-in ones of the task.",
        metavar="FILE",
        source=True,
        common=True,
        doc="Questions of your own: a file of TOML or YAML, or a "
        ":class:`~calipers.judgements.rubric.Rubric`. None for the built-in ones of the task.",
    )
    n: int = option(
        100,
        "For quality and diversity: texts of each system, or all if it has fewer.",
        whole(1),
        panel=INPUT,
        kept=True,
        common=True,
    )
    per_pair: int = option(
        90,
        "For pairs: contexts in which each two systems are compared.",
        whole(1),
        panel=INPUT,
        kept=True,
        common=True,
    )
    opponents: int | None = option(
        None,
        "For pairs: how many other systems each system meets, by a balanced design. By default all "
        "of them.",
        whole(2, optional=True),
        panel=INPUT,
        kept=True,
    )
    min_words: int | None = option(
        None,
        "Leave out texts of fewer words.",
        whole(1, optional=True),
        panel=INPUT,
        kept=True,
    )
    max_words: int | None = option(
        None,
        "Show no more than N words of each text.",
        whole(1, optional=True),
        panel=INPUT,
        kept=True,
    )
