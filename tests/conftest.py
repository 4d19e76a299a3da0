import os
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def rng():
    return np.random.default_rng(20180712)


def outside(variable, default):
    folder = Path(os.environ.get(variable, ROOT.parent / "shared" / default))
    if not folder.is_dir():
        pytest.skip(f"{variable} does not name a folder, and the default is absent")
    return folder


@pytest.fixture(scope="session")
def data_folder():
    """Real texts that are not part of the project; tests that use them skip without."""
    return outside("CALIPERS_DATA", "data")
