"""The options of a reference for many comparisons."""

from __future__ import annotations

from calipers.options.embedding import Embedding
from calipers.options.inputs import Files, Labels, Reading
from calipers.options.option import option, options_class, reworded


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
        "Name of the field that holds the group of a sample, as in :func:`calipers.compare`.",
    )
    cluster: str | None = reworded(
        Labels,
        "cluster",
        "Name of the field whose equal values mark rows that are not independent, as in "
        ":func:`calipers.compare`.",
    )
