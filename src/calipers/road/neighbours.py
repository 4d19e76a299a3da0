"""Where single samples lie: what later explanations of a score stand on."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from calipers.estimate.neighbourhoods import Neighbourhoods


def neighbours(near: Neighbourhoods) -> dict[str, NDArray[Any]]:
    """Give for every sample the nearest one of the other side and the smallest ball it is in."""
    return {
        "nearest_reference": near.reference.nearest,
        "reference_distance": near.reference.distance,
        "reference_first_k": near.reference.first,
        "nearest_generated": near.generated.nearest,
        "generated_distance": near.generated.distance,
        "generated_first_k": near.generated.first,
    }


def train_neighbours(near: Neighbourhoods) -> dict[str, NDArray[Any]]:
    """Give for every generated sample the nearest one of the training set."""
    return {"nearest_train": near.reference.nearest, "train_distance": near.reference.distance}
