"""The verb `demo`: a rigged character with soft tissue, or another demonstration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from supple._console import Common, Console, perform
from supple.cli.options import DEFAULTS

__all__ = ["demo"]


def demo(
    name: str | None = None,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    list_: Annotated[bool, Parameter(name="--list", negative="")] = False,
    view_: Annotated[bool, Parameter(name="--view", negative="")] = False,
    common: Common = DEFAULTS,
) -> int:
    """Give a rigged character soft tissue, hold it against the full solver, and write a page and animations.

    Parameters
    ----------
    name
        Another demonstration, one for every method.
    output
        Folder to write to (default: supple-demo, and in it one for every name).
    list_
        List the demonstrations.
    view_
        Open it live in the browser instead, to pull at and to pose (needs the extra `view`).
    """
    from supple.scene.demo import lay_out_demo, run_demo
    from supple.scene.demo_table import DEMOS, FIRST

    def work(console: Console) -> Mapping[str, Any]:
        if list_:
            for one in DEMOS.values():
                console.say(f"{one.name:14} {one.about}")
            return {"demos": {one.name: one.about for one in DEMOS.values()}}
        folder = output or Path("supple-demo") / (name or "")
        if view_:
            from supple.view.launch import Look, view_file

            look = Look(
                lay_out_demo(folder, name or FIRST, overwrite=common.overwrite),
                {},
                folder=folder,
                threads=common.threads,
            )
            return view_file(look, console.listener, console.say, console.warn)
        return run_demo(folder, console.listener, console.say, name or FIRST, overwrite=common.overwrite)

    return perform(common, "demo", work, None, name or "")
