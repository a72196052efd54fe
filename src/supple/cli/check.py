"""The verb `check`: what is wrong with a mesh."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from supple._console import Common, Console, perform
from supple.cli.options import DEFAULTS

__all__ = ["check"]


def check(file: Path, /, *, fix: Path | None = None, common: Common = DEFAULTS) -> int:
    """Find what is wrong with a mesh, say what will come of it, and put it right.

    Parameters
    ----------
    file
        Tetrahedra or surface.
    fix
        Write the mesh here with all put right that can be, its suffix is the format.
    """
    from supple.scene.check import check_file

    def work(console: Console) -> Mapping[str, Any]:
        facts = check_file(file, fix, overwrite=common.overwrite)
        console.say(f"{file}: {facts['kind']}, {facts['vertices']:,} vertices, {facts['cells']:,} cells")
        for flaw in facts["flaws"]:
            console.say(f"{flaw.severity}: {flaw.text()}")
        if not facts["flaws"]:
            console.say("nothing to complain about")
        if fix is not None:
            for change in facts["changes"]:
                console.say(f"changed: {change}")
            for flaw in facts["left"]:
                console.say(f"left, {flaw.severity}: {flaw.text()}")
            if facts["replaced"] is not None:
                console.say(facts["replaced"])
            console.say(f"wrote {fix}")
        plain: dict[str, Any] = {
            key: [flaw.facts() for flaw in facts[key]] for key in ("flaws", "left") if key in facts
        }
        return {**facts, **plain}

    return perform(common, "check", work, file)
