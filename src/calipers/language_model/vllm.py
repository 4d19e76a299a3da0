"""A causal model that vLLM runs in this process.

Every sampling parameter is given, so that nothing of the model's own ``generation_config`` counts,
and each sample has a seed of its own, made of the seed of the run and its number. vLLM applies
penalties first, then temperature, min-p, top-K and top-p, in this order; a decoding that it cannot
follow is refused. Its samples may still depend on what is written beside them, since the rounding
of its numbers does.

No real vLLM was at hand where this was written: it is tested against a stand-in with the signatures
of ``LLM``, ``SamplingParams`` and ``RequestOutput`` as vLLM 0.10 documents them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.embedders.options import EmbedderOptions
from calipers.embedders.reading import ReadingCounts
from calipers.errors import CalipersError, InputError, first_line, require
from calipers.language_model.causal_tokens import CausalTokens
from calipers.language_model.decoding import Decoding
from calipers.language_model.model import (
    Completion,
    LanguageModel,
    Passage,
    Request,
    TokenScores,
)
from calipers.language_model.windows import check_stride, plan_windows
from calipers.progress import Advance

_ORDER = ("repetition_penalty", "temperature", "min_p", "top_k", "top_p")
"""What vLLM applies, in the order in which it does. A penalty may as well follow a temperature."""
_NEUTRAL: dict[str, Any] = {
    "n": 1,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "repetition_penalty": 1.0,
    "temperature": 1.0,
    "top_p": 1.0,
    "top_k": -1,
    "min_p": 0.0,
    "stop": None,
    "min_tokens": 0,
    "ignore_eos": False,
    "logprobs": None,
    "prompt_logprobs": None,
    "detokenize": False,
    "skip_special_tokens": True,
}
AT_ONCE = 1_024
"""Texts that are handed to vLLM together; it divides them into batches."""


def load_vllm(name: str, options: EmbedderOptions) -> LanguageModel:
    """Load a model with vLLM.

    Parameters
    ----------
    name
        Its folder, or its name on the Hugging Face hub.
    options
        ``dtype``, ``revision``, ``batch_size`` and ``trust_remote_code`` are read.

    Raises
    ------
    InputError
        If no name is given, or vLLM cannot load the model.
    MissingExtraError
        If vLLM is not installed.
    """
    if not name.strip():
        raise InputError("vllm: needs the name of a model, as in vllm:gpt2 or vllm:./folder")
    try:
        vllm = require("vllm", extra="models", purpose=f"the model 'vllm:{name}'")
    except CalipersError as error:
        raise type(error)(
            f"the model 'vllm:{name}' needs the package 'vllm', which is not installed, and which "
            "no extra of Calipers brings. Install it as https://docs.vllm.ai says for your hardware"
        ) from error
    return VllmModel(name, options, vllm)


class VllmModel(LanguageModel):
    """A model that vLLM runs.

    Parameters
    ----------
    name, options
        As for :func:`load_vllm`.
    vllm
        The package.

    Raises
    ------
    InputError
        If vLLM cannot load it.
    """

    reproducible = (
        "vLLM's batches depend on what else is written, and so does the rounding of its numbers: a "
        "seed fixes a sample only as far as no token is a near-tie"
    )

    def __init__(self, name: str, options: EmbedderOptions, vllm: Any) -> None:
        self.name, self._vllm = name, vllm
        try:
            self._llm = vllm.LLM(
                model=name,
                revision=options.revision,
                dtype=options.dtype,
                trust_remote_code=options.trust_remote_code,
                generation_config="vllm",  # nothing of the model's own
                seed=0,
            )
        except Exception as error:  # vLLM raises whatever a model leads to
            raise InputError(f"vLLM cannot load the model {name!r}: {first_line(error)}") from error
        config = self._llm.llm_engine.model_config
        self.context = int(config.max_model_len)
        self.revision = str(options.revision or getattr(config, "revision", None) or "unknown")
        self.signature = {
            "model": name,
            "revision": self.revision,
            "dtype": str(config.dtype).removeprefix("torch."),
            "device": "vllm",
            "vllm": str(getattr(vllm, "__version__", "unknown")),
        }
        self._vocabulary = int(config.get_vocab_size())
        ends = getattr(config.hf_config, "eos_token_id", None)
        ends = ends if isinstance(ends, list) else [ends]
        self._tokens = CausalTokens(
            self._llm.get_tokenizer(),
            name=name,
            vocabulary=self._vocabulary,
            ends=[id for id in ends if isinstance(id, int)],
        )
        self.scores_first, self.end_marks = self._tokens.scores_first, self._tokens.end_marks
        self.scores_end, self.chats = self._tokens.end is not None, self._tokens.chats
        self._at_once = options.batch_size or AT_ONCE

    def reading(self, texts: Sequence[str]) -> ReadingCounts:
        """Count the words of texts, and those unknown to its tokenizer."""
        return self._tokens.reading(texts)

    def score(
        self,
        passages: Sequence[Passage],
        *,
        first: str = "skip",
        stride: int | None = None,
        decoding: Decoding | None = None,
        advance: Advance | None = None,
    ) -> TokenScores:
        """Compute the log-probability of every token of some texts, by prompt log-probabilities.

        Parameters
        ----------
        passages, first, stride, decoding, advance
            As for :meth:`calipers.language_model.causal.CausalModel.score`; vLLM writes a token
            behind each, so its windows are one token shorter than the context.

        Raises
        ------
        InputError
            If a decoding is given, the model has no token that begins texts, or a prompt leaves no
            room in the context.
        """
        if decoding is not None:
            raise InputError(
                "vLLM gives no probabilities of given texts under a decoding; found "
                f"{str(decoding)!r}; load the model without vllm: for that"
            )
        assert self.context is not None
        context = self.context - 1
        step = check_stride(stride, context)
        sequences, firsts, unscored = self._tokens.read_passages(passages, first=first)
        self._tokens.check_room(sequences, firsts, room=context, context=self.context)
        windows = plan_windows(list(map(len, sequences)), firsts, context=context, stride=step)
        counts = [max(len(ids) - at, 0) for ids, at in zip(sequences, firsts, strict=True)]
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        log_probabilities = np.empty(starts[-1])
        params = self._params(max_tokens=1, prompt_logprobs=0, temperature=0.0)
        for begin in range(0, len(windows), self._at_once):
            part = windows[begin : begin + self._at_once]
            prompts = [
                sequences[window.row][window.start : window.stop].tolist() for window in part
            ]
            for window, output in zip(part, self._run(prompts, [params] * len(part)), strict=True):
                ids, logprobs = sequences[window.row], output.prompt_logprobs
                for place in range(window.first, window.stop):
                    entry = logprobs[place - window.start]
                    into = starts[window.row] + place - firsts[window.row]
                    log_probabilities[into] = min(float(entry[int(ids[place])].logprob), 0.0)
        if advance is not None:
            advance(len(passages))
        if np.isnan(log_probabilities).any():
            raise CalipersError(f"{self.name}: vLLM gave log-probabilities that are not numbers")
        return TokenScores(log_probabilities, starts, self._vocabulary, unscored=unscored)

    def generate(
        self,
        requests: Sequence[Request],
        decoding: Decoding,
        *,
        max_tokens: int,
        seed: int,
        advance: Advance | None = None,
    ) -> Iterator[Completion]:
        """Write a text for each request.

        Parameters
        ----------
        requests, decoding, max_tokens, seed, advance
            As for :meth:`LanguageModel.generate`.

        Raises
        ------
        InputError
            If vLLM cannot decode in that way, or a prompt leaves no room in the context; before
            anything is written.
        """
        given = sampling_parameters(decoding)
        prompts = self._tokens.read_prompts(requests, max_tokens=max_tokens, context=self.context)
        return self._write(requests, prompts, given, max_tokens, seed, advance)

    def _write(
        self,
        requests: Sequence[Request],
        prompts: Sequence[NDArray[np.int64]],
        given: dict[str, Any],
        max_tokens: int,
        seed: int,
        advance: Advance | None,
    ) -> Iterator[Completion]:
        ends = self._tokens.ends.tolist()
        for begin in range(0, len(requests), self._at_once):
            rows = range(begin, min(begin + self._at_once, len(requests)))
            params = [
                self._params(
                    **given,
                    max_tokens=max_tokens,
                    seed=sample_seed(seed, requests[row].id),
                    stop_token_ids=ends,
                )
                for row in rows
            ]
            outputs = self._run([prompts[row].tolist() for row in rows], params)
            for row, output in zip(rows, outputs, strict=True):
                (written,) = output.outputs
                tokens = list(written.token_ids)
                yield Completion(
                    requests[row].id,
                    self._tokens.write(prompts[row], tokens),
                    str(written.finish_reason),
                    len(tokens),
                    len(prompts[row]),
                )
                if advance is not None:
                    advance(1)

    def _params(self, **given: Any) -> Any:
        return self._vllm.SamplingParams(**{**_NEUTRAL, **given})

    def _run(self, prompts: list[list[int]], params: list[Any]) -> list[Any]:
        given = [{"prompt_token_ids": ids} for ids in prompts]
        outputs: list[Any] = self._llm.generate(given, params, use_tqdm=False)
        return outputs


def sampling_parameters(decoding: Decoding) -> dict[str, Any]:
    """Return the sampling parameters of vLLM for a decoding.

    Raises
    ------
    InputError
        If vLLM cannot follow it.

    Examples
    --------
    >>> sampling_parameters(Decoding.parse("temperature=0.8,top_k=40"))
    {'temperature': 0.8, 'top_k': 40}
    """
    names = [name for name, _ in decoding.parameters]
    if decoding.method not in ("sample", "greedy"):
        raise InputError(
            f"the decoding {str(decoding)!r}: vLLM is asked for samples and greedy texts only; "
            "load the model without vllm: for others"
        )
    unknown = [name for name in names if name not in _ORDER]
    if unknown:
        raise InputError(
            f"the decoding {str(decoding)!r}: vLLM does not know {unknown[0]}; it knows "
            f"{', '.join(_ORDER)}"
        )
    cut = [name for name in names if name != "temperature"]
    if cut != sorted(cut, key=_ORDER.index):
        raise InputError(
            f"the decoding {str(decoding)!r}: vLLM applies {', '.join(_ORDER)} in this order, and "
            "not as the decoding is written"
        )
    parameters = dict(decoding.parameters)
    return {**parameters, "temperature": 0.0} if decoding.method == "greedy" else parameters


def sample_seed(seed: int, sample: int) -> int:
    """Combine the seed of a run and the number of a sample into one seed below 2⁶³."""
    return int(
        np.random.SeedSequence([seed, sample]).generate_state(1, np.uint64)[0] >> np.uint64(1)
    )
