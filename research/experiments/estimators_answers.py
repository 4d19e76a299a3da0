"""Eleven language models' answers to one set of instructions: near sets, ranked by every estimator.

The first 150 answers of each model of AlpacaEval against those of gpt4_1106_preview, by form.
Spearman's correlation of MAUVE by each estimator, by whose samples are averaged over, with MAUVE*;
and how many systems come out at 1.000 and are no longer told apart.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from calipers import divergence_frontier, metrics
from calipers.catalogue.estimation import PAIRED_C
from calipers.estimate.axes import preprocess
from calipers.uncertainty.correlation import spearman
from estimators_decodings import ESTIMATORS, NARROW, POINTS
from reproduction import continued

REFERENCE, SIZE, VIEW = "gpt4_1106_preview", 150, "form"
NAMES = (*NARROW, "classifier, all axes")


def table(folder: Path) -> Iterator[str]:
    """The correlations, and in brackets the systems at 1.000, as Markdown."""
    texts = answers(folder)
    vectors = {name: continued.embed(each, VIEW) for name, each in texts.items()}
    reference = vectors.pop(REFERENCE)
    star = [metrics.mauve(reference, rows).mauve_star.value for rows in vectors.values()]
    yield "| estimator | " + " | ".join(POINTS) + " |"
    yield "| --- " * (len(POINTS) + 1) + "|"
    for name in NAMES:
        c, areas = PAIRED_C[name.partition(",")[0]], []
        for rows in vectors.values():
            sets = preprocess(reference, rows, threads=1)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                ratios = ESTIMATORS[name](sets.reference, sets.generated)
            areas.append([divergence_frontier(ratios, points=each).area(c) for each in POINTS])
        cells = [
            f"{spearman(star, column).value:.3f} ({(column > 0.9995).sum()})"
            for column in np.array(areas).T
        ]
        yield f"| {name} | " + " | ".join(cells) + " |"


def answers(folder: Path) -> dict[str, list[str]]:
    """The first answers of every model, by its name."""
    found = {}
    for path in sorted((folder / "alpaca_eval").glob("*/model_outputs.json")):
        rows = json.loads(path.read_text("utf-8"))
        found[path.parent.name] = [row["output"] for row in rows[:SIZE]]
    return found
