"""Every public function says in a line what it does and shows it in an example, which runs."""

from __future__ import annotations

import importlib
import inspect

import pytest

MODULES = (
    "calipers",
    "calipers.curves",
    "calipers.embedders",
    "calipers.estimate",
    "calipers.explain",
    "calipers.metrics",
    "calipers.report",
    "calipers.report.plots",
    "calipers.samples",
    "calipers.text",
)

CLASSES = (
    "calipers.DivergenceFrontier",
    "calipers.Histograms",
    "calipers.LikelihoodRatios",
    "calipers.PrecisionRecallCurve",
    "calipers.SampleSet",
    "calipers.Score",
    "calipers.embedders.Embedder",
    "calipers.text.NgramKernel",
    "calipers.text.SubsequenceKernel",
)
"""What people make themselves, or read numbers off."""


def functions() -> list[str]:
    found = []
    for module in MODULES:
        public = importlib.import_module(module)
        for name in getattr(public, "__all__", None) or dir(public):
            value = getattr(public, name)
            if not name.startswith("_") and inspect.isroutine(value):
                found.append(f"{module}.{name}")
    return found


def described(name: str) -> str:
    module, _, last = name.rpartition(".")
    return inspect.getdoc(getattr(importlib.import_module(module), last)) or ""


def test_the_functions_are_found():
    assert len(functions()) > 150
    assert {"calipers.compare", "calipers.metrics.mauve", "calipers.text.bleu"} <= {*functions()}


@pytest.mark.parametrize("name", [*functions(), *CLASSES])
def test_a_public_name_has_an_example(name):
    text = described(name)
    first, _, rest = text.partition("\n\n")
    assert first.rstrip().endswith((".", "?"))
    _, heading, example = rest.partition("Examples\n--------\n")
    assert heading
    assert ">>> " in example
