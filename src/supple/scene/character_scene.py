"""The scene that a rigged character gets: its own skeleton, weights and clip, soft where no bone is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import SceneError
from supple.io.character import Character, Clip
from supple.rig.hinged import hinge_motion
from supple.scene.figure import choose_body
from supple.scene.units import UNITS

__all__ = ["character_tables"]

FIRM = 6.0  #: Young's modulus over what the body's own weight presses with: flesh sags alike at any size
ELEMENTS = 15_000  #: of a body: what arms and fingers need to be filled
DENSITY, EARTH = 1000.0, 9.81
FASTEST = 60.0  #: frames a second of a scene; clips that have more are sampled
LOST = 0.05  #: share of the height by which bones may miss the clip: else flesh springs back to the posed shape
LOOKED_AT = 16  #: frames of a clip
STILL = {"fps": 24.0, "substeps": 2, "frames": 48}  #: of a character without a clip


def character_tables(file: Path, character: Character) -> dict[str, Any]:
    """The tables of a scene in which a character goes through its first clip, held by its bones."""
    parts = choose_body(character)
    points = np.concatenate([part.vertices for part in character.parts if part.name in parts])
    height = float(np.ptp(points, axis=0).max())
    clip = character.clip()
    tables: dict[str, Any] = {} if character.metres_per_unit == 1.0 else {"units": _name_unit(character)}
    if character.up_axis != "y":
        tables["up_axis"] = character.up_axis
    body = next(part for part in character.parts if part.name == parts[0])
    tables |= {
        "time": STILL,
        "mesh": {"file": str(file), "parts": parts, "elements": ELEMENTS},
        "material": {"young": float(f"{FIRM * DENSITY * EARTH * height:.0e}"), "poisson": 0.4, "density": DENSITY},
        "rig": {"weights": "file", "skinning": body.skinning},
    }
    if clip is None:
        return tables
    if _is_reshaped(character, parts, clip, LOST * height):
        tables["rig"] = tables["rig"] | {"rest": "posed"}  # with joints that slide and are scaled
    fps = min(clip.fps, FASTEST)
    frames = max(1, round(float(clip.times[-1] - clip.times[0]) * fps))
    time = {"fps": fps, "substeps": 2, "frames": frames, "preroll": round(fps)}
    return tables | {"time": time, "motion": {"clip": clip.name}}


def _is_reshaped(character: Character, parts: list[str], clip: Clip, most: float) -> bool:
    """Whether bones that keep their length would have joints of these parts miss a clip by more than `most` [m]."""
    joints = [part.influences.joints for part in character.parts if part.name in parts and part.influences is not None]
    if character.skeleton is None or not joints:
        return False
    some = slice(None, None, 1 + len(clip.times) // LOOKED_AT)
    hinged = hinge_motion(character.skeleton, clip.times[some], clip.turns[some], clip.shifts[some])
    return bool(hinged.misses[np.unique(np.concatenate([one.ravel() for one in joints]))].max() > most)


def _name_unit(character: Character) -> str:
    """What scenes call the file's unit of length."""
    for name, metres in UNITS.items():
        if abs(character.metres_per_unit - metres) < 1e-6 * metres:
            return name
    raise SceneError(
        f"{character.file} counts in units of {character.metres_per_unit:g} m, which scenes have no name for: give "
        "--units."
    )
