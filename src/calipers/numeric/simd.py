"""Vector registers by hand: products of panels, the sieve over their pairs, small vector steps.

Rows are laid out in panels: 48 rows side by side, one coordinate after the other. A product of two
panels keeps a patch of its 48 x 48 sums in registers over the whole depth, so it reads little and
comes close to what the processor can do, whichever BLAS NumPy was built with; the same panel serves
as the left and as the right factor. :func:`sift` then marks the few pairs that may matter.

Numba has no words for vector registers, so the innermost functions are spelt in LLVM's. Those that
k-means takes sixteen numbers at a time are cut up by the compiler where registers are shorter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from calipers.numeric import native
from calipers.numeric.arrays import Floats32
from calipers.numeric.compile import inlined

PANEL = 48
"""Rows of a panel: a multiple of every patch below."""


def _lanes() -> int:
    features = llvm.get_host_cpu_features()
    return 16 if features.get("avx512f") else 8 if features.get("avx2") else 4


LANES = _lanes()
VECTORS = 3  # vector registers across a patch
HEIGHT = 4 if LANES == 8 else 8  # rows of a patch: as many sums as there are registers for
WIDTH = VECTORS * LANES

_FLOAT, _WORD, _INT = ir.FloatType(), ir.IntType(64), ir.IntType(32)
_VECTOR = ir.VectorType(_FLOAT, LANES)
_STEP = 4  # bytes of a float32


def _at(builder: Any, base: Any, offset: int | Any, kind: Any) -> Any:
    """Point to a float32 at some distance from an address."""
    start = builder.inttoptr(base, _FLOAT.as_pointer())
    place = offset if isinstance(offset, ir.Value) else ir.Constant(_WORD, offset)
    return builder.bitcast(builder.gep(start, [place]), kind.as_pointer())


def _load(builder: Any, base: Any, offset: int | Any, kind: Any = _VECTOR) -> Any:
    return builder.load(_at(builder, base, offset, kind), align=_STEP)


def _spread(builder: Any, scalar: Any) -> Any:
    """Copy one number into every lane."""
    empty = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(empty, scalar, ir.Constant(_INT, 0))
    lanes = ir.Constant(ir.VectorType(_INT, LANES), [0] * LANES)
    return builder.shuffle_vector(first, empty, lanes)


def _fma(builder: Any) -> Callable[[Any, Any, Any], Any]:
    kind = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
    name = f"llvm.fma.v{LANES}f32"
    function = cgutils.get_or_insert_function(builder.module, kind, name)
    return lambda x, y, z: builder.call(function, [x, y, z])


def _add_products(
    builder: Any, row_at: Callable[[Any, int], Any], right: Any, depth: Any, sums: Any
) -> None:
    """Add to a patch of sums the products over the whole depth; `row_at` loads (step, row)."""
    fma = _fma(builder)
    entry = builder.block
    loop, after = (builder.append_basic_block(name) for name in ("depth", "after"))
    places = [(r, r * PANEL + v * LANES, v) for r in range(HEIGHT) for v in range(VECTORS)]
    before = [_load(builder, sums, place) for _, place, _ in places]
    builder.branch(loop)
    builder.position_at_end(loop)
    step = builder.phi(_WORD)
    kept = [builder.phi(_VECTOR) for _ in places]
    start = builder.mul(step, ir.Constant(_WORD, PANEL))
    columns = [
        _load(builder, right, builder.add(start, ir.Constant(_WORD, v * LANES)))
        for v in range(VECTORS)
    ]
    rows = [_spread(builder, row_at(step, r)) for r in range(HEIGHT)]
    new = [fma(rows[r], columns[v], old) for (r, _, v), old in zip(places, kept, strict=True)]
    following = builder.add(step, ir.Constant(_WORD, 1))
    step.add_incoming(ir.Constant(_WORD, 0), entry)
    step.add_incoming(following, loop)
    for phi, first, last in zip(kept, before, new, strict=True):
        phi.add_incoming(first, entry)
        phi.add_incoming(last, loop)
    builder.cbranch(builder.icmp_signed("<", following, depth), loop, after)
    builder.position_at_end(after)
    for (_, place, _), value in zip(places, new, strict=True):
        builder.store(value, _at(builder, sums, place, _VECTOR), align=_STEP)


@intrinsic  # type: ignore[untyped-decorator]
def multiply_patch(typingctx: Any, left: Any, right: Any, depth: Any, sums: Any) -> Any:
    """Add to a patch of sums the products of `HEIGHT` rows of one panel with `WIDTH` of another.

    All but `depth` are addresses: of the first coordinate of the first row in each panel, and of
    the first sum. Sums of one row stand `PANEL` apart from those of the next.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        left, right, depth, sums = arguments

        def row_at(step: Any, row: int) -> Any:
            start = builder.mul(step, ir.Constant(_WORD, PANEL))
            return _load(builder, left, builder.add(start, ir.Constant(_WORD, row)), _FLOAT)

        _add_products(builder, row_at, right, depth, sums)
        return context.get_dummy_value()

    return types.void(types.uintp, types.uintp, types.intp, types.uintp), generate


@intrinsic  # type: ignore[untyped-decorator]
def multiply_rows(typingctx: Any, left: Any, stride: Any, right: Any, depth: Any, sums: Any) -> Any:
    """Do the same with `HEIGHT` rows that stand one after the other, `stride` numbers apart."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        left, stride, right, depth, sums = arguments
        bytes_apart = builder.mul(stride, ir.Constant(_WORD, _STEP))
        starts = [
            builder.add(left, builder.mul(bytes_apart, ir.Constant(_WORD, r)))
            for r in range(HEIGHT)
        ]

        def row_at(step: Any, row: int) -> Any:
            return _load(builder, starts[row], step, _FLOAT)

        _add_products(builder, row_at, right, depth, sums)
        return context.get_dummy_value()

    arguments = (types.uintp, types.intp, types.uintp, types.intp, types.uintp)
    return types.void(*arguments), generate


@intrinsic  # type: ignore[untyped-decorator]
def sift_row(typingctx: Any, products: Any, row: Any, columns: Any) -> Any:
    """Tell which of the pairs of a row with the rows of a panel pass the sieve, a bit for each.

    Parameters
    ----------
    products
        Address of the row's 48 products.
    row
        The row's ``(low, limit, gain, reach)``, float32.
    columns
        Addresses of the same four for the rows of the panel.

    With ``bound = low + low' - product`` a pair passes when the bound lies below
    either limit, or ``gain * bound`` below the other side's reach.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        products, row, columns = arguments
        low, limit, gain, reach = (
            _spread(builder, builder.extract_value(row, i)) for i in range(4)
        )
        addresses = [builder.extract_value(columns, i) for i in range(4)]
        mask = ir.Constant(_WORD, 0)
        for start in range(0, PANEL, LANES):
            other_low, other_limit, other_gain, other_reach = (
                _load(builder, address, start) for address in addresses
            )
            sums = _load(builder, products, start)
            bound = builder.fsub(builder.fadd(low, other_low), sums)
            passes = [
                builder.fcmp_ordered("<", left, right)
                for left, right in (
                    (bound, limit),
                    (bound, other_limit),
                    (builder.fmul(bound, other_gain), reach),
                    (builder.fmul(bound, gain), other_reach),
                )
            ]
            found = builder.or_(
                builder.or_(passes[0], passes[1]), builder.or_(passes[2], passes[3])
            )
            bits = builder.zext(builder.bitcast(found, ir.IntType(LANES)), _WORD)
            mask = builder.or_(mask, builder.shl(bits, ir.Constant(_WORD, start)))
        return mask

    return types.uint64(types.uintp, row, columns), generate


@intrinsic  # type: ignore[untyped-decorator]
def address(typingctx: Any, array: Any) -> Any:
    """Give the address of an array's first number; unlike ``ctypes.data``, it counts no owner."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.ptrtoint(data, _WORD)

    return types.uintp(array), generate


@intrinsic  # type: ignore[untyped-decorator]
def lowest_bit(typingctx: Any, mask: Any) -> Any:
    """Give the place of the lowest bit that is set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.intp(types.uint64), generate


VECTOR_LENGTH = 16
"""Numbers of float32 that the vector steps of k-means take at a time."""

_DOUBLE = ir.DoubleType()
_FLOATS, _DOUBLES = ir.VectorType(_FLOAT, VECTOR_LENGTH), ir.VectorType(_DOUBLE, VECTOR_LENGTH)


def _load_vector(builder: Any, base: Any, place: Any = None) -> Any:
    """Read a vector of float32 that stands `place` numbers behind an address."""
    pointer = builder.inttoptr(base, _FLOAT.as_pointer())
    if place is not None:
        pointer = builder.gep(pointer, [place])
    return builder.load(builder.bitcast(pointer, _FLOATS.as_pointer()), align=_STEP)


def _halve(builder: Any, vector: Any, join: Any) -> Any:
    """Join the halves of a vector until one number is left, in an order that never changes."""
    count = vector.type.count
    while count > 1:
        count //= 2
        half = ir.VectorType(ir.IntType(32), count)
        low, high = (
            builder.shuffle_vector(
                vector, vector, ir.Constant(half, list(range(start, start + count)))
            )
            for start in (0, count)
        )
        vector = join(low, high)
    return builder.extract_element(vector, ir.Constant(ir.IntType(32), 0))


@intrinsic  # type: ignore[untyped-decorator]
def vector_squared_distance(typingctx: Any, left: Any, right: Any, depth: Any) -> Any:
    """Squared distance in float64 of two float32 rows at some addresses.

    `depth` is a multiple of 16. Every kernel gets the same bits for the same rows.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        left, right, depth = arguments
        entry = builder.block
        loop, after = (builder.append_basic_block(name) for name in ("depth", "after"))
        builder.branch(loop)
        builder.position_at_end(loop)
        step, total = builder.phi(_WORD), builder.phi(_DOUBLES)
        one, other = (
            builder.fpext(_load_vector(builder, base, step), _DOUBLES) for base in (left, right)
        )
        gap = builder.fsub(one, other)
        sums = builder.fadd(total, builder.fmul(gap, gap))
        following = builder.add(step, ir.Constant(_WORD, VECTOR_LENGTH))
        step.add_incoming(ir.Constant(_WORD, 0), entry)
        step.add_incoming(following, loop)
        total.add_incoming(ir.Constant(_DOUBLES, [0.0] * VECTOR_LENGTH), entry)
        total.add_incoming(sums, loop)
        builder.cbranch(builder.icmp_signed("<", following, depth), loop, after)
        builder.position_at_end(after)
        return _halve(builder, sums, builder.fadd)

    return types.float64(types.uintp, types.uintp, types.intp), generate


def _differences(builder: Any, values: Any, less: Any) -> Any:
    return builder.fsub(_load_vector(builder, values), _load_vector(builder, less))


@intrinsic  # type: ignore[untyped-decorator]
def mask_below(typingctx: Any, values: Any, less: Any, limit: Any) -> Any:
    """Tell which of 16 values, each less another number, lie below a limit: a bit for each."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values, less, limit = arguments
        one = builder.insert_element(
            ir.Constant(_FLOATS, ir.Undefined), limit, ir.Constant(ir.IntType(32), 0)
        )
        first = ir.Constant(ir.VectorType(ir.IntType(32), VECTOR_LENGTH), [0] * VECTOR_LENGTH)
        limits = builder.shuffle_vector(one, one, first)
        found = builder.fcmp_ordered("<", _differences(builder, values, less), limits)
        return builder.zext(builder.bitcast(found, ir.IntType(VECTOR_LENGTH)), _WORD)

    return types.uint64(types.uintp, types.uintp, types.float32), generate


@intrinsic  # type: ignore[untyped-decorator]
def vector_min(typingctx: Any, values: Any, less: Any) -> Any:
    """Give the smallest of 16 values, each less another number."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def smaller(low: Any, high: Any) -> Any:
            return builder.select(builder.fcmp_ordered("<", high, low), high, low)

        return _halve(builder, _differences(builder, *arguments), smaller)

    return types.float32(types.uintp, types.uintp), generate


native.record("thresholds", "low f4[n]", "limit f4[n] out", "gain f4[n] out", "reach f4[n]")

STRIP = 2**17  # numbers of float32 that fill half a megabyte


class Thresholds(NamedTuple):
    """What decides for each row of a span whether a pair passes, filled up to whole panels.

    Attributes
    ----------
    low
        From :class:`calipers.numeric.distances.Sieve`.
    limit
        A pair passes when its bound lies below this, for either of its rows.
    gain, reach
        A pair also passes when the bound times the one row's gain lies below the other's reach.
    """

    low: Floats32
    limit: Floats32
    gain: Floats32
    reach: Floats32

    @classmethod
    def of(cls, low: Floats32, limit: Floats32) -> Thresholds:
        """Thresholds with limits alone."""
        zero = np.zeros_like(limit)
        return cls(low, limit, zero, zero - 1)

    @classmethod
    def shut(cls, low: Floats32) -> Thresholds:
        """Thresholds that let nothing pass, where the limits of the other side alone count."""
        return cls.of(low, np.full_like(low, -np.inf))


def patches(n: int, m: int, panels: Floats32) -> NDArray[np.int64]:
    """The first row and column of every pair of panels in a tile of n x m pairs, ``(count, 2)``.

    Strips of rows that stay in a core's own cache, past which all columns are led.
    """
    strip = max(1, STRIP // (panels.shape[1] * PANEL)) * PANEL
    rows, columns = (np.arange(0, size, PANEL) for size in (n, m))
    pairs = np.stack(np.meshgrid(rows, columns, indexing="ij"), axis=-1).reshape(-1, 2)
    return pairs[np.lexsort((pairs[:, 0], pairs[:, 1], pairs[:, 0] // strip))].astype(np.int64)


@inlined
def multiply_panels(left: Any, i: int, right: Any, j: int, products: Any) -> None:
    """Products of all rows of one panel with all rows of another, ``(48, 48)``, float32."""
    products[:] = 0
    depth = left.shape[1]
    one = address(left) + np.uintp(4 * PANEL * depth * i)
    other = address(right) + np.uintp(4 * PANEL * depth * j)
    sums = address(products)
    for c in range(0, PANEL, WIDTH):
        for r in range(0, PANEL, HEIGHT):
            multiply_patch(
                one + np.uintp(4 * r),
                other + np.uintp(4 * c),
                depth,
                sums + np.uintp(4 * (r * PANEL + c)),
            )


@inlined
def multiply_block(rows: Any, i: int, right: Any, j: int, products: Any) -> None:
    """Products of 48 rows from row i on, one after the other, with those of a panel."""
    products[:] = 0
    depth = rows.shape[1]
    one = address(rows) + np.uintp(4 * depth * i)
    other = address(right) + np.uintp(4 * PANEL * depth * j)
    sums = address(products)
    for c in range(0, PANEL, WIDTH):
        for r in range(0, PANEL, HEIGHT):
            multiply_rows(
                one + np.uintp(4 * depth * r),
                depth,
                other + np.uintp(4 * c),
                depth,
                sums + np.uintp(4 * (r * PANEL + c)),
            )


@inlined
def sift(products: Any, rows: Any, columns: Any, row0: int, column0: int, passing: Any) -> int:
    """Mark the pairs that pass, a bit for each column in the word of its row.

    `row0` and `column0` are the places of the panels in the thresholds. Returns how many rows of
    the panel have a pair that passes.
    """
    start, sums = np.uintp(4 * column0), address(products)
    addresses = (
        address(columns.low) + start,
        address(columns.limit) + start,
        address(columns.gain) + start,
        address(columns.reach) + start,
    )
    found = 0
    for r in range(PANEL):
        i = row0 + r
        row = (rows.low[i], rows.limit[i], rows.gain[i], rows.reach[i])
        passing[r] = sift_row(sums + np.uintp(4 * PANEL * r), row, addresses)
        found += passing[r] != 0
    return found
