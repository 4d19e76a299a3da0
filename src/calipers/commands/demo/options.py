"""The options of ``calipers demo``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calipers.options.option import (
    options_class,
)

if TYPE_CHECKING:
    pass

from calipers.options.running import Seeded


@options_class
class DemoOptions(Seeded):
    """The options of ``demo``."""
