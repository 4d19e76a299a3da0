"""The Hamming kernel of strings: the share of positions with equal characters.

Texts are cut to L characters, shorter ones are padded at their end with a sign of no text, and

    κ(x, y) = #{i ≤ L : x_i = y_i} / L,

L being at most `length`, and no more than the longest text has. Padding is equal to padding, so
that texts of equal length are alike in that. It is positive definite, with κ(x, x) = 1, and sees
how texts begin best: after the first word that one text has more, hardly any place agrees but by
chance. As a kernel of tests between models it is hard to beat at little cost (Gao, Liang and
Guestrin, "Model equality testing", arXiv 2410.20247, with L = 1000), since models that are the same
give the same beginnings equally often.

What it does not detect: anything about meaning; a sentence that is moved by one character is as far
away as another one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from calipers.numeric.validation import check_whole
from calipers.text.corpus import as_strings

LONGEST = 1000
"""Characters of a text that are compared, as in the paper."""

AT_ONCE = 2**26  # comparisons of characters


def padded(texts: Sequence[str], *, length: int = LONGEST) -> NDArray[np.uint32]:
    """Write texts as rows of code points, cut and padded to one length.

    Parameters
    ----------
    texts
        At least one text.
    length
        Characters that are kept of each, at least 1.

    Returns
    -------
    array
        Shape ``(n, L)``, uint32; behind the end of a text 2³² − 1, which is not a code point.

    Raises
    ------
    InputError
        If there is no text, an item is no string, or the length is no whole number from 1.
    """
    rows = [text[: check_whole("length", length, 1)] for text in as_strings(texts)]
    codes = np.full((len(rows), max(1, *map(len, rows))), np.iinfo(np.uint32).max, np.uint32)
    for place, text in enumerate(rows):
        encoded = text.encode("utf-32-le", "surrogatepass")
        codes[place, : len(text)] = np.frombuffer(encoded, np.uint32)
    return codes


def hamming_kernel(codes: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Compute the share of positions at which the texts of each pair agree.

    Parameters
    ----------
    codes
        Rows of :func:`padded`, shape ``(n, L)``.

    Returns
    -------
    array
        Shape ``(n, n)``, in [0, 1], ones on the diagonal.

    Examples
    --------
    >>> hamming_kernel(padded(["abcd", "abxy", "ab"])).tolist()
    [[1.0, 0.5, 0.5], [0.5, 1.0, 0.5], [0.5, 0.5, 1.0]]
    """
    n, length = codes.shape
    step = max(1, AT_ONCE // max(1, n * length))
    agreement = np.empty((n, n))
    for start in range(0, n, step):
        block = codes[start : start + step, None, :]
        agreement[start : start + step] = np.count_nonzero(block == codes, axis=2) / length
    return agreement
