"""Optional packages that an output will need, looked for before the work."""

from __future__ import annotations

from importlib.util import find_spec

from calipers.errors import MissingExtraError

REPORT = ("plotly", "jinja2")


def check_report(layout: str | None) -> None:
    """Refuse a report that could not be made in the end.

    Raises
    ------
    MissingExtraError
        If a package that it needs is not installed; says which pip command brings it.
    """
    for module in REPORT:
        if not _installed(module):
            raise MissingExtraError(
                f"--html needs the package {module!r}, which is not installed. Install it with: "
                "pip install 'calipers[report]'"
            )
    if layout == "umap" and not _installed("umap"):
        raise MissingExtraError(
            "--map umap needs the package 'umap-learn', which is not installed. Install it with: "
            "pip install umap-learn; --map pca needs nothing more"
        )


def _installed(module: str) -> bool:
    """Tell without importing it."""
    return find_spec(module) is not None
