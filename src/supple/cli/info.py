"""The verb `info`: what a file holds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from supple._console import Common, Console, perform
from supple.cli.facts import say_facts
from supple.cli.options import DEFAULTS

__all__ = ["info"]


def info(file: Path, /, *, common: Common = DEFAULTS) -> int:
    """Say what a mesh, scene, recording, checkpoint or trained model holds.

    Parameters
    ----------
    file
        The file.
    """
    from supple.scene.info import describe_file

    def work(console: Console) -> Mapping[str, Any]:
        facts = describe_file(file)
        say_facts(console, facts)
        return {"file": str(file), **facts}

    return perform(common, "info", work)
