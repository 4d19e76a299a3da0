"""Where single samples lie: what explanations of a score stand on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calipers.estimate.knn.neighbourhoods import Neighbourhoods
from calipers.metrics.copying import are_near_copies
from calipers.metrics.pair import Pair


def neighbours(near: Neighbourhoods, k: int) -> dict[str, NDArray[Any]]:
    """Give for every sample the nearest one of the other side and the smallest ball it is in.

    With them, whether the ball of k neighbours of a reference sample holds a generated one, and
    whether a generated sample is a near copy.
    """
    return {
        "nearest_reference": near.reference.nearest,
        "reference_distance": near.reference.distance,
        "reference_first_k": near.reference.first,
        "nearest_generated": near.generated.nearest,
        "generated_distance": near.generated.distance,
        "generated_first_k": near.generated.first,
        "covered": near.reference.held[:, k - 1] > 0,
        "copied": are_near_copies(near),
    }


def train_neighbours(near: Neighbourhoods) -> dict[str, NDArray[Any]]:
    """Give for every generated sample the nearest one of the training set."""
    return {"nearest_train": near.reference.nearest, "train_distance": near.reference.distance}


def cell_labels(pair: Pair) -> dict[str, NDArray[Any]]:
    """Give the cell of every sample in the best run, and how many cells there are.

    Nothing where the pair was not quantised.
    """
    if "cells" not in vars(pair.estimates):
        return {}
    reference, generated = pair.estimates.cells.labels
    count = np.array([len(pair.estimates.cells.best.reference)])
    return {"reference_cells": reference, "generated_cells": generated, "cell_count": count}
