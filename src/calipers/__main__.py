"""The command ``calipers``, also as ``python -m calipers``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and leave with its exit code: 0 done, 2 bad input or usage."""
    try:
        from calipers.cli import app

        app(prog_name="calipers")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
