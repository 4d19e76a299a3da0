"""Arguments ──► compare ──► print and write. No maths, and nothing heavy until a command runs."""

from __future__ import annotations

from calipers.cli.app import app

__all__ = ["app"]
