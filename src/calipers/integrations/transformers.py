"""Callbacks for the Trainer of transformers, and for trainers built on it such as TRL's.

::

    from calipers import Reference
    from calipers.integrations.transformers import DistributionCallback

    reference = Reference("human.jsonl")
    trainer = Trainer(model, args, train_dataset=..., processing_class=tokenizer)
    trainer.add_callback(DistributionCallback(reference, prompts, trainer=trainer, every=100))
    trainer.train()

Scores go to ``Trainer.log``, and from there to whatever ``report_to`` names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from transformers import (
    PreTrainedTokenizerBase,
    Trainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)

from calipers.errors import InputError
from calipers.integrations.training import Against, Monitor, TrainingEvaluation, check_enough
from calipers.integrations.writing import (
    BATCH,
    NEW_TOKENS,
    Prompt,
    continuations,
    evaluate_on_main,
    write,
)
from calipers.numeric.validation import check_whole

if TYPE_CHECKING:
    import torch

    from calipers.evaluate.reference import Reference

Generate = Callable[[Any, list[Prompt]], Sequence[str]]


class MonitorCallback(TrainerCallback):  # type: ignore[misc]
    """Compares texts of the model with a reference every few steps; base of the other callbacks.

    Parameters
    ----------
    monitor
        The monitor that compares and decides.
    trainer
        The trainer that it is added to, whose log it writes to.
    every
        Steps of training between evaluations. There is one before the first step, which what comes
        later is held against, and one after the last.
    stop_on_collapse
        Whether a collapse ends the training, after the step in which it is found.
    """

    def __init__(
        self, monitor: Monitor, *, trainer: Trainer, every: int, stop_on_collapse: bool = False
    ) -> None:
        check_whole("every", every, 1)
        if not isinstance(trainer, Trainer):
            raise InputError(
                f"trainer must be a transformers Trainer; found {type(trainer).__name__}"
            )
        self.monitor, self.every = monitor, every
        self.stop_on_collapse = stop_on_collapse
        self._trainer, self._last = trainer, -1

    @property
    def evaluations(self) -> list[TrainingEvaluation]:
        """All evaluations so far, on the main process."""
        return self.monitor.evaluations

    def texts(self, model: torch.nn.Module, tokenizer: Any) -> Sequence[str] | None:
        """Return the texts of all processes to compare; None for no evaluation."""
        raise NotImplementedError

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **parts: Any
    ) -> None:
        """Evaluate the model before training."""
        self._last = -1
        self._evaluate(state, control, parts)

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **parts: Any
    ) -> None:
        """Evaluate the model every few steps, and after the last."""
        if state.global_step % self.every == 0 or state.global_step >= state.max_steps:
            self._evaluate(state, control, parts)

    def _evaluate(
        self, state: TrainerState, control: TrainerControl, parts: dict[str, Any]
    ) -> None:
        step = state.global_step
        if step == self._last:
            return
        self._last = step
        texts = self.texts(parts["model"], parts.get("processing_class"))
        if texts is None:
            return
        outcome = evaluate_on_main(self.monitor, step, texts)
        if outcome is None:
            return
        logs, collapsed = outcome
        # Trainers of TRL empty their own averages whenever their log is written: not through it.
        # Whatever is logged takes back that the trainer was about to log its loss.
        due = control.should_log
        Trainer.log(self._trainer, logs)
        control.should_log = due
        if collapsed and self.stop_on_collapse:
            control.should_training_stop = True


class DistributionCallback(MonitorCallback):
    """Compares texts for fixed prompts with a reference every few steps.

    Logs ``calipers/recall``, ``calipers/recall_low``, ``calipers/recall_high`` and the same of
    every other score, ``calipers/collapsed`` (0 or 1) and ``calipers/seconds``. Warns with a
    :class:`~calipers.integrations.training.CollapseWarning` when recall falls out of its interval.

    Parameters
    ----------
    reference
        A :class:`calipers.Reference`, embedded once: texts that continue the prompts as people do.
    prompts
        Texts, or lists of messages that the tokenizer's chat template takes; at least 100 with
        k = 4, one text is written for each.
    trainer
        The trainer that the callback is added to: ``trainer.add_callback(callback)``.
    every
        Steps of training between evaluations.
    metrics, watch, against, patience
        As for :class:`~calipers.integrations.training.Monitor`.
    stop_on_collapse
        Whether a collapse ends the training.
    max_new_tokens, generation
        Length limit of each text, and further arguments of ``model.generate``.
    seed, batch_size
        Seed and batch size of the samples. The seed is the same in every evaluation.
    generate
        Writes the texts instead: takes the model and some prompts, gives as many texts.
    options
        Further options of :func:`calipers.compare`.

    Raises
    ------
    InputError
        If there are too few prompts or samples for intervals, or an option is out of its range.
    """

    def __init__(
        self,
        reference: Reference,
        prompts: Sequence[Prompt],
        *,
        trainer: Trainer,
        every: int,
        metrics: str | Sequence[str] = ("precision", "recall", "coverage"),
        watch: str = "recall",
        against: Against = "best",
        patience: int = 2,
        stop_on_collapse: bool = False,
        max_new_tokens: int = NEW_TOKENS,
        generation: dict[str, Any] | None = None,
        seed: int = 0,
        batch_size: int = BATCH,
        generate: Generate | None = None,
        **options: Any,
    ) -> None:
        monitor = Monitor(reference, metrics, watch, against, patience, options)
        super().__init__(monitor, trainer=trainer, every=every, stop_on_collapse=stop_on_collapse)
        check_enough("prompts", len(prompts), monitor.k)
        check_whole("max_new_tokens", max_new_tokens, 1)
        self.prompts = tuple(prompts)
        self._generate, self._seed, self._batch_size = generate, seed, batch_size
        self._generation = {"max_new_tokens": max_new_tokens, **(generation or {})}

    def texts(self, model: torch.nn.Module, tokenizer: Any) -> Sequence[str]:
        """Write a text for every prompt."""

        def write_batch(prompts: list[Prompt]) -> Sequence[str]:
            if self._generate is not None:
                return self._generate(model, prompts)
            if not isinstance(tokenizer, PreTrainedTokenizerBase):
                raise InputError(
                    "the trainer must have its tokenizer as processing_class, or the callback "
                    f"generate=; found {type(tokenizer).__name__}"
                )
            return continuations(cast(Any, model), tokenizer, prompts, **self._generation)

        return write(model, self.prompts, write_batch, seed=self._seed, batch_size=self._batch_size)
