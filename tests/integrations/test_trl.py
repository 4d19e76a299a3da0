"""The callbacks in real trainers of TRL: GRPO, by prompts and by its own completions, and SFT."""

from __future__ import annotations

import pytest

from calipers.errors import InputError
from extras import need

need("torch")
trl = need("trl")
datasets = need("datasets")

from calipers.integrations.trl import (  # noqa: E402
    Completions,
    CompletionsCallback,
    DistributionCallback,
)


def reward_of_stones(completions, **_):
    return [float(text.count("stone")) for text in completions]


def grpo(tiny, folder, prompts, reward, *, steps=4, **arguments):
    args = trl.GRPOConfig(
        output_dir=str(folder), max_steps=steps, per_device_train_batch_size=32, num_generations=2,
        max_completion_length=6, logging_steps=1, report_to="none", save_strategy="no",
        use_cpu=True, disable_tqdm=True, bf16=False, gradient_checkpointing=False,
        **{"learning_rate": 1e-3, **arguments},
    )  # fmt: skip
    rows = datasets.Dataset.from_dict({"prompt": prompts})
    return trl.GRPOTrainer(
        tiny.model(), reward, args, train_dataset=rows, processing_class=tiny.tokenizer
    )


@pytest.mark.slow
def test_grpo_keeps_its_own_averages_beside_the_scores(tiny, human, prompts, tmp_path):
    completions = Completions(window=150)
    trainer = grpo(tiny, tmp_path, prompts, completions.passing(reward_of_stones), steps=8)
    asked = DistributionCallback(human, prompts, trainer=trainer, every=4, max_new_tokens=6)
    trainer.add_callback(asked)
    passing = CompletionsCallback(human, completions, trainer=trainer, every=2)
    trainer.add_callback(passing)
    trainer.train()
    history = trainer.state.log_history
    assert [each.step for each in asked.evaluations] == [0, 4, 8]
    # At most 16 prompts a step, of which 100 are enough: none before the seventh
    assert [each.step for each in passing.evaluations] == [8]
    assert passing.evaluations[0].comparison["generated"].summary.n >= 100
    assert [row["step"] for row in history if "calipers/recall_low" in row] == [0, 4, 8, 8]
    rewards = [row["step"] for row in history if "rewards/reward_of_stones/mean" in row]
    assert rewards == list(range(1, 9))
    assert not any("reward" in row for row in history if "calipers/recall" in row)


@pytest.mark.slow
def test_sft_takes_the_callback(tiny, human, prompts, tmp_path):
    args = trl.SFTConfig(
        output_dir=str(tmp_path), max_steps=3, per_device_train_batch_size=4, logging_steps=1,
        report_to="none", save_strategy="no", use_cpu=True, disable_tqdm=True, bf16=False,
        gradient_checkpointing=False, max_length=16,
    )  # fmt: skip
    rows = datasets.Dataset.from_dict({"text": tiny.texts(20, 5)})
    trainer = trl.SFTTrainer(
        tiny.model(), args, train_dataset=rows, processing_class=tiny.tokenizer
    )
    callback = DistributionCallback(human, prompts, trainer=trainer, every=3, max_new_tokens=6)
    trainer.add_callback(callback)
    trainer.train()
    assert [each.step for each in callback.evaluations] == [0, 3]
    assert sum("calipers/precision_high" in row for row in trainer.state.log_history) == 2
    assert [row["step"] for row in trainer.state.log_history if "loss" in row] == [1, 2, 3]


@pytest.mark.slow
def test_completions_are_the_latest_one_of_each_prompt(tiny, human, tmp_path):
    kept = Completions(window=3)
    reward = kept.passing(reward_of_stones)
    assert reward.__name__ == "reward_of_stones"
    assert (
        reward(prompts=["a", "a", "b", "b"], completions=["1", "2", "3", "4"], step=[1]) == [0] * 4
    )
    assert kept.texts == ["1", "3"]
    chat = [[{"role": "assistant", "content": "x"}, {"role": "assistant", "content": None}]]
    kept.take([[{"role": "user", "content": "a"}]], chat)
    kept.take(["c"], ["last"])
    assert kept.texts == ["3", "x", "last"]
    with pytest.raises(InputError, match=r"^window .*at least 1.* 0$"):
        Completions(window=0)
    with pytest.raises(InputError, match=r"^the window .*100 sam"):
        CompletionsCallback(human, kept, trainer=grpo(tiny, tmp_path, ["a"], reward), every=1)
