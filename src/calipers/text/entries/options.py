"""The options that several text metrics take."""

from __future__ import annotations

from calipers.text.checks import LONGEST
from calipers.text.keys import Option


def order(usual: int) -> Option:
    """Tokens of an n-gram."""
    return Option(name="n", usual=usual, tells="tokens of an n-gram", most=LONGEST)


AGAINST = Option(
    name="against",
    usual="reference",
    tells="which set the texts are held against",
    words=("reference", "train"),
)
