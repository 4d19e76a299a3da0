"""A callback for the Trainer of Lightning that compares generated texts with a reference.

::

    from calipers.integrations.lightning import DistributionCallback
    from calipers.integrations.writing import continuations

    callback = DistributionCallback(
        reference,
        prompts,
        generate=lambda module, prompts: continuations(module.model, tokenizer, prompts),
        every=100,
    )
    lightning.Trainer(callbacks=[callback], logger=[...]).fit(module, data)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from lightning.pytorch import Callback, LightningModule, Trainer

from calipers.errors import InputError
from calipers.integrations.training import Against, Monitor, TrainingEvaluation, check_enough
from calipers.integrations.writing import BATCH, Prompt, evaluate_on_main, write
from calipers.numeric.validation import check_whole

if TYPE_CHECKING:
    from calipers.evaluate.reference import Reference

Generate = Callable[[Any, list[Prompt]], Sequence[str]]


class DistributionCallback(Callback):  # type: ignore[misc]
    """Compares texts for fixed prompts with a reference every few steps.

    Writes ``calipers/recall``, ``calipers/recall_low``, ``calipers/recall_high`` and the same of
    every other score, ``calipers/collapsed`` and ``calipers/seconds`` to all loggers of the
    trainer, and keeps them among its metrics, which checkpoints and early stopping may monitor.

    Parameters
    ----------
    reference
        A :class:`calipers.Reference`, embedded once.
    prompts
        At least 100 with k = 4; one text is written for each.
    generate
        Takes the module and some prompts, gives as many texts; for models of transformers
        :func:`calipers.integrations.writing.continuations` does that.
    every
        Steps of the optimizer between evaluations; there is one before the first step, and one
        after the last.
    metrics, watch, against, patience
        As for :class:`~calipers.integrations.training.Monitor`.
    stop_on_collapse
        Whether a collapse ends the training.
    seed, batch_size
        Seed and batch size of the samples. The seed is the same in every evaluation.
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
        generate: Generate,
        every: int,
        metrics: str | Sequence[str] = ("precision", "recall", "coverage"),
        watch: str = "recall",
        against: Against = "best",
        patience: int = 2,
        stop_on_collapse: bool = False,
        seed: int = 0,
        batch_size: int = BATCH,
        **options: Any,
    ) -> None:
        super().__init__()
        check_whole("every", every, 1)
        self.monitor = Monitor(reference, metrics, watch, against, patience, options)
        check_enough("prompts", len(prompts), self.monitor.k)
        if not callable(generate):
            raise InputError(
                "generate must be a function of the module and some prompts; found "
                f"{type(generate).__name__}"
            )
        self.prompts, self.every = tuple(prompts), every
        self.stop_on_collapse = stop_on_collapse
        self._generate, self._seed, self._batch_size = generate, seed, batch_size
        self._last = -1

    @property
    def evaluations(self) -> list[TrainingEvaluation]:
        """All evaluations so far, on the main process."""
        return self.monitor.evaluations

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Evaluate the module before training."""
        self._last = -1
        self._evaluate(trainer, pl_module)

    def on_train_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
    ) -> None:
        """Evaluate the module every few steps."""
        if trainer.global_step % self.every == 0:
            logs = self._evaluate(trainer, pl_module)
            if logs is not None:
                pl_module.log_dict(logs, logger=False, on_step=True, on_epoch=False, batch_size=1)

    def on_train_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Evaluate the module after the last step."""
        self._evaluate(trainer, pl_module)

    def _evaluate(self, trainer: Trainer, module: LightningModule) -> dict[str, float] | None:
        step = int(trainer.global_step)
        if step == self._last:
            return None
        self._last = step
        texts = write(
            module,
            self.prompts,
            lambda prompts: self._generate(module, prompts),
            seed=self._seed,
            batch_size=self._batch_size,
        )
        outcome = evaluate_on_main(self.monitor, step, texts)
        if outcome is None:
            return None
        logs, collapsed = outcome
        for logger in trainer.loggers:
            logger.log_metrics(logs, step=step)
        if collapsed and self.stop_on_collapse:
            trainer.should_stop = True
        return logs
