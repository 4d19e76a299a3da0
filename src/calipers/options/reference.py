"""The options of a reference that is kept for many comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calipers.options.option import (
    option,
    options_class,
    reworded,
)

if TYPE_CHECKING:
    pass

from calipers.options.embedding import Embedding
from calipers.options.inputs import Files, Labels, Reading


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
