"""Callbacks for the trainers of TRL: on fixed prompts, or on completions of GRPO and RLOO.

:class:`DistributionCallback` is that of transformers, which every trainer of TRL takes. A trainer
with reward functions writes completions at every step, and hands them to these: a
:class:`Completions` keeps them on their way, so that comparing them costs no generation.

::

    completions = Completions()
    trainer = GRPOTrainer(model, completions.passing(reward), args, train_dataset=...)
    trainer.add_callback(
        CompletionsCallback(reference, completions, trainer=trainer, every=20)
    )
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from transformers import Trainer

from calipers.integrations.training import Against, Monitor, check_enough, least_samples
from calipers.integrations.transformers import DistributionCallback, MonitorCallback
from calipers.integrations.writing import gathered
from calipers.numeric.validation import check_whole

if TYPE_CHECKING:
    import torch

    from calipers.evaluate.reference import Reference

__all__ = ["Completions", "CompletionsCallback", "DistributionCallback"]

Reward = Callable[..., Any]


class Completions:
    """Collects the latest completions of a trainer on their way to a reward function.

    Of the completions of one prompt in a batch the first is kept: the others are drawn from the
    same distribution, and intervals are for samples that are independent.

    Parameters
    ----------
    window
        Number of the latest completions that are kept.

    Examples
    --------
    >>> kept = Completions(window=2)
    >>> reward = kept.passing(lambda completions, **_: [float(len(each)) for each in completions])
    >>> reward(prompts=["a", "a", "b"], completions=["x", "xx", "xxx"])
    [1.0, 2.0, 3.0]
    >>> kept.texts
    ['x', 'xxx']
    """

    def __init__(self, window: int = 500) -> None:
        self._kept: deque[str] = deque(maxlen=check_whole("window", window, 1))

    @property
    def texts(self) -> list[str]:
        """The completions on this process, the oldest first."""
        return list(self._kept)

    @property
    def window(self) -> int:
        """Number of completions that are kept."""
        return int(self._kept.maxlen or 0)

    def passing(self, reward: Reward) -> Reward:
        """Wrap a reward function so that it also collects the completions."""

        @functools.wraps(reward)
        def passed(*, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> Any:
            self.take(prompts, completions)
            return reward(prompts=prompts, completions=completions, **columns)

        return passed

    def take(self, prompts: Sequence[Any], completions: Sequence[Any]) -> None:
        """Keep the first completion of every prompt."""
        first: dict[str, str] = {}
        for prompt, completion in zip(prompts, completions, strict=True):
            first.setdefault(repr(prompt), _text(completion))
        self._kept.extend(first.values())


class CompletionsCallback(MonitorCallback):
    """Compares the latest completions of a trainer with a reference every few steps.

    It logs and warns as :class:`DistributionCallback` does. The completions are those of the last
    steps, of whatever prompts came, by the trainer's own temperature; there is no evaluation until
    enough are there for intervals, and so none before training.

    Parameters
    ----------
    reference
        A :class:`calipers.Reference`, embedded once.
    completions
        The :class:`Completions` that collects them.
    trainer, every, metrics, watch, against, patience, stop_on_collapse, options
        As for :class:`DistributionCallback`.

    Raises
    ------
    InputError
        If the reference or the window is too small for intervals.
    """

    def __init__(
        self,
        reference: Reference,
        completions: Completions,
        *,
        trainer: Trainer,
        every: int,
        metrics: str | Sequence[str] = ("precision", "recall", "coverage"),
        watch: str = "recall",
        against: Against = "best",
        patience: int = 2,
        stop_on_collapse: bool = False,
        **options: Any,
    ) -> None:
        monitor = Monitor(reference, metrics, watch, against, patience, options)
        super().__init__(monitor, trainer=trainer, every=every, stop_on_collapse=stop_on_collapse)
        check_enough("the window of completions", completions.window, monitor.k)
        self.completions = completions

    def texts(self, model: torch.nn.Module, tokenizer: Any) -> Sequence[str] | None:
        """The latest completions of all processes, once there are enough."""
        every = [text for part in gathered(self.completions.texts) for text in part]
        return every if len(every) >= least_samples(self.monitor.k) else None


def _text(completion: Any) -> str:
    """A completion as a text: messages are joined."""
    if isinstance(completion, str):
        return completion
    parts = [
        message["content"]
        for message in completion
        if isinstance(message, Mapping) and isinstance(message.get("content"), str)
    ]
    return "\n".join(parts)
