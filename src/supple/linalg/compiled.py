"""Copies of one Python loop compiled in several ways, each kept on disk under a name of its own."""

import hashlib
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

from supple.linalg.jit import identify, njit

__all__ = ["compile_copy"]


def compile_copy(
    template: Callable[..., Any], suffix: str, names: Mapping[str, Any] | None = None, **options: Any
) -> Callable[..., Any]:
    """The loop compiled with the given options and with `names` among its globals.

    Compiled code is kept under the name of its function: neither closures over compiled functions nor two sets of
    options for one function survive there, but a renamed copy of a function does. Its name holds what `names` are.
    """
    assert isinstance(template, FunctionType)
    given = sorted((names or {}).items())
    filled = hashlib.sha256("".join(f"{name}={identify(value)}" for name, value in given).encode()).hexdigest()[:12]
    name = f"{template.__name__}_{suffix}_{filled}"
    copy = FunctionType(template.__code__, {**template.__globals__, **dict(given)}, name)
    copy.__qualname__ = name
    copy.__module__ = template.__module__
    settings = {"cache": True, "error_model": "numpy", "fastmath": {"contract", "nsz"}, **options}
    return njit(**settings)(copy)  # type: ignore[no-any-return]
