import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

ROOT = Path(__file__).resolve().parent.parent

# Laws are no tests of time: a first example may compile a kernel, and the machine may be busy
settings.register_profile(
    "calipers", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("calipers")


def pytest_collection_modifyitems(config, items):
    """Try laws on a third of their examples while working; on all in full runs and in CI."""
    if config.option.markexpr != "not slow" or "CI" in os.environ:
        return
    functions = {getattr(item.obj, "__func__", item.obj) for item in items if hasattr(item, "obj")}
    for law in filter(is_hypothesis_test, functions):
        full = law._hypothesis_internal_use_settings
        fewer = settings(full, max_examples=max(5, full.max_examples // 3))
        law._hypothesis_internal_use_settings = fewer


@pytest.fixture
def no_keys(monkeypatch):
    """No key for services in the environment."""
    for name in ("CALIPERS_ENDPOINT_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def waits():
    """How long a client waited each time it would have slept."""
    return []


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
