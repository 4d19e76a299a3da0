"""Kernels are compiled anew when what they call has changed, though Numba watches one file only."""

import importlib
import os
import pkgutil
import sys
from pathlib import Path
from types import ModuleType

import pytest
from numba.core.caching import FunctionCache
from numba.core.dispatcher import Dispatcher
from numba.extending import _Intrinsic

import calipers
from calipers.numeric import compile as compiling

PART = """
from calipers.numeric.compile import inlined

@inlined
def part(x):
    return x + {added}
"""
WHOLE = """
from calipers.numeric.compile import kernel
from stamped_part import part

@kernel
def whole(x):
    return part(x)
"""
NAMED = """
from typing import NamedTuple
from calipers.numeric.compile import kernel

class NAME(NamedTuple):
    left: float
    right: float

@kernel
def total(pair):
    return pair.left + pair.right
"""


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Import a kernel that calls a building block, as a fresh process would."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(compiling, "BUILDING_BLOCKS", (tmp_path / "stamped_part.py",))
    (tmp_path / "stamped_whole.py").write_text(WHOLE)

    def fresh(added: int, changed: int) -> Dispatcher:
        part = tmp_path / "stamped_part.py"
        part.write_text(PART.format(added=added))
        os.utime(part, (changed, changed))
        compiling._stamps.cache_clear()
        for name in ("stamped_part", "stamped_whole"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        importlib.invalidate_caches()
        return importlib.import_module("stamped_whole").whole

    yield fresh
    compiling._stamps.cache_clear()


@pytest.mark.slow
def test_kernel_is_read_from_the_cache_while_nothing_changes(load):
    assert load(1, 1_000_000)(1) == 2
    again = load(1, 1_000_000)
    assert again(1) == 2
    assert sum(again.stats.cache_hits.values()) == 1


@pytest.mark.slow
def test_edit_of_a_building_block_recompiles_its_callers(load):
    assert load(1, 1_000_000)(1) == 2
    edited = load(5, 2_000_000)
    assert edited(1) == 6
    assert sum(edited.stats.cache_hits.values()) == 0


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["renamed", "cut short"])
def test_index_that_cannot_be_read_counts_as_expired(tmp_path, monkeypatch, damage):
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "named_kernel.py"

    def total(name: str) -> float:
        file.write_text(NAMED.replace("NAME", name))
        monkeypatch.delitem(sys.modules, "named_kernel", raising=False)
        importlib.invalidate_caches()
        module = importlib.import_module("named_kernel")
        return module.total(getattr(module, name)(1.0, 2.0))

    assert total("Before") == 3
    for index in tmp_path.rglob("*.nbi"):
        if damage == "cut short":
            index.write_bytes(index.read_bytes()[:-20])
    assert total("Afterwards" if damage == "renamed" else "Before") == 3


class OtherFile:
    """The file of a cache whose stamp has another name, or none."""

    def __setattr__(self, name, value):
        raise AttributeError(name)


@pytest.mark.slow
def test_numba_with_another_cache_keeps_kernels_in_its_own(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    plain = FunctionCache.__init__

    def other(self, function):
        plain(self, function)
        if type(self) is compiling.KernelCache:
            self._cache_file = OtherFile()

    monkeypatch.setattr(FunctionCache, "__init__", other)
    (tmp_path / "other_numba.py").write_text(NAMED.replace("NAME", "Pair"))
    module = importlib.import_module("other_numba")
    monkeypatch.delitem(sys.modules, "other_numba")
    assert module.total(module.Pair(1.0, 2.0)) == 3
    assert type(module.total._cache) is FunctionCache
    assert list(tmp_path.rglob("*.nbi"))


def kernel_modules() -> list[ModuleType]:
    """All modules of the package that compile kernels."""
    root = Path(calipers.__file__).parent
    found = []
    for module in pkgutil.walk_packages([str(root)], "calipers.", onerror=lambda _: None):
        path = root.joinpath(*module.name.split(".")[1:]).with_suffix(".py")
        if path.exists() and "calipers.numeric.compile import" in path.read_text():
            found.append(importlib.import_module(module.name))
    return found


def test_kernels_call_kernels_of_their_own_file_or_building_blocks_only():
    blocks = {path.stem for path in compiling.BUILDING_BLOCKS}
    calls = 0
    for module in kernel_modules():
        kernels = [each for each in vars(module).values() if isinstance(each, Dispatcher)]
        for one in (each for each in kernels if each.__module__ == module.__name__):
            for name in one.py_func.__code__.co_names:
                called = vars(module).get(name)
                if isinstance(called, Dispatcher | _Intrinsic):
                    home = called.__module__
                    allowed = {module.__name__, *(f"calipers.numeric.{block}" for block in blocks)}
                    assert home in allowed, f"{one.__name__} calls {name} of {home}"
                    calls += home != module.__name__
    assert calls > 20
