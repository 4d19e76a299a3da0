"""What several tests of texts share."""

import itertools
import sys
from types import ModuleType

import pytest

_NUMBERS = itertools.count()


@pytest.fixture
def named(monkeypatch):
    """Give a function of a test a ``module:function`` by which the catalogue finds it."""

    def name_of(function):
        module = ModuleType(f"of_a_test_{next(_NUMBERS)}")
        module.function = function
        monkeypatch.setitem(sys.modules, module.__name__, module)
        return f"{module.__name__}:function"

    return name_of
