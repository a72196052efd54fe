"""Compiled functions that others call where they are, instead of holding a copy of them.

Numba links all that a function calls into it, then optimises and translates the whole again: what lies at the bottom
of five functions is compiled six times. A function that is long at work loses nothing by being called from afar.
"""

import hashlib
from collections.abc import Callable
from typing import Any, cast

import llvmlite.binding as llvm
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = ["call_apart"]


def call_apart(function: Any, arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """What compiled code calls in place of a compiled `function` with arguments of these types of Numba.

    It is compiled here and now, or read from the cache: those who call it know a symbol alone, so that they can be
    cached, too, and must find it when they are loaded.
    """
    function.compile(arguments)
    compiled = function.overloads[arguments]
    result, digest = compiled.signature.return_type, hashlib.sha256(str(arguments).encode()).hexdigest()[:12]
    symbol = f"{function.__module__}.{function.__name__}.{digest}"
    llvm.add_symbol(symbol, compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))

    def type_call(_typing: Any, *_given: Any) -> Any:
        return result(types.StarArgTuple(arguments)), generate

    def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        convention = context.call_conv
        kind = convention.get_function_type(result, arguments)
        place = cgutils.get_or_insert_function(builder.module, kind, symbol)
        given = cgutils.unpack_tuple(builder, values[0])
        status, found = convention.call_function(builder, place, result, arguments, given)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return found

    caller: Any = intrinsic(type_call)
    caller.py_func = function.py_func  # what fingerprints of the code look at
    caller.compiled = compiled  # which lives as long as those who call it
    return cast("Callable[..., Any]", caller)
