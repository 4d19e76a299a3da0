"""What several tests of texts share."""

import itertools
import socket
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


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*_):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
