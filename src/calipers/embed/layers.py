"""Which layer of an encoder to take token states from."""

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
