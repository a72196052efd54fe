"""The `[time]` table: how long a scene runs and how finely."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from supple.scene.section import Section, Unit

__all__ = ["TimeTable"]


class TimeTable(Section):
    """How long and how finely."""

    fps: Annotated[float, Unit("1/s")] = Field(default=24.0, gt=0, le=1e6, description="frames per second")
    substeps: int = Field(default=2, ge=1, le=100_000, description="time steps per frame")
    frames: int = Field(default=48, ge=1, le=10_000_000, description="frames to simulate after frame 0, the start")
    preroll: int = Field(
        default=0,
        ge=0,
        le=1_000_000,
        description="frames simulated before frame 0: pins stand still, a rig goes to its first pose",
    )
    integrator: Literal["implicit_euler", "newmark", "generalized_alpha", "static"] = Field(
        default="implicit_euler",
        description="implicit_euler damps, newmark keeps the energy of small vibrations, generalized_alpha damps only "
        "fast ones (full method), static finds the equilibrium",
    )

    @property
    def step(self) -> float:
        """Length of a time step [s]."""
        return 1.0 / (self.fps * self.substeps)
