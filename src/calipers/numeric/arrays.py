"""Array types, and the conversion of arrays and tensors of any library to NumPy.

None of those libraries is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

NamedArrays = Mapping[str, NDArray[Any]]
Floats = NDArray[np.float64]
Vector = NDArray[np.float64]
"""Of one axis."""
Matrix = NDArray[np.float64]
"""Of two axes."""
Floats32 = NDArray[np.float32]
Longs = NDArray[np.int64]
Ints = NDArray[np.int32]
Flags = NDArray[np.bool_]
Indices = NDArray[np.intp]
"""Rows of an array, by number."""


def as_numpy(value: Any) -> NDArray[Any]:
    """Convert an array, a tensor or a list of numbers to a NumPy array in host memory.

    Tensors of PyTorch come from any device and without their gradients; arrays of CuPy come from
    theirs, and those of JAX by themselves. bfloat16, which NumPy does not know, becomes float32.

    Raises
    ------
    TypeError, ValueError, RuntimeError
        If it is no array of a regular shape.
    """
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = value.float() if str(value.dtype) == "torch.bfloat16" else value
    elif hasattr(value, "__cuda_array_interface__") and hasattr(value, "get"):
        value = value.get()
    elif hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        try:
            value = np.from_dlpack(value)
        except BufferError as error:
            raise ValueError(str(error)) from error
    array = np.asarray(value)
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def is_array(value: object) -> bool:
    """Tell whether a value has the interface of an array or a tensor."""
    return hasattr(value, "__array__") or hasattr(value, "__dlpack__")
