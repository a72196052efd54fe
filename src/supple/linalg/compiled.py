"""Copies of one Python loop compiled in several ways, each cached between runs under a name of its own."""

import hashlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

from numba import njit
from numba.core import config

__all__ = ["block_njit", "compile_copy", "digest_calls"]


def block_njit(function: Callable[..., Any]) -> Callable[..., Any]:
    """A loop compiled so that the numbers of a small block, written out one by one, become vectors.

    That is a pass of the compiler that Numba leaves off: it costs time, and loops over lanes gain nothing by it.
    """
    dispatcher: Any = njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})(function)
    settings: Any = config
    if not settings.DISABLE_JIT:
        plain = dispatcher.compile

        def compile_blocks(signature: Any) -> Any:
            before, settings.SLP_VECTORIZE = settings.SLP_VECTORIZE, 1
            try:
                return plain(signature)
            finally:
                settings.SLP_VECTORIZE = before

        dispatcher.compile = compile_blocks
    return dispatcher  # type: ignore[no-any-return]


def compile_copy(
    template: Callable[..., Any], suffix: str, names: Mapping[str, Any] | None = None, **options: Any
) -> Callable[..., Any]:
    """The loop compiled with the given options and with `names` among its globals.

    Numba caches module functions by their name alone: neither closures over compiled functions nor two sets of
    options for one function survive in its cache, but a renamed copy of a function does. Compiled code holds copies of
    all it calls, so the name changes with the source of these too.
    """
    assert isinstance(template, FunctionType)
    scope = {**template.__globals__, **(names or {})}
    name = f"{template.__name__}_{suffix}_{digest_calls(template.__code__, scope)}"
    copy = FunctionType(template.__code__, scope, name)
    copy.__qualname__ = name
    copy.__module__ = template.__module__
    settings = {"cache": True, "error_model": "numpy", "fastmath": {"contract", "nsz"}, **options}
    return njit(**settings)(copy)  # type: ignore[no-any-return]


def digest_calls(code: CodeType, scope: Mapping[str, Any]) -> str:
    """A short fingerprint of the modules and numbers that a function with these globals reaches, however deep."""
    pieces = sorted(set(_reach(code, scope, set())))
    return hashlib.sha256("".join(pieces).encode()).hexdigest()[:12]


def _reach(code: CodeType, scope: Mapping[str, Any], seen: set[CodeType]) -> Iterator[str]:
    """Sources of the modules of every function reached, and the constants these functions name."""
    seen.add(code)
    for name in (*code.co_names, *code.co_freevars):
        value = scope.get(name)
        if isinstance(value, int | float | str):
            yield f"{name}={value!r}"
        function = getattr(value, "py_func", value)
        if isinstance(function, FunctionType) and function.__code__ not in seen:
            yield _source(inspect.getmodule(function))
            yield from _reach(function.__code__, function.__globals__ | _enclosed(function), seen)


def _enclosed(function: FunctionType) -> dict[str, Any]:
    """What a function knows from the function it was written in."""
    cells = function.__closure__ or ()
    return {name: cell.cell_contents for name, cell in zip(function.__code__.co_freevars, cells, strict=True)}


@cache
def _source(module: ModuleType | None) -> str:
    return "" if module is None else inspect.getsource(module)
