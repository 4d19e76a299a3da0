"""What raters are shown: pairs of texts of two systems in one context, single texts, batches."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

DIGITS = 16
"""Hexadecimal digits of an id."""


@dataclass(frozen=True)
class Item:
    """Two texts that are compared.

    Attributes
    ----------
    a, b
        Their systems.
    text_a, text_b
        The texts.
    context
        What both continue; empty for texts without a prompt.
    check
        The side that any attentive rater prefers, where the item is an attention check; else empty.
    """

    a: str
    b: str
    text_a: str
    text_b: str
    context: str = ""
    check: Literal["", "a", "b"] = ""

    @cached_property
    def id(self) -> str:
        """Tells items apart by their content, so that people and models meet on the same ones."""
        return content_id(self.a, self.b, self.context, self.text_a, self.text_b)


@dataclass(frozen=True)
class Shown:
    """Texts of one system that are rated together: one for quality, a batch for diversity.

    Attributes
    ----------
    system
        Whose they are.
    texts
        What is shown.
    contexts
        What each continues, or nothing where they have no prompts.
    """

    system: str
    texts: tuple[str, ...]
    contexts: tuple[str, ...] = ()

    @cached_property
    def id(self) -> str:
        """Tells items apart by their content."""
        return content_id(self.system, *self.contexts, *self.texts)


def content_id(*parts: str) -> str:
    """Give the first 16 hexadecimal digits of the SHA-256 of some texts as a JSON list."""
    content = json.dumps(parts, ensure_ascii=True).encode("ascii")
    return hashlib.sha256(content).hexdigest()[:DIGITS]
