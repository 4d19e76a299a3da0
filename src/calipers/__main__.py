"""The command ``calipers``, also as ``python -m calipers``."""

from __future__ import annotations

import sys
import traceback

from calipers.errors import FAULT


def main() -> None:
    """Run the command line and leave with its exit code (docs/stability.md lists them)."""
    try:
        from calipers.cli import app
        from calipers.cli.streams import outlive_readers

        outlive_readers()
        app(prog_name="calipers")
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception:  # before and behind what cli/guard.py looks after
        traceback.print_exc()
        sys.exit(FAULT)


if __name__ == "__main__":
    main()
