"""The public names of ``calipers.text``."""

import importlib
import pkgutil

from calipers import text


def test_no_module_hides_a_function_of_its_name():
    modules = {module.name for module in pkgutil.iter_modules(text.__path__)}
    assert not modules & set(text.__all__)


def test_every_name_is_there_with_a_docstring():
    for name in text.__all__:
        assert getattr(text, name).__doc__, name
    for module in pkgutil.iter_modules(text.__path__):
        importlib.import_module(f"calipers.text.{module.name}")
    assert all(callable(getattr(text, name)) for name in text.__all__)
