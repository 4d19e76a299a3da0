"""Options for judging: tasks, rubrics and designs."""

from __future__ import annotations

from typing import Any

from calipers.options.option import INPUT, Group, option, options_class
from calipers.options.rules import one_of, whole


@options_class
class Judged(Group):
    """Options on what people or models judge."""

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
        one_of("pairs", "quality", "diversity"),
        setting=True,
        common=True,
    )
    rubric: Any = option(
        None,
        "Your own questions, as a file of TOML or YAML; or biographies, the built-in questions on "
        "texts about a person. In Python also a :class:`~calipers.judgements.rubric.Rubric`. By "
        "default the built-in ones of the task.",
        metavar="FILE",
        source=True,
        common=True,
    )
    n: int = option(
        100,
        "For quality and diversity: texts of each system, or all if it has fewer.",
        whole(1),
        panel=INPUT,
        setting=True,
        common=True,
    )
    per_pair: int = option(
        90,
        "For pairs: contexts in which each pair of systems is compared.",
        whole(1),
        panel=INPUT,
        setting=True,
        common=True,
    )
    opponents: int | None = option(
        None,
        "For pairs: how many other systems each system is compared with, by a balanced design. By "
        "default all of them.",
        whole(2),
        panel=INPUT,
        setting=True,
    )
    min_words: int | None = option(
        None,
        "Leave out texts of fewer words; in scripts without spaces, characters count as words.",
        whole(1),
        panel=INPUT,
        setting=True,
    )
    max_words: int | None = option(
        None,
        "Show at most N words of each text; in scripts without spaces, characters count.",
        whole(1),
        panel=INPUT,
        setting=True,
    )
