"""The two sides of a comparison on the command line: arguments and reading."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from calipers.cli.streams import write_error
from calipers.errors import InputError
from calipers.options.option import INPUT, Group

if TYPE_CHECKING:
    from calipers.options.inputs import Labels

G = TypeVar("G", bound=Group)

Generated = Annotated[
    list[str],
    typer.Argument(
        metavar="GENERATED",
        help="One or more generated sets: FILE, or NAME=GLOB to name a system. Several files of "
        "one name are the seeds of one system, unless their names say that they are shards. "
        "FILE@FIELD names the field of the texts of one file, as --field does that of all.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]
Reference = Annotated[
    str,
    typer.Option(
        "--reference",
        "-r",
        metavar="FILE",
        help="Reference set: .txt (one sample per line), .jsonl, .json, .csv, .tsv, .parquet, a "
        "log of inspect (.eval, .json), a folder of .txt files, images or shards, or embeddings as "
        ".npy, .npz or .safetensors. Also compressed files, and folders that Hugging Face "
        "datasets saved; an address such as s3://bucket/human.parquet; - is standard input. "
        "NAME=FILE names it, FILE@FIELD the field of its texts.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]


def read_sides(
    reference: str,
    generated: Sequence[str],
    *,
    field: str | None,
    skip_bad: bool,
    labels: Labels | None = None,
    quiet: bool,
) -> tuple[Any, Any]:
    """Read both sides before the work, so that a mistyped last file costs nothing.

    Parameters
    ----------
    reference, generated
        The files as they were typed.
    field, skip_bad
        How rows and images are read.
    labels
        Which fields hold groups and clusters; None where the command has neither.
    quiet
        Whether standard error stays empty.
    """
    from calipers.samples import read_samples, read_systems

    reference = named_apart(reference, generated)
    group, cluster = (None, None) if labels is None else (labels.group, labels.cluster)
    first = read_samples(
        reference,
        field=field,
        group=group,
        cluster=cluster,
        cluster_needed=False,
        skip_bad=skip_bad,
    )
    systems = read_systems(
        generated,
        field=field,
        group=group,
        cluster=cluster,
        skip_bad=skip_bad,
        beside=(reference,),
    )
    name_fields([first, *systems], quiet=quiet)
    return first, systems


def named_apart(reference: str, generated: Sequence[str]) -> str:
    """Rename a reference by its folder where its file has the name of a system."""
    from calipers.samples.reading import can_be_read
    from calipers.samples.specs import named_beside

    return named_beside(reference, generated, can_be_read)


def with_reference(options: G, generated: Sequence[str]) -> tuple[G, tuple[str, ...]]:
    """Rename the reference of options where a system has its name, and return it too."""
    reference = getattr(options, "reference", None)
    if reference is None:
        return options, ()
    named = named_apart(str(reference), generated)
    changed = options if named == reference else options.changed(reference=named)
    return changed, (named,)


def name_fields(read: Iterable[Any], *, quiet: bool) -> None:
    """Report on standard error the field in which texts were found, unless it is obvious.

    Parameters
    ----------
    read
        Sample sets and systems.
    quiet
        Whether standard error stays empty.
    """
    from calipers.samples.wording import first_names, names

    if quiet:
        return
    places: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for samples in (one for source in read for one in getattr(source, "sets", [source])):
        others = getattr(samples, "other_fields", None)
        if others is not None and samples.field.casefold() != "text":
            places.setdefault((samples.field, others), []).append(samples.source)
    for (field, others), sources in places.items():
        more = f"; other fields: {names(others, limit=5)}" if others else ""
        write_error(
            f"{first_names(list(dict.fromkeys(sources)), 3)}: read from the field {field!r}{more} "
            "(--field names another)"
        )


def check_metrics_are_listed(specs: Iterable[str]) -> None:
    """Refuse a metric given in the place of a file."""
    from calipers.catalogue.embeddings import FAMILIES, METRICS

    for spec in specs:
        if spec.partition(":")[0] in (*METRICS, *FAMILIES) and not os.path.exists(spec):
            other = "recall" if spec.startswith("precision") else "precision"
            raise InputError(
                f"{spec}: there is no such file. Metrics are given as one list: --metrics "
                f"{spec},{other}"
            )
