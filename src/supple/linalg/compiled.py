"""Copies of one Python loop compiled in several ways, each cached between runs under a name of its own."""

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

from numba import njit

__all__ = ["compile_copy"]


def compile_copy(
    template: Callable[..., Any], suffix: str, names: Mapping[str, Any] | None = None, **options: Any
) -> Callable[..., Any]:
    """The loop compiled with the given options and with `names` among its globals.

    Numba caches module functions by their name alone: neither closures over compiled functions nor two sets of
    options for one function survive in its cache, but a renamed copy of a function does.
    """
    name = f"{template.__name__}_{suffix}"
    assert isinstance(template, FunctionType)
    copy = FunctionType(template.__code__, {**template.__globals__, **(names or {})}, name)
    copy.__qualname__ = name
    copy.__module__ = template.__module__
    settings = {"cache": True, "error_model": "numpy", "fastmath": {"contract", "nsz"}, **options}
    return njit(**settings)(copy)  # type: ignore[no-any-return]
