"""Texts written by a causal model, a batch at a time: how tokens are chosen, and the loop.

Sampling draws by one uniform number for each sample and step. Adversarial perplexity sampling
(Pillutla et al., JMLR 2023, section 6.2) writes gibberish that has a perplexity asked for: the
first tokens uniformly at random, then always the one that brings the perplexity of the text so far
closest to it. Contrastive search (Su et al., NeurIPS 2022) takes, of the k most likely tokens, the one of
the highest (1 − α) p(v) − α maxⱼ cos(h_v, h_j), where h are last hidden states. Beam search is that
of transformers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
import transformers
from numpy.typing import NDArray
from torch import Tensor

from calipers.errors import CalipersError, InputError
from calipers.language_model.decoding import Decoding
from calipers.language_model.processors import Processors, draw
from calipers.language_model.sampling import uniforms
from calipers.language_model.stepwise import StepwiseModel

RANDOM_SHARE = 0.15
"""Part of a text that adversarial perplexity sampling writes at random, as in its paper."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Texts to be written side by side.

    Attributes
    ----------
    samples
        The numbers of the samples, b of them.
    prompts
        Their prompts, all of one length, int64 of shape (b, t).
    max_tokens
        Most tokens of a continuation.
    ends
        Tokens that end a text.
    ordinary
        Tokens that are no marks.
    seed
        Of the run.
    """

    samples: Sequence[int]
    prompts: Tensor
    max_tokens: int
    ends: Tensor
    ordinary: Tensor
    seed: int


class _Choose(Protocol):
    """Chooses the next token of each text."""

    def __call__(self, before: Tensor, logits: Tensor, step: int, rows: Tensor) -> Tensor:
        """Choose.

        Parameters
        ----------
        before
            All tokens before, int64 of shape (r, t).
        logits
            Float32 of shape (r, v).
        step
            Counted from 0.
        rows
            Which texts of the batch are still being written, shape (r,).
        """
        ...


def write_batch(model: StepwiseModel, batch: Batch, decoding: Decoding) -> list[NDArray[np.int64]]:
    """Write the continuations of a batch; the token that ends a text is its last.

    Raises
    ------
    InputError
        If the decoding leaves no token to choose.
    CalipersError
        If the model's numbers are not finite.
    """
    device = str(batch.prompts.device)
    match decoding.method:
        case "contrastive":
            return _contrastive(model, batch, decoding)
        case "adversarial":
            return _write(model, batch, _Adversarial(batch, decoding))
        case "greedy":
            return _write(model, batch, _Greedy(batch, decoding, device))
        case _:
            return _write(model, batch, _Sampling(batch, decoding, device))


def _write(model: StepwiseModel, batch: Batch, choose: _Choose) -> list[NDArray[np.int64]]:
    text = batch.prompts
    written = _Written(batch)
    logits = model.start(text)
    for step in range(batch.max_tokens):
        tokens = choose(text, logits, step, written.rows)
        going = written.add(tokens)
        if written.done:
            break
        if going is not None:
            model.select(going)
            text, tokens = text[going], tokens[going]
        text = torch.cat([text, tokens[:, None]], dim=1)
        logits = model.step(tokens)
    return written.texts


class _Written:
    """The continuations so far; texts that have ended are left behind."""

    def __init__(self, batch: Batch) -> None:
        shape = (len(batch.samples), batch.max_tokens)
        self._tokens = torch.zeros(shape, dtype=torch.int64, device=batch.prompts.device)
        self._lengths = torch.zeros(shape[0], dtype=torch.int64, device=batch.prompts.device)
        self.rows = torch.arange(shape[0], device=batch.prompts.device)
        self._ends, self.step, self._most = batch.ends, 0, batch.max_tokens

    def add(self, tokens: Tensor) -> Tensor | None:
        """Add a token to each; give the places of those that go on, None for all."""
        self._tokens[self.rows, self.step] = tokens
        self._lengths[self.rows] += 1
        self.step += 1
        ended = torch.isin(tokens, self._ends)
        if not bool(ended.any()):
            return None
        going = (~ended).nonzero()[:, 0]
        self.rows = self.rows[going]
        return going

    @property
    def done(self) -> bool:
        """Whether nothing is left to write."""
        return self.step == self._most or not len(self.rows)

    @property
    def texts(self) -> list[NDArray[np.int64]]:
        tokens, lengths = self._tokens.cpu().numpy(), self._lengths.tolist()
        return [row[:length] for row, length in zip(tokens, lengths, strict=True)]


class _Sampling:
    def __init__(self, batch: Batch, decoding: Decoding, device: str) -> None:
        self._batch, self._decoding = batch, decoding
        self._processors = Processors(decoding, device)
        self._uniforms = _uniforms(batch)

    def __call__(self, before: Tensor, logits: Tensor, step: int, rows: Tensor) -> Tensor:
        logits = self._processors(before, logits)
        _check(logits, self._batch, self._decoding, step, rows)
        return draw(logits, self._uniforms[rows, step])


class _Greedy:
    def __init__(self, batch: Batch, decoding: Decoding, device: str) -> None:
        self._batch, self._decoding = batch, decoding
        self._processors = Processors(decoding, device)

    def __call__(self, before: Tensor, logits: Tensor, step: int, rows: Tensor) -> Tensor:
        logits = self._processors(before, logits)
        _check(logits, self._batch, self._decoding, step, rows)
        return logits.argmax(1)


class _Adversarial:
    def __init__(self, batch: Batch, decoding: Decoding) -> None:
        share = decoding.get("random_share", RANDOM_SHARE)
        self._random = round(share * batch.max_tokens)
        self._target = float(np.log(decoding.get("adversarial")))
        self._uniforms = _uniforms(batch)
        self._batch, self._decoding = batch, decoding
        self._surprise = torch.zeros_like(self._uniforms[:, 0])

    def __call__(self, before: Tensor, logits: Tensor, step: int, rows: Tensor) -> Tensor:
        _check(logits, self._batch, self._decoding, step, rows)
        surprise = -logits.double().log_softmax(1)
        if step < self._random:
            places = (self._uniforms[rows, step] * len(self._batch.ordinary)).long()
            tokens = self._batch.ordinary[places]
        else:
            mean = (self._surprise[rows, None] + surprise) / (step + 1)
            apart = torch.expm1(mean - self._target).abs()  # of the perplexity, in parts of it
            usable = torch.cat([self._batch.ordinary, self._batch.ends])
            tokens = usable[apart[:, usable].argmin(1)]
        self._surprise[rows] += surprise.gather(1, tokens[:, None])[:, 0]
        return tokens


def _uniforms(batch: Batch) -> Tensor:
    rows = [uniforms(batch.seed, sample, batch.max_tokens) for sample in batch.samples]
    return torch.from_numpy(np.array(rows)).to(batch.prompts.device)


def _check(logits: Tensor, batch: Batch, decoding: Decoding, step: int, rows: Tensor) -> None:
    """Refuse logits of which nothing can be chosen."""
    highest = logits.amax(1)
    if bool(highest.isfinite().all()):
        return
    if bool((highest == -torch.inf).any()):
        row = int(rows[(highest == -torch.inf).nonzero()[0, 0]])
        raise InputError(
            f"sample {batch.samples[row]}: the decoding {str(decoding)!r} leaves no token to "
            f"choose after {step} tokens; raise no_repeat_ngram or lower max_tokens"
        )
    raise not_finite(logits.dtype)


def not_finite(dtype: torch.dtype) -> CalipersError:
    """Say that a model's numbers cannot be used."""
    return CalipersError(
        "the model gives numbers that are not finite: its weights are damaged, or grow too large "
        f"in {str(dtype).removeprefix('torch.')}"
    )


def _contrastive(model: StepwiseModel, batch: Batch, decoding: Decoding) -> list[NDArray[np.int64]]:
    alpha, k = float(decoding.get("contrastive")), int(decoding.get("top_k"))
    written = _Written(batch)
    logits = model.start(batch.prompts, states=True)
    k = min(k, logits.shape[1])
    seen = _unit(model.states)
    while True:
        _check(logits, batch, decoding, written.step, written.rows)
        likely, candidates = logits.softmax(1).topk(k)
        rows = torch.arange(len(seen), device=seen.device).repeat_interleave(k)
        model.select(rows)
        logits = model.step(candidates.flatten())
        states = _unit(model.states)
        alike = (seen[rows] @ states.transpose(1, 2)).amax(1).reshape(-1, k)
        chosen = ((1 - alpha) * likely - alpha * alike).argmax(1)
        tokens = candidates.gather(1, chosen[:, None])[:, 0]
        places = torch.arange(len(seen), device=seen.device) * k + chosen
        going = written.add(tokens)
        if written.done:
            return written.texts
        if going is not None:
            seen, places = seen[going], places[going]
        model.select(places)
        logits, seen = logits[places], torch.cat([seen, states[places]], dim=1)


def _unit(states: Tensor | None) -> Tensor:
    assert states is not None
    return torch.nn.functional.normalize(states, dim=2)


def beam_search(model: Any, batch: Batch, decoding: Decoding) -> list[NDArray[np.int64]]:
    """Write continuations by the beam search of transformers, with every setting given.

    Parameters
    ----------
    model
        As transformers gives it, with a generation configuration that says nothing.
    """
    ends = batch.ends.tolist()
    prompts, length = batch.prompts, batch.prompts.shape[1]
    config = transformers.GenerationConfig(
        max_new_tokens=batch.max_tokens,
        do_sample=False,
        num_beams=int(decoding.get("beam")),
        num_return_sequences=1,
        early_stopping=False,
        length_penalty=float(decoding.get("length_penalty", 1.0)),
        repetition_penalty=float(decoding.get("repetition_penalty", 1.0)),
        no_repeat_ngram_size=int(decoding.get("no_repeat_ngram", 0)),
        use_cache=True,
        eos_token_id=ends or None,
        pad_token_id=ends[0] if ends else 0,
    )
    found = model.generate(
        prompts, attention_mask=torch.ones_like(prompts), generation_config=config
    )
    texts = []
    for row in found[:, length:].cpu().numpy():
        stops = np.flatnonzero(np.isin(row, ends))
        texts.append(row[: stops[0] + 1] if len(stops) else row)
    return texts
