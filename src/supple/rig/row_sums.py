"""Weighted sums of the rows of a small table, four entries at a time: what skinning does at every vertex.

Numba vectorises loops over many items only; here each item gathers rows of its own, so the vector instructions are
spelled out. On a table that stays in the cache this is three times as fast as the plain loop.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import extending, types
from numba.core import cgutils

__all__ = ["WIDTH", "affine_point", "signed_sum", "sum_rows"]

WIDTH = 4
"""Columns of a table come in multiples of this."""

_INT, _DOUBLE = ir.IntType(32), ir.DoubleType()
_VECTOR = ir.VectorType(_DOUBLE, WIDTH)
_FLAGS = ("contract", "nsz")
_TYPES: Any = types
_TOOLS: Any = cgutils

# Compiled loops call these without the first argument, which no type checker knows
intrinsic: Callable[[Callable[..., Any]], Any] = extending.intrinsic


@intrinsic
def affine_point(typing: Any, table: Any, rows: Any, weights: Any, item: Any, x: Any, y: Any, z: Any) -> Any:
    """(A X + t) of X = (x, y, z), as three floats, with [A, t] the sum over s of weights[item, s] table[rows[item, s]].

    A row of the table holds the three columns of A and t, each with a fourth entry of no meaning, (16,).
    """

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        first, second, third, total = _accumulate(context, builder, signature, args, 4)
        for column, entry in zip((first, second, third), args[4:7], strict=True):
            total = _fma(builder, column, _spread(builder, entry), total)
        return _unpack(context, builder, signature, [total], 3)

    return _TYPES.UniTuple(types.float64, 3)(table, rows, weights, item, x, y, z), build


@intrinsic
def sum_rows(typing: Any, table: Any, rows: Any, weights: Any, item: Any) -> Any:
    """The sum over s of weights[item, s] table[rows[item, s]], of a table with 16 columns, as 16 floats."""

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _unpack(context, builder, signature, _accumulate(context, builder, signature, args, 4), 16)

    return _TYPES.UniTuple(types.float64, 16)(table, rows, weights, item), build


@intrinsic
def signed_sum(typing: Any, table: Any, rows: Any, weights: Any, item: Any, signs: Any) -> Any:
    """The same of a table with 8 columns, as 8 floats; each row counts with its sign against the item's first row.

    `signs` holds 1 or -1 for every pair of rows.
    """

    def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _unpack(context, builder, signature, _accumulate(context, builder, signature, args, 2, args[4]), 8)

    return _TYPES.UniTuple(types.float64, 8)(table, rows, weights, item, signs), build


def _accumulate(context: Any, builder: Any, signature: Any, args: Any, count: int, signs: Any = None) -> list[Any]:
    """The weighted sum as `count` vectors."""
    if any(kind.layout != "C" for kind in signature.args if isinstance(kind, types.Array)):
        raise TypeError("sums of rows need contiguous arrays")
    table, rows, weights = (
        context.make_array(kind)(context, builder, value)
        for kind, value in zip(signature.args[:3], args[:3], strict=True)
    )
    item = args[3]
    word = item.type
    influences = builder.extract_value(weights.shape, 1)
    begin = builder.mul(item, influences)
    if signs is not None:
        signs = context.make_array(signature.args[4])(context, builder, signs)
        first = builder.zext(builder.load(builder.gep(rows.data, [begin])), word)
        signs = builder.gep(signs.data, [builder.mul(first, builder.extract_value(signs.shape, 1))])
    sums = [_TOOLS.alloca_once_value(builder, ir.Constant(_VECTOR, [0.0] * WIDTH)) for _ in range(count)]
    with _TOOLS.for_range(builder, influences) as loop:
        place = builder.add(begin, loop.index)
        row = builder.zext(builder.load(builder.gep(rows.data, [place])), word)
        weight = builder.load(builder.gep(weights.data, [place]))
        if signs is not None:
            weight = builder.fmul(weight, builder.load(builder.gep(signs, [row])))
        weight = _spread(builder, weight)
        start = builder.mul(row, word(count * WIDTH))
        for k, total in enumerate(sums):
            entry = builder.gep(table.data, [builder.add(start, word(k * WIDTH))])
            vector = builder.load(builder.bitcast(entry, _VECTOR.as_pointer()), align=8)
            builder.store(_fma(builder, vector, weight, builder.load(total)), total)
    return [builder.load(total) for total in sums]


def _fma(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """a b + c, in one instruction where the processor has it."""
    return builder.fadd(builder.fmul(a, b, flags=_FLAGS), c, flags=_FLAGS)


def _spread(builder: Any, value: Any) -> Any:
    """A vector with the value in every place."""
    nothing = ir.Constant(_VECTOR, ir.Undefined)
    zeros = ir.Constant(ir.VectorType(_INT, WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(builder.insert_element(nothing, value, _INT(0)), nothing, zeros)


def _unpack(context: Any, builder: Any, signature: Any, vectors: list[Any], count: int) -> Any:
    """The first `count` entries of the vectors as a tuple of floats."""
    entries = [builder.extract_element(vectors[k // WIDTH], _INT(k % WIDTH)) for k in range(count)]
    return context.make_tuple(builder, signature.return_type, entries)
