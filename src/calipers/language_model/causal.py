"""Causal models of transformers, from a folder, the local cache or the hub.

Scoring is in :mod:`calipers.language_model.causal_scoring`, writing in
:mod:`calipers.language_model.causal_decoding`; here a model is loaded, tried, and asked. When it
is loaded it is tried on a few tokens: whether it is causal at all, whether texts may be filled up
behind their end, and whether its cache gives what reading everything again gives. What fails is
not used; that every token reads the whole text again, for want of a cache, is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from calipers.embedders.models.find import FoundModel, find_model
from calipers.embedders.options import EmbedderOptions, choose_device, choose_dtype, token_budget
from calipers.embedders.reading import ReadingCounts
from calipers.embedders.states.batches import fits
from calipers.embedders.states.pretrained import (
    check_loadable,
    load_model,
    load_tokenizer,
    position_limit,
    rescales_positions,
)
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
from calipers.language_model.search import perplexity_target
from calipers.language_model.windows import check_stride, plan_windows
from calipers.progress import Advance

if TYPE_CHECKING:
    from torch import Tensor

AT_ONCE = {"cpu": 64, "other": 256}
"""Texts that are written side by side, where nobody says how many."""
_LOGITS = {"cpu": 1 << 23, "other": 1 << 26}
"""Most logits of one step."""
_HEADS = ("CausalLM", "LMHead", "ConditionalGeneration")
_OTHER_HEADS = ("Classification", "QuestionAnswering", "MaskedLM", "EncoderModel", "MultipleChoice")


def load_causal(name: str, options: EmbedderOptions) -> LanguageModel:
    """Load a causal model of transformers.

    Parameters
    ----------
    name
        Its folder, or its name on the Hugging Face hub.
    options
        ``device``, ``dtype``, ``batch_size``, ``revision``, ``offline``, ``trust_remote_code`` and
        ``allow_pickle`` are read.

    Raises
    ------
    InputError
        If there is no such model, it is not a causal language model, its files are incomplete or do
        not belong together, or it does not fit in memory.
    MissingExtraError
        If torch or transformers is not installed.
    """
    model = find_model(name, options)
    check_loadable(model, options)
    _check_kind(model, options)
    return CausalModel(model, options)


class CausalModel(LanguageModel):
    """A causal model of transformers, for scoring and generation.

    Parameters
    ----------
    model
        Its files.
    options
        As for :func:`load_causal`.

    Raises
    ------
    InputError
        If it cannot be loaded, or is not a causal language model.
    """

    def __init__(self, model: FoundModel, options: EmbedderOptions) -> None:
        torch = require("torch", extra="models", purpose=f"the model {model.name!r}")
        transformers = require("transformers", extra="models", purpose=f"the model {model.name!r}")
        self.name, self.revision = model.name, model.revision
        self._device = choose_device(options.device, torch)
        dtype = choose_dtype(options.dtype, self._device, torch)
        load = partial(
            load_model,
            model.folder,
            causal=True,
            stored_dtype=dtype != "float32",
            trust_remote_code=options.trust_remote_code,
            allow_pickle=options.allow_pickle,
        )
        self._model = load()
        ends = _ends(self._model)
        self._model.to(device=self._device, dtype=getattr(torch, dtype))
        self.signature = {
            "model": model.name,
            "revision": model.revision,
            "dtype": dtype,
            "device": self._device.partition(":")[0],
        }
        if model.quantised:
            self.signature["quantised"] = model.quantised
        self.context, self._wrote = position_limit(self._model), False
        if dtype != "float32":
            self.reproducible = (
                f"in {dtype} the rounding of a model's numbers depends on the size of a batch, so "
                "a sample may depend on the others in its batch; with dtype float32 a seed "
                "fixes it"
            )
        tokenizer = load_tokenizer(model.folder, trust_remote_code=options.trust_remote_code)
        known = len(self._model.get_input_embeddings().weight)
        self._tokens = CausalTokens(tokenizer, name=self.name, vocabulary=known, ends=ends)
        self.scores_first, self.end_marks = self._tokens.scores_first, self._tokens.end_marks
        self.scores_end, self.chats = self._tokens.end is not None, self._tokens.chats
        self._try(known, load)
        # The settings of generation_config.json must not be added to what a decoding says
        self._model.generation_config = transformers.GenerationConfig()
        self._batch_size = options.batch_size
        kind = "cpu" if self._device == "cpu" else "other"
        self._at_once = max(_LOGITS[kind] // self._vocabulary, 1)
        self._at_once = min(self._at_once, options.batch_size or AT_ONCE[kind])

    def told(self) -> tuple[str, ...]:
        """Report that texts were generated without a cache, and why."""
        if not (self._no_cache and self._wrote):
            return ()
        return (
            f"the cache of {self.name} could not be used ({self._no_cache}), so the whole text was "
            "read again for every token, which takes many times as long; the texts are the same",
        )

    def reading(self, texts: Sequence[str]) -> ReadingCounts:
        """Count the words of texts, and those unknown to the tokenizer."""
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
        """Compute the log-probability of every token of some texts.

        Parameters
        ----------
        passages, first, stride, decoding, advance
            As for :meth:`LanguageModel.score`. Prompt and text are tokenised together, and scored
            is every token that holds a character of the text. Marks that the tokenizer puts before
            texts automatically precede them under both conventions, so that a first token behind
            one is scored.

        Raises
        ------
        InputError
            If the model has no token that begins texts, a prompt leaves no room in the context, or
            the decoding gives no distribution of single tokens.
        """
        from calipers.language_model import causal_scoring

        if decoding is not None and decoding.method not in ("sample", "greedy"):
            raise InputError(
                f"the decoding {str(decoding)!r} gives no distribution of single tokens to score "
                "texts by; give one that samples, such as top_p=0.9"
            )
        step = check_stride(stride, self.context)
        sequences, firsts, unscored = self._tokens.read_passages(passages, first=first)
        self._tokens.check_room(sequences, firsts, room=self.context, context=self.context)
        windows = plan_windows(list(map(len, sequences)), firsts, context=self.context, stride=step)
        kind = "cpu" if self._device == "cpu" else "other"
        tokens = token_budget(self._device, require("torch", extra="models", purpose="scoring"))
        reader: causal_scoring.Reader = causal_scoring.BodyAndHead(self._model)
        if not self._divided:
            reader = causal_scoring.WholeModel(self._model)
            tokens = min(tokens, max(causal_scoring.LOGITS[kind] // self._vocabulary, 1))
        return causal_scoring.score_windows(
            reader,
            sequences,
            firsts,
            unscored,
            windows,
            budget=causal_scoring.ScoringBudget(tokens, self._batch_size),
            padded=self._padded,
            vocabulary=self._vocabulary,
            device=self._device,
            decoding=decoding,
            advance=advance,
        )

    def generate(
        self,
        requests: Sequence[Request],
        decoding: Decoding,
        *,
        max_tokens: int,
        seed: int,
        advance: Advance | None = None,
    ) -> Iterator[Completion]:
        """Write a text for each request; the texts of a batch are yielded when it is complete.

        Parameters
        ----------
        requests, decoding, max_tokens, seed, advance
            As for :meth:`LanguageModel.generate`. An empty prompt is the token that begins texts,
            or the one that ends them where there is no other.

        Raises
        ------
        InputError
            If a prompt leaves no room in the context or there is nothing to begin with, before
            anything is written; or if a decoding leaves no token to choose.
        """
        if decoding.method == "adversarial":
            perplexity_target(decoding)
        self._wrote = True
        prompts = self._tokens.read_prompts(requests, max_tokens=max_tokens, context=self.context)
        return self._write(requests, prompts, decoding, max_tokens, seed, advance)

    def _write(
        self,
        requests: Sequence[Request],
        prompts: Sequence[NDArray[np.int64]],
        decoding: Decoding,
        max_tokens: int,
        seed: int,
        advance: Advance | None,
    ) -> Iterator[Completion]:
        from calipers.language_model.causal_decoding import prefix_length

        width = int(decoding.get("beam", 1)) if decoding.method == "beam" else 1
        width = int(decoding.get("top_k", 1)) if decoding.method == "contrastive" else width
        at_once = len if decoding.method == "beam" else prefix_length
        left = sorted(range(len(requests)), key=lambda row: (len(prompts[row]), row))
        while left:
            alike = at_once(prompts[left[0]])
            rows = [
                row
                for row in left[: max(self._at_once // width, 1)]
                if at_once(prompts[row]) == alike
            ]
            texts: list[NDArray[np.int64]] = []
            work = partial(
                self._write_rows, rows, requests, prompts, decoding, max_tokens, seed, texts
            )
            if not fits(work):
                self._halve(len(rows), width, len(prompts[rows[-1]]) + max_tokens)
                continue
            left = left[len(rows) :]
            for row, text in zip(rows, texts, strict=True):
                yield self._completion(requests[row], prompts[row], text)
                if advance is not None:
                    advance(1)

    def _write_rows(
        self,
        rows: Sequence[int],
        requests: Sequence[Request],
        prompts: Sequence[NDArray[np.int64]],
        decoding: Decoding,
        max_tokens: int,
        seed: int,
        texts: list[NDArray[np.int64]],
    ) -> None:
        import torch

        from calipers.language_model.causal_decoding import DecodingBatch, beam_search, write_batch
        from calipers.language_model.stepwise import StepwiseModel

        with torch.inference_mode():
            batch = DecodingBatch(
                [requests[row].id for row in rows],
                [prompts[row] for row in rows],
                max_tokens,
                torch.from_numpy(self._tokens.ends).to(self._device),
                torch.from_numpy(self._tokens.ordinary).to(self._device),
                seed,
            )
            if decoding.method == "beam":
                texts[:] = beam_search(self._model, batch, decoding)
            else:
                texts[:] = write_batch(
                    StepwiseModel(self._model, cached=not self._no_cache), batch, decoding
                )

    def _halve(self, rows: int, width: int, tokens: int) -> None:
        if rows == 1:
            raise InputError(
                f"there is not enough memory to write a single text of {tokens:,} tokens; lower "
                "max_tokens, choose a smaller model, dtype 'auto', or device 'cpu' if this was a "
                "graphics card"
            )
        self._at_once = rows // 2 * width

    def _completion(
        self, request: Request, prompt: NDArray[np.int64], tokens: NDArray[np.int64]
    ) -> Completion:
        ended = len(tokens) > 0 and tokens[-1] in self._tokens.ends
        return Completion(
            request.id,
            self._tokens.write(prompt, tokens.tolist()),
            "stop" if ended else "length",
            len(tokens),
            len(prompt),
        )

    def _try(self, known: int, load: Callable[[], Any]) -> None:
        """Try the model on a few tokens, and see what may be relied on."""
        import torch

        length = min(9, self.context or 9)
        usual = self._tokens.ordinary if len(self._tokens.ordinary) > 1 else np.arange(known)
        places = np.arange(2 * length) * 7919 % len(usual)
        ids = torch.from_numpy(usual[places]).reshape(2, length).to(self._device)
        tolerance = 1e-3 if self.signature["dtype"] == "float32" else 0.2
        with torch.inference_mode():
            try:
                alone = self._read(ids[:1])
                other = ids[:1].clone()
                other[0, -1] = ids[0, 0] if ids[0, -1] != ids[0, 0] else ids[0, 1]
                causal = _agree(alone[:, :-1], self._read(other)[:, :-1], tolerance)
            except Exception as error:  # a model that reads something else raises what it likes
                raise InputError(
                    f"the model {self.name!r} ({self._model.config.model_type}) is not a causal "
                    f"language model: {first_line(error)}"
                ) from error
            if not bool(alone.isfinite().all()):
                raise CalipersError(
                    f"the model {self.name!r} gives numbers that are not finite: its weights are "
                    "damaged, or its numbers grow too large for its dtype"
                )
            if not causal:
                raise InputError(
                    f"the model {self.name!r} ({self._model.config.model_type}) is not a causal "
                    "language model: what it says of a token depends on later ones"
                )
            self._vocabulary = int(alone.shape[-1])
            if self._device == "cpu" and self.signature["dtype"] == "float32":
                self._quicken(ids[:1], alone, load)
            self._padded = (
                not rescales_positions(self._model)
                and not getattr(self._model, "_is_stateful", False)
                and self._fills_up(ids, tolerance)
            )
            self._divided = _succeeds(lambda: self._is_body_and_head(ids))
            self._no_cache = "" if length < 4 else self._why_not_on(ids, tolerance)

    def _quicken(self, ids: Tensor, expected: Tensor, load: Callable[[], Any]) -> None:
        """Exchange the dense layers for faster ones, if the model then gives the same."""
        import torch

        from calipers.embedders.states.dense import quicken

        def same() -> bool:
            quicken(self._model, torch.float32, lambda: self._read(ids))
            return _agree(self._read(ids), expected, 1e-4)

        if not _succeeds(same):
            self._model = load()

    def _is_body_and_head(self, ids: Tensor) -> bool:
        """Whether the head's product with the last states is all that gives the logits."""
        from calipers.language_model.causal_scoring import BodyAndHead

        reader = BodyAndHead(self._model)
        return _agree(reader.logits(reader.states(ids)), self._read(ids), 1e-5)

    def _read(self, ids: Tensor) -> Tensor:
        logits: Tensor = self._model(input_ids=ids, use_cache=False).logits.float()
        return logits

    def _fills_up(self, ids: Tensor, tolerance: float) -> bool:
        """Whether what stands behind a text changes nothing beside a longer one."""
        short = max(ids.shape[1] // 2, 1)
        filled = ids.clone()
        filled[1, short:] = 0
        return _agree(self._read(filled)[1, :short], self._read(ids[1:, :short])[0], tolerance)

    def _why_not_on(self, ids: Tensor, tolerance: float) -> str:
        """Why the model's cache cannot be used; nothing where it can."""
        from calipers.language_model.stepwise import StepwiseModel

        try:
            good = self._goes_on(StepwiseModel(self._model), ids, tolerance)
        except Exception as error:  # kinds of models differ in what they cannot do
            return first_line(error) or type(error).__name__
        return "" if good else "what it gives differs from reading everything again"

    def _goes_on(self, model: Any, ids: Tensor, tolerance: float) -> bool:
        """Whether rows that are read on, exchanged and dropped give what reading all gives."""
        import torch

        rows = torch.tensor([1, 0, 1], device=ids.device)
        model.start(ids[:, :-2])
        model.select(rows)
        ids = ids[rows]
        model.step(ids[:, -2])
        model.select(rows[:1])
        logits = model.step(ids[1:2, -1])
        return _agree(logits, self._read(ids[1:2])[:, -1], tolerance)


def _agree(one: Tensor, two: Tensor, tolerance: float) -> bool:
    """Whether logits differ by no more than a part of how far they are spread."""
    scale = (two - two.mean(-1, keepdim=True)).abs().amax(-1)
    return bool(((one - two).abs().amax(-1) <= tolerance * scale + 1e-6).all())


def _succeeds(work: Callable[[], bool]) -> bool:
    """Whether something works, and gives what it should."""
    try:
        return work()
    except Exception:  # kinds of models differ in what they cannot do
        return False


def _ends(model: Any) -> list[int]:
    """Tokens that the makers of a model have end a text, such as the end of a turn in a chat."""
    tokens: list[Any] = []
    for config in (model.generation_config, model.config):
        ids = getattr(config, "eos_token_id", None)
        tokens += ids if isinstance(ids, list) else [ids]
    return [id for id in tokens if isinstance(id, int)]


def _check_kind(model: FoundModel, options: EmbedderOptions) -> None:
    """Refuse a model that transformers cannot read as a causal one, or that was made otherwise.

    Raises
    ------
    InputError
        If it is not one, or needs code that is not trusted.
    """
    transformers = require("transformers", extra="models", purpose=f"the model {model.name!r}")
    if model.quantised:
        return  # what a GGUF file holds is seen where it is loaded
    kind = model.config["model_type"]
    names = [str(name) for name in model.config.get("architectures") or ()]
    other = [name for name in names if any(head in name for head in _OTHER_HEADS)]
    masked = kind in transformers.models.auto.modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    if masked and not model.config.get("is_decoder"):  # an encoder, unless it was made to write
        other = other or [name for name in names if not any(head in name for head in _HEADS)]
    custom_code = "AutoModelForCausalLM" in (model.config.get("auto_map") or {})
    known = kind in transformers.models.auto.modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    if other or not (known or (custom_code and options.trust_remote_code)):
        raise InputError(
            f"the model {model.name!r} is not a causal language model: it is a {kind} model"
            f"{f' ({other[0]})' if other else ''}, which does not predict the next token"
        )
