"""Sixteen numbers at a time: the few steps of k-means that Numba would not lay into vectors.

Spelt in LLVM's words as in :mod:`calipers.estimate.microkernel`; on a processor with shorter
vectors the compiler cuts them.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from calipers.estimate.microkernel import _FLOAT, _WORD

LANES = 16

_DOUBLE = ir.DoubleType()
_FLOATS, _DOUBLES = ir.VectorType(_FLOAT, LANES), ir.VectorType(_DOUBLE, LANES)
_STEP = 4  # bytes of a float32


def _load(builder: Any, base: Any, place: Any = None) -> Any:
    """Read sixteen float32 that stand `place` numbers behind an address."""
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
def squared_gap(typingctx: Any, left: Any, right: Any, depth: Any) -> Any:
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
        one, other = (builder.fpext(_load(builder, base, step), _DOUBLES) for base in (left, right))
        gap = builder.fsub(one, other)
        sums = builder.fadd(total, builder.fmul(gap, gap))
        following = builder.add(step, ir.Constant(_WORD, LANES))
        step.add_incoming(ir.Constant(_WORD, 0), entry)
        step.add_incoming(following, loop)
        total.add_incoming(ir.Constant(_DOUBLES, [0.0] * LANES), entry)
        total.add_incoming(sums, loop)
        builder.cbranch(builder.icmp_signed("<", following, depth), loop, after)
        builder.position_at_end(after)
        return _halve(builder, sums, builder.fadd)

    return types.float64(types.uintp, types.uintp, types.intp), generate


def _differences(builder: Any, values: Any, less: Any) -> Any:
    return builder.fsub(_load(builder, values), _load(builder, less))


@intrinsic  # type: ignore[untyped-decorator]
def lanes_below(typingctx: Any, values: Any, less: Any, limit: Any) -> Any:
    """Tell which of 16 values, each less another number, lie below a limit: a bit for each."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values, less, limit = arguments
        one = builder.insert_element(
            ir.Constant(_FLOATS, ir.Undefined), limit, ir.Constant(ir.IntType(32), 0)
        )
        first = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        limits = builder.shuffle_vector(one, one, first)
        found = builder.fcmp_ordered("<", _differences(builder, values, less), limits)
        return builder.zext(builder.bitcast(found, ir.IntType(LANES)), _WORD)

    return types.uint64(types.uintp, types.uintp, types.float32), generate


@intrinsic  # type: ignore[untyped-decorator]
def least_lane(typingctx: Any, values: Any, less: Any) -> Any:
    """Give the smallest of 16 values, each less another number."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def smaller(low: Any, high: Any) -> Any:
            return builder.select(builder.fcmp_ordered("<", high, low), high, low)

        return _halve(builder, _differences(builder, *arguments), smaller)

    return types.float32(types.uintp, types.uintp), generate
