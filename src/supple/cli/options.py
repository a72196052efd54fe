"""What several verbs are called with, and how it reaches a scene."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from supple._console import Common

__all__ = ["DEFAULTS", "AllowCode", "Method", "Output", "Outputs", "absolute", "given"]

Outputs = Annotated[list[Path] | None, Parameter(name=["--output", "-o"], negative="", consume_multiple=False)]
Output = Annotated[Path, Parameter(name=["--output", "-o"])]
Method = Literal["full", "reduced", "skipping", "condensation", "posespace", "projective", "hyperreduced"]
AllowCode = Annotated[bool, Parameter(negative="")]
DEFAULTS = Common()


def absolute(path: Path | None) -> str | None:
    """A path from the command line as it is seen from a scene in any folder."""
    return None if path is None else str(path.absolute())


def given(changes: Mapping[str, Any]) -> dict[str, Any]:
    """The changes that were asked for, tables without content left out."""
    kept = {key: given(value) if isinstance(value, Mapping) else value for key, value in changes.items()}
    return {key: value for key, value in kept.items() if value is not None and value != {}}
