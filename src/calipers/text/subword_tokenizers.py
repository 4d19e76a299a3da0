"""Tokenizers of Hugging Face from files on this machine, without downloads.

A tokenizer is signed with the first digits of the SHA-256 of its ``tokenizer.json``, whatever it
is called. Its tokens are those without special ones (no ``[CLS]``), and texts are not cut, even
where the file asks for it. What a vocabulary does not know becomes its token for the unknown.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from calipers.assets import MINILM
from calipers.embedders.minilm import find_model
from calipers.errors import InputError, require
from calipers.files import at_home, check_plain
from calipers.text.word_numbers import Numbering, Numbers, Vocabulary, blocks

PREFIX = "hf:"
FILE = "tokenizer.json"
OLDER = (
    *("vocab.txt", "vocab.json"),
    *("spiece.model", "tokenizer.model", "sentencepiece.bpe.model"),
)
"""Files one of which holds the vocabulary where there is no ``tokenizer.json``."""
HUB_NAME = re.compile(r"[\w-][\w.-]*(/[\w.-]+)?")
BATCH = 1 << 20
"""Characters of the texts that are tokenised by one call."""


class HuggingFaceTokenizer:
    """A tokenizer from the contents of a ``tokenizer.json``.

    Parameters
    ----------
    content
        The file's bytes.
    name
        What signatures call it, before the hash.
    source
        Where it came from, for messages.

    Raises
    ------
    InputError
        If the content is not a tokenizer.
    """

    def __init__(self, content: bytes, *, name: str, source: str) -> None:
        from tokenizers import Tokenizer

        try:
            self._tokenizer: Any = Tokenizer.from_buffer(content)
        except Exception as error:  # the package raises nothing narrower
            raise InputError(
                f"{source}: not a file that describes a tokenizer ({error})"
            ) from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.name = f"{name}-{hashlib.sha256(content).hexdigest()[:12]}"

    def split(self, texts: Sequence[str]) -> Iterator[Sequence[str]]:
        """Split each text into the tokens of the vocabulary.

        Raises
        ------
        InputError
            If a text holds a lone surrogate, which these tokenizers cannot read.
        """
        for ids in self._encoded(texts):
            yield [self._tokenizer.id_to_token(number) for number in ids]

    def number(self, texts: Sequence[str], vocabulary: Vocabulary) -> Numbers:
        """Number the tokens of each text, looking up the word of each id once."""
        known: dict[int, int] = {}
        numbering = Numbering()
        for ids in self._encoded(texts):
            for number in set(ids).difference(known):
                known[number] = vocabulary[self._tokenizer.id_to_token(number)]
            numbering.add(map(known.__getitem__, ids))
        return numbering.finish()

    def _encoded(self, texts: Sequence[str]) -> Iterator[list[int]]:
        for start, stop in blocks(texts, BATCH):
            batch = list(texts[start:stop])
            _check_encodable(batch, start, self.name)
            for encoding in self._tokenizer.encode_batch_fast(batch, add_special_tokens=False):
                yield encoding.ids


def load_minilm() -> HuggingFaceTokenizer:
    """Load the bundled tokenizer of all-MiniLM-L6-v2, checked by its published hash."""
    content = MINILM.read(find_model(), FILE)
    return HuggingFaceTokenizer(content, name="minilm", source="all-MiniLM-L6-v2")


def load_path(path: Path) -> HuggingFaceTokenizer:
    """Load a tokenizer from its folder, or from its ``tokenizer.json``."""
    check_plain(path)
    name = f"{PREFIX}{path.resolve().name if path.is_dir() else path.resolve().parent.name}"
    file = path / FILE if path.is_dir() else path
    if not file.is_file():
        return HuggingFaceTokenizer(_converted(path), name=name, source=str(path))
    return HuggingFaceTokenizer(file.read_bytes(), name=name, source=str(file))


def load_named(name: str) -> HuggingFaceTokenizer:
    """Load a tokenizer by its name on the Hugging Face Hub, from the local cache only.

    Raises
    ------
    InputError
        If it is not there.
    """
    hub = require("huggingface_hub", extra="models", purpose=f"the tokenizer '{PREFIX}{name}'")
    for file in (FILE, *OLDER):
        path = _cached(hub, name, file)
        if path is not None:
            folder = load_path(path.parent)
            folder.name = f"{PREFIX}{name}-{folder.name.rpartition('-')[2]}"
            return folder
    fetch = f"; fetch it first with: hf download {name} {FILE}" if HUB_NAME.fullmatch(name) else ""
    raise InputError(
        f"no tokenizer {name!r}: there is no file or folder {at_home(name).absolute()}, "
        f"and it is not in the Hugging Face cache {hub.constants.HF_HUB_CACHE}; Calipers downloads "
        f"nothing{fetch}"
    )


def _cached(hub: Any, name: str, file: str) -> Path | None:
    try:
        path = hub.try_to_load_from_cache(name, file)
    except ValueError:  # no name that the Hub could have
        return None
    return Path(path) if isinstance(path, str) else None


def _converted(folder: Path) -> bytes:
    """Have transformers convert an older form of a tokenizer's files."""
    refusal = InputError(
        f"{folder}: holds no {FILE}, nor an older form of a tokenizer that transformers can convert"
    )
    if not any((folder / name).is_file() for name in OLDER):
        raise refusal
    transformers = require("transformers", extra="models", purpose=f"the tokenizer in {folder}")
    try:
        loaded = transformers.AutoTokenizer.from_pretrained(
            str(folder), local_files_only=True, trust_remote_code=False
        )
        return str(loaded.backend_tokenizer.to_str()).encode()
    except (OSError, ValueError, AttributeError, KeyError, ImportError) as error:
        raise refusal from error


def _check_encodable(texts: Sequence[str], start: int, name: str) -> None:
    for row, text in enumerate(texts, start=start + 1):
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InputError(
                f"row {row:,}: the tokenizer {name!r} reads valid Unicode only; character "
                f"{error.start + 1:,} is the lone surrogate {text[error.start]!r}"
            ) from error
