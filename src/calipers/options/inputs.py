"""What is read: fields, sizes, and the labels of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from calipers.errors import InputError
from calipers.options.option import (
    FLAG,
    INPUT,
    Group,
    Rule,
    option,
    options_class,
    whole,
)

if TYPE_CHECKING:
    pass


def label(method: str) -> Rule:
    """The name of a field of the rows; `method` takes labels that a person has otherwise."""

    def check(name: str, value: Any) -> None:
        if value is not None and not isinstance(value, str):
            raise InputError(
                f"{name} must be the name of a field, or None; "
                f"found a {type(value).__name__}. Labels go to the samples: SampleSet.{method}"
            )
        if value is not None and not value.strip():
            raise InputError(f"{name} must be the name of a field, or None; found {value!r}")

    return Rule("name a field", lambda text: text if text.strip() else None, check, "FIELD")


def _check_words(name: str, value: Any) -> None:
    from calipers.samples.truncation import check_words

    if value is not None:
        check_words(value)


@options_class
class Reading(Group):
    """How files are read."""

    field: str | None = option(
        None,
        "Field of each row that holds the text, such as text or choices[0].text. By default "
        "a field with a common name, such as text or generation, is used.",
        panel=INPUT,
        metavar="PATH",
        common=True,
        doc='Where the text stands in a row, such as ``"choices[0].text"``; found by itself if '
        "None.",
    )


@options_class
class Files(Group):
    """How unreadable image files are handled."""

    skip_bad: bool = option(
        False,
        "Skip image files that cannot be read, with a warning that names them. By default such a "
        "file is an error.",
        FLAG,
        panel=INPUT,
        last=True,
    )


@options_class
class Sampling(Reading):
    """How many samples are read of a set."""

    max_samples: int | None = option(
        None,
        "Use at most N samples of every set, chosen at random. This includes the reference but not "
        "--train.",
        whole(2, optional=True),
        panel=INPUT,
        kept=True,
        common=True,
        doc="Cut every set, the reference too but not the training set, to this many samples.",
    )
    skip_words: int | None = option(
        None,
        "Leave out the first N words of every text, such as a prompt that all of them begin with. "
        "Of shorter texts nothing is left, and they count as empty.",
        whole(1, optional=True),
        panel=INPUT,
        kept=True,
        doc="Leave out this many words at the start of every text, also of the training set.",
    )
    strip_prompt: bool = option(
        False,
        "Leave out the prompt at the start of every text. The prompt is the one in its row (the "
        "field prompt), else the opening that generated texts share with the reference, row by "
        "row.",
        FLAG,
        panel=INPUT,
        kept=True,
        common=True,
        doc="Leave out the prompt at the start of every text: the one in its row "
        "(``SampleSet.prompts``), else the opening that generated texts share with the reference.",
    )

    def __post_init__(self) -> None:
        """Check every value, and that beginnings are taken off in one way."""
        super().__post_init__()
        if self.strip_prompt and self.skip_words is not None:
            raise InputError(
                "strip_prompt (--strip-prompt) and skip_words (--skip-words) both take off the "
                "beginnings of texts; give one of the two"
            )


@options_class
class Sizes(Sampling):
    """Whether sets of different sizes are cut to one."""

    keep_sizes: bool = option(
        False,
        "Keep generated sets of different sizes as they are. By default all are cut to the size of "
        "the smallest, because scores depend on sample size.",
        FLAG,
        panel=INPUT,
        kept_as=("sizes", lambda kept: "kept" if kept else "equal"),
        doc="Leave the generated sets as large as they are; by default all are cut to the "
        "smallest.",
    )


@options_class
class Labels(Group):
    """Which rows belong together, and what else holds for the sets of a comparison."""

    group: str | None = option(
        None,
        "Also give precision, recall and coverage for each group of samples: those that have the "
        "same value in this field, such as topic, author or language. The rows of the reference "
        "must have the field, those of generated sets may lack it.",
        label("with_groups"),
        panel=INPUT,
        kept=True,
        common=True,
        doc="Name of the field that holds the group of a sample (its topic, author, language): "
        "recall, coverage and precision are then given for every group too. Files are read with "
        "it; sample sets bring their groups along, from ``read_samples(path, group=...)`` or "
        ":meth:`~calipers.samples.SampleSet.with_groups`, and `group` then only names them. Every "
        "reference sample must have a group; generated sets may go without.",
    )
    cluster: str | None = option(
        None,
        "Field whose equal values mark rows that are not independent, such as several "
        "continuations of one prompt, or sentences of one document. Intervals and tests then "
        "count these clusters in place of rows. In files without the field every row is a cluster "
        "of its own.",
        label("with_clusters"),
        panel=INPUT,
        kept=True,
        doc="Name of the field that rows have in common which were drawn together: the prompt "
        "that several samples continue, the document of several sentences. Intervals, "
        "tests, noise floor and advice then count clusters and not rows, of which intervals"
        " would come out too short; scores do not change. Files are read with it; sample "
        "sets bring their clusters along, from ``read_samples(path, cluster=...)`` or "
        ":meth:`~calipers.samples.SampleSet.with_clusters`. In sets without the field every"
        " row counts as a cluster.",
    )
    train: Any = option(
        None,
        "Training set of the models, in any format of --reference: adds the share of the generated "
        "samples, and of the reference, that are near copies of it. It is never cut.",
        panel=INPUT,
        metavar="FILE",
        source=True,
        doc="The training set of the models, in any form that `reference` may have: tells for "
        "every system what share of its samples are near copies of it "
        "(``near_copies:train``, ``authenticity:train``). It is never cut, since copies of "
        "what was cut would not be seen.",
    )
    match_length: int | None = option(
        None,
        "Truncate all texts to this many words before they are compared, because every score "
        "depends on text length.",
        Rule("be a whole number of at least 1", whole(1).read, _check_words, "WORDS"),
        panel=INPUT,
        kept=True,
        doc="Cut the texts of every set to this many words, since length alone moves every score.",
    )
