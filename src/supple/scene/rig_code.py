"""Functions of Python files that a scene names; opening such a scene runs them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from supple.errors import SceneError

__all__ = ["load_function"]


def load_function(path: Path, name: str) -> Callable[..., Any]:
    """The function of that name in a Python file, which is run for it."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SceneError(f"{path} cannot be read ({error}): give a Python file beside the scene.") from None
    space: dict[str, Any] = {"__name__": path.stem, "__file__": str(path)}
    try:
        exec(compile(text, str(path), "exec"), space)
    except Exception as error:
        raise SceneError(f"{path} does not run ({type(error).__name__}: {error}): correct it.") from error
    found = space.get(name)
    if not callable(found):
        there = ", ".join(key for key, value in space.items() if callable(value) and not key.startswith("_"))
        raise SceneError(f"{path} has no function '{name}': it has {there or 'none'}.")

    def called(*values: Any) -> Any:
        try:
            return found(*values)
        except Exception as error:
            raise SceneError(f"'{name}' of {path} failed ({type(error).__name__}: {error}): correct it.") from error

    called.__name__ = name
    return called
