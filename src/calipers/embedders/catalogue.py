"""Embedders by name; the module of each is imported when it is first requested.

Every module of an embedder has ``TAKES``, the options that it takes, and
``load(name, options)``, which makes it.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, fields
from importlib import import_module
from typing import Any

from calipers.embedders.embedder import Embedder
from calipers.embedders.models.gguf import is_gguf
from calipers.embedders.options import EmbedderOptions, read_line
from calipers.errors import InputError, check_keywords
from calipers.files import at_home, check_plain

NAMED = {
    "minilm": "calipers.embedders.minilm",
    "use": "calipers.embedders.use.multilingual",
    "tfidf": "calipers.embedders.words.tfidf",
    "characters": "calipers.embedders.words.characters",
    "efficientnet": "calipers.embedders.vision.efficientnet",
    "pixels": "calipers.embedders.vision.pixels",
    "inception": "calipers.embedders.vision.inception",
    "precomputed": "calipers.embedders.vectors",
}
"""Name of an embedder to its module."""

AUTO = "auto"
"""What no embedder is called: the texts of a run decide."""

MODEL, WORDS, ENDPOINT = (
    "calipers.embedders.models.models",
    "calipers.embedders.words.word_vectors",
    "calipers.embedders.service.endpoint",
)
_ADDRESS = re.compile(r"https?://", re.IGNORECASE)


def load_embedder(embedder: str, **options: Any) -> Embedder:
    """Load an embedder by its name and options.

    Parameters
    ----------
    embedder
        ``"minilm"`` for texts, which needs no download; ``"tfidf"`` and
        ``"characters"`` for texts without any model;
        the folder of a transformers or sentence-transformers model, or its name on the Hugging
        Face hub; a file of word vectors (GloVe or word2vec); the address of an embeddings service
        with the model behind a ``#``; ``"efficientnet"``, which needs no download, ``"pixels"``
        and ``"inception"`` for images;
        ``"precomputed"`` for vectors that are there already. Options may follow, as in
        ``"gpt2:layer=6:pooling=mean"``.
    **options
        The attributes of :class:`~calipers.embedders.options.EmbedderOptions`: ``device``,
        ``dtype``, ``batch_size``, ``pooling``, ``layer``, ``max_length``, ``prefix``, ``revision``,
        ``size``, ``endpoint``, ``offline``, ``trust_remote_code``, ``allow_pickle``.

    Raises
    ------
    InputError
        If there is no such model, an option has no effect on it or an invalid value, or
        the device is missing.
    MissingExtraError
        If packages that the embedder needs are not installed.
    CalipersError
        If the embedder's files are damaged.

    Examples
    --------
    >>> import calipers
    >>> embedder = calipers.load_embedder("tfidf")
    >>> embedder.fitted(["a cat sat", "a dog sat", "an owl flew", "a fox ran"]).views
    ('wording',)
    """
    check_keywords("load_embedder", options, (field.name for field in fields(EmbedderOptions)))
    return EmbedderChoice(embedder, EmbedderOptions(**options)).load()


@dataclass(frozen=True)
class EmbedderChoice:
    """An embedder that was chosen but not loaded.

    Attributes
    ----------
    line
        ``NAME[:option=value…]``.
    options
        Options that the line does not set.

    Raises
    ------
    InputError
        If an option is unknown, has an invalid value, or no effect on the embedder.
    """

    line: str
    options: EmbedderOptions = field(default_factory=EmbedderOptions)

    def __post_init__(self) -> None:
        """Refuse options that would be without effect, and texts sent out by a slip."""
        if self.name == AUTO:
            raise InputError(
                "'auto' is not an embedder: it is chosen by all texts of a comparison; name one "
                "here, such as 'minilm' (without options behind it, `embedder='auto'` is the "
                "default)"
            )
        if self.name in NAMED and self.settings.endpoint is not None:
            raise InputError(
                f"{self.name!r} is an embedder of Calipers itself, which needs no endpoint; name "
                "the model that the service has, or leave the endpoint out. A service's model of "
                f"that very name is written https://host/v1#{self.name}"
            )
        module = import_module(self.module)
        if self.module == MODEL:
            module.check_spelling(self.name, self.settings)
        self.settings.check_taken(self.shown, module.TAKES)

    @property
    def name(self) -> str:
        """The embedder's name, without options."""
        return read_line(self.line, self.options)[0]

    @property
    def shown(self) -> str:
        """The name for messages, without passwords in addresses."""
        return re.sub(r"//[^/]*@", "//", self.name)

    @property
    def settings(self) -> EmbedderOptions:
        """All options, those in the name taking precedence."""
        return read_line(self.line, self.options)[1]

    @property
    def module(self) -> str:
        """The module that loads it."""
        if self.settings.endpoint is not None or _ADDRESS.match(self.name):
            return ENDPOINT
        if self.name in NAMED:
            return NAMED[self.name]
        return WORDS if _is_file(self.name) and not is_gguf(self.name) else MODEL

    def load(self) -> Embedder:
        """Load the embedder; raises what :func:`load_embedder` raises."""
        embedder: Embedder = import_module(self.module).load(self.name, self.settings)
        return embedder


def _is_file(name: str) -> bool:
    path = at_home(name)
    check_plain(path)
    return os.path.isfile(path)
