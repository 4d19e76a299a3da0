"""Kernels: compiled anew when what they call changes, and their innermost loops."""

import importlib
import os
import pkgutil
import sys
from pathlib import Path
from types import ModuleType

import numba
import numpy as np
import pytest
from numba.core.caching import FunctionCache
from numba.core.dispatcher import Dispatcher
from numba.extending import _Intrinsic

import calipers
from calipers.numeric import compile as compiling
from calipers.numeric.distances import sieves
from calipers.numeric.simd import (
    HEIGHT,
    LANES,
    PANEL,
    WIDTH,
    Thresholds,
    lowest_bit,
    multiply_panels,
    sift,
)

# Kernels are compiled anew when what they call has changed, though Numba watches one file only.


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


# The innermost loops against NumPy, in the shapes in which the kernels call them.


@numba.njit
def products_of(left, right):
    products = np.full((PANEL, PANEL), np.nan, np.float32)
    multiply_panels(left, 1, right, 0, products)
    return products


@numba.njit
def passing_of(products, rows, columns, row0, column0):
    passing = np.zeros(PANEL, np.uint64)
    found = sift(products, rows, columns, row0, column0, passing)
    return found, passing


@numba.njit
def lowest(mask):
    return lowest_bit(mask)


def test_patches_fill_a_panel():
    assert PANEL % HEIGHT == 0
    assert PANEL % WIDTH == 0
    assert PANEL % LANES == 0


@pytest.mark.parametrize("depth", [1, 2, 17, 384])
def test_products_are_those_of_numpy(rng, depth):
    left, right = rng.standard_normal((2, 2, depth, PANEL)).astype(np.float32)
    expected = left[1].T.astype(np.float64) @ right[0]
    np.testing.assert_allclose(products_of(left, right), expected, atol=2e-6 * depth)


@pytest.mark.parametrize(("row0", "column0"), [(0, 0), (48, 96)])
def test_pairs_pass_by_limit_or_by_gain(rng, row0, column0):
    rows, columns = (
        Thresholds(*rng.standard_normal((4, 144)).astype(np.float32)) for _ in range(2)
    )
    products = rng.standard_normal((PANEL, PANEL)).astype(np.float32)
    found, passing = passing_of(products, rows, columns, row0, column0)
    r, c = slice(row0, row0 + PANEL), slice(column0, column0 + PANEL)
    bound = (rows.low[r, None] + columns.low[c]) - products
    expected = (bound < rows.limit[r, None]) | (bound < columns.limit[c])
    expected |= bound * columns.gain[c] < rows.reach[r, None]
    expected |= bound * rows.gain[r, None] < columns.reach[c]
    bits = (passing[:, None] >> np.arange(PANEL, dtype=np.uint64)) & np.uint64(1)
    np.testing.assert_array_equal(bits.astype(bool), expected)
    assert found == np.count_nonzero(passing)
    assert 0 < expected.mean() < 1


def test_rows_that_only_fill_a_panel_never_pass(rng):
    (points,) = sieves(rng.standard_normal((50, 3)))
    thresholds = Thresholds.of(points.low, np.full(96, np.inf, np.float32))
    _, passing = passing_of(np.zeros((PANEL, PANEL), np.float32), thresholds, thresholds, 0, 48)
    assert passing.tolist() == [0b11] * PANEL  # the two rows that are there
    assert passing_of(np.zeros((PANEL, PANEL), np.float32), thresholds, thresholds, 48, 0)[0] == 2


@pytest.mark.parametrize("place", [0, 1, 5, 47, 63])
def test_the_lowest_bit(place):
    assert lowest(np.uint64(1 << place)) == place
    assert lowest(np.uint64((1 << place) | (1 << 63))) == place


def test_panels_hold_the_rows(rng):
    rows = rng.standard_normal((100, 7)).astype(np.float32)
    (points,) = sieves(rows)
    assert points.panels.shape == (3, 7, PANEL)
    centred = (rows - rows.mean(axis=0)) * np.sqrt(2 * points.half_scale)
    np.testing.assert_allclose(points.rows, centred, atol=1e-6)
    np.testing.assert_array_equal(points.panels[1, :, 3], points.rows[51])
    assert not points.panels[2, :, 4:].any()
    assert np.isinf(points.low[100:]).all()
