"""Which layer of a model to take states from."""

from __future__ import annotations

from calipers.errors import InputError


def choose_layer(layer: int | None, layers: int) -> int:
    """Return the layer to take: by default three quarters of them, rounded up.

    These are 5 of 6, 9 of 12 and 18 of 24 layers: for BERT and RoBERTa of these depths no more
    than one away from the layer that agreed best with people's judgements of translations
    (WMT16), by the table that comes with bert-score.

    Raises
    ------
    InputError
        If the model does not have the layer.

    Examples
    --------
    >>> choose_layer(None, 6), choose_layer(None, 12), choose_layer(2, 6)
    (5, 9, 2)
    """
    if layer is None:
        return -(-3 * layers // 4)
    if not 1 <= layer <= layers:
        raise InputError(f"layer must be 1 to {layers}, the layers of the model; found {layer}")
    return layer


def form_layer(layers: int) -> int:
    """Return the layer that shows form best: two thirds of them, rounded up.

    Examples
    --------
    >>> form_layer(6), form_layer(12), form_layer(24)
    (4, 8, 16)
    """
    return -(-2 * layers // 3)
