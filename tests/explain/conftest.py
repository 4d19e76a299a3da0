"""A small world whose gap is known: five places, of which one is lacking and one new."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from calipers.estimate import neighbourhoods, preprocess, quantise
from calipers.explain import Evidence
from calipers.metrics.copying import are_near_copies

PLACES = ("harbour", "orchard", "engine", "violin", "glacier")
SHARED = ("the", "of", "and", "to", "in", "was", "that", "she", "with", "for", "on", "from")
K = 3


@pytest.fixture(scope="session")
def world():
    """Reference samples of places 0 to 3, generated ones of 1 to 4: 0 is lacking, 4 new."""
    rng = np.random.default_rng(5)
    centres = 6 * np.eye(len(PLACES), 12)

    def draw(places, each):
        labels = np.repeat(places, each)
        rows = centres[labels] + 0.6 * rng.standard_normal((len(labels), 12))
        texts = [
            " ".join([PLACES[place], f"{PLACES[place]}s", *rng.choice(SHARED, 12)])
            for place in labels
        ]
        return labels, rows.astype(np.float32), texts

    reference, generated = draw([0, 1, 2, 3], 40), draw([1, 2, 3, 4], 30)
    return SimpleNamespace(
        reference=reference[1],
        generated=generated[1],
        reference_texts=reference[2],
        generated_texts=generated[2],
        reference_places=reference[0],
        generated_places=generated[0],
        space=preprocess(reference[1], generated[1], pca=None, threads=1),
    )


@pytest.fixture(scope="session")
def evidence(world):
    """All that can be measured of it."""
    near = neighbourhoods(world.space.reference, world.space.generated, k_max=6, threads=1)
    cells = quantise(world.space.reference, world.space.generated, buckets=14, threads=1)
    return Evidence(
        world.reference,
        world.generated,
        reference_texts=world.reference_texts,
        generated_texts=world.generated_texts,
        neighbours={
            "nearest_reference": near.reference.nearest,
            "reference_distance": near.reference.distance,
            "reference_first_k": near.reference.first,
            "nearest_generated": near.generated.nearest,
            "generated_distance": near.generated.distance,
            "generated_first_k": near.generated.first,
            "covered": near.reference.held[:, K - 1] > 0,
            "copied": are_near_copies(near),
        },
        realism=np.linspace(0.2, 0.9, len(world.generated)),
        reference_cells=cells.labels[0],
        generated_cells=cells.labels[1],
        k=K,
    )
