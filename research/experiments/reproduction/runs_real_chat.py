"""Answers of chat models, as Le Bronnec et al. (ACL 2024, table 1) compare stories of them.

AlpacaEval publishes what all five families answer to its own instructions, one answer to each. All
answer the same instructions, so that every answer has one of the reference close by; scores are
given the prompts (:mod:`calipers.evaluate.given_prompts`).
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator

import calipers
from ag_news import DATA
from calipers.errors import InputError
from calipers.results import Comparison
from calipers.samples import SampleSet
from reproduction.item import Line, Setting
from reproduction.verdicts import best, compared, order, shown

MODELS = {
    "Llama-2 70B": "llama-2-70b-chat-hf",
    "Llama-2 13B": "llama-2-13b-chat-hf",
    "Llama-2 7B": "llama-2-7b-chat-hf",
    "Mistral": "Mistral-7B-Instruct-v0.2",
    "Vicuna": "vicuna-13b-v1.5",
}
"""Titles of the models, and their folders."""
LLAMA, MISTRAL = "Llama-2 70B", "Mistral"
VIEWS = {"meaning": "", "form": "form."}
"""Views of MiniLM, and what stands before a score of each."""


def answers(title: str) -> SampleSet:
    """All answers of a model, with their instructions.

    Raises
    ------
    InputError
        If they are not in the folder of data.
    """
    path = DATA / "alpaca_eval" / MODELS[title] / "model_outputs.json"
    if not path.is_file():
        raise InputError(f"there is no alpaca_eval/{MODELS[title]}/{path.name} in {DATA}")
    rows = json.loads(path.read_text("utf-8"))
    return SampleSet.from_texts(
        [row["output"] for row in rows],
        name=title,
        prompts=[row["instruction"] for row in rows],
    )


@functools.cache
def comparison(reference: str, way: str = "residual") -> Comparison:
    """The other four models by one of them, with intervals and the tests between them."""
    return calipers.compare(
        answers(reference),
        {title: answers(title) for title in MODELS if title != reference},
        embedder="minilm",
        metrics="precision,recall",
        shared_prompts=way,
        floor=False,
        threads=1,
    )


def pr_table_1() -> Iterator[Line | Setting]:
    """Overlap with Llama-2 70B and with Mistral, by the scores that know prompts."""
    yield Setting(
        tuple(f"{title} ({folder})" for title, folder in MODELS.items()),
        "MiniLM",
        "300 answers each, to the same instructions",
        0,
        "answers as published by AlpacaEval; scores given the prompts; intervals and differences: "
        "calipers compare, 95 %, prompts paired",
    )
    for reference, precision, recall in (
        (LLAMA, ".95, .94, .99, .93", ".96, .92, .83, .96"),
        (MISTRAL, ".82, .77, .78, .67", ".98, .93, .91, .95"),
    ):
        titles = [title for title in MODELS if title != reference]
        told = ", ".join(titles)
        for score, printed in (("precision", precision), ("recall", recall)):
            ignored = compared(comparison(reference, "ignore"), score, titles)
            yield shown(
                f"{score} by {reference}, meaning, without regard to prompts: {told} (the paper: "
                f"{printed})",
                ignored,
            )
            for view, prefix in VIEWS.items():
                row = compared(comparison(reference), prefix + score, titles)
                yield shown(f"{score} by {reference}, {view}, given the prompts: {told}", row)
    for view, prefix in VIEWS.items():
        yield from _claims(view, prefix)


def _claims(view: str, prefix: str) -> Iterator[Line]:
    """What the paper says of the table, by one view."""
    for score, said in (("precision", ".94, .95: grows"), ("recall", ".92, .96: grows")):
        sizes = ("Llama-2 7B", "Llama-2 13B")
        row = compared(comparison(LLAMA), prefix + score, sizes)
        yield order(f"{score} by Llama-2 70B, {view}: 7B, 13B", said, row)
    titles = [title for title in MODELS if title != LLAMA]
    row = compared(comparison(LLAMA), f"{prefix}recall", titles)
    yield best(
        f"recall by Llama-2 70B, {view}: Mistral's beside the others'",
        "least: .83 beside .92 to .96",
        row,
        titles.index(MISTRAL),
        higher=False,
    )
    titles = [title for title in MODELS if title != MISTRAL]
    row = compared(comparison(MISTRAL), f"{prefix}precision", titles)
    yield best(
        f"precision by Mistral, {view}: Vicuna's beside the others'",
        "least: .67 beside .77 to .82",
        row,
        titles.index("Vicuna"),
        higher=False,
    )
