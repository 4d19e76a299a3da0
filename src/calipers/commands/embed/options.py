"""The options of ``calipers embed``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from calipers.options.option import INPUT, OUTPUT, option, options_class, reworded

if TYPE_CHECKING:
    from pathlib import Path


from calipers.options.engines import Engine, EngineEmbedding
from calipers.options.inputs import Files, Reading


@options_class
class EmbedOptions(EngineEmbedding, Reading, Files):
    """The options of ``embed``."""

    engine: Literal["local", "ray"] = reworded(
        Engine,
        "engine",
        "Where samples are embedded: local is this machine; ray is a Ray cluster.",
    )
    work_dir: str | Path | None = reworded(
        Engine,
        "work_dir",
        "With --engine ray, folder for what is embedded, which all machines must see; it may lie "
        "in object storage (s3://bucket/work). By default the folder of cached embeddings.",
    )

    fit_on: Any = option(
        None,
        "For tfidf and characters: fit the embedder to these samples, such as the reference of a "
        "later comparison. By default it is fitted to the samples themselves.",
        panel=INPUT,
        metavar="FILE",
        source=True,
        common=True,
    )
    view: str | None = option(
        None,
        "Write only this view, such as meaning or form. By default the first view goes to .npy, "
        "and all views go to .npz and .safetensors. A view that the embedder does not give is "
        "refused before the work.",
        panel=OUTPUT,
        common=True,
    )
