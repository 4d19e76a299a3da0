"""Tokenisation for a causal model: special tokens, ends of prompts, chat templates, decoding.

The marks that a tokenizer adds before every text (``<s>`` of Llama, ``</s>`` of OPT) are read and
never scored; those that it adds at the end are left out. A prompt and its text are tokenised
together, since a text that begins with a space or within a word has other tokens on its own, and
every token that holds a character of the text is scored. Where a tokenizer does not report which
characters a token holds, the prompt is also tokenised alone, and what follows the tokens that both
have in common is scored.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.embedders.embedder import not_a_text
from calipers.embedders.reading import ReadingCounts, of_transformers
from calipers.embedders.states.pretrained import closing, encoder
from calipers.errors import InputError, first_line
from calipers.language_model.model import Ids, Passage, Request, without_system

_BROKEN = "\ufffd"
"""What stands for a part of a character where a token ends within it."""


class CausalTokens:
    """The tokenizer of a causal model.

    Parameters
    ----------
    tokenizer
        As transformers gives it.
    name
        What to call the model in errors.
    vocabulary
        How many tokens the model knows.
    ends
        Other tokens that its makers have end a text; those count that the tokenizer knows as marks.

    Attributes
    ----------
    opening
        Marks that the tokenizer puts before every text.
    begin
        The token that begins a text without a prompt: BOS, else EOS; None where there is neither.
    end
        The token that ends a text by its tokenizer (EOS); None where there is none.
    ends, end_marks
        Tokens that end a text, int64, and how those that are marks are written.
    ordinary
        Tokens that are not marks, int64.
    """

    def __init__(
        self, tokenizer: Any, *, name: str, vocabulary: int, ends: Sequence[int] = ()
    ) -> None:
        self._tokenizer, self._name, self._vocabulary = tokenizer, name, vocabulary
        self._known = of_transformers(tokenizer)
        encode = encoder(tokenizer)
        empty = encode([""])[0]
        self.opening = tuple(empty[: len(empty) - closing(encode)])
        marks = (tokenizer.bos_token_id, tokenizer.eos_token_id)
        self.begin: int | None = next((mark for mark in marks if mark is not None), None)
        end = tokenizer.eos_token_id
        self.end: int | None = end if end is not None and end < vocabulary else None
        special = set(tokenizer.all_special_ids)
        special |= {id for id, added in tokenizer.added_tokens_decoder.items() if added.special}
        known = {id for id in (tokenizer.eos_token_id,) if id is not None} | (special & set(ends))
        self.ends = np.array(sorted(id for id in known if id < vocabulary), dtype=np.int64)
        added = tokenizer.added_tokens_decoder
        written = (str(added[id].content) for id in self.ends.tolist() if id in added)
        self.end_marks = tuple(mark for mark in written if mark.strip())
        usual = range(min(vocabulary, len(tokenizer)))
        self.ordinary = np.array([id for id in usual if id not in special], dtype=np.int64)

    @property
    def scores_first(self) -> bool:
        """Whether a token precedes every text, or can be added there."""
        return bool(self.opening) or self.begin is not None

    @property
    def chats(self) -> bool:
        """Whether it has a chat template."""
        return bool(getattr(self._tokenizer, "chat_template", None))

    def read_passages(
        self, passages: Sequence[Passage], *, first: str
    ) -> tuple[list[Ids], list[int], NDArray[np.int64]]:
        """Tokenise texts with their contexts, and return where scoring begins.

        Parameters
        ----------
        passages
            The texts.
        first
            ``"skip"`` or ``"bos"``, for texts that nothing stands before.

        Returns
        -------
        tuple
            For each text its tokens, int32, the place of the first one that is scored, and how
            many characters of the text stand before that.

        Raises
        ------
        InputError
            If a token must stand before texts or end them and the model has none, or a text cannot
            be read.
        """
        if first not in ("skip", "bos"):
            raise InputError(f"first must be 'skip' or 'bos'; found {first!r}")
        bare = self._bare([passage.prompt + passage.text for passage in passages])
        sequences, firsts = [], []
        unscored = np.zeros(len(passages), np.int64)
        borders = self._borders(passages, bare)
        for row, (passage, (ids, starts_at)) in enumerate(zip(passages, borders, strict=True)):
            before = self.opening
            if first == "bos" and not before and not passage.prompt:
                before = (self._begin("so first must be 'skip'; found 'bos'"),)
            behind = (self._end(),) if passage.ended else ()
            sequences.append(np.array([*before, *ids, *behind], dtype=np.int32))
            firsts.append(max(len(before) + starts_at, 1))
            if not before and not starts_at and ids:
                unscored[row] = self._first_characters(passage)
        return sequences, firsts, unscored

    def _first_characters(self, passage: Passage) -> int:
        """How many characters of a text its first token holds, where that is not scored."""
        whole = passage.prompt + passage.text
        if self._tokenizer.is_fast:
            (places,) = self._encode([whole], return_offsets_mapping=True)["offset_mapping"]
            end = int(places[0][1])
            # A character of several tokens counts as that of the last one
            end = end if len(places) < 2 else min(end, int(places[1][0]))
        else:
            token = self._text(self._bare([whole])[0][:1]).rstrip(_BROKEN).strip()
            begin = len(whole) - len(whole.lstrip())
            end = begin + len(token) if token and whole.startswith(token, begin) else 0
        return max(end - len(passage.prompt), 0)

    def reading(self, texts: Sequence[str]) -> ReadingCounts:
        """Count the words of texts, and those unknown to the tokenizer."""
        return self._known.read(texts, self._bare(list(texts)))

    def read_prompt(self, request: Request) -> NDArray[np.int64]:
        """Tokenise the beginning of a text to be generated, at least one token.

        Raises
        ------
        InputError
            If there is nothing to begin with, no chat template, or the prompt cannot be read.
        """
        if request.messages is not None:
            opening: tuple[int, ...] = ()
            (ids,) = self._bare([self._conversation(request) + request.prompt])
        else:
            opening, (ids,) = self.opening, self._bare([request.prompt])
        if not opening and not ids:
            why = f"so sample {request.id} needs a prompt; found an empty one"
            opening = (self._begin(why),)
        return np.array([*opening, *ids], dtype=np.int64)

    def read_prompts(
        self, requests: Sequence[Request], *, max_tokens: int, context: int | None
    ) -> list[NDArray[np.int64]]:
        """Tokenise all prompts, and check that there is room for texts after them.

        Raises
        ------
        InputError
            If a prompt cannot be read, or is too long for `max_tokens` more in the context.
        """
        if max_tokens < 1:
            raise InputError(f"max_tokens must be a whole number of at least 1; found {max_tokens}")
        prompts = [self.read_prompt(request) for request in requests]
        for request, prompt in zip(requests, prompts, strict=True):
            if context is not None and len(prompt) + max_tokens > context:
                left = context - len(prompt)
                raise InputError(
                    f"sample {request.id}: its prompt of {len(prompt):,} tokens and {max_tokens:,} "
                    f"more (max_tokens) are longer than the context of {self._name!r}, "
                    f"{context:,} tokens; "
                    + (f"lower max_tokens to {left:,}" if left > 0 else "give a shorter prompt")
                )
        return prompts

    def check_room(
        self,
        sequences: Sequence[NDArray[np.int32]],
        firsts: Sequence[int],
        *,
        room: int | None,
        context: int | None,
    ) -> None:
        """Refuse a passage whose prompt leaves no room for its text.

        Parameters
        ----------
        sequences, firsts
            As :meth:`read_passages` gives them.
        room
            Most tokens of a window; None for no limit.
        context
            Of the model, as the message says it.

        Raises
        ------
        InputError
            Names the text.
        """
        for number, (ids, first) in enumerate(zip(sequences, firsts, strict=True), start=1):
            if room is not None and first >= room and len(ids) > first:
                raise InputError(
                    f"text {number}: its prompt has {first:,} tokens and leaves no room in the "
                    f"context of {self._name!r}, {context:,} tokens"
                )

    def write(self, prompt: NDArray[np.int64], tokens: Sequence[int]) -> str:
        """Decode the tokens after a prompt, so that prompt and text join correctly.

        It is what all tokens say less what those of the prompt say, so a space at its beginning is
        kept. Marks are left out.
        """
        ends = set(self.ends.tolist())
        new = list(tokens[:-1] if len(tokens) and tokens[-1] in ends else tokens)
        before, whole = self._text(prompt.tolist()), self._text([*prompt.tolist(), *new])
        return whole[len(before) :] if whole.startswith(before) else self._text(new)

    def _text(self, ids: list[int]) -> str:
        return str(
            self._tokenizer.decode(
                ids, skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
        )

    def _begin(self, why: str) -> int:
        if self.begin is None:
            raise InputError(
                f"the tokenizer of {self._name!r} has neither a token that begins texts (BOS) nor "
                f"one that ends them (EOS), {why}"
            )
        return self.begin

    def _end(self) -> int:
        if self.end is None:
            raise InputError(
                f"the tokenizer of {self._name!r} has no token that ends texts (EOS), which should "
                "be scored behind them"
            )
        return self.end

    def _bare(self, texts: list[str]) -> list[list[int]]:
        """Tokens of texts without marks."""
        return self._encode(texts)["input_ids"] if texts else []

    def _encode(self, texts: list[str], **more: Any) -> Any:
        try:
            encoded = self._tokenizer(
                texts,
                add_special_tokens=False,
                return_attention_mask=False,
                return_token_type_ids=False,
                verbose=False,
                **more,
            )
        except (TypeError, ValueError, AttributeError) as error:
            raise not_a_text(texts, error) from error
        highest = max((max(ids) for ids in encoded["input_ids"] if ids), default=0)
        if highest >= self._vocabulary:
            raise InputError(
                f"{self._name}: the tokenizer and the model do not belong together: there is a "
                f"token {highest}, but the model knows those from 0 to {self._vocabulary - 1}"
            )
        return encoded

    def _borders(
        self, passages: Sequence[Passage], bare: list[list[int]]
    ) -> list[tuple[list[int], int]]:
        """For each text its tokens, and the place of the first that holds a character of it."""
        borders = [(ids, 0) for ids in bare]
        prompted = [row for row, passage in enumerate(passages) if passage.prompt]
        if not prompted:
            return borders
        if self._tokenizer.is_fast:
            joined = [passages[row].prompt + passages[row].text for row in prompted]
            offsets = self._encode(joined, return_offsets_mapping=True)["offset_mapping"]
            for row, places in zip(prompted, offsets, strict=True):
                border, ids = len(passages[row].prompt), bare[row]
                behind = (place for place, (_, end) in enumerate(places) if end > border)
                borders[row] = (ids, next(behind, len(ids)))
            return borders
        alone = self._bare([passages[row].prompt for row in prompted])
        for row, prompt in zip(prompted, alone, strict=True):
            same = [a == b for a, b in zip(prompt, bare[row], strict=False)]
            borders[row] = (bare[row], same.index(False) if False in same else len(same))
        return borders

    def _conversation(self, request: Request) -> str:
        """The conversation as the chat template writes it, up to where the reply begins."""
        if not self.chats:
            raise InputError(
                f"the tokenizer of {self._name!r} has no chat template, which a conversation needs "
                f"(sample {request.id}); give plain prompts, or a model that was trained to chat"
            )
        messages = [dict(message) for message in request.messages or ()]
        try:
            return self._templated(messages)
        except Exception as error:  # a template raises whatever its makers chose
            merged = without_system(messages)
            if len(merged) < len(messages):  # many know no role of the system
                with suppress(Exception):
                    return self._templated(merged)
            raise InputError(
                f"the chat template of {self._name!r} cannot write the conversation of sample "
                f"{request.id}: {first_line(error)}"
            ) from error

    def _templated(self, messages: list[dict[str, str]]) -> str:
        return str(
            self._tokenizer.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=True
            )
        )
