"""Options that choose the embedder and how it runs."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from calipers.options.option import EMBEDDING, Group, option, options_class
from calipers.options.rules import FLAG, FOLDER, one_of, whole

if TYPE_CHECKING:
    from pathlib import Path

    from calipers.embedders import Embedder, EmbedderChoice
    from calipers.embedders.options import EmbedderOptions

from calipers.options.running import Running


@options_class
class NamedEmbedder(Group):
    """The option that names the embedder."""

    embedder: str | Embedder | EmbedderChoice | None = option(
        None,
        "Model that turns samples into vectors: auto (the default), minilm, use, characters, "
        "tfidf, a model (gpt2-large, ./my-model), or for images efficientnet (the default), pixels "
        "or a vision model. With auto the languages of all texts decide: minilm for English, use "
        "for its sixteen languages, else characters, which does not read meaning. These are part "
        "of Calipers and download nothing; tfidf uses no model. Models are named as on the "
        "Hugging Face hub (transformers and sentence-transformers) or by their folder. Also "
        "possible: a GGUF file, a file of word vectors (glove.6B.300d.txt), "
        "https://host/v1#MODEL for an embeddings service, and precomputed, for files that hold "
        "vectors. Options may follow the name, as in gpt2:layer=6:pooling=mean. In Python also "
        "what :func:`calipers.load_embedder` returns. Embeddings that are given are used as they "
        "are. The environment variable CALIPERS_EMBEDDER may fix it for a machine.",
        panel=EMBEDDING,
        metavar="NAME",
        variable="CALIPERS_EMBEDDER",
        common=True,
        complete=(
            "auto",
            "minilm",
            "use",
            "characters",
            "tfidf",
            "efficientnet",
            "pixels",
            "inception",
            "precomputed",
        ),
    )


@options_class
class Model(Group):
    """Options that all embedders share."""

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
        whole(1),
        panel=EMBEDDING,
    )
    max_length: int | None = option(
        None,
        "Truncate texts to N tokens. By default as many as the model can read, at most 1024. How "
        "many texts were truncated is reported.",
        whole(1),
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
        "let it be chosen, the number of dimensions of a vector; for characters, of its axes.",
        whole(1),
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
        "too, with the same counts. The environment variable CALIPERS_DEVICE may fix it.",
        panel=EMBEDDING,
        metavar="NAME",
        variable="CALIPERS_DEVICE",
        complete=("auto", "cpu", "cuda", "mps"),
    )
    dtype: str = option(
        "float32",
        "Number format of the model. float32 gives the same scores on every machine but for the "
        "last digits; auto is faster on hardware with bfloat16 and changes scores slightly.",
        one_of("float32", "auto"),
        panel=EMBEDDING,
    )
    batch_size: int | None = option(
        None,
        "Largest number of samples in one forward pass or one request.",
        whole(1),
        panel=EMBEDDING,
    )
    processes: int | None = option(
        None,
        "Embed in N processes that share the cores, which is faster on a CPU with many cores. Each "
        "process holds the model in memory.",
        whole(1),
        panel=EMBEDDING,
    )
    cache_dir: str | Path | None = option(
        None,
        "Folder in which embeddings are cached. By default that of the environment variable "
        "CALIPERS_CACHE, else the user's cache folder.",
        FOLDER,
        panel=EMBEDDING,
    )
    cache: bool = option(
        True,
        "Whether the cache of embeddings is read and written.",
        FLAG,
        panel=EMBEDDING,
        off=("--no-cache", "Do not read or write the cache of embeddings."),
    )

    def __post_init__(self) -> None:
        """Check every value, also those that embedders know about."""
        super().__post_init__()
        self.of_embedders()

    def of_embedders(self) -> EmbedderOptions:
        """Return the options in the form that embedders take."""
        from calipers.embedders.options import EmbedderOptions

        return EmbedderOptions(
            **{field.name: getattr(self, field.name) for field in fields(EmbedderOptions)}
        )

    def choice_of(self, name: str) -> EmbedderChoice:
        """Return the choice of an embedder by name, with these options."""
        from calipers.embedders import EmbedderChoice

        return EmbedderChoice(name, self.of_embedders())


@options_class
class Embedding(Running, Model, NamedEmbedder):
    """The embedder, and how and where it runs."""

    def __post_init__(self) -> None:
        """Check every value, and that a name is one."""
        super().__post_init__()
        if isinstance(self.embedder, str):
            from calipers.embedders.catalogue import AUTO

            if self.embedder != AUTO:
                self.choice_of(self.embedder)
