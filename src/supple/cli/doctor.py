"""The verb `doctor`: a scene checked before it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from supple._console import Common, Console, perform
from supple.cli.options import DEFAULTS, given

__all__ = ["doctor"]


def doctor(
    scene: Path,
    /,
    *,
    units: str | None = None,
    common: Common = DEFAULTS,
) -> int:
    """Check a scene (or a mesh with default settings) before it runs.

    Parameters
    ----------
    scene
        Scene file or mesh.
    units
        Length unit of the scene and its files (m, cm, mm, ...).
    """
    from supple.scene.doctor import examine

    def work(console: Console) -> Mapping[str, Any]:
        findings = examine(scene, given({"units": units}))
        for finding in findings:
            console.say(f"{finding.severity}: {finding.text}")
        if not findings:
            console.say("nothing to complain about")
        failed = any(finding.severity == "error" for finding in findings)
        return {"scene": str(scene), "failed": failed, "findings": [asdict(finding) for finding in findings]}

    return perform(common, "doctor", work, scene)
