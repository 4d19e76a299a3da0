"""Options for reading: fields, sizes, and labels of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from calipers.errors import InputError
from calipers.options.option import INPUT, Group, option, options_class
from calipers.options.rules import FLAG, OptionError, Rule, is_name, whole


@dataclass(frozen=True)
class LabelRule(Rule):
    """The rule for the name of a field of labels; `method` of a sample set takes labels as such."""

    method: str = ""

    def error(self, name: str, value: Any) -> OptionError:
        """Explain where labels are given."""
        if isinstance(value, str):
            return super().error(name, value)
        return OptionError(
            f"{{{name}}} must {self.words}; found a {type(value).__name__}. Labels go to the "
            f"samples: SampleSet.{self.method}",
            {name: value},
        )


def label(method: str) -> Rule:
    """Make the rule for a field of labels; `method` of a sample set takes labels as such."""
    return LabelRule("name a field", is_name, metavar="FIELD", method=method)


@options_class
class Reading(Group):
    """Options for reading files."""

    field: str | None = option(
        None,
        "Field of each row that holds the text, such as text or choices[0].text. By default "
        "a field with a common name, such as text or generation, is used.",
        panel=INPUT,
        metavar="PATH",
        common=True,
    )
    quotes: bool = option(
        True,
        "Whether quotation marks in CSV and TSV files enclose values, or are part of the texts.",
        FLAG,
        panel=INPUT,
        off=(
            "--no-quotes",
            "Read quotation marks in CSV and TSV files as part of the texts. By default they "
            "enclose values, which may then hold line ends and the mark between columns.",
        ),
        last=True,
    )


@options_class
class Files(Group):
    """Treatment of unreadable image files."""

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
    """Number of samples read from a set."""

    max_samples: int | None = option(
        None,
        "Use at most N samples of every set, chosen at random. This includes the reference but not "
        "--train.",
        whole(2),
        panel=INPUT,
        setting=True,
        common=True,
    )
    skip_words: int | None = option(
        None,
        "Leave out the first N words of every text, such as a prompt that all of them begin with. "
        "In scripts without spaces, such as Chinese and Thai, characters count as words. Shorter "
        "texts become empty. A training set is cut in the same way.",
        whole(1),
        panel=INPUT,
        setting=True,
    )
    strip_prompt: bool = option(
        False,
        "Leave out the prompt at the start of every text. The prompt is the one in its row (the "
        "field prompt; in Python ``SampleSet.prompts``), else the opening that generated texts "
        "share with the reference, row by row.",
        FLAG,
        panel=INPUT,
        setting=True,
        common=True,
    )

    def __post_init__(self) -> None:
        """Check every value, and that beginnings are taken off in one way."""
        super().__post_init__()
        if self.strip_prompt and self.skip_words is not None:
            raise InputError(
                "`strip_prompt` and `skip_words` both remove the beginnings of texts; give one of "
                "the two"
            )


@options_class
class Sizes(Sampling):
    """Whether sets of different sizes are cut to one size."""

    keep_sizes: bool = option(
        False,
        "Keep generated sets of different sizes as they are. By default all are cut to the size of "
        "the smallest, because scores depend on sample size.",
        FLAG,
        panel=INPUT,
        setting_as=("sizes", lambda keep: "kept" if keep else "equal"),
    )


@options_class
class Labels(Group):
    """Groups and clusters of the rows of a comparison's sets, with its training set and lengths."""

    group: str | None = option(
        None,
        "Also give precision, recall and coverage for each group of samples: those that have the "
        "same value in this field, such as topic, author or language. The rows of the reference "
        "must have the field, those of generated sets may lack it. In Python, sample sets carry "
        "their groups, from ``read_samples(path, group=...)`` or "
        ":meth:`~calipers.samples.SampleSet.with_groups`, and the option only names them.",
        label("with_groups"),
        panel=INPUT,
        setting=True,
        common=True,
    )
    cluster: str | None = option(
        None,
        "Field whose equal values mark rows that are not independent, such as several "
        "continuations of one prompt, or sentences of one document. Intervals, tests, noise floor "
        "and advice then count these clusters instead of rows, which would make intervals too "
        "short; scores do not change. In sets without the field every row is a cluster. In Python, "
        "sample sets carry their clusters, from ``read_samples(path, cluster=...)`` or "
        ":meth:`~calipers.samples.SampleSet.with_clusters`.",
        label("with_clusters"),
        panel=INPUT,
        setting=True,
    )
    train: Any = option(
        None,
        "Training set of the models, in any format of --reference: adds the share of the generated "
        "samples, and of the reference, that are near copies of it (``near_copies:train``, "
        "``authenticity:train``). It is never subsampled, since copies of omitted samples would be "
        "missed.",
        panel=INPUT,
        metavar="FILE",
        source=True,
    )
    match_length: int | None = option(
        None,
        "Truncate all texts to this many words before they are compared, because every score "
        "depends on text length. In scripts without spaces, characters count as words.",
        whole(1, metavar="WORDS"),
        panel=INPUT,
        setting=True,
    )
