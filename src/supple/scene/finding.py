"""One thing worth knowing about a scene before it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["ORDER", "Finding"]

Severity = Literal["error", "warning", "note"]
ORDER: dict[str, int] = {"error": 0, "warning": 1, "note": 2}


@dataclass(frozen=True)
class Finding:
    """One thing worth knowing about a scene before it runs."""

    severity: Severity
    check: str
    text: str
