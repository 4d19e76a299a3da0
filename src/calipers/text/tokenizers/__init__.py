"""Tokenizers by name, and how any of them turns texts into numbers."""

from __future__ import annotations

from calipers.text.tokenizers.catalogue import find_tokenizer as find_tokenizer
from calipers.text.tokenizers.protocol import Tokenizer as Tokenizer
from calipers.text.tokenizers.protocol import number as number

__all__ = ["Tokenizer", "find_tokenizer", "number"]
