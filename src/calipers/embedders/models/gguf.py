"""The metadata in the head of a GGUF file, read without its weights.

A GGUF file is a model of llama.cpp in one file: keys with values (architecture, vocabulary, chat
template), the name, shape and type of each tensor, then the tensors. The head tells whether it is
such a file, whether it is whole, and which kind of model it holds. The form is that of ggml's
specification (``docs/gguf.md``, versions 2 and 3).
"""

from __future__ import annotations

import hashlib
import math
import mmap
import os
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calipers.errors import InputError, require
from calipers.files import at_home, check_plain

SUFFIX = ".gguf"
_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_PLAIN = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
"""Types of values by their numbers, as `struct` names them."""
_STRING, _ARRAY = 8, 9
_MOST = 1 << 32
"""More entries than any model has: a number above it is damage."""
CONTROL = 3
"""The type of a token that is a mark."""
_TURN_ENDS = (
    *("<|eot_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>", "<|endoftext|>", "<|eom_id|>"),
    *("<EOT>", "<turn|>", "<｜end▁of▁sentence｜>", "[EOS]"),
)
"""Marks that end what a model writes, as llama.cpp knows them, wherever they are marks."""


def is_gguf(name: str | os.PathLike[str]) -> bool:
    """Whether a name means a GGUF file, by its ending; a folder is none."""
    return os.fspath(name).lower().endswith(SUFFIX) and not os.path.isdir(at_home(name))


@dataclass(frozen=True)
class StoredTensor:
    """A tensor as listed in the head.

    Attributes
    ----------
    name
        Its name.
    shape
        The fastest dimension first, as ggml has it.
    kind
        The number of its type.
    offset
        Where it begins, from the beginning of the tensors.
    """

    name: str
    shape: tuple[int, ...]
    kind: int
    offset: int

    @property
    def numbers(self) -> int:
        """Number of its elements."""
        return math.prod(self.shape)


@dataclass(frozen=True, eq=False)
class GgufHead:
    """The head of a GGUF file.

    Attributes
    ----------
    path
        The file.
    values
        All keys with their values.
    tensors
        What tensors there are.
    data
        Where the first tensor begins.
    """

    path: Path
    values: Mapping[str, Any]
    tensors: tuple[StoredTensor, ...]
    data: int

    @property
    def architecture(self) -> str:
        """The architecture, by its name in llama.cpp."""
        return str(self.values["general.architecture"])

    @property
    def numbers(self) -> int:
        """Number of elements of all its tensors."""
        return sum(tensor.numbers for tensor in self.tensors)

    @property
    def quantisation(self) -> str:
        """The format of most of its weights, such as ``"Q4_K_M"``."""
        gguf = package(str(self.path))
        kind = self.values.get("general.file_type")
        try:
            return str(gguf.LlamaFileType(kind).name).removeprefix("MOSTLY_").removeprefix("ALL_")
        except ValueError:
            largest = max(self.tensors, key=lambda tensor: tensor.numbers)
            return str(gguf.GGMLQuantizationType(largest.kind).name)

    @property
    def ends(self) -> list[int]:
        """Tokens that end a text, or a turn in a chat."""
        keys = ("eos_token_id", "eot_token_id", "eom_token_id")
        ids = [self.values.get(f"tokenizer.ggml.{key}") for key in keys]
        kinds = self.values.get("tokenizer.ggml.token_type") or ()
        tokens = self.values.get("tokenizer.ggml.tokens") or ()
        marks = set(_TURN_ENDS)
        ids += [
            place
            for place, (token, kind) in enumerate(zip(tokens, kinds, strict=False))
            if kind == CONTROL and token in marks
        ]
        return sorted({number for number in ids if isinstance(number, int)})


def package(name: str) -> Any:
    """Import the package that reads GGUF files; name the pip command if it is missing.

    Raises
    ------
    MissingExtraError
        If it is not installed.
    """
    return require("gguf", extra="gguf", purpose=f"the model {name!r}")


def read_head(path: str | os.PathLike[str]) -> GgufHead:
    """Read the head of a GGUF file, and check that the file is complete and a language model.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    InputError
        If there is no such file, it is not a GGUF file or cut short, a part of several, or holds no
        language model with a tokenizer.
    MissingExtraError
        If the package ``gguf`` is not installed.
    """
    place = at_home(path)
    if not os.path.exists(place):
        raise InputError(
            f"{path}: there is no such file ({place.absolute()}); a name that ends in .gguf is a "
            "file on this machine, and is not looked up anywhere else"
        )
    check_plain(place)
    with place.open("rb") as file:
        if file.read(4) != _MAGIC:
            raise InputError(f"{path}: is not a GGUF file: it must begin with the bytes GGUF")
        file.seek(0)
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            head = _Reader(content, place).read()
            size = len(content)
    _check_kind(head)
    _check_whole(head, size)
    return head


class _Reader:
    """Reads the head of a file from its beginning to where the tensors begin."""

    def __init__(self, content: mmap.mmap, path: Path) -> None:
        self._content, self._path, self._at = content, path, len(_MAGIC)

    def read(self) -> GgufHead:
        try:
            version = self._numbers("I")[0]
            if version not in _VERSIONS:
                raise InputError(
                    f"{self._path}: must be a GGUF file of version 2 or 3; found version {version}"
                )
            tensors, keys = self._numbers("QQ")
            if max(tensors, keys) > _MOST:
                raise self._damaged(f"it says that it has {max(tensors, keys):,} entries")
            values = {}
            for _ in range(keys):
                key = self._text()
                values[key] = self._value(self._numbers("I")[0])
            listed = tuple(self._tensor() for _ in range(tensors))
        except struct.error as error:
            raise self._damaged("it ends within its head") from error
        except UnicodeDecodeError as error:
            raise self._damaged("a name in its head is not UTF-8") from error
        step = values.get("general.alignment", 32)
        if not isinstance(step, int) or step < 1:
            raise self._damaged(f"general.alignment must be at least 1; found {step!r}")
        return GgufHead(self._path, values, listed, -(-self._at // step) * step)

    def _damaged(self, why: str) -> InputError:
        return InputError(f"{self._path}: the GGUF file is cut short or damaged: {why}")

    def _numbers(self, form: str) -> tuple[Any, ...]:
        found = struct.unpack_from("<" + form, self._content, self._at)
        self._at += struct.calcsize("<" + form)
        return found

    def _text(self) -> str:
        (length,) = self._numbers("Q")
        if self._at + length > len(self._content):
            raise self._damaged("it ends within its head")
        self._at += length
        # Tokens of some vocabularies are parts of characters
        return self._content[self._at - length : self._at].decode("utf-8", "surrogateescape")

    def _value(self, kind: int) -> Any:
        if kind == _STRING:
            return self._text()
        if kind == _ARRAY:
            inner, count = self._numbers("IQ")
            if count > len(self._content):
                raise self._damaged(f"it says that a list has {count:,} entries")
            if inner in _PLAIN:
                return list(self._numbers(f"{count}{_PLAIN[inner]}"))
            return [self._value(inner) for _ in range(count)]
        if kind not in _PLAIN:
            raise self._damaged(f"a value in its head is of the unknown type {kind}")
        return self._numbers(_PLAIN[kind])[0]

    def _tensor(self) -> StoredTensor:
        name = self._text()
        (count,) = self._numbers("I")
        if count > 8:
            raise self._damaged(f"the tensor {name} has {count} dimensions")
        shape = self._numbers(f"{count}Q")
        kind, offset = self._numbers("IQ")
        return StoredTensor(name, shape, kind, offset)


def _check_kind(head: GgufHead) -> None:
    """Refuse what is no language model in one file."""
    path, values = head.path, head.values
    if not isinstance(values.get("general.architecture"), str):
        raise InputError(f"{path}: must name its general.architecture; found none")
    kind = values.get("general.type", "model")
    if kind == "mmproj" or head.architecture == "clip":
        raise InputError(
            f"{path}: holds the part of a model that reads images (mmproj), not a language model; "
            "give the GGUF file of the language model"
        )
    if kind != "model":
        raise InputError(f"{path}: must hold a whole model; found one of the type {kind!r}")
    parts = values.get("split.count", 1)
    if isinstance(parts, int) and parts > 1:
        raise InputError(
            f"{path}: is one of {parts} parts of a model; join them first with llama.cpp's "
            "llama-gguf-split --merge"
        )
    if not head.tensors:
        raise InputError(f"{path}: holds a vocabulary and no weights")
    if not values.get("tokenizer.ggml.tokens") or not values.get("tokenizer.ggml.model"):
        raise InputError(f"{path}: holds a {head.architecture} model, but no tokenizer")


def _check_whole(head: GgufHead, size: int) -> None:
    """See that the last tensor ends within the file."""
    sizes = package(str(head.path)).GGML_QUANT_SIZES
    end = head.data
    for tensor in head.tensors:
        block = sizes.get(tensor.kind)
        if block is None:
            raise InputError(
                f"{head.path}: the tensor {tensor.name} is stored in the type {tensor.kind}, which "
                "the installed package gguf does not know; a newer version may"
            )
        end = max(end, head.data + tensor.offset + -(-tensor.numbers // block[0]) * block[1])
    if end > size:
        raise InputError(
            f"{head.path}: the GGUF file is cut short: its tensors end at byte {end:,}, but it has "
            f"{size:,} bytes; fetch it again"
        )


def content_hash(path: Path) -> str:
    """Return the SHA-256 of the file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def shown_name(path: Path) -> str:
    """Return the name of the model: the file's name without its ending."""
    return re.sub(r"\.gguf$", "", path.resolve().name, flags=re.IGNORECASE)
