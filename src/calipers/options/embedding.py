"""Which embedder is used, and how it runs."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from calipers.options.option import (
    EMBEDDING,
    FLAG,
    Group,
    Rule,
    option,
    options_class,
    unchecked,
    whole,
)

if TYPE_CHECKING:
    from pathlib import Path

    from calipers.embedders import Embedder, EmbedderChoice
    from calipers.embedders.options import EmbedderOptions

from calipers.options.rules import Folder
from calipers.options.running import Running


@options_class
class NamedEmbedder(Group):
    """Which embedder turns samples into vectors."""

    embedder: str | Embedder | EmbedderChoice | None = option(
        None,
        "Model that turns samples into vectors: minilm, tfidf, a model such as gpt2-large or "
        "./my-model, or for images pixels, inception or a vision model. The default, minilm, is "
        "part of Calipers and downloads nothing; tfidf uses no model. Models are named as on the "
        "Hugging Face hub (transformers and sentence-transformers) or by their folder. Also "
        "possible: a file of word vectors (glove.6B.300d.txt), https://host/v1#MODEL for an "
        "embeddings service, and precomputed, for files that hold vectors. Options may follow the "
        "name, as in gpt2:layer=6:pooling=mean. [default: minilm for texts, pixels for images]",
        panel=EMBEDDING,
        metavar="NAME",
        common=True,
        complete=("minilm", "tfidf", "pixels", "inception", "precomputed"),
        doc='What turns samples into vectors: a name such as ``"minilm"``, '
        '``"./my-model:layer=6"``, as :func:`calipers.load_embedder` takes it, or what that'
        " returns. None for ``minilm`` with texts and ``pixels`` with images. Embeddings "
        "that are given are taken as they are.",
    )


@options_class
class Model(Group):
    """What is said of embedders, whichever they are."""

    pooling: str | None = option(
        None,
        "How the hidden states of a text's tokens are combined into its meaning vector. By default "
        "as is usual for the kind of model: last for GPT and similar models, mean for BERT and T5.",
        panel=EMBEDDING,
        metavar="last|mean|cls|max",
        complete=("last", "mean", "cls", "max"),
    )
    layer: int | None = option(
        None,
        "Layer of the model that gives the meaning vector. By default the last one.",
        whole(1, optional=True),
        panel=EMBEDDING,
    )
    max_length: int | None = option(
        None,
        "Truncate texts to N tokens. By default as many as the model can read, at most 1024. How "
        "many texts were truncated is reported.",
        whole(1, optional=True),
        panel=EMBEDDING,
    )
    prefix: str | None = option(
        None,
        "Text to put before every text, for models that need an instruction, such as 'query: '.",
        panel=EMBEDDING,
        metavar="TEXT",
    )
    revision: str | None = option(
        None,
        "Branch, tag or commit of a model on the hub.",
        panel=EMBEDDING,
        metavar="NAME",
    )
    size: int | None = option(
        None,
        "For images, the side in pixels to which they are resized. For tfidf, and services that "
        "let it be chosen, the number of dimensions of a vector.",
        whole(1, optional=True),
        panel=EMBEDDING,
    )
    endpoint: str | None = option(
        None,
        "Get the vectors of the model that --embedder names from this embeddings service, which "
        "must have OpenAI's interface (/v1/embeddings). The key is read from "
        "CALIPERS_ENDPOINT_KEY, or for api.openai.com from OPENAI_API_KEY.",
        panel=EMBEDDING,
        metavar="URL",
    )
    offline: bool = option(
        False,
        "Download nothing. A model that is not on this machine is an error.",
        FLAG,
        panel=EMBEDDING,
    )
    trust_remote_code: bool = option(
        False,
        "Run the Python code that comes with a model. By default it is not run, because it could "
        "do anything on this machine.",
        FLAG,
        panel=EMBEDDING,
    )
    allow_pickle: bool = option(
        False,
        "Read weights from pickled files (pytorch_model.bin) if there are no safetensors. Such "
        "files can run code of their own.",
        FLAG,
        panel=EMBEDDING,
    )
    device: str = option(
        "auto",
        "Where the embedder runs: auto, cpu, cuda, mps. With cuda, neighbours are searched there "
        "too, with the same counts.",
        panel=EMBEDDING,
        metavar="NAME",
        complete=("auto", "cpu", "cuda", "mps"),
    )
    dtype: str = option(
        "float32",
        "Number format of the model. float32 gives the same scores on every machine but for the "
        "last digits; auto is faster on hardware with bfloat16 and changes scores slightly.",
        Rule(
            "be float32 or auto",
            lambda text: text if text in ("float32", "auto") else None,
            unchecked,
            "float32|auto",
            ("float32", "auto"),
        ),
        panel=EMBEDDING,
        doc='Of the embedder, where it is named; ``"auto"`` takes bfloat16 where the hardware has '
        "it.",
    )
    batch_size: int | None = option(
        None,
        "Largest number of samples in one forward pass or one request.",
        whole(1, optional=True),
        panel=EMBEDDING,
    )
    processes: int | None = option(
        None,
        "Embed in N processes that share the cores, which is faster on a CPU with many cores. Each "
        "process holds the model in memory.",
        Rule("be a whole number of at least 1", whole(1).read, unchecked, "N"),
        panel=EMBEDDING,
        doc="How many processes embed, for a CPU of many cores; None for this one.",
    )
    cache_dir: str | Path | None = option(
        None,
        "Folder in which embeddings are cached. By default the user's cache folder.",
        Folder("", lambda text: text, unchecked, "FOLDER"),
        panel=EMBEDDING,
    )
    cache: bool = option(
        True,
        "Neither read nor keep embeddings.",
        FLAG,
        panel=EMBEDDING,
        off=("--no-cache", "Neither read nor write the cache of embeddings."),
        doc="Whether embeddings are kept, and read where they were.",
    )

    def __post_init__(self) -> None:
        """Check every value, also those that embedders know about."""
        super().__post_init__()
        self.of_embedders()

    def of_embedders(self) -> EmbedderOptions:
        """Give the options as embedders take them."""
        from calipers.embedders.options import EmbedderOptions

        return EmbedderOptions(
            **{each.name: getattr(self, each.name) for each in fields(EmbedderOptions)}
        )

    def choice_of(self, name: str) -> EmbedderChoice:
        """Give the choice of an embedder by its name, with these options."""
        from calipers.embedders import EmbedderChoice

        return EmbedderChoice(name, self.of_embedders())


@options_class
class Embedding(Running, Model, NamedEmbedder):
    """What turns samples into vectors, and how and where it runs."""

    def __post_init__(self) -> None:
        """Check every value, and that a name is one."""
        super().__post_init__()
        if isinstance(self.embedder, str):
            self.choice_of(self.embedder)
