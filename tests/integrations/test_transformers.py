"""The callback in a real Trainer of transformers, its loggers read back."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from calipers.errors import InputError
from calipers.integrations.training import CollapseWarning
from extras import need

torch = need("torch")
transformers = need("transformers")
datasets = need("datasets")

from calipers.integrations.transformers import DistributionCallback  # noqa: E402
from calipers.integrations.writing import continuations, sampling, write  # noqa: E402


def rows_of(tiny, texts):
    made = [tiny.tokenizer(text)["input_ids"] for text in texts]
    return datasets.Dataset.from_dict({"input_ids": made, "labels": made})


def trainer_of(tiny, folder, *, texts=None, steps=4, report_to="none", **arguments):
    args = transformers.TrainingArguments(
        output_dir=str(folder), max_steps=steps, per_device_train_batch_size=4, logging_steps=2,
        report_to=report_to, save_strategy="no", use_cpu=True, disable_tqdm=True, seed=3,
        **{"learning_rate": 1e-3, **arguments},
    )  # fmt: skip
    return transformers.Trainer(
        tiny.model(), args, train_dataset=rows_of(tiny, texts or tiny.texts(40, 5)),
        processing_class=tiny.tokenizer,
    )  # fmt: skip


def watched(trainer, human, prompts, *, every=2, **options):
    callback = DistributionCallback(
        human, prompts, trainer=trainer, every=every, max_new_tokens=6, **options
    )
    trainer.add_callback(callback)
    return callback


@pytest.mark.slow
def test_a_trainer_logs_scores_with_intervals(tiny, human, prompts, tmp_path):
    trainer = trainer_of(tiny, tmp_path, steps=5)
    callback = watched(trainer, human, prompts)
    trainer.train()
    assert [each.step for each in callback.evaluations] == [0, 2, 4, 5]
    logged = [row for row in trainer.state.log_history if "calipers/recall" in row]
    assert [row["step"] for row in logged] == [0, 2, 4, 5]
    for row, each in zip(logged, callback.evaluations, strict=True):
        assert row.keys() >= each.logs().keys()
        assert row["calipers/recall_low"] <= row["calipers/recall"] <= row["calipers/recall_high"]
    assert [row["step"] for row in trainer.state.log_history if "loss" in row] == [2, 4]


@pytest.mark.slow
def test_training_goes_on_as_if_there_were_no_callback(tiny, human, prompts, tmp_path):
    weights, states = [], []
    for with_callback in (False, True):
        trainer = trainer_of(tiny, tmp_path)
        if with_callback:
            watched(trainer, human, prompts, every=1)
        random.seed(1)
        np.random.seed(1)  # noqa: NPY002
        trainer.train()
        weights.append([each.detach().clone() for each in trainer.model.parameters()])
        states.append((random.random(), np.random.random(), float(torch.rand(()))))  # noqa: NPY002
    assert all(torch.equal(*pair) for pair in zip(*weights, strict=True))
    assert states[0] == states[1]


@pytest.mark.slow
def test_a_model_that_learns_one_text_collapses(tiny, human, prompts, tmp_path):
    trainer = trainer_of(
        tiny, tmp_path, texts=[f"{word} stone stone stone stone" for word in tiny.words], steps=40,
        learning_rate=0.05, lr_scheduler_type="constant",
    )  # fmt: skip
    callback = watched(trainer, human, prompts, every=10, patience=1, stop_on_collapse=True)
    with pytest.warns(CollapseWarning, match=r"^step \d+: recall .* \(mode collapse\)$"):
        trainer.train()
    last = callback.evaluations[-1]
    assert last.collapsed
    assert last.measured.high < callback.evaluations[0].measured.low
    assert trainer.state.global_step == last.step < 40
    logged = [row for row in trainer.state.log_history if "calipers/collapsed" in row]
    assert [row["calipers/collapsed"] for row in logged] == [
        float(each.collapsed) for each in callback.evaluations
    ]


@pytest.mark.slow
def test_tensorboard_has_the_scores(tiny, human, prompts, tmp_path, monkeypatch):
    read = need("tensorboard.backend.event_processing.event_accumulator")
    monkeypatch.setenv("TENSORBOARD_LOGGING_DIR", str(tmp_path / "events"))
    trainer = trainer_of(tiny, tmp_path, report_to="tensorboard")
    callback = watched(trainer, human, prompts)
    trainer.train()
    found = read.EventAccumulator(str(tmp_path / "events"))
    found.Reload()
    for name in ("recall", "recall_low", "recall_high", "collapsed"):
        events = found.Scalars(f"train/calipers/{name}")
        assert [event.step for event in events] == [0, 2, 4]
        expected = [each.logs()[f"calipers/{name}"] for each in callback.evaluations]
        np.testing.assert_allclose([event.value for event in events], expected, rtol=1e-6)


@pytest.mark.slow
def test_mlflow_has_the_scores(tiny, human, prompts, tmp_path, monkeypatch):
    mlflow = need("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"file://{tmp_path / 'runs'}")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"file://{tmp_path / 'runs'}")
    trainer = trainer_of(tiny, tmp_path, report_to="mlflow")
    callback = watched(trainer, human, prompts)
    try:
        trainer.train()
    finally:
        mlflow.end_run()
    client = mlflow.MlflowClient()
    (experiment,) = client.search_experiments()
    (run,) = client.search_runs([experiment.experiment_id])
    history = client.get_metric_history(run.info.run_id, "calipers/recall_high")
    assert [each.step for each in history] == [0, 2, 4]
    assert [each.value for each in history] == [each.measured.high for each in callback.evaluations]


# What is written ---------------------------------------------------------------------------------


def test_continuations_are_those_of_single_prompts_without_their_padding(tiny):
    model, prompts = tiny.model().eval(), ["stone", "river cloud engine lamp", ""]
    greedy = {"do_sample": False, "max_new_tokens": 5}
    together = continuations(model, tiny.tokenizer, prompts, **greedy)
    assert together == [
        continuations(model, tiny.tokenizer, [prompt], **greedy)[0] for prompt in prompts
    ]
    assert not any(text.startswith("river cloud engine") for text in together)


def test_messages_go_through_the_chat_template(tiny):
    model, tokenizer = tiny.model().eval(), tiny.tokenizer
    chats = [[{"role": "user", "content": text}] for text in ("stone", "river lamp")]
    template = "{% for message in messages %}cloud {{ message['content'] }} {% endfor %}"
    tokenizer.chat_template = template
    try:
        found = continuations(model, tokenizer, chats, do_sample=False, max_new_tokens=4)
    finally:
        tokenizer.chat_template = None
    plain = ["cloud stone", "cloud river lamp"]
    assert found == continuations(model, tokenizer, plain, do_sample=False, max_new_tokens=4)


def test_samples_are_of_the_models_own_distribution_whatever_its_config_says(tiny):
    model = tiny.model().eval()
    seen = []
    for temperature, top_k in ((1.0, 50), (0.01, 1)):
        model.generation_config.temperature = temperature
        model.generation_config.top_k = top_k
        with sampling(model, 0):
            seen.append(continuations(model, tiny.tokenizer, ["stone"] * 20, max_new_tokens=6))
    assert seen[0] == seen[1]
    assert len(set(seen[0])) > 10


def test_modes_and_random_numbers_are_put_back_after_an_error(tiny):
    model = tiny.model().train()
    model.transformer.drop.eval()
    before = torch.get_rng_state()

    def fail():
        with sampling(model, 0):
            assert not model.training
            raise RuntimeError(float(torch.rand(())))

    with pytest.raises(RuntimeError):
        fail()
    assert torch.equal(torch.get_rng_state(), before)
    assert model.training
    assert model.transformer.h[0].training
    assert not model.transformer.drop.training


@pytest.mark.slow
def test_what_is_written_is_checked(tiny, human, prompts, tmp_path):
    trainer = trainer_of(tiny, tmp_path)
    with pytest.raises(InputError, match=r"^prompts .*100 samples.* 30$"):
        watched(trainer, human, prompts[:30])
    with pytest.raises(InputError, match=r"^every .*at least 1.* 0$"):
        watched(trainer, human, prompts, every=0)
    with pytest.raises(InputError, match=r"^trainer .*transformers Trainer.*str$"):
        watched("trainer", human, prompts)
    with pytest.raises(InputError, match=r"^generate .*4 prompts.* 1 of \['int'"):
        write(tiny.model(), prompts[:4], lambda batch: [3])
    trainer.processing_class = trainer.callback_handler.processing_class = None
    watched(trainer, human, prompts)
    with pytest.raises(InputError, match=r"tokenizer .*processing_cla"):
        trainer.train()


@pytest.mark.slow
def test_another_way_to_write(tiny, human, prompts, tmp_path):
    trainer, asked = trainer_of(tiny, tmp_path, steps=2), []

    def generate(model, batch):
        asked.append((model.training, len(batch)))
        return tiny.texts(len(batch), len(asked))

    callback = watched(trainer, human, prompts, generate=generate, batch_size=60)
    with warnings.catch_warnings():
        warnings.simplefilter("error", CollapseWarning)
        trainer.train()
    assert asked == [(False, 60), (False, 40)] * 2
    assert callback.evaluations[0].measured.value > 0.5


PROCESS = """
import sys

sys.path.insert(0, {here!r})
from conftest import WORDS, drawn_texts, tiny_model
from test_transformers import train_together

train_together(tiny_model(), drawn_texts, sys.argv[1])
"""


def train_together(tiny, drawn_texts, folder):
    """Train two steps and print what this process knows."""
    import calipers
    from calipers.integrations.writing import on_main

    human = calipers.Reference(drawn_texts(120, 1), embedder="tfidf:size=10", cache=False)
    trainer = trainer_of(tiny, folder, steps=2)
    callback = watched(trainer, human, drawn_texts(100, 4), every=1, batch_size=16)
    texts = callback.texts(trainer.model, tiny.tokenizer)
    trainer.train()
    logged = [
        row["calipers/recall"] for row in trainer.state.log_history if "calipers/recall" in row
    ]

    def refuse():
        raise InputError("refused on the main process")

    with pytest.raises(InputError, match="refused on the main process"):
        on_main(refuse)
    found = {"texts": texts, "evaluations": len(callback.evaluations), "logged": logged}
    together = torch.distributed.is_initialized()
    rank = torch.distributed.get_rank() if together else 0
    Path(f"{folder}-{rank}.json").write_text(json.dumps(found), encoding="utf-8")
    if together:
        torch.distributed.destroy_process_group()


@pytest.mark.slow
def test_two_processes_write_what_one_writes_and_the_main_one_compares(tiny, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(PROCESS.format(here=str(Path(__file__).parent)), encoding="utf-8")
    done = subprocess.run(
        [
            sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2",
            str(script), str(tmp_path / "two"),
        ],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    train_together(tiny, tiny.texts, str(tmp_path / "one"))
    main, other, alone = (
        json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("two-0", "two-1", "one-0")
    )
    assert (main["evaluations"], other["evaluations"]) == (3, 0)
    assert main["texts"] == other["texts"] == alone["texts"]  # whoever wrote them
    assert main["logged"] == other["logged"]
    assert main["logged"][0] == alone["logged"][0]  # the model before training is the same
