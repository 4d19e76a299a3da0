"""Biographies by two real models after some examples, as Le Bronnec et al. (ACL 2024) look at them.

The examples and the reference are two parts of the biographies that `biographies.py` finds.
SmolLM2 is asked as a chat model, Gemma, which is none, continues the list of examples.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import calipers
from calipers.errors import InputError
from calipers.results import Comparison
from calipers.samples.wording import counted
from reproduction import real_models
from reproduction.item import Line, Setting
from reproduction.real_models import GEMMA, SEED, SMOLLM2
from reproduction.runs_real_chat import VIEWS
from reproduction.runs_real_mauve import MODELS, title
from reproduction.verdicts import compared, order, rises

SHOTS = (1, 4)
SIZE, TOKENS, WORDS, HELD = 120, 100, 60, 200
"""Samples of each set and their tokens; words that are compared; biographies of the reference."""
PEOPLE = "people.jsonl"


@dataclass(frozen=True)
class Biographies:
    """Biographies by a model after some examples.

    Attributes
    ----------
    model
        Name of its folder.
    shots
        Examples in its prompt.
    """

    model: str
    shots: int

    @property
    def name(self) -> str:
        """What the system is called."""
        return f"{real_models.SHORT[self.model]}, {self.shots} shots"

    @property
    def file(self) -> Path:
        """Where its samples lie."""
        return real_models.samples() / (
            f"people-{real_models.SHORT[self.model]}-{self.shots}-shots.jsonl"
        )


SETS = tuple(Biographies(model, shots) for model in MODELS for shots in SHOTS)


def people() -> list[dict[str, str]]:
    """All biographies by people, with names.

    Raises
    ------
    InputError
        If they are not in the folder of samples.
    """
    path = real_models.samples() / PEOPLE
    if not path.is_file():
        raise InputError(
            f"there is no {PEOPLE} in the folder that CALIPERS_SAMPLES names ({path.parent}); "
            "research/experiments/biographies.py writes it"
        )
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def human() -> list[str]:
    """The biographies of the reference, a part drawn at random."""
    rows = people()
    return [rows[place]["text"] for place in np.sort(_drawn(len(rows))[:HELD])]


def _drawn(count: int) -> np.ndarray:
    return np.random.default_rng(SEED).permutation(count)


def examples() -> Path:
    """A file of the biographies that prompts are made of: all but those of the reference."""
    rows, path = people(), real_models.samples() / "people-examples.jsonl"
    chosen = np.sort(_drawn(len(rows))[HELD:]).tolist()
    lines = (json.dumps(rows[place], ensure_ascii=False) + "\n" for place in chosen)
    path.write_text("".join(lines), "utf-8")
    return path


def written(each: Biographies) -> list[str]:
    """The biographies of a set without their names; they are written first where there are none.

    Raises
    ------
    InputError
        If what is there was written otherwise.
    """
    if not each.file.is_file():
        calipers.generate(
            model=str(real_models.folder(each.model)),
            task="biographies",
            prompts=examples(),
            shots=each.shots,
            chat=each.model == SMOLLM2,
            decoding="ancestral",
            n=SIZE,
            max_tokens=TOKENS,
            seed=SEED,
            output=each.file,
        )
    rows = real_models.read(each.file, SIZE, each.model, "ancestral")
    return real_models.cut([str(row["text"]) for row in rows], WORDS)


@functools.cache
def comparison() -> Comparison:
    """All sets beside the biographies by people, with intervals and all tests between them."""
    return calipers.compare(
        real_models.cut(human(), WORDS),
        {each.name: written(each) for each in SETS},
        embedder="minilm",
        metrics="precision,recall",
        floor=False,
        threads=1,
    )


def setting() -> Setting:
    """What the lines of an item rest on."""
    return Setting(
        tuple(real_models.named(model) for model in MODELS),
        "MiniLM",
        f"{SIZE} generated, {HELD} by people",
        SEED,
        f"biographies after {', '.join(map(str, SHOTS))} examples, ancestral sampling, cut to "
        f"{WORDS} words; intervals and differences: calipers compare, 95 %",
    )


def pr_figure_8() -> Iterator[Line | Setting]:
    """Precision and recall by the number of examples in the prompt."""
    yield setting()
    told = ", ".join(map(str, SHOTS))
    for view, prefix in VIEWS.items():
        for model in MODELS:
            names = [each.name for each in SETS if each.model == model]
            row = compared(comparison(), f"{prefix}precision", names)
            yield rises(f"precision, {title(model)}, {view}: {told} examples", "grows", row)
        names = [each.name for each in SETS if each.model == SMOLLM2]
        row = compared(comparison(), f"{prefix}recall", names)
        yield rises(f"recall, {title(SMOLLM2)} (chat), {view}: {told} examples", "grows", row)
        for shots in SHOTS:
            pair = [Biographies(model, shots).name for model in (SMOLLM2, GEMMA)]
            about = f"recall, {view}, {counted(shots, 'example')}"
            yield order(
                f"{about}: {title(SMOLLM2)} (chat), {title(GEMMA)}",
                "the pre-trained model's is higher",
                compared(comparison(), f"{prefix}recall", pair),
            )
