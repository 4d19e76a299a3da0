"""The command ``calipers``, also as ``python -m calipers``."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line and leave with its exit code: 0 done, 2 bad input or usage."""
    _open_closed_streams()
    try:
        from calipers.cli import app

        app(prog_name="calipers")
    except KeyboardInterrupt:
        sys.exit(130)


def _open_closed_streams() -> None:
    """Where the shell closed standard output or error (``>&-``), write to nobody."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


if __name__ == "__main__":
    main()
