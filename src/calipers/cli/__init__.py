"""The frame of the command line: parse, run, deliver; nothing heavy loads until a command runs."""

from __future__ import annotations

from calipers.cli.app import app

__all__ = ["app"]
