"""The `[training]` table: which motions a reduced model learns from."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from supple.scene.force import Force
from supple.scene.pose_table import PoseTable
from supple.scene.region_table import RegionTable
from supple.scene.section import FILE, Section, Unit

__all__ = ["TrainingTable"]


def _range(value: object) -> object:
    """Two numbers, the lower first."""
    numbers = isinstance(value, list | tuple) and len(value) == 2
    if not numbers or not all(isinstance(x, int | float) and not isinstance(x, bool) for x in value):  # type: ignore[attr-defined]
        raise ValueError("must be two numbers, such as [0.4, 1.3]")
    low, high = (float(x) for x in value)  # type: ignore[attr-defined]
    if not 0.0 <= low <= high:
        raise ValueError("must be two numbers from 0 on, the lower first")
    return (low, high)


class TrainingTable(Section):
    """Runs of the full solver that a reduced model is made from: the scene with its loads varied."""

    cases: int = Field(default=6, ge=1, le=10_000, description="runs to learn from at first")
    max_cases: int | None = Field(
        default=None,
        ge=1,
        le=10_000,
        description="runs to learn from at most, should the first ones not be enough (default: four times as many)",
    )
    heldout: int = Field(default=2, ge=1, le=1000, description="runs to judge by, which nothing is learned from")
    steps: int | None = Field(
        default=None,
        ge=1,
        le=100_000,
        description="time steps of a run (default: a period of the softest mode, and all that pins and loads do)",
    )
    strength: Annotated[tuple[float, float], BeforeValidator(_range)] = Field(
        default=(0.4, 1.3),
        description="factors between which loads, start velocity and spin and the speed of pins and bones are drawn, "
        "each anew",
    )
    turn: Annotated[float, Unit("degrees")] = Field(
        default=30.0, ge=0, le=180, description="largest angle by which directions of loads are turned at random"
    )
    load: list[Force] = Field(
        default_factory=list, description="loads that act in training beside the scene's; keys as in [[force]]"
    )
    domains: Literal["none", "bones"] = Field(
        default="none",
        description="what a rigged body is divided into, each with a subspace of its own: nothing, or a domain a bone",
    )
    poses: list[PoseTable] = Field(
        default_factory=list,
        description="posespace: poses that have a basis in any case; reduced about a rig: poses that a further run to "
        "learn from goes through; keys as those of a pose in [[motion.key]]",
    )
    range_poses: int = Field(
        default=0,
        ge=0,
        le=1000,
        description="reduced about a rig: as many further poses to learn from, drawn within the ranges of the joints",
    )
    max_poses: int = Field(
        default=16,
        ge=1,
        le=200,
        description='posespace: poses with a basis of their own, at most; contact.self = "rules": poses with a rule',
    )
    iterates: bool = Field(
        default=False,
        description='contact.self = "rules": learn also from every Newton iterate of the poses with a rule, settled in '
        "full space",
    )
    contact: Literal["opens", "slides", "sticks"] = Field(
        default="opens",
        description="posespace, with [contact] self = true: flesh that touches itself in a pose stays together or "
        "comes apart, slides along itself only, or does not move there",
    )
    region: list[RegionTable] = Field(
        default_factory=list,
        description="posespace: parts of the body with coordinates of their own, which overlap and leave each other in "
        "peace (default: one for all of it)",
    )
    seed: int = Field(default=0, ge=0, description="seed of what is drawn; run k is the same for any number of runs")
    cache: Annotated[str | None, FILE] = Field(
        default=None, description="folder where finished runs are kept (default: `NAME.training` beside the scene)"
    )
    budget: float = Field(
        default=1.0,
        gt=0,
        le=1e6,
        description="work that the training of rules may take, times the usual (1e12 products, about 100 s on a core); "
        "it ends with the best model found",
    )
    max_rank: int = Field(default=150, ge=1, le=2000, description="rank beyond which accuracy is not sought")

    @property
    def most_cases(self) -> int:
        """Runs to learn from at most."""
        return max(self.cases, self.max_cases or 4 * self.cases)
