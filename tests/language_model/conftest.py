import importlib.util
import sys
from pathlib import Path

import pytest

from extras import need


@pytest.fixture(scope="session")
def zoo(tmp_path_factory):
    """Folders of tiny causal models by kind; `zoo.plain(kind)` is the same by transformers."""
    need("torch")
    need("transformers")
    path = Path(__file__).with_name("causal_zoo.py")
    spec = importlib.util.spec_from_file_location("causal_zoo", path)
    module = sys.modules["causal_zoo"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Zoo(tmp_path_factory.mktemp("zoo"))
