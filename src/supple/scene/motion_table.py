"""The `[motion]` table: what a rig does in time."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from supple.scene.motion import check_times
from supple.scene.pin import check_interval
from supple.scene.pose_table import PoseTable
from supple.scene.section import FILE, Section, Unit

__all__ = ["MotionTable", "PoseKey"]

_OF_FILES = ("names", "travel", "from_", "until")


class PoseKey(PoseTable):
    """A pose at one time; other keys are names of joints or channels, as in { t = 1.0, elbow = [0, 0, 90] }."""

    t: Annotated[float, Unit("s")] = Field(ge=0, description="time of the key")


class MotionTable(Section):
    """Poses in time, from a file or from keys; with neither, the motion that came with the skeleton."""

    file: Annotated[str | None, FILE] = Field(
        default=None, description="motion of any skeleton (.bvh, Pinocchio's .txt); joints are matched by their names"
    )
    clip: str | None = Field(default=None, description="one of a rigged character's own (default: its first)")
    names: dict[str, str] = Field(
        default_factory=dict, description="of the file: its joint by the rig's, where their names do not tell"
    )
    travel: float = Field(
        default=1.0, ge=0, description="of the file: factor on how far the root goes along the ground; 0: on the spot"
    )
    from_: Annotated[float | None, Unit("s")] = Field(
        default=None, alias="from", ge=0, description="of the file: where its motion begins"
    )
    until: Annotated[float | None, Unit("s")] = Field(default=None, description="of the file: where its motion ends")
    keys: list[PoseKey] | None = Field(
        default=None,
        description="keyframes { t, pose }, { t, JOINT = [x, y, z] } or { t, CHANNEL = value }; a key moves only "
        "what it names, and what has none at 0 begins at rest",
    )
    between: Literal["ease", "spline", "linear"] = Field(
        default="ease", description="between keys: stopping at each, smoothly through them, or straight"
    )
    speed: float = Field(default=1.0, gt=0, description="factor on how fast it goes")
    clamp: bool = Field(
        default=False, description="whether joints stop where their ranges end, instead of a warning that they do not"
    )
    loop: bool | None = Field(
        default=None, description="whether it goes on for ever, its end bent into its beginning (default: as it came)"
    )

    @model_validator(mode="after")
    def _makes_sense(self) -> MotionTable:
        if self.file is not None and self.keys is not None:
            raise ValueError("has both file and keys: keep one of them")
        if self.clip is not None and (self.file is not None or self.keys is not None):
            raise ValueError("has clip beside file or keys: keep one of them")
        spare = next((name for name in _OF_FILES if name in self.model_fields_set and self.file is None), None)
        if spare is not None:
            raise ValueError(f"has {spare.rstrip('_')}, which belongs to a file: name one, or remove it")
        if "between" in self.model_fields_set and self.keys is None:
            raise ValueError("has between, which belongs to keys: give some, or remove it")
        if self.keys is not None:
            check_times([key.t for key in self.keys])
        if self.file is not None:
            check_interval(self.from_, self.until)
        return self
