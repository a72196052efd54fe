"""Numba's compiler as supple uses it: the same machine code in every process, kept on disk until its source changes.

Numba alone falls short of both. A compiled function holds copies of all it calls, but Numba keeps it until its own file
changes. In the process that compiles a function, calls reach whichever copy of the callee was loaded first; a copy was
optimised with its caller, so that copies differ in the last digits. A process that loads the same function from disk
has its own copies only.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import llvmlite
import llvmlite.binding as llvm
import numba
import numpy as np
from numba.core import config
from numba.core.caching import FunctionCache
from numba.core.codegen import CPUCodeLibrary

import supple
from supple._threads import leave_busy_cores
from supple.linalg.work_clock import preparing

__all__ = ["block_njit", "digest_kernel", "identify", "njit"]

_VERSIONS = f"{supple.__version__} {numba.__version__} {llvmlite.__version__} {np.__version__}"
_SHARED = (llvm.Linkage.linkonce_odr, llvm.Linkage.weak_odr)


def _njit(function: Callable[..., Any] | None = None, *, blocks: bool = False, **options: Any) -> Any:
    """`numba.njit`; with cache=True the code is compiled again when anything that it was compiled from has changed.

    With `blocks` the numbers of a small block, written out one by one, become vectors. That is a pass of the compiler
    that Numba leaves off: it costs time, and loops over lanes gain nothing by it.
    """
    if function is None:
        return lambda function: _njit(function, blocks=blocks, **options)
    dispatcher: Any = numba.njit(**{**options, "cache": False})(function)
    settings: Any = config
    if settings.DISABLE_JIT:
        return dispatcher
    dispatcher.supple_options = {**options, "blocks": blocks}
    if options.get("cache"):
        with suppress(RuntimeError):  # no folder can be written to: every process compiles
            dispatcher._cache = _KernelCache(function, dispatcher.supple_options)
    if blocks:
        plain = dispatcher.compile

        def compile_blocks(signature: Any) -> Any:
            before, settings.SLP_VECTORIZE = settings.SLP_VECTORIZE, 1
            try:
                return plain(signature)
            finally:
                settings.SLP_VECTORIZE = before

        dispatcher.compile = compile_blocks
    return dispatcher


if TYPE_CHECKING:
    from numba import njit
else:
    njit = _njit


def block_njit(function: Callable[..., Any]) -> Callable[..., Any]:
    """A loop over the numbers of small blocks, compiled into vectors."""
    return _njit(function, blocks=True, cache=True, error_model="numpy", fastmath={"contract", "nsz"})  # type: ignore[no-any-return]


class _KernelCache(FunctionCache):
    """Compiled code on disk; what other source has left there is written over."""

    def __init__(self, function: Callable[..., Any], options: Mapping[str, Any]) -> None:
        super().__init__(function)
        self._options = options

    @cached_property
    def _digest(self) -> str:
        return digest_kernel(self._py_func, self._options)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        with preparing():
            return super().load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        with preparing():
            super().save_overload(sig, data)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        # Called before the index is read or written; when functions are defined, not all that they call are
        self._cache_file._source_stamp = self._digest
        return super()._index_key(sig, codegen), repr([_list_fields(kind) for kind in sig])


def _list_fields(kind: Any) -> list[Any]:
    """Names of the fields of a type of Numba that is a tuple, which its own key leaves out."""
    return [getattr(kind, "fields", ()), *(_list_fields(one) for one in getattr(kind, "types", ()))]


def digest_kernel(function: Callable[..., Any], options: Mapping[str, Any] | None = None) -> str:
    """Fingerprint of the code and constants that a function reaches, however deep, and of the compiler."""
    pieces = sorted(set(_reach(getattr(function, "py_func", function), set())))
    text = "\n".join([_VERSIONS, _list_options(options or {}), *pieces])
    return hashlib.sha256(text.encode()).hexdigest()


def identify(value: Any) -> str:
    """What a name stands for in compiled code: which function, or which number."""
    function = getattr(value, "py_func", value)
    if isinstance(function, FunctionType):
        enclosed = [f"{name}={identify(known)}" for name, known in sorted(_enclosed(function).items())]
        return f"{function.__module__}.{function.__qualname__}({', '.join(enclosed)})"
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, tuple | list):
        return f"({', '.join(map(identify, value))})"
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__} {getattr(value, '_fields', ())}"
    return repr(value) if isinstance(value, int | float | complex | str | np.generic | None) else ""


def _reach(function: Any, seen: set[int]) -> Iterator[str]:
    """One line for every function reached: its code, its options and what its names stand for."""
    code = function.__code__
    if id(code) in seen:
        return
    seen.add(id(code))
    scope = {**function.__globals__, **_enclosed(function)}
    names = sorted(set(_list_names(code)))
    known = {name: scope[name] for name in names if name in scope}
    for module in [value for value in known.values() if isinstance(value, ModuleType)]:
        if module.__name__.startswith("supple"):  # others have their versions
            known |= {f"{module.__name__}.{name}": vars(module)[name] for name in names if name in vars(module)}
    stand_for = [f"{name}={identify(value)}" for name, value in known.items()]
    yield f"{identify(function)} {_describe(code)} {function.__defaults__} {stand_for}"
    for value in known.values():
        for one in value if isinstance(value, tuple | list) else (value,):
            called = getattr(one, "py_func", getattr(one, "_defn", one))  # a kernel, an intrinsic, a function
            if isinstance(called, FunctionType):
                yield _list_options(getattr(one, "supple_options", {}))
                yield from _reach(called, seen)


def _list_names(code: CodeType) -> Iterator[str]:
    """Names from outside that the code reads, that of functions written inside it as well."""
    yield from (*code.co_names, *code.co_freevars)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _list_names(constant)


def _describe(code: CodeType) -> str:
    """The code without the place where it was written."""
    constants = [_describe(one) if isinstance(one, CodeType) else _write(one) for one in code.co_consts]
    return f"{code.co_code.hex()} {code.co_exceptiontable.hex()} {code.co_varnames} {code.co_names} {constants}"


def _list_options(options: Mapping[str, Any]) -> str:
    """How a function is compiled."""
    return ", ".join(f"{name}={_write(value)}" for name, value in sorted(options.items()))


def _write(value: Any) -> str:
    """The same text in every process: sets have no order of their own."""
    return repr(sorted(map(repr, value)) if isinstance(value, set | frozenset) else value)


def _enclosed(function: FunctionType) -> dict[str, Any]:
    """What a function knows from the function it was written in."""
    cells = function.__closure__ or ()
    return {name: cell.cell_contents for name, cell in zip(function.__code__.co_freevars, cells, strict=True)}


leave_busy_cores()  # Numba is loaded now, and no loop has run

_finalize = CPUCodeLibrary._finalize_final_module


def _call_own_copies(library: Any) -> None:
    """Make machine code of a library whose calls reach its own copies of what it calls, in every process."""
    module = library._final_module
    shared = [(called, called.linkage) for called in module.functions if called.linkage in _SHARED]
    for called, _ in shared:
        called.linkage = "internal"
    _finalize(library)
    for called, linkage in shared:  # what is linked into callers is as before
        called.linkage = linkage


_libraries: Any = CPUCodeLibrary
_libraries._finalize_final_module = _call_own_copies
