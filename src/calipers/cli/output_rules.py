"""Which outputs go together, told before anything is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from calipers.cli.checks import STDIO, one_of
from calipers.cli.extras import check_report
from calipers.errors import InputError

Layout = Literal["pca", "umap"]

MAPS: Sequence[Layout] = ("pca", "umap")
FIGURES = (".png", ".pdf", ".svg")

OTHERS = {"save": "a zip file", "output": "a file that is no text", "plot": "a figure"}
"""Outputs that are no text, and what they are: standard output is not for them."""


def check_standard_output(paths: Mapping[str, str]) -> None:
    """Refuse what standard output cannot take; `paths` are the outputs by name."""
    taken = [name for name, path in paths.items() if path == STDIO]
    for name in taken:
        if name in OTHERS:
            raise InputError(f"--{name} writes {OTHERS[name]}; it cannot go to standard output")
    if len(taken) > 1:
        raise InputError(
            f"{' and '.join(f'--{name}' for name in taken)} cannot all go to standard output (-): "
            "it takes one of them; give the others a file"
        )


def check_page(paths: Mapping[str, str], *, redact: bool, layout: Layout | None) -> None:
    """Refuse figures of unknown kinds, and options of the report that have nothing to act on."""
    figure = paths.get("plot", FIGURES[0])
    if not figure.lower().endswith(FIGURES):
        raise InputError(f"--plot must name a file ending in {', '.join(FIGURES)}; found {figure}")
    if redact:
        _check_redact(paths)
    if layout is not None:
        one_of("--map", layout, MAPS)
        if "html" not in paths:
            raise InputError("--map lays out the samples in --html; give --html FILE with it")
    if "html" in paths:
        check_report(layout)


def _check_redact(paths: Mapping[str, str]) -> None:
    if "save" in paths:
        raise InputError(
            "--redact leaves texts out and --save keeps all of them; leave out one. From what "
            "--save keeps, calipers report RUN.zip --redact makes a report without texts"
        )
    if not paths:
        raise InputError("--redact leaves texts out of files; give --html FILE with it")
