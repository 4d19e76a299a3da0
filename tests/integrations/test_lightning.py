"""The callback in a real Trainer of Lightning, its loggers read back."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from calipers.errors import InputError
from calipers.integrations.training import CollapseWarning
from extras import need

torch = need("torch")
lightning = need("lightning.pytorch")

from calipers.integrations.lightning import DistributionCallback  # noqa: E402
from calipers.integrations.writing import continuations  # noqa: E402


def module_of(tiny, rate=1e-3):
    class Language(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = tiny.model()

        def training_step(self, batch, _):
            return self.model(input_ids=batch, labels=batch).loss

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters(), lr=rate)

    return Language()


def data_of(tiny, texts):
    rows = torch.tensor([tiny.tokenizer(text)["input_ids"] for text in texts])
    return torch.utils.data.DataLoader(rows, batch_size=4)


def fit(module, data, callbacks, folder, *, steps=4, loggers=(), **options):
    trainer = lightning.Trainer(
        max_steps=steps, callbacks=callbacks, logger=list(loggers), default_root_dir=folder,
        accelerator="cpu", devices=1, enable_progress_bar=False, enable_model_summary=False,
        enable_checkpointing=False, **options,
    )  # fmt: skip
    trainer.fit(module, data)
    return trainer


def watching(tiny, human, prompts, **options):
    def generate(module, batch):
        return continuations(module.model, tiny.tokenizer, batch, max_new_tokens=6)

    return DistributionCallback(human, prompts, generate=generate, **{"every": 2, **options})


@pytest.mark.slow
def test_all_loggers_get_scores_with_intervals(tiny, human, prompts, tmp_path):
    events = need("tensorboard.backend.event_processing.event_accumulator")
    loggers = lightning.loggers
    both = loggers.CSVLogger(tmp_path, "csv"), loggers.TensorBoardLogger(tmp_path, "events")
    callback = watching(tiny, human, prompts)
    trainer = fit(
        module_of(tiny), data_of(tiny, tiny.texts(40, 5)), [callback], tmp_path, steps=5,
        loggers=both,
    )  # fmt: skip
    assert [each.step for each in callback.evaluations] == [0, 2, 4, 5]
    expected = [each.measured.high for each in callback.evaluations]
    with open(f"{both[0].log_dir}/metrics.csv", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["calipers/recall_high"]]
    assert [int(row["step"]) for row in rows] == [0, 2, 4, 5]
    assert [float(row["calipers/recall_high"]) for row in rows] == expected
    found = events.EventAccumulator(both[1].log_dir)
    found.Reload()
    scalars = found.Scalars("calipers/recall_high")
    assert [event.step for event in scalars] == [0, 2, 4, 5]
    np.testing.assert_allclose([event.value for event in scalars], expected, rtol=1e-6)
    kept = trainer.callback_metrics["calipers/recall"]
    assert float(kept) == pytest.approx(callback.evaluations[2].measured.value)


@pytest.mark.slow
def test_training_goes_on_as_if_there_were_no_callback(tiny, human, prompts, tmp_path):
    weights = []
    for callbacks in ([], [watching(tiny, human, prompts, every=1)]):
        module = module_of(tiny)
        torch.manual_seed(0)
        fit(module, data_of(tiny, tiny.texts(40, 5)), callbacks, tmp_path)
        weights.append([each.detach().clone() for each in module.parameters()])
    assert all(torch.equal(*pair) for pair in zip(*weights, strict=True))


@pytest.mark.slow
def test_a_collapse_warns_and_stops(tiny, human, prompts, tmp_path):
    def generate(module, batch):
        return tiny.texts(len(batch), 9) if module.global_step < 4 else ["stone"] * len(batch)

    callback = DistributionCallback(
        human,
        prompts,
        generate=generate,
        every=2,
        batch_size=100,
        patience=1,
        stop_on_collapse=True,
    )
    with pytest.warns(CollapseWarning, match=r"^step 4: recall .* \(mode collapse\)$"):
        trainer = fit(
            module_of(tiny), data_of(tiny, tiny.texts(40, 5)), [callback], tmp_path, steps=10
        )
    assert [each.collapsed for each in callback.evaluations] == [False, False, True]
    assert trainer.global_step == 4


def test_what_cannot_be_is_refused(tiny, human, prompts):
    with pytest.raises(InputError, match=r"^prompts .*100 samples"):
        watching(tiny, human, prompts[:99])
    with pytest.raises(InputError, match=r"^every .*at least 1.* 0$"):
        watching(tiny, human, prompts, every=0)
    with pytest.raises(InputError, match=r"^generate .*function.*NoneType$"):
        DistributionCallback(human, prompts, generate=None, every=2)
