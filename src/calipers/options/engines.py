"""Options on where embedding and the search of neighbours run: here, in shared files, or on Ray."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from calipers.errors import InputError
from calipers.options.option import ENGINE, Group, option, options_class
from calipers.options.rules import FOLDER, one_of

if TYPE_CHECKING:
    from pathlib import Path


from calipers.options.embedding import Embedding

ENGINES = one_of("local", "ray")
SEARCHES = one_of("exact", "approximate")


@options_class
class Engine(Group):
    """Where samples are embedded, and where the passes over all pairs run."""

    engine: Literal["local", "ray"] = option(
        "local",
        "Where samples are embedded, neighbours searched and k-means run: local is this machine, "
        "its GPU with --device cuda; ray is a Ray cluster. No count depends on it.",
        ENGINES,
        setting=True,
        panel=ENGINE,
    )
    address: str | None = option(
        None,
        "Address of the Ray cluster: auto for the one that this machine belongs to, or "
        "ray://HOST:PORT. By default workers are started on this machine, once sets are so large "
        "that they are cut into tiles.",
        panel=ENGINE,
        metavar="ADDRESS",
        complete=("auto",),
    )
    work_dir: str | Path | None = option(
        None,
        "Folder for the search for neighbours and for k-means, from which a stopped run continues; "
        "with --engine ray also for what is embedded, and all machines must see it: it "
        "may lie in object storage (s3://bucket/work). By default one in the folder for caches "
        "with ray, none with local.",
        FOLDER,
        panel=ENGINE,
    )

    def __post_init__(self) -> None:
        """Check every value, and that an address has an engine to use it."""
        super().__post_init__()
        if self.address is not None and self.engine != "ray":
            raise InputError(
                f"address {self.address!r} is that of a Ray cluster; it needs `engine='ray'`"
            )


@options_class
class SearchEngine(Engine):
    """Where the passes over all pairs run, or an approximate search instead."""

    neighbours: Literal["exact", "approximate"] = option(
        "exact",
        "Whether all nearest neighbours are found (exact), or most of them in a fraction of the "
        "time (approximate, for some 300,000 samples and more). How many were found, and how far "
        "precision and recall are off, is measured on a sample and reported.",
        SEARCHES,
        setting=True,
    )

    @property
    def in_files(self) -> bool:
        """Whether the search goes through files, from which a stopped run resumes."""
        return self.engine == "ray" or self.work_dir is not None

    def __post_init__(self) -> None:
        """Check every value, and that what was chosen goes together."""
        super().__post_init__()
        if self.neighbours == "approximate" and self.in_files:
            raise InputError(
                "`neighbours='approximate'` searches in the memory of this machine; it goes with "
                "neither `engine='ray'` nor `work_dir`"
            )


@options_class
class EngineEmbedding(Embedding, Engine):
    """An embedder and where it runs."""


@options_class
class EngineSearch(Embedding, SearchEngine):
    """An embedder, and where it and the search of neighbours run."""
