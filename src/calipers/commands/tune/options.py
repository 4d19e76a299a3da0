"""The options of ``calipers tune``."""

from __future__ import annotations

from dataclasses import MISSING
from typing import TYPE_CHECKING, Any

from calipers.options.option import LANGUAGE_MODEL, OUTPUT, option, options_class, reworded
from calipers.options.rules import FOLDER, Rule

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from calipers.embedders import Embedder, EmbedderChoice

from calipers.options.comparison import CompareOptions
from calipers.options.embedding import Model, NamedEmbedder
from calipers.options.inputs import Files, Labels, Reading, Sampling
from calipers.options.language_models import Generating, Loading, Prompted, Writing
from calipers.options.measuring import Measuring


def _is_grid(value: Any) -> bool:
    from calipers.language_model.decoding import read_over

    read_over(value)
    return True


@options_class
class TuneOptions(CompareOptions, Generating):
    """The options of ``tune``."""

    over: Any = option(
        MISSING,
        "Parameter of the decoding to vary, and its values, such as top_p=0.7,0.8,0.9,0.95,1.0; "
        "also temperature, top_k and the others of --decoding. Given twice, for two parameters, "
        "all pairs are tried; in Python also a dict from a parameter to its values.",
        Rule("name a parameter and its values, as top_p=0.8,0.9", _is_grid, metavar="NAME=LIST"),
        panel=LANGUAGE_MODEL,
        several=True,
        required=True,
        common=True,
        complete=("top_p=", "temperature=", "top_k="),
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
        "Folder in which the samples of each value are kept, a file each. A stopped run continues "
        "where it was.",
        FOLDER,
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
