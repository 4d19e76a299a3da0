"""Generation by a causal model in batches: the decoding loop and beam search.

Texts whose prompts differ a little in length share a batch, and nothing is filled up: of each
prompt a multiple of eight tokens is read at once and the rest token after token, beside texts that
are already being written. So how a text is read depends on its own prompt alone. Where a row of a
product of matrices does not depend on the other rows, as was seen of oneDNN on CPUs, its logits are
the same to the last bit whatever stands beside it, and so is the text; elsewhere up to near-ties.

Sampling draws by one uniform number for each sample and step. Adversarial perplexity sampling
(Pillutla et al., JMLR 2023, section 6.2) writes gibberish that has a perplexity asked for: the
first tokens uniformly at random, then always the one that brings the perplexity of the text so far
closest to it; the token that ends texts is never chosen. Contrastive search (Su et al., NeurIPS
2022) takes, of the k most likely tokens, the one of the highest (1 − α) p(v) − α maxⱼ cos(h_v, h_j)
with h the last hidden states. Beam search is that of transformers.
"""

from __future__ import annotations

import math
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
from calipers.language_model.search import RANDOM_SHARE, perplexity_target, random_tokens
from calipers.language_model.stepwise import StepwiseModel


@dataclass(frozen=True, eq=False)
class DecodingBatch:
    """Texts to be generated in parallel.

    Attributes
    ----------
    samples
        The numbers of the samples, b of them.
    prompts
        Their prompts, of one `prefix_length`; for beam search, of one length.
    max_tokens
        Most tokens of a continuation.
    ends
        Tokens that end a text.
    ordinary
        Tokens that are not marks.
    seed
        Of the run.
    """

    samples: Sequence[int]
    prompts: Sequence[NDArray[np.int64]]
    max_tokens: int
    ends: Tensor
    ordinary: Tensor
    seed: int

    def first(self, length: int) -> Tensor:
        """The first tokens of the prompts, int64 of shape (b, length)."""
        rows = np.stack([prompt[:length] for prompt in self.prompts])
        return torch.from_numpy(rows).to(self.ends.device)


_AT_ONCE = 8


def prefix_length(prompt: NDArray[np.int64]) -> int:
    """Return how many tokens of the prompts are processed in one pass."""
    return max(len(prompt) // _AT_ONCE * _AT_ONCE, 1)


class _Choose(Protocol):
    """Chooses the next token of each text."""

    def __call__(self, before: Tensor, logits: Tensor, steps: Tensor, rows: Tensor) -> Tensor:
        """Choose.

        Parameters
        ----------
        before
            All tokens before, int64 of shape (r, t).
        logits
            Float32 of shape (r, v).
        steps
            How many tokens of each text have been written, shape (r,).
        rows
            Which texts of the batch they are, shape (r,).
        """
        ...


def write_batch(
    model: StepwiseModel, batch: DecodingBatch, decoding: Decoding
) -> list[NDArray[np.int64]]:
    """Generate the continuations of a batch, each including the token that ends it.

    Raises
    ------
    InputError
        If the decoding leaves no token to choose.
    CalipersError
        If the model's numbers are not finite.
    """
    device = str(batch.ends.device)
    match decoding.method:
        case "contrastive":
            return _contrastive(model, batch, decoding)
        case "adversarial":
            return _write(model, batch, _Adversarial(batch, decoding))
        case "greedy":
            return _write(model, batch, _Greedy(batch, decoding, device))
        case _:
            return _write(model, batch, _Sampling(batch, decoding, device))


def _write(model: StepwiseModel, batch: DecodingBatch, choose: _Choose) -> list[NDArray[np.int64]]:
    written = _Written(batch)
    text = batch.first(written.at)
    logits = model.start(text)
    while True:
        steps, tokens = written.steps, written.given()
        free = (steps >= 0).nonzero()[:, 0]
        if len(free) == len(steps):
            tokens = choose(text, logits, steps, written.rows)
        elif len(free):
            tokens[free] = choose(text[free], logits[free], steps[free], written.rows[free])
        going = written.add(tokens)
        if not len(written.rows):
            return written.texts
        if going is not None:
            model.select(going)
            text, tokens = text[going], tokens[going]
        text = torch.cat([text, tokens[:, None]], dim=1)
        logits = model.step(tokens)


class _Written:
    """The continuations so far; texts that are done are left behind.

    Attributes
    ----------
    at
        How many tokens each text has so far, with its prompt.
    rows
        Which texts of the batch are not done.
    """

    def __init__(self, batch: DecodingBatch) -> None:
        device = batch.ends.device
        lengths = np.array(list(map(len, batch.prompts)))
        (prefix,) = set(map(prefix_length, batch.prompts))
        self.at, self._most, self._ends = prefix, batch.max_tokens, batch.ends
        tokens = np.zeros((len(lengths), int(lengths.max()) + batch.max_tokens), dtype=np.int64)
        for row, prompt in zip(tokens, batch.prompts, strict=True):
            row[: len(prompt)] = prompt
        self._tokens = torch.from_numpy(tokens).to(device)
        self._first = torch.from_numpy(lengths).to(device)
        self._last = self._first.clone()
        self.rows = torch.arange(len(lengths), device=device)

    @property
    def steps(self) -> Tensor:
        """How many tokens of each have been written; below 0 within its prompt."""
        return self.at - self._first[self.rows]

    def given(self) -> Tensor:
        """The next tokens of the prompts; anything for texts that are behind theirs."""
        return self._tokens[self.rows, self.at].clone()

    def add(self, tokens: Tensor) -> Tensor | None:
        """Add a token to each; give the places of those that are not done, None for all."""
        self._tokens[self.rows, self.at] = tokens
        steps, self.at = self.steps, self.at + 1
        self._last[self.rows] = self.at
        done = (steps >= 0) & (torch.isin(tokens, self._ends) | (steps == self._most - 1))
        if not bool(done.any()):
            return None
        going = (~done).nonzero()[:, 0]
        self.rows = self.rows[going]
        return going

    @property
    def texts(self) -> list[NDArray[np.int64]]:
        tokens = self._tokens.cpu().numpy()
        ends = zip(self._first.tolist(), self._last.tolist(), strict=True)
        return [row[first:last] for row, (first, last) in zip(tokens, ends, strict=True)]


class _Sampling:
    def __init__(self, batch: DecodingBatch, decoding: Decoding, device: str) -> None:
        self._batch, self._decoding = batch, decoding
        self._processors = Processors(decoding, device)
        self._uniforms = _uniforms(batch)

    def __call__(self, before: Tensor, logits: Tensor, steps: Tensor, rows: Tensor) -> Tensor:
        logits = self._processors(before, logits)
        _check(logits, self._batch, self._decoding, steps, rows)
        return draw(logits, self._uniforms[rows, steps])


class _Greedy:
    def __init__(self, batch: DecodingBatch, decoding: Decoding, device: str) -> None:
        self._batch, self._decoding = batch, decoding
        self._processors = Processors(decoding, device)

    def __call__(self, before: Tensor, logits: Tensor, steps: Tensor, rows: Tensor) -> Tensor:
        logits = self._processors(before, logits)
        _check(logits, self._batch, self._decoding, steps, rows)
        return logits.argmax(1)


class _Adversarial:
    def __init__(self, batch: DecodingBatch, decoding: Decoding) -> None:
        share = float(decoding.get("random_share", RANDOM_SHARE))
        self._random = random_tokens(batch.max_tokens, share)
        self._target = math.log(perplexity_target(decoding))
        self._uniforms = _uniforms(batch)
        self._batch, self._decoding = batch, decoding
        self._surprise = torch.zeros_like(self._uniforms[:, 0])

    def __call__(self, before: Tensor, logits: Tensor, steps: Tensor, rows: Tensor) -> Tensor:
        _check(logits, self._batch, self._decoding, steps, rows)
        surprise = -logits.double().log_softmax(1)
        usable = self._batch.ordinary
        places = (self._uniforms[rows, steps] * len(usable)).long()
        mean = (self._surprise[rows, None] + surprise[:, usable]) / (steps[:, None] + 1)
        apart = torch.expm1(mean - self._target).abs()  # of the perplexity, in parts of it
        closest = usable[apart.argmin(1)]
        tokens = torch.where(steps < self._random, usable[places], closest)
        self._surprise[rows] += surprise.gather(1, tokens[:, None])[:, 0]
        return tokens


def _uniforms(batch: DecodingBatch) -> Tensor:
    rows = [uniforms(batch.seed, sample, batch.max_tokens) for sample in batch.samples]
    return torch.from_numpy(np.array(rows)).to(batch.ends.device)


def _check(
    logits: Tensor, batch: DecodingBatch, decoding: Decoding, steps: Tensor, rows: Tensor
) -> None:
    """Refuse logits of which nothing can be chosen."""
    highest = logits.amax(1)
    if bool(highest.isfinite().all()):
        return
    if bool((highest == -torch.inf).any()):
        place = int((highest == -torch.inf).nonzero()[0, 0])
        step = int(steps[place])
        raise InputError(
            f"sample {batch.samples[int(rows[place])]}: the decoding {str(decoding)!r} leaves "
            f"no token to choose after {step} tokens; raise no_repeat_ngram or lower max_tokens"
        )
    raise not_finite()


def not_finite() -> CalipersError:
    """Build the error for a model whose outputs are not finite."""
    return CalipersError(
        "the model gives numbers that are not finite: its weights are damaged, or its numbers grow "
        "too large for the dtype, of which 'float32' reaches furthest"
    )


def _contrastive(
    model: StepwiseModel, batch: DecodingBatch, decoding: Decoding
) -> list[NDArray[np.int64]]:
    alpha, k = float(decoding.get("contrastive")), int(decoding.get("top_k"))
    written = _Written(batch)
    logits = model.start(batch.first(written.at), states=True)
    k = min(k, logits.shape[1])
    seen = _unit(model.states)
    while True:
        steps = written.steps
        _check(logits, batch, decoding, steps, written.rows)
        likely, candidates = logits.softmax(1).topk(k)
        within = steps < 0
        candidates[within, 0] = written.given()[within]
        model.select(torch.arange(len(seen), device=seen.device).repeat_interleave(k))
        logits = model.step(candidates.flatten())
        states = _unit(model.states)
        alike = (seen @ states.reshape(len(seen), k, -1).transpose(1, 2)).amax(1)
        chosen = ((1 - alpha) * likely - alpha * alike).argmax(1).masked_fill(within, 0)
        places = torch.arange(len(seen), device=seen.device) * k + chosen
        going = written.add(candidates.gather(1, chosen[:, None])[:, 0])
        if not len(written.rows):
            return written.texts
        if going is not None:
            seen, places = seen[going], places[going]
        model.select(places)
        logits, seen = logits[places], torch.cat([seen, states[places]], dim=1)


def _unit(states: Tensor | None) -> Tensor:
    assert states is not None
    return torch.nn.functional.normalize(states, dim=2)


def beam_search(model: Any, batch: DecodingBatch, decoding: Decoding) -> list[NDArray[np.int64]]:
    """Generate continuations by the beam search of transformers, with explicit settings.

    Parameters
    ----------
    model
        As transformers gives it, with a generation configuration that says nothing.
    """
    ends = batch.ends.tolist()
    prompts = batch.first(len(batch.prompts[0]))
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
    sequences = model.generate(
        prompts, attention_mask=torch.ones_like(prompts), generation_config=config
    )
    texts = []
    for row in sequences[:, prompts.shape[1] :].cpu().numpy():
        stops = np.flatnonzero(np.isin(row, ends))
        texts.append(row[: stops[0] + 1] if len(stops) else row)
    return texts
