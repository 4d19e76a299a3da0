"""Creative texts by two real models, as Le Bronnec et al. (ACL 2024, table 1) compare models.

There is no reference by people: what SmolLM2 answers to fifty instructions is the reference, and
beside it stand other answers of SmolLM2, drawn anew or more narrowly, and texts of Gemma, which is
given the instructions as headings.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import calipers
from calipers.results import Comparison
from reproduction import real_models
from reproduction.item import Line, Setting
from reproduction.real_models import GEMMA, SMOLLM2
from reproduction.runs_real_chat import VIEWS
from reproduction.runs_real_mauve import MODELS
from reproduction.verdicts import compared, order, shown

SIZE, TOKENS, WORDS = 200, 110, 80
SETS = {
    "chat": (SMOLLM2, "ancestral", 0),
    "chat-seed1": (SMOLLM2, "ancestral", 1),
    "chat-nucleus": (SMOLLM2, "top_p=0.9", 0),
    "chat-cool": (SMOLLM2, "temperature=0.7", 0),
    "gemma": (GEMMA, "ancestral", 0),
}
"""File names of the sets, and who wrote them by which decoding and seed; the first is compared
with."""
ANEW, NUCLEUS, COOL, OTHER = list(SETS)[1:]


@functools.cache
def written(name: str) -> tuple[str, ...]:
    """The texts of a set; they are written first where there are none.

    Raises
    ------
    InputError
        If what is there was written otherwise.
    """
    model, decoding, seed = SETS[name]
    path = real_models.samples() / f"creative-{name}.jsonl"
    if not path.is_file():
        calipers.generate(
            model=str(real_models.folder(model)),
            task="creative",
            chat=model == SMOLLM2,
            decoding=decoding,
            n=SIZE,
            max_tokens=TOKENS,
            seed=seed,
            output=path,
        )
    rows = real_models.read(path, SIZE, model, decoding, seed)
    return tuple(real_models.cut([str(row["text"]) for row in rows], WORDS))


@functools.cache
def comparison() -> Comparison:
    """All other sets by the first, with intervals and all tests between them."""
    reference, *others = SETS
    return calipers.compare(
        list(written(reference)),
        {name: list(written(name)) for name in others},
        embedder="minilm",
        metrics="precision,recall",
        floor=False,
        threads=1,
    )


def pr_table_1() -> Iterator[Line | Setting]:
    """Overlap of the other sets with SmolLM2's own."""
    yield Setting(
        tuple(real_models.named(model) for model in MODELS),
        "MiniLM",
        f"{SIZE} each, four to each of fifty instructions",
        real_models.SEED,
        f"cut to {WORDS} words, without regard to prompts; intervals and differences: calipers "
        "compare, 95 %",
    )
    for view, prefix in VIEWS.items():
        for score in ("precision", "recall"):
            row = compared(comparison(), prefix + score, (ANEW, NUCLEUS, COOL, OTHER))
            yield shown(
                f"{score} by SmolLM2, {view}: drawn anew, nucleus 0.9, temperature 0.7, Gemma", row
            )
        for narrow, told in ((NUCLEUS, "nucleus 0.9"), (COOL, "temperature 0.7")):
            yield order(
                f"recall by SmolLM2, {view}: {told}, drawn anew",
                "what lies within the reference and does not cover it: precise (.99), of lower "
                "recall (.83)",
                compared(comparison(), f"{prefix}recall", (narrow, ANEW)),
            )
        yield order(
            f"precision by SmolLM2, {view}: Gemma, drawn anew",
            "texts outside the reference: lower precision (.67 to .82)",
            compared(comparison(), f"{prefix}precision", (OTHER, ANEW)),
        )
