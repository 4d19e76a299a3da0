"""The two sides of a comparison on the command line: their arguments, and how they are read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import typer

from calipers.cli.streams import write_error
from calipers.errors import InputError
from calipers.options.option import INPUT
from calipers.progress import Silent

Generated = Annotated[
    list[str],
    typer.Argument(
        metavar="GENERATED",
        help="One or more generated sets: FILE, or NAME=GLOB to name a system. Several files of "
        "one name are the seeds of one system.",
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
        ".npy, .npz or .safetensors. Also .gz files of texts, and folders that Hugging Face "
        "datasets saved; an address such as s3://bucket/human.parquet; - is standard input.",
        rich_help_panel=INPUT,
        show_default=False,
    ),
]


def read_sides(reference: str, generated: Sequence[str], options: Any) -> tuple[Any, Any]:
    """Read both sides first: a misspelt last file should not cost the work on the others."""
    from calipers.samples import read_samples, read_systems

    field, skip_bad = options.field, options.skip_bad
    group, cluster = getattr(options, "group", None), getattr(options, "cluster", None)
    first = read_samples(
        reference,
        field=field,
        group=group,
        cluster=cluster,
        cluster_needed=False,
        skip_bad=skip_bad,
    )
    systems = read_systems(generated, field=field, group=group, cluster=cluster, skip_bad=skip_bad)
    name_fields([first, *systems], options)
    return first, systems


def name_fields(read: Iterable[Any], options: Any) -> None:
    """Say on standard error in which field texts were found, unless its name is plainly that.

    Parameters
    ----------
    read
        Sample sets and systems.
    options
        Those of the command, which tell whether it is to be quiet.
    """
    from calipers.samples.wording import first_names, names

    if isinstance(options.progress, Silent):
        return
    found: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for samples in (one for each in read for one in getattr(each, "sets", [each])):
        others = getattr(samples, "other_fields", None)
        if others is not None and samples.field.casefold() != "text":
            found.setdefault((samples.field, others), []).append(samples.source)
    for (field, others), sources in found.items():
        more = f"; other fields: {names(others, limit=5)}" if others else ""
        write_error(
            f"{first_names(list(dict.fromkeys(sources)), 3)}: read from the field {field!r}{more} "
            "(--field names another)"
        )


def check_metrics_are_listed(specs: Iterable[str]) -> None:
    """Refuse a metric in the place of a file."""
    from calipers.catalogue.embeddings import FAMILIES, METRICS

    for spec in specs:
        if spec.partition(":")[0] in (*METRICS, *FAMILIES) and not os.path.exists(spec):
            other = "recall" if spec.startswith("precision") else "precision"
            raise InputError(
                f"{spec}: there is no such file. Metrics are given as one list: --metrics "
                f"{spec},{other}"
            )
