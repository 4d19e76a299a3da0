"""Texts, or ids of tokens that someone else made, as what a transformers model reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.embed.embedder import SampleError
from calipers.embed.minilm import not_a_text
from calipers.errors import InputError

Encode = Callable[[list[str]], list[list[int]]]
"""Texts to the ids of their tokens, the model's own marks included, nothing cut."""
UNLIMITED = 1_000_000
"""Tokenizers that know no limit name a number beyond this."""
USUAL = 1_024
"""Most tokens of a text where nobody says otherwise, as mauve-text has it."""


@dataclass(frozen=True, eq=False)
class Tokens:
    """Some texts as tokens, each at least one.

    Attributes
    ----------
    ids
        For each text an int32 array.
    truncated
        Which texts were longer than the model reads, bool of shape (n,).
    """

    ids: list[NDArray[np.int32]]
    truncated: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Reader:
    """Makes tokens of texts, and checks those that are given.

    Attributes
    ----------
    name
        What to call the embedder in errors.
    encode
        Texts to ids of tokens, marks included.
    starts, ends
        Ids of the tokens that open and close a text; they are kept where it is cut.
    stand_in
        The token that stands for a text without any.
    vocabulary
        How many tokens the model knows.
    max_length
        Most tokens of a text.
    prefix
        Put before every text.
    lower
        Whether texts are turned to lower case.
    cut_left
        Whether a long text loses its beginning, as some tokenizers have it, and not its end.
    """

    name: str
    encode: Encode
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    stand_in: int
    vocabulary: int
    max_length: int
    prefix: str = ""
    lower: bool = False
    cut_left: bool = False

    def read(self, samples: Sequence[Any]) -> Tokens:
        """Make tokens of texts or lists of ids; a long text is cut between its marks.

        Raises
        ------
        InputError
            If a sample is neither a text nor ids that the model knows.
        """
        given = [not isinstance(sample, str) for sample in samples]
        ids = self._checked(samples) if all(given) else self._tokenised(samples)
        truncated = np.array([len(each) > self.max_length for each in ids], dtype=np.bool_)
        return Tokens([self._cut(each) for each in ids], truncated)

    def _tokenised(self, texts: Sequence[Any]) -> list[NDArray[np.int32]]:
        texts = list(texts)
        try:
            read = [self.prefix + text for text in texts]
            found = self.encode([text.lower() for text in read] if self.lower else read)
        except (TypeError, ValueError, AttributeError) as error:
            raise not_a_text(texts, error) from error
        ids = [np.array(each, dtype=np.int32) for each in found]
        highest = max((int(each.max()) for each in ids if len(each)), default=0)
        if highest >= self.vocabulary:
            raise InputError(
                f"{self.name}: the tokenizer and the model do not belong together: there is a "
                f"token {highest}, but the model knows those from 0 to {self.vocabulary - 1}"
            )
        return ids

    def _checked(self, samples: Sequence[Any]) -> list[NDArray[np.int32]]:
        if self.prefix and len(samples):
            raise InputError(
                f"{self.name}: the prefix {self.prefix!r} can be put before texts only, not before "
                "token ids; leave it out, or give its tokens with the others"
            )
        return [self._ids(row, sample) for row, sample in enumerate(samples)]

    def _ids(self, row: int, sample: Any) -> NDArray[np.int32]:
        ids = np.asarray(sample)
        if ids.ndim != 1 or (len(ids) and ids.dtype.kind not in "iu"):
            raise SampleError(
                row, f"must be a text or a list of token ids; found {type(sample).__name__}"
            )
        outside = np.flatnonzero((ids < 0) | (ids >= self.vocabulary))
        if len(outside):
            raise SampleError(
                row,
                f"token ids must be 0 to {self.vocabulary - 1}, which are those that {self.name} "
                f"knows; found {ids[outside[0]]} at place {outside[0] + 1}",
            )
        return ids.astype(np.int32)

    def _cut(self, ids: NDArray[np.int32]) -> NDArray[np.int32]:
        if not len(ids):
            return np.array([self.stand_in], dtype=np.int32)
        over = len(ids) - self.max_length
        if over <= 0:
            return ids
        # Ids may be given without marks
        opened = tuple(ids[: len(self.starts)].tolist()) == self.starts
        closed = tuple(ids[len(ids) - len(self.ends) :].tolist()) == self.ends
        first = len(self.starts) * opened
        if not self.cut_left:
            first = max(self.max_length - len(self.ends) * closed, 0)
        return np.delete(ids, slice(first, first + over))


def encoder(tokenizer: Any) -> Encode:
    """Texts to ids by a tokenizer of transformers; nothing is padded or cut."""

    def encode(texts: list[str]) -> list[list[int]]:
        found = tokenizer(
            texts, return_attention_mask=False, return_token_type_ids=False, verbose=False
        )
        ids: list[list[int]] = found["input_ids"]
        return ids

    return encode


def closing(encode: Encode) -> int:
    """How many tokens close a text: those at the end of an empty text and of any other."""
    empty, other = encode(["", "a"])
    tail = 0
    while tail < min(len(empty), len(other)) and empty[-1 - tail] == other[-1 - tail]:
        tail += 1
    return tail


def marks(encode: Encode) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Ids of the tokens that open every text, and of those that close it."""
    empty = encode([""])[0]
    middle = len(empty) - closing(encode)
    return tuple(empty[:middle]), tuple(empty[middle:])


def stand_in(tokenizer: Any, vocabulary: int) -> int:
    """The token for a text that has none: what opens or closes a text, or else fills it up."""
    for mark in ("bos_token_id", "eos_token_id", "cls_token_id", "sep_token_id", "pad_token_id"):
        token = getattr(tokenizer, mark, None)
        if token is not None and token < vocabulary:
            return int(token)
    return 0


def longest(
    asked: int | None,
    makers: int | None,
    *,
    usual: int | None,
    tokenizer: Any,
    positions: int | None,
    marks: int,
) -> int:
    """Tell how many tokens of a text are read.

    Parameters
    ----------
    asked
        What a person chose.
    makers
        What the model's makers chose, where they say so.
    usual
        The most where nobody chose; None for all that the model reads.
    tokenizer
        Whose own limit counts where its makers do not say more.
    positions
        How many the model has; None where they are relative.
    marks
        How many tokens open and close a text.

    Raises
    ------
    InputError
        If the model cannot read as many tokens as a person asked for, or no word fits.
    """
    if asked is None:
        limits = [positions, tokenizer.model_max_length if makers is None else makers, usual]
        return max(min(int(each) for each in limits if each is not None), 1)
    if asked <= marks or (positions is not None and asked > positions):
        least = marks + 1
        most = (
            f"{least} to {positions}, the most that the model reads"
            if positions
            else f"{least} or more"
        )
        raise InputError(f"max_length must be {most}; found {asked}")
    return asked
