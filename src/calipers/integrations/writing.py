"""Samples from a model in training, without effect on the training.

Prompts are cut into batches, which the processes of a run share in turn. Each batch is drawn with a
seed of its own, made of the seed and its place, so that the samples are the same however many
processes write them. Dropout is off meanwhile; afterwards every module is in the mode that it was
in, and the random numbers of the training go on where they were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, cast

import torch
from torch import distributed

from calipers.errors import InputError
from calipers.numeric.validation import check_whole

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from calipers.integrations.training import Monitor

Prompt = str | Sequence[Mapping[str, Any]]
"""A text, or the messages of a chat."""

T = TypeVar("T")
BATCH = 32
NEW_TOKENS = 64


def write(
    module: torch.nn.Module,
    prompts: Sequence[T],
    write_batch: Callable[[list[T]], Sequence[str]],
    *,
    seed: int = 0,
    batch_size: int = BATCH,
) -> list[str]:
    """Write a text for every prompt, divided among all processes of the run.

    Parameters
    ----------
    module
        The module in training; gradients and dropout are off meanwhile.
    prompts
        The same on every process.
    write_batch
        Writes a text for each prompt of a batch.
    seed
        Of the samples.
    batch_size
        Prompts of a batch.

    Returns
    -------
    list of str
        The texts of all prompts in their order, on every process.

    Raises
    ------
    InputError
        If it does not write one text for each prompt.
    """
    check_whole("batch_size", batch_size, 1)
    written: dict[int, list[str]] = {}
    starts = range(0, len(prompts), batch_size)
    for place, start in enumerate(starts):
        if place % process_count() != process_rank():
            continue
        batch = list(prompts[start : start + batch_size])
        with sampling(module, seed + place):
            texts = list(write_batch(batch))
        if len(texts) != len(batch) or not all(isinstance(text, str) for text in texts):
            raise InputError(
                f"generate must give one text for each of {len(batch)} prompts; found {len(texts)} "
                f"of {sorted({type(text).__name__ for text in texts})}"
            )
        written[place] = texts
    every: dict[int, list[str]] = {}
    for part in gathered(written):
        every |= part
    return [text for place in sorted(every) for text in every[place]]


@contextmanager
def sampling(module: torch.nn.Module, seed: int) -> Iterator[None]:
    """Evaluate a module with a random state of its own, then restore mode and state."""
    modes = [(part, part.training) for part in module.modules()]
    devices = {
        parameter.device.index
        for parameter in module.parameters()
        if parameter.device.type == "cuda"
    }
    module.eval()
    try:
        with torch.no_grad(), torch.random.fork_rng(devices=sorted(devices)):
            torch.manual_seed(seed)
            yield
    finally:
        for part, training in modes:
            part.training = training


def continuations(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    prompts: Sequence[Prompt],
    *,
    max_new_tokens: int = NEW_TOKENS,
    **generation: Any,
) -> list[str]:
    """Continue prompts with a causal model of transformers, all in one batch.

    By default tokens are drawn from the model's own distribution: no temperature, no truncation,
    whatever its generation config says, since either alone takes variety away.

    Parameters
    ----------
    model, tokenizer
        As transformers has them.
    prompts
        Texts, or messages that the tokenizer's chat template turns into a text; an empty text
        begins with the token for that.
    max_new_tokens
        Length limit of each continuation.
    generation
        Further arguments of ``model.generate``, such as ``temperature=0.7``.

    Returns
    -------
    list of str
        The continuations without their prompts and without special tokens.
    """
    texts = [_as_text(prompt, tokenizer) for prompt in prompts]
    chat = any(not isinstance(prompt, str) for prompt in prompts)
    pad = tokenizer.pad_token_id
    if pad is None:
        pad = tokenizer.eos_token_id
    if pad is None:
        raise InputError("the tokenizer must have a token for padding or for the end of a text")
    rows = [tokenizer(text, add_special_tokens=not chat)["input_ids"] for text in texts]
    longest = max(map(len, rows))
    device = model.device
    ids = torch.tensor([[pad] * (longest - len(row)) + list(row) for row in rows], device=device)
    mask = torch.tensor(
        [[0] * (longest - len(row)) + [1] * len(row) for row in rows], device=device
    )
    settings: dict[str, Any] = {
        "do_sample": True,
        "temperature": 1.0,
        "top_k": 0,
        "top_p": 1.0,
        "use_cache": True,
        "num_return_sequences": 1,
        **generation,
    }
    written = cast(Any, model).generate(
        input_ids=ids,
        attention_mask=mask,
        max_new_tokens=max_new_tokens,
        pad_token_id=pad,
        **settings,
    )
    decoded = tokenizer.batch_decode(written[:, longest:], skip_special_tokens=True)
    return [str(text) for text in decoded]


def _as_text(prompt: Prompt, tokenizer: PreTrainedTokenizerBase) -> str:
    if isinstance(prompt, str):
        text = prompt or tokenizer.bos_token or tokenizer.eos_token
        if not isinstance(text, str):
            raise InputError("an empty prompt needs a tokenizer with a token for the beginning")
        return text
    messages = [dict(message) for message in prompt]
    return str(tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))


# The processes of a run --------------------------------------------------------------------------


def process_count() -> int:
    """Return the number of processes that train together."""
    return distributed.get_world_size() if _together() else 1


def process_rank() -> int:
    """Return the rank of this process; 0 is the main one."""
    return distributed.get_rank() if _together() else 0


def gathered(thing: T) -> list[T]:
    """Gather what every process has, in order of rank, on every process."""
    if process_count() == 1:
        return [thing]
    every: list[T | None] = [None] * process_count()
    distributed.all_gather_object(every, thing)
    return cast(list[T], every)


def on_main(work: Callable[[], T]) -> T:
    """Call a function on the main process, and return its result on every process.

    Raises
    ------
    InputError
        On the other processes, if the main one raised an error, so that none waits for it.
    """
    if process_count() == 1:
        return work()
    outcome: list[tuple[T | None, str | None]] = [(None, None)]
    raised: Exception | None = None
    if process_rank() == 0:
        try:
            outcome = [(work(), None)]
        except Exception as error:
            raised, outcome = error, [(None, str(error))]
    distributed.broadcast_object_list(outcome, src=0)
    result, message = outcome[0]
    if message is not None:
        raise raised or InputError(message)
    return cast(T, result)


def evaluate_on_main(
    monitor: Monitor, step: int, texts: Sequence[str]
) -> tuple[dict[str, float], bool] | None:
    """Compare texts on the main process, and return the logged values on every process.

    Returns
    -------
    tuple or None
        What is logged, and whether the model has collapsed; None where nothing was measured.
    """

    def compare() -> tuple[dict[str, float], bool] | None:
        evaluation = monitor.evaluate(step, list(texts))
        return None if evaluation is None else (evaluation.logs(), evaluation.collapsed)

    return on_main(compare)


def _together() -> bool:
    return bool(distributed.is_available() and distributed.is_initialized())
