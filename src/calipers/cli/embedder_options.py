"""The options about embedding, which every command that embeds has alike.

A command takes one parameter `embedding`; :func:`with_embedder` puts all these options in its
place and hands the command what they came to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from calipers.cli import checks
from calipers.cli.options import EMBEDDING, complete
from calipers.cli.shell import with_options

if TYPE_CHECKING:
    from calipers.embed import EmbedderChoice

NAMED = ("minilm", "tfidf", "pixels", "inception", "precomputed")


def _option(*names: str, metavar: str, text: str, values: tuple[str, ...] = ()) -> Any:
    return typer.Option(
        *names,
        metavar=metavar,
        help=text,
        rich_help_panel=EMBEDDING,
        autocompletion=complete(*values) if values else None,
        show_default=False,
    )


def _flag(name: str, text: str) -> Any:
    return typer.Option(name, help=text, rich_help_panel=EMBEDDING)


Embedder = Annotated[
    str | None,
    _option(
        "--embedder",
        metavar="NAME",
        text="What turns samples into vectors: minilm (texts, nothing to download), tfidf (texts, "
        "no model at all), the name or folder of a transformers or sentence-transformers model "
        "(gpt2-large, ./my-model), a file of word vectors (glove.6B.300d.txt), "
        "https://host/v1#MODEL for an embeddings service; for images the folder of a vision model, "
        "inception or pixels; precomputed takes vectors as they are. Options may follow the name: "
        "gpt2:layer=6:pooling=mean. [default: minilm for texts, pixels for images]",
        values=NAMED,
    ),
]
Pooling = Annotated[
    str | None,
    _option(
        "--pooling",
        metavar="last|mean|cls|max",
        text="How the states of a text's tokens become its vector of meaning; by default as the "
        "kind of model is usually read: last for GPT and its like, mean for BERT and T5.",
        values=("last", "mean", "cls", "max"),
    ),
]
Layer = Annotated[
    str | None,
    _option("--layer", metavar="N", text="Take meaning from this layer; by default the last one."),
]
MaxLength = Annotated[
    str | None,
    _option(
        "--max-length",
        metavar="N",
        text="Read at most N tokens of a text: by default as many as the model can read, and no "
        "more than 1024. How many texts were cut is told.",
    ),
]
Prefix = Annotated[
    str | None,
    _option(
        "--prefix",
        metavar="TEXT",
        text="Put before every text, for models that want an instruction: 'query: '.",
    ),
]
Revision = Annotated[
    str | None,
    _option("--revision", metavar="NAME", text="Branch, tag or commit of a model on the hub."),
]
Size = Annotated[
    str | None,
    _option(
        "--size",
        metavar="N",
        text="Side in pixels that images are brought to; with tfidf and services that let it be "
        "chosen, the numbers in a vector.",
    ),
]
Endpoint = Annotated[
    str | None,
    _option(
        "--endpoint",
        metavar="URL",
        text="Ask this embeddings service (OpenAI's /v1/embeddings) for the vectors of the model "
        "that --embedder names. The key is read from CALIPERS_ENDPOINT_KEY, or for api.openai.com "
        "from OPENAI_API_KEY.",
    ),
]
Offline = Annotated[
    bool, _flag("--offline", "Download nothing; a model that is not here is an error.")
]
TrustRemoteCode = Annotated[
    bool,
    _flag(
        "--trust-remote-code",
        "Run the Python code that comes with a model. Off: it may do anything on this machine.",
    ),
]
AllowPickle = Annotated[
    bool,
    _flag(
        "--allow-pickle",
        "Read weights from pickled files (pytorch_model.bin) where there are no safetensors.",
    ),
]
Device = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Where the embedder runs: auto, cpu, cuda, mps.",
        rich_help_panel=EMBEDDING,
        autocompletion=complete("auto", "cpu", "cuda", "mps"),
    ),
]
Dtype = Annotated[
    str,
    typer.Option(
        metavar="float32|auto",
        help="float32 gives the same scores on every machine, last digits apart; auto is faster "
        "where the hardware has bfloat16, and moves scores a little.",
        rich_help_panel=EMBEDDING,
        autocompletion=complete(*checks.DTYPES),
    ),
]
BatchSize = Annotated[
    str | None,
    _option(
        "--batch-size", metavar="N", text="Most samples in one forward pass, or in one request."
    ),
]
Processes = Annotated[
    str | None,
    _option(
        "--processes",
        metavar="N",
        text="Embed in N processes, each with its share of the cores: faster on a CPU of many "
        "cores. Each holds the model in memory.",
    ),
]
Threads = Annotated[
    str | None,
    _option("--threads", metavar="N", text="Processor threads to use; all by default."),
]
CacheDir = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Where finished embeddings are kept; by default the user's cache folder.",
        rich_help_panel=EMBEDDING,
    ),
]
NoCache = Annotated[bool, _flag("--no-cache", "Neither read nor keep embeddings.")]

_NONE: dict[str, Any] = {
    "embedder": Embedder,
    "pooling": Pooling,
    "layer": Layer,
    "max_length": MaxLength,
    "prefix": Prefix,
    "revision": Revision,
    "size": Size,
    "endpoint": Endpoint,
}
_FALSE: dict[str, Any] = {
    "offline": Offline,
    "trust_remote_code": TrustRemoteCode,
    "allow_pickle": AllowPickle,
}
_PARAMETERS: dict[str, tuple[Any, Any]] = {
    **{name: (kind, None) for name, kind in _NONE.items()},
    **{name: (kind, False) for name, kind in _FALSE.items()},
    "device": (Device, "auto"),
    "dtype": (Dtype, "float32"),
    "batch_size": (BatchSize, None),
    "processes": (Processes, None),
    "threads": (Threads, None),
    "cache_dir": (CacheDir, None),
    "no_cache": (NoCache, False),
}


@dataclass(frozen=True)
class Embedding:
    """What a person chose about embedding, as it was typed."""

    given: dict[str, Any]

    @property
    def cached(self) -> bool:
        """Whether embeddings are kept."""
        return not self.given["no_cache"]

    @property
    def threads(self) -> int | None:
        """Threads to use; None for all."""
        return checks.optional_whole("--threads", self.given["threads"], least=1)

    def options(self) -> dict[str, Any]:
        """Check everything; give the arguments that the functions of the road take.

        Raises
        ------
        InputError
            If a value cannot be, or an option has no meaning for the embedder.
        """
        from calipers.embed import EmbedderChoice

        line = self.given.get("embedder")
        settings = self._settings()
        chosen = None if line is None else EmbedderChoice(line, settings)
        return {"embedder": settings if chosen is None else chosen, **self.where()}

    def choices(self, lines: list[str]) -> list[EmbedderChoice]:
        """Check everything for several embedders, each named by a line."""
        from calipers.embed import EmbedderChoice

        settings = self._settings()
        return [EmbedderChoice(line, settings) for line in lines]

    def where(self) -> dict[str, Any]:
        """Give what does not depend on the embedder: the cache, threads, processes."""
        folder, no_cache = self.given["cache_dir"], self.given["no_cache"]
        checks.check_cache(folder, no_cache=no_cache)
        processes = checks.optional_whole("--processes", self.given["processes"], least=1)
        return {
            "cache_dir": folder,
            "cache": not no_cache,
            "threads": self.threads,
            "processes": processes,
        }

    def _settings(self) -> Any:
        from calipers.embed import Options

        whole: dict[str, Any] = {
            name: checks.optional_whole(f"--{name.replace('_', '-')}", self.given[name], least=1)
            for name in ("layer", "max_length", "size", "batch_size")
        }
        checks.one_of("--dtype", self.given["dtype"], checks.DTYPES)
        words = ("pooling", "prefix", "revision", "endpoint", "device", "dtype", *_FALSE)
        return Options(**whole, **{name: self.given[name] for name in words})


def with_embedder(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options about embedding in the place of its parameter `embedding`."""
    return with_options(command, "embedding", _PARAMETERS, Embedding)


def with_embedding_options(command: Callable[..., None]) -> Callable[..., None]:
    """Do the same without ``--embedder``, for a command that names embedders in its own way."""
    others = {name: each for name, each in _PARAMETERS.items() if name != "embedder"}
    return with_options(command, "embedding", others, Embedding)
