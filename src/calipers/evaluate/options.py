"""Every option of every command, stated once: type, default, rule, help, panel and flag.

A group holds options that several commands share, a class a command its own beside them. To add an
option to one command or to all of a group, add a field (:mod:`calipers.evaluate.option` says what
comes of it). Of the bases of a class the last comes first in helps and signatures.
"""

from __future__ import annotations

import math
import os
import re
from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

from calipers.catalogue.estimation import ESTIMATORS
from calipers.errors import InputError, unknown_name
from calipers.evaluate.option import (
    CERTAINTY,
    EMBEDDING,
    ENGINE,
    FLAG,
    INPUT,
    LANGUAGE_MODEL,
    MEASUREMENT,
    OUTPUT,
    PROMPTS,
    Group,
    Rule,
    one_of,
    option,
    options_class,
    positive,
    reworded,
    share,
    three_way,
    unchecked,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from calipers.embed import Embedder, EmbedderChoice
    from calipers.embed.options import Options as EmbedderOptions
    from calipers.estimate.axes import Axes, Norm, Projection
    from calipers.estimate.knn.balls import Distance
    from calipers.estimate.knn.neighbourhoods import Ties
    from calipers.estimate.quantise import Buckets
    from calipers.language_model.decoding import Decoding
    from calipers.language_model.model import LanguageModel
    from calipers.metrics.pair import Settings
    from calipers.progress import Progress
    from calipers.results.check import Inconclusive
    from calipers.results.judged import Method as HowRaters
    from calipers.results.sweep import Over
    from calipers.text.tokens import AnyTokenizer
    from calipers.uncertainty.bradley_terry import Ties as JudgedTies
    from calipers.uncertainty.correlation import Kind


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


def _check_keys(name: str, value: Any) -> None:
    from calipers.catalogue.choosing import check_keys

    check_keys(value)


def _check_words(name: str, value: Any) -> None:
    from calipers.samples.truncation import check_words

    if value is not None:
        check_words(value)


def _check_estimator(name: str, value: Any) -> None:
    if value not in ESTIMATORS:
        raise unknown_name(name, str(value), ESTIMATORS)


@dataclass(frozen=True)
class _Estimator(Rule):
    def parse(self, flag: str, text: str) -> Any:
        _check_estimator(flag, text)
        return text


@dataclass(frozen=True)
class _Folder(Rule):
    def parse(self, flag: str, text: str) -> Any:
        if os.path.lexists(text) and not os.path.isdir(text):
            raise InputError(f"{flag} must name a folder; {text} is a file")
        return text


def _names(text: str) -> list[str] | None:
    found = [name.strip() for name in text.split(",")]
    return list(dict.fromkeys(found)) if all(found) else None


def _all_names(text: str) -> list[str] | None:
    found = [name.strip() for name in text.split(",")]
    return found if all(found) else None


def _keys(text: str) -> tuple[str, ...] | None:
    return tuple(dict.fromkeys(filter(None, re.split(r"[,\s]+", text)))) or None


def _buckets(text: str) -> Any:
    if text in ("auto", "cube-root"):
        return text
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text) and int(text) >= 2 else None


def _above_zero(text: str) -> float | None:
    found = float(text)
    return found if 0 < found < math.inf else None


def _not_negative(text: str) -> float | None:
    found = float(text)
    return found if math.isfinite(found) and found >= 0 else None


def at_least_zero(name: str, value: Any) -> None:
    """Refuse what is no finite number of at least 0."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 <= value < math.inf:
        raise InputError(f"{name} must be a number of at least 0; found {value!r}")


def _price(text: str) -> str | None:
    numbers = [float(part) for part in text.split(",")]
    fits = len(numbers) == 2 and all(0 <= number < math.inf for number in numbers)
    return text if fits else None


def _check_price(name: str, value: Any) -> None:
    try:
        fits = value is None or _price(value) is not None
    except (AttributeError, ValueError):
        fits = False
    if not fits:
        raise InputError(f"{name} must be two numbers such as 0.15,0.60; found {value!r}")


MOST_VALUES = 10_000


def read_values(text: str) -> tuple[int, ...] | None:
    """Read whole numbers and ranges, such as ``1-10,15,20``; None where they are fewer than two."""
    parts = [part for part in re.split(r"[,\s]+", text) if part]
    values = {value for part in parts for value in _range(part, text)}
    return tuple(sorted(values)) if len(values) > 1 else None


def _range(part: str, text: str) -> range:
    found = re.fullmatch(r"([0-9]{1,18})(?:-([0-9]{1,18}))?", part)
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if first < 1 or last < 1:
        rule = "must list whole numbers of at least 1 and ranges such as 1-10"
    elif last < first:
        rule = f"must name the smaller end of a range first, as in {last}-{first}"
    elif last - first >= MOST_VALUES:
        rule = f"can list at most {MOST_VALUES:,} values; name some of them, as 100,1000,10000"
    else:
        return range(first, last + 1)
    raise InputError(f"--values {rule}; found {part!r} in {text!r}")


CHANGES = (
    "word_shuffle",
    "word_swaps",
    "sentence_shuffle",
    "truncation",
    "lower_case",
    "typos",
    "repetition",
)
"""The changes of a probe."""


def _more_than_half(text: str) -> float | None:
    found = float(text)
    return found if 0.5 < found < 1 else None


def _check_more_than_half(name: str, value: Any) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0.5 < value < 1:
        raise InputError(f"{name} must lie between 0.5 and 1, such as 0.95; found {value!r}")


MORE_THAN_HALF = Rule(
    "lie between 0.5 and 1, such as 0.95", _more_than_half, _check_more_than_half, "NUMBER"
)
TIES = one_of("closed", "open")
DISTANCE = one_of("euclidean", "cosine")
PROJECTION = one_of("none", "union")
AXES = one_of("union", "reference")
ENGINES = one_of("local", "ray")
SEARCHES = one_of("exact", "approximate")
NORMALISE = one_of("l2", "none", optional=True)
SHARED_PROMPTS = one_of("residual", "others", "ignore")
KEYS = Rule("name at least one metric", _keys, _check_keys, "LIST")
NAMES = Rule("be names with commas between them", _names, unchecked, "LIST")
THREE_WAY = Rule("", lambda text: None, three_way, "")


@options_class
class Running(Group):
    """How a run goes, whatever it measures."""

    threads: int | None = option(
        None,
        "Number of processor threads. By default all.",
        whole(1, optional=True),
        panel=EMBEDDING,
        doc="Number of threads (default: all cores); moves no more than the last digits.",
    )
    progress: Progress | None = option(
        None,
        "What shows how far it is.",
        flag=(),
    )


@options_class
class Seeded(Group):
    """Randomness."""

    seed: int = option(
        0,
        "Seed of every random step.",
        whole(0),
        kept=True,
        last=True,
        common=True,
        doc="Of cutting, k-means and block labels.",
    )


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


@options_class
class Neighbours(Group):
    """How neighbourhoods are spanned."""

    k: int = option(
        4,
        "Number of nearest neighbours for precision, recall, density, coverage and realism. Other "
        "metrics have values of their own, which --json records.",
        whole(1),
        kept=True,
        doc="Nearest neighbours that span a ball.",
    )
    ties: Ties = option(
        "closed",
        "Whether a point exactly on the boundary of a neighbourhood counts as inside (closed) or "
        "outside (open).",
        TIES,
        kept=True,
        doc="Whether the rim of a ball belongs to it (``closed``) or not (``open``).",
    )
    distance: Distance = option(
        "euclidean",
        "Distance between samples, for neighbourhoods and copies. For rows of length one, as those "
        "of texts are, both distances give the same order, except with --projection union, where "
        "cosine measures angles about the joint mean.",
        DISTANCE,
        kept=True,
        doc='``"euclidean"`` or ``"cosine"``: of the balls and of nearest neighbours.',
    )
    projection: Projection = option(
        "none",
        "Space in which neighbours are searched: none is that of the rows (see --normalise); union "
        "is that of the principal axes that keep 90 % of the variance of both sets together, as in "
        "Le Bronnec et al. (2024), in which precision also falls when good texts repeat each "
        "other.",
        PROJECTION,
        kept=True,
        doc='Where neighbours are looked for: ``"none"`` among rows as they are (see `normalise`), '
        '``"union"`` on the principal axes that keep 90 % of the variance of both sets '
        "together, as in Le Bronnec et al. (ACL 2024). With the latter precision falls "
        "where texts merely repeat. Whole distributions (MAUVE, PRD, Fréchet, kernels) are "
        "compared on those axes either way.",
    )
    normalise: Norm | None = option(
        None,
        "What is done to every vector first: l2 scales it to length one, so that only its "
        "direction counts; none leaves it as it is. By default l2 for texts and images that are "
        "embedded here, as in Le Bronnec et al. (2024), and none for vectors that are given.",
        NORMALISE,
        kept=True,
        doc='What is done to every vector first: ``"l2"`` scales it to length one, so that only '
        'its direction counts, ``"none"`` leaves it as it is. None for ``"l2"`` with texts and '
        'images that are embedded here, as in Le Bronnec et al. (ACL 2024), and for ``"none"`` '
        "with vectors that are given.",
    )


@options_class
class Engine(Group):
    """Where samples are embedded, and where the passes over all pairs run."""

    engine: Literal["local", "ray"] = option(
        "local",
        "Where samples are embedded, neighbours searched and k-means run: local is this machine, "
        "its GPU with --device cuda; ray is a Ray cluster. No count depends on it.",
        ENGINES,
        kept=True,
        panel=ENGINE,
        doc='Where samples are embedded, neighbours searched and k-means run: ``"local"`` on this '
        'machine, on its GPU with ``device="cuda"``; ``"ray"`` on a Ray cluster. No count depends '
        "on it.",
    )
    address: str | None = option(
        None,
        "Address of the Ray cluster: auto for the one that this machine belongs to, or "
        "ray://HOST:PORT. By default workers are started on this machine, once sets are so large "
        "that they are cut into tiles.",
        panel=ENGINE,
        metavar="ADDRESS",
        complete=("auto",),
        doc='Address of the Ray cluster: ``"auto"`` for the one that this machine belongs to, or '
        "``ray://HOST:PORT``; None starts workers on this machine, once sets are so large that "
        "they are cut into tiles.",
    )
    work_dir: str | Path | None = option(
        None,
        "Folder for the search for neighbours and for k-means, from which a run that was stopped "
        "goes on; with --engine ray also for what is embedded, and all machines must see it: it "
        "may lie in object storage (s3://bucket/work). By default one in the folder for caches "
        "with ray, none with local.",
        _Folder("", lambda text: text, unchecked, "FOLDER"),
        panel=ENGINE,
        doc="Folder for the search for neighbours and for k-means, from which a run that was "
        'stopped goes on; with ``engine="ray"`` also for what is embedded, and all machines must '
        'see it: it may lie in object storage (``"s3://bucket/work"``). None for one in the folder '
        "for caches with Ray, and for none on this machine alone.",
    )

    def __post_init__(self) -> None:
        """Check every value, and that an address has an engine to use it."""
        super().__post_init__()
        if self.address is not None and self.engine != "ray":
            raise InputError(
                f"address {self.address!r} is that of a Ray cluster; it needs --engine ray "
                '(engine="ray" in Python)'
            )


@options_class
class SearchEngine(Engine):
    """Where the passes over all pairs run, or a search that need not look at all of them."""

    neighbours: Literal["exact", "approximate"] = option(
        "exact",
        "Whether all nearest neighbours are found (exact), or most of them in a fraction of the "
        "time (approximate, for some 300,000 samples and more). How many were found, and how far "
        "precision and recall are off, is measured on a sample and said.",
        SEARCHES,
        kept=True,
        doc='``"exact"``, or ``"approximate"``: most nearest neighbours in a fraction of the time, '
        "for some 300,000 samples and more. How many were found, and how far precision and recall "
        "are off, is measured on a sample and said.",
    )

    @property
    def in_files(self) -> bool:
        """Whether the search goes through files, from which a run that was stopped goes on."""
        return self.engine == "ray" or self.work_dir is not None

    def __post_init__(self) -> None:
        """Check every value, and that what was chosen goes together."""
        super().__post_init__()
        if self.neighbours == "approximate" and self.in_files:
            raise InputError(
                "--neighbours approximate searches in the memory of this machine; it goes with "
                "neither --engine ray nor --work-dir"
            )


@options_class
class Measuring(Neighbours):
    """What is measured, and how."""

    metrics: str | Iterable[str] | None = option(
        None,
        "Metrics to compute and show, such as precision,recall,mauve_star, a family, or all; "
        "calipers metrics lists them. The name precision means precision in every view, "
        "form.precision in one of them; text.self_bleu is a statistic of the texts themselves, and "
        "text all of those. May be repeated. By default the table shows precision, recall, "
        "coverage and mauve_star.",
        KEYS,
        several=True,
        common=True,
        complete="all_metrics",
        doc="Keys ``[view.]metric[:option…]``, in a list or in one string: ``precision``, "
        "``form.mauve_star:chi2``, ``frontier_integral:knn``. A plain name means every view, a "
        "family (``support``, ``frontier``, ``prd``, ``classifier``, ``ot``, ``mmd``, ``copying``) "
        "its metrics, ``all`` every metric on embeddings. None for all but those that take their "
        "own time. Statistics of the texts themselves stand in the view ``text``: "
        "``text.self_bleu``, ``text`` for all of them. ``calipers metrics`` lists them.",
    )
    buckets: Buckets = option(
        "auto",
        "Number of clusters of the quantisation for MAUVE and its family: auto is a tenth of the "
        "number of samples, at most 5,000; cube-root its cube root.",
        Rule(
            "be auto, cube-root or a whole number of at least 2",
            _buckets,
            unchecked,
            "N|auto|cube-root",
            ("auto", "cube-root"),
        ),
        kept=True,
        doc='Cells of the quantisation behind MAUVE; ``"auto"`` for a tenth of the smaller set, '
        'at most 5,000, ``"cube-root"`` for the cube root of its size.',
    )
    estimator: str = option(
        "quantisation",
        "How MAUVE, its family and the precision-recall curve are estimated: by quantisation "
        "(shares of the samples in clusters), or by likelihood ratios from knn, kde, classifier, "
        "boosted or gaussian. A single metric may use another estimator, as in mauve:knn.",
        _Estimator("", lambda text: text, _check_estimator, "NAME", tuple(ESTIMATORS)),
        kept=True,
        doc="What the metrics of the frontier and of the precision-recall curve are read from "
        'where their key does not say: ``"quantisation"``, ``"knn"``, ``"kde"``, '
        '``"classifier"``, ``"boosted"`` or ``"gaussian"``. Their keys then carry it, as '
        "``mauve:knn``.",
    )
    c: float | None = option(
        None,
        "Scaling constant of MAUVE, above 0. By default the usual one of the estimator, 5 for "
        "quantisation.",
        Rule("be a number above 0", _above_zero, positive, "NUMBER"),
        kept=True,
        doc="Scaling constant of MAUVE, above 0; None for the one that goes with the estimator.",
    )
    shared: bool = option(
        False,
        "Project and quantise all generated sets together, so that their scores use the same "
        "clusters. Adding a set then changes the scores of the others.",
        FLAG,
        kept=True,
        doc="Project and quantise all systems together, so that their scores rest on the same "
        "cells. Adding a system then changes the scores of the others; by default it never does.",
    )
    axes: Axes = option(
        "union",
        "Whose principal axes whole distributions are compared on (MAUVE, PRD, Fréchet, kernels): "
        "those of the union of both sets, or of the reference alone. The latter are the same for "
        "every generated set, but do not see what it adds beside them.",
        AXES,
        kept=True,
        doc='Whose principal axes whole distributions are compared on: ``"union"`` for those of '
        'both sets together, as in the papers, ``"reference"`` for those of the reference alone, '
        "which are the same for every generated set, so that a :class:`calipers.Reference` keeps "
        "its rows and moments on them. What a generated set adds beside those axes is not seen.",
    )


@options_class
class Inference(Group):
    """How sure the scores are."""

    level: float | None = option(
        0.95,
        "Confidence level of intervals and tests, between 0 and 1.",
        share("0.95", optional=True),
        panel=CERTAINTY,
        kept=True,
        off=(
            "--no-intervals",
            "Compute no intervals and tests, which saves up to half of the time after embedding.",
        ),
        doc="Confidence level of the intervals and tests, in (0, 1); None leaves both out.",
    )
    floor: bool | None = option(
        None,
        "Measure the noise floor: the scores of one half of the reference against the other, "
        "beside the scores of each system at the same sample size. By default it is measured if "
        "the reference has fewer than 5,000 samples: it takes ten more comparisons at half size, "
        "and ten for each system.",
        THREE_WAY,
        panel=CERTAINTY,
        flag=("--floor/--no-floor",),
        doc="Whether to measure the noise floor: what halves of the reference score against each "
        "other, with each system beside it at the same size. Costs ten more scorings at half size, "
        "and ten for each system. None measures it for the scores of the table, and only for a "
        "reference below 5,000 samples; True for every score.",
    )
    advice: bool = option(
        False,
        "Estimate how much each score would still change with more samples, from nested smaller "
        "sets.",
        FLAG,
        panel=CERTAINTY,
        doc="Whether to tell, from nested smaller sets, what more samples would change.",
    )
    paired: bool | None = option(
        None,
        "Whether row i of every generated set, and of a reference of that size, answers the same "
        "prompt; tests then compare within prompts. By default decided by the prompts in the rows.",
        THREE_WAY,
        panel=CERTAINTY,
        flag=("--paired/--no-paired",),
        doc="Whether row i of every generated set, and of a reference of that size, answers the "
        "same prompt, within which tests then compare; None to find out from the prompts.",
    )
    margin: float | None = option(
        None,
        "Also test whether systems are equivalent: whether their scores, of metrics between 0 and "
        "1, differ by less than this margin, such as 0.05.",
        share("0.05", optional=True, none=", or be None"),
        panel=CERTAINTY,
        kept=True,
        doc="Test also whether systems are equal: whether scores between 0 and 1 are less than "
        "this far apart; None leaves that out.",
    )


@options_class
class NamedEmbedder(Group):
    """Which embedder turns samples into vectors."""

    embedder: str | Embedder | EmbedderChoice | None = option(
        None,
        "Model that turns samples into vectors: minilm, tfidf, a model such as gpt2-large or "
        "./my-model, or for images pixels, inception or a vision model. The default, minilm, is "
        "part of Calipers and downloads nothing; tfidf uses no model. Models are named as on the "
        "Hugging Face hub (transformers and sentence-transformers) or by their folder. Also "
        "possible: a file of word vectors (glove.6B.300d.txt), https://host/v1#MODEL for an "
        "embeddings service, and precomputed, for files that hold vectors. Options may follow the "
        "name, as in gpt2:layer=6:pooling=mean. [default: minilm for texts, pixels for images]",
        panel=EMBEDDING,
        metavar="NAME",
        common=True,
        complete=("minilm", "tfidf", "pixels", "inception", "precomputed"),
        doc='What turns samples into vectors: a name such as ``"minilm"``, '
        '``"./my-model:layer=6"``, as :func:`calipers.load_embedder` takes it, or what that'
        " returns. None for ``minilm`` with texts and ``pixels`` with images. Embeddings "
        "that are given are taken as they are.",
    )


@options_class
class Model(Group):
    """What is said of embedders, whichever they are."""

    pooling: str | None = option(
        None,
        "How the hidden states of a text's tokens are combined into its meaning vector. By default "
        "as is usual for the kind of model: last for GPT and similar models, mean for BERT and T5.",
        panel=EMBEDDING,
        metavar="last|mean|cls|max",
        complete=("last", "mean", "cls", "max"),
    )
    layer: int | None = option(
        None,
        "Layer of the model that gives the meaning vector. By default the last one.",
        whole(1, optional=True),
        panel=EMBEDDING,
    )
    max_length: int | None = option(
        None,
        "Truncate texts to N tokens. By default as many as the model can read, at most 1024. How "
        "many texts were truncated is reported.",
        whole(1, optional=True),
        panel=EMBEDDING,
    )
    prefix: str | None = option(
        None,
        "Text to put before every text, for models that need an instruction, such as 'query: '.",
        panel=EMBEDDING,
        metavar="TEXT",
    )
    revision: str | None = option(
        None,
        "Branch, tag or commit of a model on the hub.",
        panel=EMBEDDING,
        metavar="NAME",
    )
    size: int | None = option(
        None,
        "For images, the side in pixels to which they are resized. For tfidf, and services that "
        "let it be chosen, the number of dimensions of a vector.",
        whole(1, optional=True),
        panel=EMBEDDING,
    )
    endpoint: str | None = option(
        None,
        "Get the vectors of the model that --embedder names from this embeddings service, which "
        "must have OpenAI's interface (/v1/embeddings). The key is read from "
        "CALIPERS_ENDPOINT_KEY, or for api.openai.com from OPENAI_API_KEY.",
        panel=EMBEDDING,
        metavar="URL",
    )
    offline: bool = option(
        False,
        "Download nothing. A model that is not on this machine is an error.",
        FLAG,
        panel=EMBEDDING,
    )
    trust_remote_code: bool = option(
        False,
        "Run the Python code that comes with a model. By default it is not run, because it could "
        "do anything on this machine.",
        FLAG,
        panel=EMBEDDING,
    )
    allow_pickle: bool = option(
        False,
        "Read weights from pickled files (pytorch_model.bin) if there are no safetensors. Such "
        "files can run code of their own.",
        FLAG,
        panel=EMBEDDING,
    )
    device: str = option(
        "auto",
        "Where the embedder runs: auto, cpu, cuda, mps. With cuda, neighbours are searched there "
        "too, with the same counts.",
        panel=EMBEDDING,
        metavar="NAME",
        complete=("auto", "cpu", "cuda", "mps"),
    )
    dtype: str = option(
        "float32",
        "Number format of the model. float32 gives the same scores on every machine but for the "
        "last digits; auto is faster on hardware with bfloat16 and changes scores slightly.",
        Rule(
            "be float32 or auto",
            lambda text: text if text in ("float32", "auto") else None,
            unchecked,
            "float32|auto",
            ("float32", "auto"),
        ),
        panel=EMBEDDING,
        doc='Of the embedder, where it is named; ``"auto"`` takes bfloat16 where the hardware has '
        "it.",
    )
    batch_size: int | None = option(
        None,
        "Largest number of samples in one forward pass or one request.",
        whole(1, optional=True),
        panel=EMBEDDING,
    )
    processes: int | None = option(
        None,
        "Embed in N processes that share the cores, which is faster on a CPU with many cores. Each "
        "process holds the model in memory.",
        Rule("be a whole number of at least 1", whole(1).read, unchecked, "N"),
        panel=EMBEDDING,
        doc="How many processes embed, for a CPU of many cores; None for this one.",
    )
    cache_dir: str | Path | None = option(
        None,
        "Folder in which embeddings are cached. By default the user's cache folder.",
        _Folder("", lambda text: text, unchecked, "FOLDER"),
        panel=EMBEDDING,
    )
    cache: bool = option(
        True,
        "Neither read nor keep embeddings.",
        FLAG,
        panel=EMBEDDING,
        off=("--no-cache", "Neither read nor write the cache of embeddings."),
        doc="Whether embeddings are kept, and read where they were.",
    )

    def __post_init__(self) -> None:
        """Check every value, also those that embedders know about."""
        super().__post_init__()
        self.of_embedders()

    def of_embedders(self) -> EmbedderOptions:
        """Give the options as embedders take them."""
        from calipers.embed.options import Options

        return Options(**{each.name: getattr(self, each.name) for each in fields(Options)})

    def choice_of(self, name: str) -> EmbedderChoice:
        """Give the choice of an embedder by its name, with these options."""
        from calipers.embed import EmbedderChoice

        return EmbedderChoice(name, self.of_embedders())


@options_class
class Embedding(Running, Model, NamedEmbedder):
    """What turns samples into vectors, and how and where it runs."""

    def __post_init__(self) -> None:
        """Check every value, and that a name is one."""
        super().__post_init__()
        if isinstance(self.embedder, str):
            self.choice_of(self.embedder)


def pair_settings(options: Group, **more: Any) -> Settings:
    """Give the options that the metrics of a pair take, as they take them."""
    from calipers.metrics.pair import Settings

    known = options.keywords() | more
    return Settings(
        **{each.name: known[each.name] for each in fields(Settings) if each.name in known}
    )


# Language models ---------------------------------------------------------------------------------


def _check_decoding(name: str, value: Any) -> None:
    from calipers.language_model.decoding import Decoding

    Decoding.parse(value)


def _decoding(text: str) -> str:
    _check_decoding("decoding", text)
    return text


DECODINGS = (
    "ancestral",
    "greedy",
    "temperature=",
    "top_k=",
    "top_p=",
    "min_p=",
    "typical=",
    "beam=",
    "contrastive=",
    "adversarial",
)
"""What the shell offers of decodings."""

DECODING = Rule("name a decoding algorithm", _decoding, _check_decoding, "DECODING")


@options_class
class LanguageModelling(Group):
    """Which language model is used, and how and where it runs."""

    model: Any = option(
        MISSING,
        "The language model: a causal model of transformers by its folder or name, ngram or "
        "ngram:order=3 for a small model that is fitted on the reference in a second, "
        "https://host/v1#MODEL for a server with OpenAI's interface, or vllm:NAME.",
        panel=LANGUAGE_MODEL,
        flag=("--model", "-m"),
        metavar="NAME",
        required=True,
        common=True,
        complete=("ngram", "ngram:order=3", "./", "http://localhost:8000/v1#", "vllm:"),
        doc='The language model: a folder or name of transformers, ``"ngram:order=3"``, '
        '``"https://host/v1#MODEL"``, ``"vllm:NAME"``, or a '
        ":class:`~calipers.language_model.model.LanguageModel`.",
    )
    fit_on: Any = option(
        None,
        "For the model ngram: texts to fit it on. By default the reference.",
        panel=LANGUAGE_MODEL,
        metavar="FILE",
        source=True,
    )
    chat: bool = option(
        False,
        "Ask the model as a chat model: by the chat template of its tokenizer, or the chat form of "
        "a server.",
        FLAG,
        panel=LANGUAGE_MODEL,
        kept=True,
    )
    max_requests: int | None = option(
        None,
        "Stop after N requests to a server. What was received is kept, and the same command goes "
        "on from there.",
        whole(1, optional=True),
        panel=LANGUAGE_MODEL,
    )


@options_class
class Prompted(Group):
    """What a language model is asked to write."""

    task: str | None = option(
        None,
        "What to write: continue texts, biographies after examples of them, creative texts by "
        "fifty instructions, or none, texts from their beginning. By default continue where "
        "--prompts or --prompt-words is given, else none.",
        one_of("continue", "biographies", "creative", "none", optional=True),
        panel=PROMPTS,
        kept=True,
    )
    prompts: Any = option(
        None,
        "Texts to continue, or prompts, in any format of --reference. By default, with "
        "--prompt-words, the reference.",
        panel=PROMPTS,
        metavar="FILE",
        source=True,
        common=True,
    )
    prompt_words: int | None = option(
        None,
        "Use the first N words of each text as the prompt. Without it the prompt is the field "
        "prompt of a row, or the whole text.",
        whole(1, optional=True),
        panel=PROMPTS,
        kept=True,
        common=True,
    )
    shots: int = option(
        4,
        "For biographies: number of examples in each prompt, drawn at random from --prompts, whose "
        "rows have the fields name and text.",
        whole(0),
        panel=PROMPTS,
    )
    keep_prompt: bool = option(
        False,
        "Write texts with their prompts. By default the prompt is left out of the text, so that it "
        "is not scored.",
        FLAG,
        panel=PROMPTS,
        kept=True,
    )


@options_class
class Writing(Group):
    """How texts are written."""

    decoding: Any = option(
        "ancestral",
        "How tokens are chosen: ancestral, greedy, or parameters such as temperature=0.8,top_k=40. "
        "Known: temperature, top_k, top_p, min_p, typical, epsilon, eta, top_h, "
        "repetition_penalty, no_repeat_ngram; beam=4, contrastive=0.6,top_k=4, adversarial. What "
        "is not written is not in force; truncations apply in the order written.",
        DECODING,
        panel=LANGUAGE_MODEL,
        common=True,
        complete=DECODINGS,
        doc='How tokens are chosen: ``"ancestral"``, ``"greedy"``, ``"temperature=0.8,top_k=40"``, '
        '``"beam=4,no_repeat_ngram=4"``, ``"contrastive=0.6,top_k=4"``, ``"adversarial"`` or a '
        ":class:`~calipers.language_model.decoding.Decoding`. Nothing else is in force.",
    )
    n: int | None = option(
        None,
        "Number of samples. Prompts are used in turn. By default one for each prompt, or 500.",
        whole(1, optional=True),
        panel=PROMPTS,
        common=True,
    )
    max_tokens: int = option(
        256,
        "Most tokens of a text, without its prompt.",
        whole(1),
        panel=LANGUAGE_MODEL,
        kept=True,
        common=True,
    )


@options_class
class Loading(Group):
    """Where a language model is found, and how it runs."""

    revision: str | None = reworded(Model, "revision", panel=LANGUAGE_MODEL)
    device: str = reworded(
        Model, "device", "Where the model runs: auto, cpu, cuda, mps.", panel=LANGUAGE_MODEL
    )
    dtype: str = reworded(
        Model,
        "dtype",
        "Number format of the model. In float32 the seed fixes every sample, whatever else is "
        "written; auto is faster on hardware with bfloat16, where it does not.",
        panel=LANGUAGE_MODEL,
        doc='Of the model; ``"auto"`` takes bfloat16 where the hardware has it.',
    )
    batch_size: int | None = reworded(
        Model,
        "batch_size",
        "Largest number of texts in one forward pass, or of requests under way.",
        panel=LANGUAGE_MODEL,
    )
    endpoint: str | None = reworded(
        Model,
        "endpoint",
        "Server with OpenAI's interface that has the model that --model names. The key is read "
        "from CALIPERS_ENDPOINT_KEY, or for api.openai.com from OPENAI_API_KEY.",
        panel=LANGUAGE_MODEL,
    )
    offline: bool = reworded(Model, "offline", panel=LANGUAGE_MODEL)
    trust_remote_code: bool = reworded(Model, "trust_remote_code", panel=LANGUAGE_MODEL)
    allow_pickle: bool = reworded(Model, "allow_pickle", panel=LANGUAGE_MODEL)

    def of_models(self) -> EmbedderOptions:
        """Give the options as language models take them."""
        from calipers.embed.options import Options

        own = {each.name for each in fields(Loading)}
        return Options(
            **{each.name: getattr(self, each.name) for each in fields(Options) if each.name in own}
        )


@options_class
class Generating(Loading, Seeded, Writing, Prompted, LanguageModelling, Reading):
    """Everything that says which samples a language model writes."""


@options_class
class GenerateOptions(Running, Generating):
    """The options of ``generate``."""

    threads: int | None = reworded(Running, "threads", panel=LANGUAGE_MODEL)
    reference: Any = option(
        None,
        "Real texts: the model ngram is fitted on them, --prompt-words takes prompts from them, "
        "and the decoding adversarial takes its perplexity from them.",
        panel=INPUT,
        flag=("--reference", "-r"),
        metavar="FILE",
        source=True,
        common=True,
    )
    seed: int = reworded(
        Seeded,
        "seed",
        "Seed of the samples: with the number of a sample it fixes the random numbers that it is "
        "drawn by.",
        panel=LANGUAGE_MODEL,
        doc="With the number of a sample it fixes the random numbers that it is drawn by.",
    )
    price: str | None = option(
        None,
        "Price of a million tokens read, and of a million written, such as 0.15,0.60, to say what "
        "the samples cost.",
        Rule("be two numbers such as 0.15,0.60", _price, _check_price, "IN,OUT"),
        panel=LANGUAGE_MODEL,
    )
    output: Any = option(
        None,
        "File to write the samples to, as JSON lines. A run that was stopped goes on where it was.",
        panel=OUTPUT,
        flag=("--output", "-o"),
        metavar="FILE.jsonl",
        required=True,
        common=True,
        doc="File to write the samples to, as JSON lines; None keeps them in memory. A run that "
        "was stopped goes on where it was.",
    )
    overwrite: bool = option(
        False,
        "Replace samples of another configuration in `output`.",
        FLAG,
        flag=(),
    )


def _check_judges(name: str, value: Any) -> None:
    from calipers.language_model.model import LanguageModel

    given = [value] if isinstance(value, str | os.PathLike | LanguageModel) else value
    fits = isinstance(given, list | tuple) and bool(given)
    if not fits or not all(
        isinstance(each, LanguageModel)
        or (isinstance(each, str | os.PathLike) and str(each).strip() != "")
        for each in given
    ):
        raise InputError(
            f"{name} must be the name of a language model, such as 'https://host/v1#gpt-4o-mini' "
            f"or './model', a language model, or a list of them; found {value!r}"
        )


def _share_of_all(name: str, value: Any) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 <= value <= 1:
        raise InputError(f"{name} must be a number from 0 to 1; found {value!r}")


def _whole_share(text: str) -> float | None:
    found = float(text)
    return found if 0 <= found <= 1 else None


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


@options_class
class JudgeOptions(Running, Loading, Seeded, Judged, Reading):
    """The options of ``judge``."""

    model: Any = option(
        MISSING,
        "The judge: https://host/v1#MODEL for a server with OpenAI's interface, which is asked in "
        "its chat form, or a model of transformers by its folder or name. May be repeated, for "
        "several judges.",
        Rule("name language models", _all_names, _check_judges, "NAME"),
        panel=LANGUAGE_MODEL,
        flag=("--model", "-m"),
        several=True,
        required=True,
        common=True,
        complete=("https://api.openai.com/v1#", "http://localhost:8000/v1#", "./"),
        doc='The judge: ``"https://host/v1#MODEL"``, a folder or name of transformers, a '
        ":class:`~calipers.language_model.model.LanguageModel`, or a list of these.",
    )
    task: str | None = reworded(
        Judged,
        "task",
        "What is judged: pairs of texts of two systems, each in both orders; the quality of single "
        "texts on three scales from 1 to 5; or the diversity of batches of ten texts, yes or no. "
        "By default that of --rubric, else pairs.",
    )
    repeat_share: float = option(
        0.1,
        "Share of the items that are asked a second time, from 0 to 1, to see whether the judge "
        "agrees with itself.",
        Rule("be a number from 0 to 1", _whole_share, _share_of_all, "SHARE"),
        kept=True,
    )
    people: Any = option(
        None,
        "What people answered, as calipers annotate exports it: the judge is compared with them, "
        "item by item and system by system.",
        panel=INPUT,
        metavar="FILE",
        source=True,
        common=True,
        doc="What people answered: a table as ``calipers annotate`` exports it, or its judgements.",
    )
    level: float = option(
        0.95,
        "Confidence level of the intervals, between 0 and 1.",
        share("0.95"),
        kept=True,
    )
    decoding: Any = reworded(
        Writing,
        "decoding",
        "How answers are chosen: greedy, or sampled, such as temperature=1 (ancestral). Only "
        "sampled answers show how far a judge varies by itself.",
        default="greedy",
        common=False,
        doc='How answers are chosen: ``"greedy"``, ``"temperature=1"`` or a '
        ":class:`~calipers.language_model.decoding.Decoding`. Only sampled answers show how far a "
        "judge varies by itself.",
    )
    max_tokens: int = reworded(
        Writing,
        "max_tokens",
        "Most tokens of an answer, what the model thinks before it included.",
        common=False,
    )
    max_requests: int | None = reworded(
        LanguageModelling,
        "max_requests",
        "Stop after N requests to the server of a judge. What was received is kept, and the same "
        "command goes on from there.",
    )
    price: str | None = reworded(
        GenerateOptions,
        "price",
        "Price of a million tokens read, and of a million written, such as 0.15,0.60, to say what "
        "the answers cost.",
    )
    seed: int = reworded(
        Seeded,
        "seed",
        "Seed of the texts that are chosen, and of the answers. The same files and seed give the "
        "same items as calipers annotate.",
        doc="Of the texts that are chosen, and of the answers; the same files and seed give the "
        "same items as annotation by people.",
    )
    threads: int | None = reworded(Running, "threads", panel=LANGUAGE_MODEL)
    field: str | None = reworded(Reading, "field", common=False)
    dtype: str = reworded(
        Loading,
        "dtype",
        "Number format of the model. In float32 the seed fixes every answer; auto is faster on "
        "hardware with bfloat16, where it does not.",
    )
    batch_size: int | None = reworded(
        Loading,
        "batch_size",
        "Largest number of answers in one forward pass, or of requests under way.",
    )
    output: Any = option(
        None,
        "File to write the judgements to, as .csv or .jsonl. All answers are kept as they came in "
        "a folder beside it, and a run that was stopped goes on where it was.",
        panel=OUTPUT,
        flag=("--output", "-o"),
        metavar="FILE",
        required=True,
        common=True,
        doc="File to write the judgements to, .csv or .jsonl; None keeps them in memory. All "
        "answers are kept as they came in a folder beside it, and a run that was stopped goes on "
        "where it was.",
    )
    overwrite: bool = reworded(
        GenerateOptions, "overwrite", "Replace answers of another configuration in `output`."
    )


# The commands ------------------------------------------------------------------------------------


@options_class
class CompareOptions(Embedding, SearchEngine, Seeded, Inference, Measuring, Labels, Sizes, Files):
    """The options of ``compare``."""

    shared_prompts: str = option(
        "residual",
        "What is done where the reference and a system answer the same prompts, so that every "
        "system lies close to the reference: residual compares each answer with those to other "
        "prompts, less what its own prompt leads to expect of it; others does the first alone; "
        "ignore compares all answers as they are.",
        SHARED_PROMPTS,
        panel=MEASUREMENT,
        kept=True,
        doc='What is done where both sides answer the same prompts: ``"residual"`` compares each '
        "answer with those to other prompts, less what its own prompt leads to expect of it, by a "
        'ridge regression on the reference; ``"others"`` does the first alone, as does the '
        "former where the texts of the prompts are not known or the embedder does not read them; "
        '``"ignore"`` compares all answers as they are, so that precision and recall by meaning '
        "are close to 1 whoever answered.",
    )


def _over(text: str) -> str:
    from calipers.language_model.decoding import read_over

    read_over(text)
    return text


def _check_over(name: str, value: Any) -> None:
    from calipers.language_model.decoding import read_over

    read_over(value)


@options_class
class TuneOptions(CompareOptions, Generating):
    """The options of ``tune``."""

    over: Any = option(
        MISSING,
        "Parameter of the decoding to vary, and its values, such as top_p=0.7,0.8,0.9,0.95,1.0; "
        "also temperature, top_k and the others of --decoding. Given twice, for two parameters, "
        "all pairs are tried.",
        Rule("name a parameter and its values, as top_p=0.8,0.9", _over, _check_over, "NAME=LIST"),
        panel=LANGUAGE_MODEL,
        several=True,
        required=True,
        common=True,
        complete=("top_p=", "temperature=", "top_k="),
        doc='What to vary: ``"top_p=0.7,0.8,0.9"``, or a dict from a parameter to its values; two '
        "parameters make a grid.",
    )
    decoding: Any = reworded(
        Writing,
        "decoding",
        "What else of the decoding is in force, beside --over; as in calipers generate.",
        common=False,
    )
    n: int | None = reworded(
        Writing,
        "n",
        "Number of samples for each value. By default one for each prompt, or as many as the "
        "reference has.",
    )
    samples: str | Path | None = option(
        None,
        "Folder in which the samples of each value are kept, a file each. A run that was stopped "
        "goes on where it was.",
        _Folder("", lambda text: text, unchecked, "FOLDER"),
        panel=OUTPUT,
        common=True,
    )
    device: str = reworded(
        Model, "device", "Where the language model and the embedder run: auto, cpu, cuda, mps."
    )
    revision: str | None = reworded(Loading, "revision")
    endpoint: str | None = reworded(Loading, "endpoint")
    prompts: Any = reworded(Prompted, "prompts", common=False)
    field: str | None = reworded(Reading, "field", common=False)
    max_samples: int | None = reworded(Sampling, "max_samples", common=False)
    metrics: str | Iterable[str] | None = reworded(Measuring, "metrics", common=False)
    embedder: str | Embedder | EmbedderChoice | None = reworded(
        NamedEmbedder, "embedder", common=False
    )
    strip_prompt: bool = reworded(Sampling, "strip_prompt", flag=())
    group: str | None = reworded(Labels, "group", flag=())
    cluster: str | None = reworded(Labels, "cluster", flag=())
    skip_bad: bool = reworded(Files, "skip_bad", flag=())


@options_class
class ReferenceOptions(Embedding, Reading, Files):
    """The options of a reference that is read and embedded once."""

    name: str | None = option(
        None,
        "What tables call it; by default the name of its file.",
        flag=(),
    )
    group: str | None = reworded(
        Labels,
        "group",
        doc="Name of the field that holds the group of a sample, as in :func:`calipers.compare`.",
    )
    cluster: str | None = reworded(
        Labels,
        "cluster",
        doc="Name of the field that rows have in common which were drawn together, as in "
        ":func:`calipers.compare`.",
    )


@options_class
class DemoOptions(Seeded):
    """The options of ``demo``."""


@options_class
class SweepOptions(Embedding, SearchEngine, Seeded, Neighbours, Sampling, Files):
    """The options of ``sweep``."""

    over: Over = option(
        "k",
        "What to vary: k, the number of nearest neighbours, or n, the number of samples in each "
        "set.",
        one_of("k", "n"),
        required=True,
        doc='What to sweep: ``"k"``, or ``"n"`` for the number of samples.',
    )
    values: Iterable[int] | None = option(
        None,
        "The values of k or n to compute, such as 1-10,15,20. By default k goes from 1 to 30, and "
        "n from 100 to all samples, two values for each doubling.",
        Rule("list at least two different numbers", read_values, unchecked, "LIST"),
        common=True,
        doc="The values to visit. By default k from 1 to 30, or as far as the sets allow; sizes"
        " from 100 to all samples, two for each doubling.",
    )
    metrics: str | Iterable[str] = option(
        ("precision", "recall", "density", "coverage"),
        "Metrics to compute: over n any that calipers metrics lists, over k precision, recall, "
        "density, coverage and clipped_coverage. The name precision means precision in every view, "
        "form.precision in one of them. By default precision, recall, density and coverage.",
        KEYS,
        several=True,
        common=True,
        complete="metrics",
        show_default=False,
        doc="Keys ``[view.]metric[:option…]``, in a list or in one string: over n any of the "
        "catalogue, over k precision, recall, density, coverage and clipped_coverage. A plain name "
        "means every view.",
    )
    k: int = reworded(
        Neighbours,
        "k",
        "With --over n: number of nearest neighbours.",
        kept=False,
        doc="Neighbours that span a ball; where k is swept it has no effect.",
    )
    seeds: int = option(
        5,
        "With --over n: number of random orders of the samples; in each of them the larger "
        "subsamples contain the smaller ones.",
        whole(1),
        common=True,
        doc="Random orders of the samples, for a sweep over n. A system of several files takes "
        "them in turn, equally often.",
    )
    tolerance: float = option(
        0.01,
        "How far from its end the mean of a score within [0, 1] may lie on a plateau: this much or "
        "its standard error, whichever is larger; 5 % of the end for other scores.",
        Rule("be a number of at least 0", float, at_least_zero),
        flag=(),
        kept=True,
    )
    max_samples: int | None = reworded(
        Sampling,
        "max_samples",
        "Use at most N samples of every set, chosen at random. This includes the reference.",
    )


@options_class
class OverlapOptions(Embedding, SearchEngine, Seeded, Neighbours, Sizes, Files):
    """The options of ``overlap``."""

    max_samples: int | None = reworded(
        Sampling,
        "max_samples",
        "Use at most N samples of every set, chosen at random.",
        doc="Cut every set to this many samples.",
    )
    keep_sizes: bool = reworded(
        Sizes,
        "keep_sizes",
        "Keep sets of different sizes as they are. By default all are cut to the size of the "
        "smallest, because shares depend on sample size.",
    )
    k: int = reworded(
        Neighbours, "k", "Number of nearest neighbours that define the support of a set."
    )


@options_class
class PromptsOptions(Embedding, Seeded, Reading):
    """The options of ``prompts``: answers to the same prompts."""

    by_prompt: str | None = option(
        None,
        "Field of each row that names its prompt: a text, a number or an id. By default the field "
        "prompt.",
        label("with_clusters"),
        panel=INPUT,
        kept=True,
        common=True,
        doc="Name of the field that holds the prompt of a sample, or its id; by default "
        "``prompt``. Sample sets bring it along, as prompts or as clusters "
        "(``SampleSet.from_texts(texts, name=..., prompts=...)``, "
        ":meth:`~calipers.samples.SampleSet.with_clusters`).",
    )
    k: int | None = option(
        None,
        "Samples of a prompt for distinct k and the Vendi scores, which grow with their number. By "
        "default as many as every prompt of every system has that has more than one.",
        whole(2, optional=True),
        common=True,
        doc="Samples of a prompt for distinct k and the Vendi scores; by default the fewest that a "
        "prompt of a system has, if more than one.",
    )
    threshold: float = option(
        0.8,
        "Cosine of two embeddings from which on two samples of a prompt count as the same answer, "
        "for distinct k.",
        share("0.8"),
        kept=True,
        common=True,
    )
    strip_prompt: bool = reworded(
        Sampling,
        "strip_prompt",
        "Leave out the prompt at the start of every text, so that samples are not alike for "
        "repeating it. The prompt is the one in the field prompt.",
    )
    permutations: int = option(
        999,
        "Number of permutations of the tests. No p-value is below 1 / (1 + N).",
        whole(1),
        panel=CERTAINTY,
        kept=True,
        doc="How often labels are permuted within prompts; no p-value is below 1/(1 + this).",
    )
    level: float = option(
        0.95,
        "Confidence level of intervals and tests, between 0 and 1.",
        share("0.95"),
        panel=CERTAINTY,
        kept=True,
        doc="Confidence level of the intervals and tests, in (0, 1).",
    )


@options_class
class AgreeOptions(Running, Model, Seeded, Measuring, Sizes, Files):
    """The options of ``agree``."""

    max_samples: int | None = reworded(
        Sampling,
        "max_samples",
        "Use at most N samples of every set, chosen at random.",
        doc="Cut every set to this many samples.",
    )
    metrics: str | Iterable[str] | None = reworded(
        Measuring,
        "metrics",
        "Metrics to compute, such as precision,mauve_star, a family, or all; calipers metrics "
        "lists them. Each is computed in every view of every embedder. May be repeated. By default "
        "precision, recall, coverage and mauve_star.",
        complete="metrics",
        doc="Keys ``metric[:option…]`` without a view, families, or ``all``; None for precision, "
        "recall, coverage and MAUVE*.",
    )
    embedders: Any = option(
        MISSING,
        "The embedders, separated by commas, such as minilm,tfidf,./gpt2. Each may be anything "
        "that --embedder of calipers compare takes. Options of one embedder follow its name, as "
        "in ./gpt2:layer=6:pooling=mean; the options below apply to all. May be repeated.",
        Rule("be names with commas between them", _all_names, unchecked, "LIST"),
        panel=EMBEDDING,
        several=True,
        required=True,
        complete="embedders",
        doc="At least two columns in all: a list of lines ``NAME[:option=value…]`` such as "
        '``"minilm"`` or ``"./gpt2:layer=6"``, of choices or of embedders, or a dict from a'
        " name to any of these.",
    )


@options_class
class ProbeOptions(Embedding, Seeded, Reading):
    """The options of ``probe``."""

    max_samples: int | None = option(
        None,
        "Use at most N of the texts, chosen at random.",
        whole(4, optional=True),
        panel=INPUT,
        kept=True,
        common=True,
        doc="Cut the set to this many texts.",
    )
    changes: str | Iterable[str] | None = option(
        None,
        f"Changes to make: {', '.join(CHANGES)}. May be repeated. By default all of them.",
        Rule("name changes", _all_names, unchecked, "LIST", CHANGES),
        common=True,
        several=True,
        doc="Which changes to make; None for all.",
    )
    metrics: str | Iterable[str] | None = option(
        None,
        "Metrics to compute, of those with values between 0 and 1. May be repeated. By default "
        "mauve_star, precision, recall and classifier_auc.",
        KEYS,
        several=True,
        common=True,
        complete="metrics",
        doc="Keys without a view, of metrics that lie between 0 and 1; None for MAUVE*, precision, "
        "recall and the area under the ROC curve of a held-out classifier.",
    )
    k: int = reworded(
        Neighbours, "k", "Number of nearest neighbours that define the support of a set."
    )
    normalise: Norm | None = reworded(
        Neighbours,
        "normalise",
        "What is done to every vector first: l2 scales it to length one, so that only its "
        "direction counts; none leaves it as it is. By default l2.",
        doc='What is done to every vector first: ``"l2"``, which None stands for, scales it to '
        'length one, so that only its direction counts, ``"none"`` leaves it as it is.',
    )
    seeds: int = option(
        3,
        "Number of random splits into halves. A change is detected if it moves a score by more "
        "than these splits do.",
        whole(2),
        kept=True,
        doc="How many random halvings; at least 2, since their spread is the noise.",
    )


@options_class
class EmbedOptions(Embedding, Engine, Reading, Files):
    """The options of ``embed``."""

    engine: Literal["local", "ray"] = reworded(
        Engine,
        "engine",
        "Where samples are embedded: local is this machine; ray is a Ray cluster.",
        doc='Where samples are embedded: ``"local"`` on this machine, ``"ray"`` on a Ray cluster.',
    )
    work_dir: str | Path | None = reworded(
        Engine,
        "work_dir",
        "With --engine ray, folder for what is embedded, which all machines must see; it may lie "
        "in object storage (s3://bucket/work). By default the folder of cached embeddings.",
        doc='With ``engine="ray"``, folder for what is embedded, which all machines must see; it '
        'may lie in object storage (``"s3://bucket/work"``). None for that of the cache.',
    )

    fit_on: Any = option(
        None,
        "For tfidf: fit it to these samples, such as the reference of a later comparison. By "
        "default it is fitted to the samples themselves.",
        panel=INPUT,
        metavar="FILE",
        source=True,
        common=True,
        doc="For an embedder that must be fitted, the samples to fit it to (the reference of the "
        "comparison to come); by default `samples`.",
    )
    view: str | None = option(
        None,
        "Write only this view, such as meaning or form. By default the first view goes to .npy, "
        "and all views go to .npz and .safetensors.",
        panel=OUTPUT,
        common=True,
        doc="The view that is wanted: one that the embedder does not give is refused before the "
        "work.",
    )


@options_class
class TextOptions(Running, Seeded, Sizes):
    """The options of ``text``."""

    reference: Any = option(
        None,
        "Reference texts, such as texts that people wrote: their statistics are shown beside those "
        "of each set, with the difference. Any file that calipers compare reads; - is standard "
        "input.",
        panel=INPUT,
        flag=("--reference", "-r"),
        metavar="FILE",
        source=True,
        common=True,
        doc="Texts that people wrote, in any form of one set. The statistics of both then stand "
        "beside each other, with the gap |T(Q) - T(P)|.",
    )
    aligned: bool = option(
        False,
        "Compare text i with row i of the reference: adds bleu, chrf and rouge. If --metrics names "
        "them, ter and bert_score_f1 are computed too.",
        FLAG,
        panel=INPUT,
        common=True,
        doc="Whether text i belongs to reference i: ``bleu``, ``chrf``, ``rouge`` and their "
        "kind can then be asked for. All sets must have the size of the reference.",
    )
    train: Any = option(
        None,
        "Training set of the models: adds how much of each text is copied from it "
        "(novelty:train, longest_copied_span:train). It is never cut.",
        panel=INPUT,
        metavar="FILE",
        source=True,
        common=True,
        doc="The training set: what share of the texts is new to it (``novelty:train``, "
        "``longest_copied_span:train``). Never cut.",
    )
    max_samples: int | None = reworded(
        Sampling,
        "max_samples",
        "Use at most N texts of every set, chosen at random. The training set is not cut.",
        doc="Cut every set, but not the training set, to this many texts.",
    )
    keep_sizes: bool = reworded(
        Sizes,
        "keep_sizes",
        "Keep sets of different sizes as they are. By default all are cut to the size of the "
        "smallest, because most statistics depend on the number of texts.",
        doc="Leave the sets as large as they are; by default all are cut to the smallest, since"
        " most statistics move with the number of texts.",
    )
    metrics: str | Iterable[str] | None = option(
        None,
        "Metrics to compute, such as self_bleu:n=3,distinct, a family, or all; calipers metrics "
        "text lists them. May be repeated. By default all that are fast.",
        KEYS,
        several=True,
        common=True,
        complete="text_metrics",
        doc="Keys ``metric[:option…]``, in a list or in one string: ``distinct:n=3``, "
        "``self_bleu``, a family (``words``, ``diversity``, ``repetition``, ``copies``, "
        "``strings``, ``aligned``) or ``all``; the slow ones (``ter``, ``bert_score_f1``) by their "
        "own name only. None for those that are quick; ``calipers metrics text`` lists them.",
    )
    tokenizer: AnyTokenizer = option(
        "nltk",
        "How texts are split into tokens: by nltk (words and punctuation marks), whitespace, "
        "characters, one of sacrebleu's tokenizers (13a, intl, zh, ...), minilm, or hf:NAME for a "
        "Hugging Face tokenizer on this machine, by name or folder.",
        metavar="NAME",
        common=True,
        complete=("nltk", "whitespace", "characters", "13a", "intl", "zh", "minilm", "hf:"),
        doc="Name of a tokenizer, or one of your own.",
    )
    level: float | None = reworded(
        Inference,
        "level",
        "Confidence level of the intervals, between 0 and 1.",
        panel=MEASUREMENT,
        off=(
            "--no-intervals",
            "Compute no intervals, which saves about half of the time after reading.",
        ),
        doc="Confidence level of the intervals, in (0, 1); None leaves them out.",
    )
    threads: int | None = reworded(
        Running,
        "threads",
        panel=MEASUREMENT,
        doc="Number of threads (default: all cores); moves no value.",
    )


def _check_model(name: str, value: Any) -> None:
    from calipers.language_model.model import LanguageModel

    if value is None or isinstance(value, LanguageModel):
        return
    if not isinstance(value, str | os.PathLike) or not str(value).strip():
        raise InputError(
            f"{name} must be the name of a language model, such as './gpt2' or 'ngram', a file of "
            f"log-probabilities (.npz) or a language model; found {value!r}"
        )


def _check_distribution(name: str, value: Any) -> None:
    from calipers.language_model.decoding import Decoding

    if value is None:
        return
    decoding = Decoding.parse(value)
    if decoding.method not in ("sample", "greedy"):
        raise InputError(
            f"{name} must choose each token from a distribution, as greedy, temperature, top_p and "
            f"top_k do; found {str(decoding)!r}"
        )


MODEL = Rule("name a language model", lambda text: text if text.strip() else None, _check_model)


@options_class
class LikelihoodOptions(Running, Loading, Seeded, Sizes):
    """The options of ``likelihood``."""

    model: str | Path | LanguageModel = option(
        MISSING,
        "Language model that tells how likely the texts are, such as ./gpt2 or ngram. It is a "
        "causal model of transformers by its folder or name, ngram or ngram:order=3 for a model "
        "that is fitted here, https://host/v1#MODEL for a server, or a file of "
        "--log-probabilities. It should not be the model that wrote the texts.",
        MODEL,
        panel=LANGUAGE_MODEL,
        flag=("--model", "-m"),
        metavar="NAME",
        required=True,
        common=True,
        complete=("ngram", "ngram:order=3"),
        doc="The language model that tells how likely the texts are: a folder or a name such as "
        '``"./gpt2"``, ``"ngram:order=3"``, ``"https://host/v1#MODEL"``, a file of '
        "`log_probabilities`, or a :class:`~calipers.language_model.model.LanguageModel`. It "
        "should not be the one that wrote the texts.",
    )
    reference: Any = reworded(
        TextOptions,
        "reference",
        "Reference texts, such as texts that people wrote: adds their numbers, and the gap. Any "
        "file that calipers compare reads; - is standard input.",
        doc="Texts that people wrote, in any form of one set. The numbers of both then stand "
        "beside each other, with the gap |ppl(Q) - ppl(P)|.",
    )
    generator: str | Path | LanguageModel | None = option(
        None,
        "The model that wrote the texts, named as for --model: both sides are also scored by it, "
        "which adds mauve:model and other summaries of the frontier of the two models.",
        MODEL,
        panel=LANGUAGE_MODEL,
        metavar="NAME",
        doc="The model that wrote the texts, in any form of `model`. Both sides are scored by it "
        "too, as `decoding` cuts it: adds ``mauve:model`` and other summaries.",
    )
    decoding: str | Decoding | None = option(
        None,
        "How tokens were chosen, such as top_p=0.9: adds how this decoder fits the texts. Its "
        "truncated, renormalised distribution is scored by the sparsemax score, ε-perplexity and "
        "the Jensen-Shannon divergence; it is that of --generator, or without one of --model.",
        Rule("name a decoding algorithm", _decoding, _check_distribution, "DECODING"),
        panel=LANGUAGE_MODEL,
        common=True,
        complete=("ancestral", "greedy", "top_p=0.9", "top_k=40", "temperature=0.8"),
        doc='How the texts were chosen from the model, such as ``"top_p=0.9"``: adds how its '
        "truncated, renormalised distribution fits the texts. It is that of `generator`, or "
        "without one of `model`.",
    )
    metrics: str | Iterable[str] | None = option(
        None,
        "Metrics to compute, such as perplexity,bits_per_byte, a family, or all; calipers metrics "
        "likelihood lists them. May be repeated. By default all that are fast.",
        KEYS,
        several=True,
        common=True,
        complete="likelihood_metrics",
        doc="Keys ``metric[:option…]``, in a list or in one string: ``perplexity:texts``, a family "
        "(``predictability``, ``variety``, ``decoder``, ``models``) or ``all``. None for those "
        "that are quick; ``calipers metrics likelihood`` lists them.",
    )
    suite: str | None = option(
        None,
        "generative-perplexity: for samples without prompts, adds naive samplers as negative "
        "controls, and precision, recall and MAUVE* of all. The controls are made from the "
        "reference; the plane of perplexity and entropy is drawn by calipers plot entropy-plane.",
        one_of("generative-perplexity", optional=True),
        kept=True,
        doc='``"generative-perplexity"``, for samples without prompts: adds naive samplers, made '
        "from the reference, as negative controls, and precision, recall and MAUVE* of all sets "
        "(:func:`calipers.compare`).",
    )
    first_token: str | None = option(
        None,
        "What becomes of the first token of a text, which nothing stands before: bos puts the "
        "token that begins texts before it, skip leaves it unscored and counts none of its bytes "
        "and words. By default bos, or skip where the model has no such token.",
        one_of("skip", "bos", optional=True),
        panel=LANGUAGE_MODEL,
        kept=True,
        doc='What becomes of a first token that nothing stands before: ``"bos"`` puts the token '
        'before it that begins texts, ``"skip"`` leaves it unscored and counts none of its bytes '
        'and words. None for ``"bos"``, or ``"skip"`` where a model has no such token.',
    )
    stride: int | None = option(
        None,
        "In texts longer than the context of the model, how many tokens the window moves at a "
        "time. By default half of the context.",
        whole(1, optional=True),
        panel=LANGUAGE_MODEL,
        kept=True,
        doc="How far the window moves in texts that are longer than the context, in tokens; None "
        "for half of it.",
    )
    end_of_text: str | None = option(
        None,
        "What becomes of texts that hold an end-of-text mark such as <|endoftext|> or </s>, or "
        "one of the model: cut "
        "ends them before the first one, count does too and scores the token that ends texts once, "
        "keep scores all as it stands. By default cut with --suite, else keep, with a warning.",
        one_of("cut", "count", "keep", optional=True),
        panel=LANGUAGE_MODEL,
        doc="What becomes of texts that hold an end-of-text mark such as ``<|endoftext|>``: "
        '``"cut"`` ends them before the first one, ``"count"`` does too and scores the token that '
        'ends texts once, ``"keep"`` scores all as it stands. None for ``"cut"`` with `suite`, '
        'else ``"keep"``, with a warning.',
    )
    given_prompt: bool = option(
        False,
        "Score every text given its prompt, which is read from the field prompt of its row and is "
        "not scored itself. By default texts are scored alone.",
        FLAG,
        panel=INPUT,
        kept=True,
        doc="Score every text given the prompt in its row (``SampleSet.prompts``), which is not "
        "scored itself.",
    )
    fit_on: Any = option(
        None,
        "With --model ngram: fit it to these texts. By default to the reference, which then looks "
        "more likely than it should.",
        panel=LANGUAGE_MODEL,
        metavar="FILE",
        source=True,
        doc="The texts that an n-gram model is fitted to, in any form of one set; by default the "
        "reference itself, which then looks more likely than it should.",
    )
    log_probabilities: str | Path | None = option(
        None,
        "Keep the log-probabilities of all tokens by --model in this file (.npz), which --model "
        "and --generator then take in place of the model.",
        panel=OUTPUT,
        metavar="FILE.npz",
        doc="A file (``.npz``) in which the log-probabilities of all tokens are kept; `model` and "
        "`generator` then take it in place of the model.",
    )
    max_samples: int | None = reworded(
        TextOptions,
        "max_samples",
        "Use at most N texts of every set, chosen at random.",
        doc="Cut every set to this many texts.",
    )
    keep_sizes: bool = reworded(
        TextOptions,
        "keep_sizes",
        "Keep sets of different sizes as they are. By default all are cut to the size of the "
        "smallest.",
        doc="Leave the sets as large as they are; by default all are cut to the smallest.",
    )
    match_length: int | None = reworded(
        Labels,
        "match_length",
        "Truncate all texts to this many words first, because predictability and entropy depend "
        "on text length.",
    )
    tokenizer: AnyTokenizer = reworded(
        TextOptions,
        "tokenizer",
        "How texts are split into tokens for unigram_entropy: by whitespace, nltk, characters, "
        "minilm, or hf:NAME for the tokenizer of the model, by name or folder. The other metrics "
        "count the tokens of the model.",
        default="whitespace",  # needs no package
        common=False,
        doc="What makes the tokens of ``unigram_entropy``; the other metrics take the model's.",
    )
    level: float | None = reworded(TextOptions, "level")
    dtype: str = reworded(
        Loading,
        "dtype",
        "Number format of the model. float32 gives the same numbers on every machine but for the "
        "last digits; auto is faster on hardware with bfloat16 and changes them slightly.",
    )
    endpoint: str | None = reworded(
        Loading,
        "endpoint",
        "Server with OpenAI's interface that has the model that --model names and tells the "
        "log-probabilities of given texts. The key is read from CALIPERS_ENDPOINT_KEY, or for "
        "api.openai.com from OPENAI_API_KEY.",
    )
    max_requests: int | None = reworded(
        LanguageModelling, "max_requests", "Most requests that are sent to a server."
    )
    threads: int | None = reworded(TextOptions, "threads")

    def __post_init__(self) -> None:
        """Check every value, and that what is needed together is there."""
        super().__post_init__()
        if self.generator is not None and self.reference is None:
            raise InputError(
                "generator (--generator) compares two models on the texts of both sides; give "
                "the reference too (--reference FILE, reference=...)"
            )
        if self.suite is not None and self.reference is None:
            raise InputError(
                "suite (--suite) makes its controls from the reference; give one (--reference "
                "FILE, reference=...)"
            )
        path = self.log_probabilities
        if path is not None and not str(path).lower().endswith(".npz"):
            raise InputError(
                f"log_probabilities (--log-probabilities) must name a file that ends in .npz; "
                f"found {str(path)!r}"
            )
        self.of_models()

    @property
    def ends(self) -> str:
        """The convention for marks that end texts: ``"cut"``, ``"count"`` or ``"keep"``."""
        return self.end_of_text or ("keep" if self.suite is None else "cut")


def _people(text: str) -> Any:
    """Read how many annotators, or their names."""
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else _all_names(text)


@options_class
class AnnotateOptions(Seeded, Judged, Reading):
    """The options of ``annotate``."""

    generated: Any = option(
        None,
        "What the systems wrote: a mapping from name to texts, or whatever else "
        ":func:`calipers.compare` takes; of a system of several files the first is judged. None "
        "opens a study that is there.",
        flag=(),
    )
    task: str | None = reworded(Judged, "task", common=False)
    annotators: Any = option(
        1,
        "How many annotators, or their names with commas between them.",
        Rule("be a number, or names with commas between them", _people, unchecked, "N|NAMES"),
        common=True,
        doc="How many annotators, or a list of their names.",
    )
    per_pair: int = reworded(Judged, "per_pair", "For pairs: ratings of each pair of systems.")
    ratings_per_item: int = option(
        1,
        "How many annotators rate each item.",
        whole(1),
        common=True,
    )
    n: int = reworded(Judged, "n", common=False)
    per_annotator: int | None = option(
        None,
        "Most items of one annotator. By default there is no limit, and everybody can go on until "
        "nothing is left.",
        whole(1, optional=True),
    )
    checks: int = option(
        3,
        "For pairs: attention checks that each annotator is shown, a text against the same text "
        "with its words shuffled.",
        whole(0),
        common=True,
    )
    least_seconds: float = option(
        25.0,
        "Flag answers that came in fewer seconds. They are kept.",
        Rule("be a number of at least 0", _not_negative, at_least_zero, "SECONDS"),
        common=True,
    )
    seed: int = reworded(
        Seeded,
        "seed",
        "Seed of the items, their order and their sides.",
        doc="Of the items, their order and their sides. The same files and seed give the same "
        "items to ``calipers.judge``.",
    )


@options_class
class CheckOptions(Group):
    """The options of ``check``."""

    fail_if: Any = option(
        None,
        "Condition on which the check fails: [SYSTEM:]KEY OP LIMIT, where OP is <, <=, > or >= and "
        "LIMIT is a number, or the word baseline, times a factor, plus or minus a number. It holds "
        "for every system unless it names one. May be repeated.",
        panel=CERTAINTY,
        metavar="CONDITION",
        several=True,
        apart=True,
        common=True,
        doc="One condition or several on which the check fails, as ``[system:]key op limit``: "
        '``"recall < 0.8"``, ``"mauve_star < baseline - 0.02"``.',
    )
    conditions: Any = option(
        None,
        "File of conditions, beside those of --fail-if: TOML or JSON that holds the list fail_if, "
        "such as fail_if = ['recall < 0.8'].",
        panel=CERTAINTY,
        metavar="FILE",
        source=True,
        doc="A TOML or JSON file with more conditions: the list ``fail_if``, and nothing else.",
    )
    baseline: Any = option(
        None,
        "Saved run that limits with the word baseline are taken from. Its systems are found by "
        "name; a single one stands for all.",
        panel=INPUT,
        flag=("--against",),
        metavar="BASELINE.zip",
        source=True,
        common=True,
        doc="The comparison that limits with the word ``baseline`` are taken from, or its path; "
        "its systems are found by name, and a single one stands for all.",
    )
    level: float = option(
        0.95,
        "The chance of a false failure of the whole check, and of a false pass, is at most 1 "
        "minus this level, which lies between 0.5 and 1.",
        MORE_THAN_HALF,
        panel=CERTAINTY,
        kept=True,
        doc="One less the chance of a false failure of the whole check, and of a false pass; in "
        "(0.5, 1).",
    )
    inconclusive: Inconclusive = option(
        "report",
        "What a check that is inconclusive ends as: an exit code of its own, 3 (report), a pass, 0 "
        "(pass), or a failure, 1 (fail).",
        one_of("report", "pass", "fail"),
        panel=CERTAINTY,
        kept=True,
        common=True,
        doc='What the exit code of an inconclusive check says: ``"report"`` that it is that (3), '
        '``"pass"`` (0) or ``"fail"`` (1).',
    )


@options_class
class RankOptions(Seeded):
    """The options of ``rank``."""

    judgements: Any = option(
        None,
        "Judgements of people or models: what calipers annotate or calipers judge wrote, or a "
        "table with the columns a, b and winner. The winner is a system's name, tie, or one of "
        "five steps: definitely a, slightly a, tie, slightly b, definitely b, or 1 to 5. May be "
        "repeated.",
        panel=INPUT,
        metavar="FILE",
        source=True,
        several=True,
        common=True,
        doc="What ``calipers annotate`` or ``calipers judge`` wrote, or a table with the columns "
        "``a``, ``b`` and an answer: the winner's name, ``tie``, or five steps from ``definitely "
        "a`` (1) to ``definitely b`` (5). Or a list of such.",
    )
    truth: Any = option(
        None,
        "In place of --judgements, known quality scores: a table with the column system and "
        "columns of numbers, higher is better. Metrics are compared with each column separately; "
        "a column NAME_sd holds the standard errors of the column NAME.",
        panel=INPUT,
        metavar="FILE",
        source=True,
        common=True,
        doc="A table with the column ``system`` and one or more columns of numbers, higher better; "
        "each is a truth of its own. A column with ``_sd`` after the name of another holds the "
        "standard errors of that one. Or a dict from system to number. Not together with "
        "`judgements`.",
    )
    truth_columns: Sequence[str] | None = option(
        None,
        "Columns of --truth or --judgements to use. May be repeated. By default every column of "
        "numbers of --truth, and of --judgements every question, or winner or answer.",
        NAMES,
        panel=INPUT,
        flag=("--truth-column",),
        several=True,
        doc="Which columns hold the truths, or the answers; by default all columns of numbers, and "
        "every question of an export, else ``winner`` or ``answer``.",
    )
    reference: str | None = option(
        None,
        "Name of the system that is the reference, such as human. It is not ranked; a metric that "
        "has a value for it is better the closer a system is to that value.",
        panel=INPUT,
        flag=("--reference", "-r"),
        metavar="NAME",
        common=True,
        doc="The system that is the reference: it is not ranked, and a metric of which it has a "
        "value is better the closer to that, compared as -|T(Q) - T(P)| (section 6.3), unless "
        "`better` says otherwise.",
    )
    metrics: Sequence[str] | None = option(
        None,
        "Use only these metrics, or all. May be repeated. By default every metric of a table, and "
        "of a comparison those that its table shows: among many metrics, the best one is often "
        "best by chance.",
        NAMES,
        panel=INPUT,
        several=True,
        common=True,
        doc='Which metrics to rank by, ``["all"]`` for all that `scores` holds. By default all,'
        " and of a comparison those that its table shows: the best of many is best by "
        "chance.",
    )
    keep_unscored: bool = option(
        False,
        "Keep judged systems without scores in the fit. By default they are an error.",
        FLAG,
        panel=INPUT,
        doc="Whether judged systems without scores stay in the fit; otherwise they are an error.",
    )
    ties: JudgedTies = option(
        "davidson",
        "How ties are counted: as an outcome of their own by Davidson's model (davidson), as half "
        "a win for each (half), as a win for one at random (random), or not at all (drop).",
        one_of("davidson", "half", "random", "drop"),
        doc='What becomes of ties: an outcome of its own, by the model of ``"davidson"`` (JASA '
        '1970), which leaves the scores on their scale; ``"half"`` a win to each, which '
        'draws them together, or a win to either at ``"random"`` (as appendix E has it), '
        'which does so too; or ``"drop"``.',
    )
    raters: HowRaters | None = option(
        None,
        "What becomes of answers of one rater, who are alike: their standard errors come from "
        "clusters (clustered), every rater has a discrimination and a bias towards the text shown "
        "first (effects), or they count as those of many (ignore). By default clustered, where "
        "the raters are known: by rater, and by item where several saw the same ones or there is "
        "one rater.",
        one_of("clustered", "effects", "ignore", optional=True),
        panel=CERTAINTY,
        doc='How answers of one rater are dealt with: ``"clustered"`` standard errors, by rater, '
        'and by item where several raters saw the same ones or there is one rater; ``"effects"``, '
        'a discrimination and a bias towards the text shown first of each; or ``"ignore"``, as if '
        "everybody had answered once. By default clustered, where the raters are known.",
    )
    drop_flagged: bool = option(
        False,
        "Leave out judgements that are flagged, such as those that came too fast. By default they "
        "are kept, and counted.",
        FLAG,
        panel=INPUT,
        doc="Whether judgements that are flagged as doubtful are left out.",
    )
    kind: Kind = option(
        "spearman",
        "Kind of correlation between metrics, in the matrix and the heat map.",
        one_of("spearman", "pearson"),
        doc='Of the matrix: ``"spearman"`` or ``"pearson"``.',
    )
    level: float = option(
        0.95,
        "Confidence level of the intervals, between 0 and 1.",
        share("0.95"),
        metavar="SHARE",
        doc="Of the intervals, between 0 and 1.",
    )
    matrix: bool = option(
        False,
        "Also show how the metrics correlate with each other. Without --judgements and --truth "
        "this is always shown.",
        FLAG,
        panel=OUTPUT,
        doc="Whether printing shows the matrix beside truths; without a truth it always does.",
    )
