"""The verb `info`: what a file holds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from supple._console import Common, Console, perform
from supple.cli.facts import say_facts
from supple.cli.options import DEFAULTS

__all__ = ["info"]

MODEL_KEYS = ("method", "serves", "vertices", "rank", "elements", "error", "tolerance")


def info(file: Path, /, *, common: Common = DEFAULTS) -> int:
    """Say what a mesh, scene, recording, checkpoint or trained model holds; of a model all with -v.

    Parameters
    ----------
    file
        The file.
    """
    from supple.scene.info import describe_file

    def work(console: Console) -> Mapping[str, Any]:
        facts = describe_file(file)
        say_facts(console, facts if console.verbosity > 0 else _shorten(facts))
        return {"file": str(file), **facts}

    return perform(common, "info", work, file)


def _shorten(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first facts of a model, with how to see the rest; all of anything else."""
    if facts["kind"] != "model":
        return facts
    return {**{key: facts[key] for key in MODEL_KEYS if key in facts}, "more": "add -v"}
