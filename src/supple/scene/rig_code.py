"""Functions of Python files that a scene names: none of them runs before somebody has allowed it.

What is allowed is one file as it is: a hash of where it really lies and of its content. A file that is changed, or a
link that leads elsewhere, has to be allowed again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from supple.errors import SceneError
from supple.scene.kept import cache_folder
from supple.scene.schema import Scene

__all__ = ["list_code", "load_function", "permit_code", "run_no_code", "tell_code"]

ALLOWED = "allowed-code"  #: folder below that of what is kept, with a file for each hash that was allowed

_allowed: set[str] = set()  # hashes that this process may run
_left_out: ContextVar[list[str] | None] = ContextVar("left_out", default=None)  # a list where nothing is run


@dataclass(frozen=True)
class Code:
    """A function of a Python file that a scene names."""

    path: Path
    name: str

    def __str__(self) -> str:
        real = self.path.resolve()
        where = f"{real}, outside the folder of {self.path}" if self._leads_out(real) else str(real)
        return f"the function '{self.name}' of {where}"

    def _leads_out(self, real: Path) -> bool:
        """Whether a link takes it out of the folder in which the scene has it."""
        return not real.is_relative_to(self.path.parent.resolve())

    def read(self) -> bytes:
        """The file's content."""
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise SceneError(f"{self.path} cannot be read ({error}): give a Python file beside the scene.") from None

    def hash(self, content: bytes) -> str:
        """What is allowed: this content at this place."""
        return hashlib.sha256(f"{self.path.resolve()}\n".encode() + content).hexdigest()


def list_code(scene: Scene) -> list[Code]:
    """What a scene would run of Python files."""
    deformers = [] if scene.rig is None else scene.rig.deformer
    return [Code(Path(one.file), one.function or "") for one in deformers if one.file is not None]


def permit_code(scene: Scene, *, remember: bool = False) -> None:
    """Let this process run the Python files that a scene names, as they are now; `remember`: later ones, too."""
    for code in list_code(scene):
        found = code.hash(code.read())
        _allowed.add(found)
        folder = cache_folder()
        if remember and folder is not None:
            with suppress(OSError):  # then it has to be allowed again
                (folder / ALLOWED).mkdir(parents=True, exist_ok=True)
                (folder / ALLOWED / found).write_text(f"{code.path.resolve()}\n", encoding="utf-8")


def tell_code(scene: Scene) -> list[str]:
    """A line for each function of a Python file that a scene runs, where that is allowed."""
    return [f"runs {code}" for code in list_code(scene) if _is_allowed(code.hash(code.read()))]


@contextmanager
def run_no_code() -> Iterator[Sequence[str]]:
    """While it is open, functions of Python files leave every point where it is; those left out are listed."""
    left_out: list[str] = []
    token = _left_out.set(left_out)
    try:
        yield left_out
    finally:
        _left_out.reset(token)


def _is_allowed(found: str) -> bool:
    folder = cache_folder()
    return found in _allowed or (folder is not None and (folder / ALLOWED / found).is_file())


def load_function(path: Path, name: str) -> Callable[..., Any]:
    """The function of that name in a Python file, which is run for it where that is allowed."""
    code = Code(path, name)
    left_out = _left_out.get()
    if left_out is not None:
        left_out.append(str(code))
        return _leave_alone
    content = code.read()
    if not _is_allowed(code.hash(content)):
        raise SceneError(
            f"this scene would run {code}: read that file, then give  --allow-code  (in Python, allow_code=True)."
        )
    space: dict[str, Any] = {"__name__": path.stem, "__file__": str(path)}
    try:
        exec(compile(content, str(path), "exec"), space)
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


def _leave_alone(points: Any, values: Any) -> Any:
    """The points as they are."""
    return points
