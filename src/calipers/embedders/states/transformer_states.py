"""States of some layers of any text model of transformers, computed without padding.

Layer K means ``hidden_states[K]`` of transformers: what the K-th layer gives, and for the last one
what the model gives, behind its closing norm. Layers behind the deepest one that is wanted are
taken out of the model.

Texts are packed end to end where the model's attention allows it, and go through the model in
groups of equal length where it does not. Each way that is faster than plain transformers code is
tried on a few short texts when the model is loaded, and used only if the states agree.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Sequence
from itertools import groupby
from typing import Any

import torch
import transformers
from torch import Tensor

from calipers.embedders.states import packed
from calipers.embedders.states.batches import LengthRun, Model, States, is_out_of_memory
from calipers.embedders.states.dense import quicken, widen
from calipers.embedders.states.loading import quiet
from calipers.embedders.states.pretrained import (
    layer_count,
    layer_stack,
    padding_position,
    position_limit,
    rescales_positions,
    text_config,
)
from calipers.errors import InputError, first_line


class Captured:
    """A model truncated after the deepest layer that is needed.

    Parameters
    ----------
    model
        As transformers gives it; changed in place.
    layers
        How many it has.
    wanted
        Whose states to give, from 1 to `layers`.

    Raises
    ------
    LookupError
        If its layers are not held as those of most models are.
    """

    def __init__(self, model: Any, layers: int, wanted: Collection[int]) -> None:
        self._model, self._last, self._wanted = model, layers, frozenset(wanted)
        for block in _blocks(model, layers, max(wanted)):
            block.register_forward_hook(self._take)

    def __call__(self, **inputs: Any) -> States:
        """Run the model."""
        self._states: States = {}
        self._done = 0
        final = self._model(**inputs)[0]
        states, self._states = self._states, {}
        if self._last in self._wanted:
            states[self._last] = final.flatten(0, 1)
        return states

    def _take(self, block: Any, inputs: Any, output: Any) -> None:
        self._done += 1
        if self._done in self._wanted and self._done != self._last:
            states = output[0] if isinstance(output, tuple) else output
            self._states[self._done] = states.flatten(0, 1)


def _blocks(model: Any, layers: int, deepest: int) -> list[Any]:
    """The layers up to the deepest; ALBERT goes through the same ones again and again."""
    if model.config.model_type == "albert":
        model.config.num_hidden_layers = deepest
        groups: list[Any] = list(model.encoder.albert_layer_groups)
        return groups
    stack = layer_stack(model, layers)
    if stack is None:
        raise LookupError("no list of layers")
    del stack[deepest:]
    return list(stack)


class Whole:
    """A model that returns the states of all its layers: always right, but slower.

    Parameters
    ----------
    model, layers, wanted
        As for :class:`Captured`; the model is not changed.
    """

    def __init__(self, model: Any, layers: int, wanted: Collection[int]) -> None:
        self._model, self._last, self._wanted = model, layers, frozenset(wanted)

    def __call__(self, **inputs: Any) -> States:
        """Run the model."""
        output = self._model(**inputs, output_hidden_states=True)
        states = dict(enumerate(output.hidden_states)) | {self._last: output[0]}
        length = inputs["input_ids"].shape[1]  # some models give padding of their own too
        return {layer: states[layer][:, :length].flatten(0, 1) for layer in self._wanted}


_LENGTHS = (9, 6, 6, 4, 1)
_STRIDE = 7919
_SAME = 1e-4


class Trial:
    """A test batch of texts of several lengths, in two versions that differ in all but one text.

    Parameters
    ----------
    vocabulary
        Size of the model's vocabulary.
    avoid
        Tokens that mean something of their own, such as padding.
    reach
        Most tokens that will be read of a text.
    window
        How far a token sees, where that is less than `reach`; one text is then longer.
    """

    def __init__(
        self, vocabulary: int, avoid: Collection[int], *, reach: int, window: int | None = None
    ) -> None:
        long = () if window is None or window >= reach else (window + _LENGTHS[0],)
        lengths = [min(length, reach) for length in (*long, *_LENGTHS)]
        self.runs: list[LengthRun] = []
        for length, same in groupby(lengths):
            start = self.runs[-1].tokens.stop if self.runs else 0
            self.runs.append(LengthRun(start, len(list(same)), length))
        usual = [token for token in range(vocabulary // 10, vocabulary) if token not in avoid]
        usual = usual[:50_000] or [0]
        place = torch.arange(2 * sum(lengths)) * _STRIDE % len(usual)
        self.tokens, self._others = torch.tensor(usual)[place].chunk(2)
        # The last but two is the same in both, amid texts that are not
        start = sum(lengths[:-3])
        self._shared = slice(start, start + lengths[-3])
        self._others[self._shared] = self.tokens[self._shared]

    def alone(self, forward: Model) -> States:
        """Compute the states of each text on its own."""
        texts = [text for run in self.runs for text in self.tokens[run.tokens].view(-1, run.length)]
        with torch.inference_mode():
            states = [forward(text, [LengthRun(0, 1, len(text))]) for text in texts]
        return {layer: torch.cat([text[layer] for text in states]) for layer in states[0]}

    def passes(self, forward: Model, expected: States, tolerance: float) -> bool:
        """Whether texts in a batch have the expected states, whatever the other texts."""
        with torch.inference_mode():
            one = forward(self.tokens, self.runs)
            two = forward(self._others, self.runs)
        return all(
            agree(one[layer][self._shared], two[layer][self._shared], _SAME)
            and agree(one[layer], states, tolerance)
            for layer, states in expected.items()
        )

    def is_causal(self, forward: Model) -> bool:
        """Whether tokens ignore those after them: the last token changes no other state."""
        text, run = (
            self.tokens[: self.runs[0].length].clone(),
            [LengthRun(0, 1, self.runs[0].length)],
        )
        with torch.inference_mode():
            before = forward(text, run)
            text[-1] = text[0]
            after = forward(text, run)
        return all(agree(before[layer][:-1], after[layer][:-1], _SAME) for layer in before)


def agree(one: Tensor, two: Tensor, tolerance: float) -> bool:
    """Whether all rows agree to within a fraction of their length."""
    one, two = one.float(), two.float()
    apart = (one - two).norm(dim=1)
    return bool((apart <= tolerance * two.norm(dim=1)).all())


_TOLERANCE = {torch.float32: 1e-4, torch.float16: 2e-2, torch.bfloat16: 1e-1}
"""How far states may be from those of plain code, as a part of their length."""


class TransformerStates:
    """A loaded model that computes states.

    Parameters
    ----------
    load
        Gives the model, with its weights as they are stored if `stored_dtype` is true.
    choose
        From the number of layers to those whose states are wanted.
    device, dtype
        Where to compute, and the precision of the dense layers.
    reach
        From the number of positions, None where they are relative, to the most tokens of a text.
    name
        What to call the model in errors.

    Attributes
    ----------
    layers, wanted
        How many layers the model has, and whose states are given.
    vocabulary
        How many tokens it knows.
    reach
        Most tokens of a text.
    causal
        Whether a token sees none of those behind it.
    dtype
        The precision that came to be used.
    packed
        Whether texts of different length share a forward pass.

    Raises
    ------
    InputError
        If it does not fit in the memory of the device, or what `load`, `choose` and `reach` raise.
    """

    def __init__(
        self,
        load: Callable[..., Any],
        choose: Callable[[int], Collection[int]],
        *,
        device: str,
        dtype: torch.dtype,
        reach: Callable[[int | None], int],
        name: str,
    ) -> None:
        self._load, self._device, self.dtype, self._name = load, device, dtype, name
        model = self._fresh()
        self.layers, self.vocabulary = layer_count(model), _vocabulary(model, name)
        self.wanted = frozenset(choose(self.layers))
        self.reach = reach(position_limit(model))
        self._padding = padding_position(model)
        self.packed = False
        with quiet(transformers):
            self._prepare(model)

    def __call__(self, tokens: Tensor, runs: Sequence[LengthRun]) -> States:
        """Compute the states of some texts.

        Parameters
        ----------
        tokens
            Token ids of all texts end to end, int64 of shape (T,).
        runs
            How the tokens divide into texts.

        Returns
        -------
        dict
            Layer to tensor of shape (T, d).
        """
        tokens = tokens.to(self._device)
        with torch.inference_mode(), quiet(transformers):
            return self._in_one(tokens, runs) if self.packed else self._by_length(tokens, runs)

    def _by_length(self, tokens: Tensor, runs: Sequence[LengthRun]) -> States:
        states = []
        for run in runs:
            ids = tokens[run.tokens].view(run.texts, run.length)
            states.append(self._forward(input_ids=ids, attention_mask=torch.ones_like(ids)))
        return {
            layer: torch.cat([run_states[layer] for run_states in states]) for layer in self.wanted
        }

    def _in_one(self, tokens: Tensor, runs: Sequence[LengthRun]) -> States:
        places = _places(tokens, runs, self._padding)
        with packed.divided(runs):
            return self._forward(input_ids=tokens[None], position_ids=places[None])

    def _fresh(self) -> Any:
        model = self._load(stored_dtype=self.dtype == torch.bfloat16)
        if model.dtype == torch.float16:  # its range is too small for what lies between the layers
            model = model.float()
        try:
            return model.to(self._device)
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
        raise self._too_large()

    def _prepare(self, model: Any) -> None:
        """Find the fastest way whose states agree with those of plain code."""
        trial = _trial(model, self.vocabulary, self.reach)
        self._forward: Callable[..., States] = Whole(model, self.layers, self.wanted)
        expected = self._by_plain_code(trial)
        for way in (self._fast, self._cut):
            try:
                self._forward = Captured(model, self.layers, self.wanted)
                if way(model, trial, expected):
                    return
            except (LookupError, TypeError, AttributeError, RuntimeError, ValueError):
                pass  # a model that is built otherwise; the next way asks less of it
            model, self._forward = None, dict  # let go, before another one is loaded
            self.dtype = torch.float32
            model = self._fresh()
        self._forward = Whole(model, self.layers, self.wanted)

    def _by_plain_code(self, trial: Trial) -> States:
        try:
            self.causal = trial.is_causal(self._by_length)
            return trial.alone(self._by_length)
        except Exception as error:  # models that read something else raise anything
            if is_out_of_memory(error):
                raise self._too_large() from error
            raise InputError(
                f"the model {self._name!r} gives no states of all layers for a short text, so it "
                f"is of a kind that cannot be used here: {first_line(error)}"
            ) from error

    def _too_large(self) -> InputError:
        return InputError(
            f"the model {self._name!r} does not fit in the memory of {self._device}; "
            "choose dtype 'auto', a smaller model or device 'cpu'"
        )

    def _fast(self, model: Any, trial: Trial, expected: States) -> bool:
        quicken(model, self.dtype, lambda: self._by_length(trial.tokens, trial.runs))
        for wide in (False,) if self.dtype == torch.float32 else (False, True):
            widen(model, wide)
            self.packed = self._packs(model, trial, expected)
            if self.packed or self._holds(self._by_length, trial, expected):
                return True
        return False

    def _cut(self, model: Any, trial: Trial, expected: States) -> bool:
        return self._holds(self._by_length, trial, expected)

    def _packs(self, model: Any, trial: Trial, expected: States) -> bool:
        """Have texts share forward passes if that changes no state."""
        try:
            _check_packable(model, self.reach)
            with packed.installed(model) as keep:
                if self._holds(self._in_one, trial, expected):
                    keep()
                    return True
        except packed.NotPackableError:
            pass
        return False

    def _holds(self, forward: Model, trial: Trial, expected: States) -> bool:
        try:
            return trial.passes(forward, expected, _TOLERANCE[self.dtype])
        except Exception:  # whatever a model does with inputs that it does not know
            return False


def _trial(model: Any, vocabulary: int, reach: int) -> Trial:
    avoid: set[int] = set()
    for name in ("pad_token_id", "bos_token_id", "eos_token_id", "image_token_id"):
        marks = getattr(model.config, name, None)
        marks = marks if isinstance(marks, list) else [marks]
        avoid.update(mark for mark in marks if isinstance(mark, int))
    window = getattr(text_config(model), "sliding_window", None)
    return Trial(vocabulary, avoid, reach=reach, window=window)


def _check_packable(model: Any, reach: int) -> None:
    """Refuse kinds of models whose states would depend on the company of a text.

    Raises
    ------
    NotPackableError
        If there is a reason.
    """
    if "position_ids" not in inspect.signature(model.forward).parameters:
        raise packed.NotPackableError("positions cannot be given")
    config = text_config(model)
    chunk = getattr(config, "attention_chunk_size", None)
    if isinstance(chunk, int) and chunk < reach:
        raise packed.NotPackableError("attention in chunks")
    if rescales_positions(model):
        raise packed.NotPackableError("positions that depend on the longest text")


def _vocabulary(model: Any, name: str) -> int:
    try:
        return len(model.get_input_embeddings().weight)
    except (NotImplementedError, AttributeError) as error:
        known = getattr(text_config(model), "vocab_size", None)
        if isinstance(known, int):
            return known
        raise InputError(
            f"the model {name!r} ({model.config.model_type}) holds no table with a vector for each "
            "token, so it is of a kind that cannot be used here"
        ) from error


def _places(tokens: Tensor, runs: Sequence[LengthRun], padding: int | None) -> Tensor:
    """The position of each token in its text, as the model counts them."""
    places = torch.cat([torch.arange(run.length).repeat(run.texts) for run in runs])
    places = places.to(tokens.device)
    if padding is None:
        return places
    # RoBERTa and its kind do not count padding tokens, wherever they stand, and begin behind it
    seen = (tokens != padding).long()
    counts = seen.cumsum(0)
    starts = torch.arange(len(tokens), device=tokens.device) - places
    return (counts - (counts - seen)[starts]) * seen + padding
