"""``annotate``: a study in which people judge samples, on a page of this machine."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from calipers.annotation.study import AnnotationStudy, annotator_names
from calipers.commands.annotate.options import AnnotateOptions
from calipers.errors import InputError
from calipers.evaluate.judged_samples import read_judged_samples, rubric_for
from calipers.files import at_home
from calipers.judgements.items import Item, make_checks
from calipers.judgements.rubric import find_rubric
from calipers.options.keywords import keywords_of


@keywords_of(AnnotateOptions)
def annotate(study: str | Path, options: AnnotateOptions) -> AnnotationStudy:
    """Make a study in which people judge samples, or open an existing one.

    Pairs of texts of two systems, continuations of one prompt, are compared on three questions in
    five steps (Pillutla et al., JMLR 2023, section 6.4 and appendix E); single texts or batches
    are rated by the scales of Le Bronnec et al. (ACL 2024, appendix B.2); or a rubric of your own
    says what is asked. The study is one file, which keeps the items, a link for each annotator and
    every answer.

    Parameters
    ----------
    study
        Path of the study file. With samples it is made, and must not exist; without samples it is
        opened.

    Returns
    -------
    AnnotationStudy
        ``study.serve()`` shows it to people until Ctrl-C, ``study.links`` are their links,
        ``study.judgements()`` and ``study.export("judgements.csv")`` give their answers as
        :func:`calipers.rank` reads them, ``study.status()`` tells how far it is.

    Raises
    ------
    InputError
        If the file is not a study, samples are not texts or share no contexts, the rubric or an
        option is invalid, or the file exists already.

    Examples
    --------
    >>> import calipers
    >>> import tempfile
    >>> texts = [f"text {number}" for number in range(20)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     study = calipers.annotate(
    ...         f"{folder}/study.calipers", generated={"a": texts, "b": texts[::-1]}, n=10
    ...     )
    ...     print(study.status().items)
    20
    """
    path = at_home(study)
    if options.generated is None and options.reference is None:
        return _open(path, options)
    if path.exists():
        raise InputError(
            f"{path}: the file already exists, and samples can only be given to a new study; "
            "leave them out to go on with this one, or choose another name"
        )
    annotators = annotator_names(options.annotators)
    rubric = find_rubric(options.task, options.rubric)
    judged = read_judged_samples(options.generated, options.reference, options.field)
    items = judged.items(
        rubric, options, seed=options.seed, ratings_per_item=options.ratings_per_item
    )
    pairs = [item for item in items if isinstance(item, Item)]
    checks = make_checks(pairs, count=options.checks, seed=options.seed, system=judged.reference)
    notes = [*judged.notes, *items.notes]
    if rubric.task == "pairs" and len(checks) < options.checks:
        notes.append(
            f"{len(checks)} of {options.checks} attention checks could be made, since the other "
            "texts have too few different words to be shuffled"
        )
    most = options.per_annotator
    wanted = len(items) * options.ratings_per_item
    if most is not None and most * len(annotators) < wanted:
        notes.append(
            f"{len(annotators)} annotators with {most} items each give {most * len(annotators):,} "
            f"of the {wanted:,} ratings wanted; more can be added while the study is under way"
        )
    return AnnotationStudy.make(
        path,
        items,
        rubric=rubric_for(items, rubric),
        annotators=annotators,
        checks=checks,
        ratings_per_item=options.ratings_per_item,
        least_seconds=options.least_seconds,
        per_annotator=most,
        seed=options.seed,
        notes=notes,
    )


def _open(path: Path, options: AnnotateOptions) -> AnnotationStudy:
    """Open a study; what was fixed when it was made cannot be given again."""
    if not path.exists():
        raise InputError(
            f"{path}: there is no such study; to create it, give the samples to be judged"
        )
    changed = next(
        (
            option.name
            for option in fields(options)
            if getattr(options, option.name) != option.default
        ),
        None,
    )
    if changed is not None:
        raise InputError(
            f"`{changed}` is fixed when a study is made, together with its samples; leave "
            f"it out to go on with {path}"
        )
    return AnnotationStudy.open(path)
