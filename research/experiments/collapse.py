"""A tiny model is rewarded into collapse: its reward rises, its recall falls, the callback warns.

``python research/experiments/collapse.py --plot docs/images/collapse.svg`` trains a GPT-2 of some
hundred thousand parameters on prose that every Python carries, then has TRL's GRPO raise a reward
that can be gamed: the share of words that come from a list of the field's terms. The callback of
``calipers.integrations.trl`` compares what the model writes for fixed prompts with how people went
on, every ten steps. Nothing is downloaded; on two cores it takes some minutes. See
docs/training.md.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import datasets
import numpy as np
import tokenizers
import torch
import transformers
import trl

from calipers import Reference
from calipers.demo.corpora import paragraphs
from calipers.integrations.training import CollapseWarning, TrainingEvaluation
from calipers.integrations.trl import DistributionCallback
from calipers.report.plots import Figure
from calipers.report.plots.style import colour, dashes, marker, styled

PROMPT, CONTINUED = 4, 16
"""Words of a prompt, and words that follow it."""
TOKENS = 32
"""Of a continuation that the model writes."""
TERMS = frozenset(
    ["object", "class", "method", "function", "value", "name", "type", "module", "attribute"]
)
STEPS, EVERY = 80, 10


def windows(texts: list[str]) -> list[tuple[str, str]]:
    """Cut texts into prompts and what people wrote next."""
    size = PROMPT + CONTINUED
    cut = []
    for text in texts:
        words = text.split()
        for start in range(0, len(words) - size + 1, size):
            part = words[start : start + size]
            cut.append((" ".join(part[:PROMPT]), " ".join(part[PROMPT:])))
    return cut


def reward(completions: list[str], **_: Any) -> list[float]:
    """The share of words that are terms of the field: a stand-in for "is it on topic?"."""
    shares = []
    for text in completions:
        words = [word.strip(".,;:()\"'").lower() for word in text.split()]
        shares.append(sum(word in TERMS for word in words) / max(len(words), 5))
    return shares


def make_tokenizer(texts: list[str]) -> transformers.PreTrainedTokenizerFast:
    """A byte-level tokenizer of 1,500 tokens."""
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    made.train_from_iterator(
        texts,
        tokenizers.trainers.BpeTrainer(
            vocab_size=1500,
            special_tokens=["<s>", "</s>"],
            initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token="<s>", eos_token="</s>", pad_token="</s>"
    )


def pretrain(
    texts: list[str], tokenizer: transformers.PreTrainedTokenizerFast, steps: int
) -> transformers.GPT2LMHeadModel:
    """Train a model of two layers on runs of 64 tokens."""
    torch.manual_seed(0)
    model = transformers.GPT2LMHeadModel(
        transformers.GPT2Config(
            vocab_size=len(tokenizer),
            n_embd=96,
            n_layer=2,
            n_head=4,
            n_positions=128,
            bos_token_id=0,
            eos_token_id=1,
            pad_token_id=1,
            resid_pdrop=0.1,
        )
    )
    ids = torch.tensor(tokenizer(" ".join(texts))["input_ids"])
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    loss = 0.0
    model.train()
    for _ in range(steps):
        starts = torch.randint(len(ids) - 64, (16,))
        batch = torch.stack([ids[each : each + 64] for each in starts.tolist()])
        found = model(input_ids=batch, labels=batch).loss
        found.backward()
        optimizer.step()
        optimizer.zero_grad()
        loss = found.item()
    parameters = sum(each.numel() for each in model.parameters())
    print(
        f"{parameters:,} parameters, {len(ids):,} tokens of prose, {steps} steps, loss {loss:.2f}"
    )
    return model


def reinforce(
    model: transformers.GPT2LMHeadModel,
    tokenizer: transformers.PreTrainedTokenizerFast,
    prompts: list[str],
    reference: Reference,
    asked: list[str],
    folder: str,
) -> tuple[trl.GRPOTrainer, DistributionCallback, list[str], float]:
    """Train by GRPO with the callback; also give its warnings, and how long the training took."""
    args = trl.GRPOConfig(
        output_dir=folder,
        max_steps=STEPS,
        learning_rate=1.5e-4,
        lr_scheduler_type="constant",
        beta=0.0,
        per_device_train_batch_size=64,
        num_generations=8,
        max_completion_length=TOKENS,
        logging_steps=1,
        report_to="none",
        save_strategy="no",
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        disable_tqdm=True,
        seed=0,
    )
    trainer = trl.GRPOTrainer(
        model,
        reward,
        args,
        train_dataset=datasets.Dataset.from_dict({"prompt": prompts}),
        processing_class=tokenizer,
    )
    trainer.remove_callback(transformers.PrinterCallback)
    callback = DistributionCallback(
        reference,
        asked,
        trainer=trainer,
        every=EVERY,
        patience=1,  # to warn at the first fall, which is looked at here
        max_new_tokens=TOKENS,
        batch_size=128,
    )
    trainer.add_callback(callback)
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CollapseWarning)
        trainer.train()
    said = [str(each.message) for each in caught if each.category is CollapseWarning]
    return trainer, callback, said, time.perf_counter() - start


# What came of it ---------------------------------------------------------------------------------


def rewards_of(trainer: trl.GRPOTrainer) -> dict[int, float]:
    """The mean reward of every step."""
    return {row["step"]: row["reward"] for row in trainer.state.log_history if "reward" in row}


def around(rewards: dict[int, float], step: int) -> float:
    """The mean reward of the steps up to an evaluation and since the one before."""
    near = [value for at, value in rewards.items() if step - EVERY < at <= max(step, 1)]
    return float(np.mean(near))


def tell(rewards: dict[int, float], evaluations: list[TrainingEvaluation]) -> None:
    """Print a line for every evaluation."""
    print(f"{'step':>4}  {'reward':>6}  {'recall':>17}  {'precision':>17}  collapsed")
    for each in evaluations:
        print(
            f"{each.step:4}  {around(rewards, each.step):6.2f}  {each.scores['recall']!s:>17}  "
            f"{each.scores['precision']!s:>17}  {'yes' if each.collapsed else 'no'}"
        )


def figure(rewards: dict[int, float], evaluations: list[TrainingEvaluation]) -> Figure:
    """Draw the reward above recall with its interval; a line where the callback warned."""
    steps = [each.step for each in evaluations]
    recall = [each.scores["recall"] for each in evaluations]
    warned = next((each for each in evaluations if each.collapsed), None)
    with styled():
        drawn = Figure(figsize=(6.4, 4.4), layout="constrained")
        above, below = drawn.subplots(2, 1, sharex=True)
        above.plot(list(rewards), list(rewards.values()), color=colour(1), linestyle=dashes(0))
        above.set_ylabel("Mean reward")
        above.set_title("The reward rises …", loc="left")
        below.fill_between(
            steps,
            [each.low for each in recall],
            [each.high for each in recall],
            color=colour(0),
            alpha=0.2,
            lw=0,
            label="95 % interval",
        )
        below.plot(
            steps,
            [each.value for each in recall],
            color=colour(0),
            marker=marker(0),
            label="Recall",
        )
        below.set_ylim(0, 1)
        below.set_ylabel("Recall")
        below.set_xlabel("Steps of GRPO")
        below.set_title("… while recall falls", loc="left")
        if warned is not None and warned.earlier is not None:
            below.axhline(
                warned.earlier.measured.low,
                color="#444444",
                linestyle=":",
                label=f"lower end at step {warned.earlier.step}",
            )
            for panel in (above, below):
                panel.axvline(warned.step, color=colour(3), linestyle="--", label="warning")
        below.legend(loc="upper right", ncols=2)
    return drawn


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", type=Path, help="where the figure is written")
    parser.add_argument("--steps", type=int, default=441, help="of training on prose")
    asked = parser.parse_args()
    texts = paragraphs()
    order = np.random.default_rng(0).permutation(len(texts))
    held_out = [texts[place] for place in order[: len(texts) // 2]]
    seen = [texts[place] for place in order[len(texts) // 2 :]]
    tokenizer = make_tokenizer(seen)
    model = pretrain(seen, tokenizer, asked.steps)
    cut = windows(held_out)
    prompts, continued = [prompt for prompt, _ in cut], [text for _, text in cut]
    half = len(cut) // 2
    # The reference continues other prompts than those that are asked, as both are held out
    reference = Reference(continued[:half], name="human")
    with TemporaryDirectory() as folder:
        trainer, callback, said, seconds = reinforce(
            model, tokenizer, prompts[half:], reference, prompts[half:], folder
        )
    rewards, evaluations = rewards_of(trainer), callback.evaluations
    tell(rewards, evaluations)
    for each in said:
        print(f"CollapseWarning: {each}")
    spent, n = [each.seconds for each in evaluations], len(prompts) - half
    print(
        f"{STEPS} steps in {seconds:.0f} s; {len(spent)} comparisons of {n} texts with {half}: "
        f"{spent[0]:.1f} s the first, {np.median(spent[1:]):.1f} s each later one"
    )
    latest = evaluations[-1].comparison
    if latest is not None:
        written = latest["generated"].samples[0].texts
        for text, times in Counter(written).most_common(2) if written is not None else ():
            print(f"{times} of {n}: {text.strip()[:70]!r}")
    if asked.plot is not None:
        figure(rewards, evaluations).savefig(asked.plot)


if __name__ == "__main__":
    main()
