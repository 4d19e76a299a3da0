"""``calipers version``: the version, as ``--version`` prints it, and the platform."""

from __future__ import annotations

import platform
from typing import Annotated

import typer

from calipers._version import __version__
from calipers.cli.command import command

Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        help="Also print what it runs on: Python, NumPy, the system, and the instruction set of "
        "the compiled kernels.",
    ),
]


@command(limited=False)
def version(verbose: Verbose = False) -> None:
    """Print the version."""
    typer.echo(f"calipers {__version__}")
    if verbose:
        typer.echo("\n".join(surroundings()))


def surroundings() -> list[str]:
    """Describe the platform, in lines for an issue report.

    Raises
    ------
    MissingKernelsError
        If there are no kernels that this machine can run.
    """
    import numpy as np

    from calipers.numeric import native

    used = native.instruction_set()
    others = [name for name in native.available_sets() if name != used]
    choice = f" ({native.VARIABLE} may name {' or '.join(others)})" if others else ""
    return [
        f"Python {platform.python_version()}, NumPy {np.__version__}",
        platform.platform(),
        f"kernels for {used}{choice}",
    ]
