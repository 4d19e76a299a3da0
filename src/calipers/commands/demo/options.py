"""The options of ``calipers demo``."""

from __future__ import annotations

from calipers.options.option import options_class
from calipers.options.running import Seeded


@options_class
class DemoOptions(Seeded):
    """The options of ``demo``."""
