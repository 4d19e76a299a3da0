import pytest


@pytest.fixture(autouse=True)
def floor_only_where_asked_for(monkeypatch):
    """The noise floor takes twenty more scorings; tests that are about it ask for it."""
    monkeypatch.setattr("calipers.evaluate.inference.CHEAP", 0)
