"""The `[method]` table: how a step is solved."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from supple.scene.section import FILE, Section

__all__ = ["PROJECTIVE", "MethodName", "MethodTable"]

NEWTON, ACCURACY = 1e-4, 0.01  #: what a method's tolerance is when none is given
POSED_ACCURACY = 0.05  #: the same in pose space, where bases between poses are interpolated
MethodName = Literal["full", "reduced", "skipping", "condensation", "posespace", "projective", "hyperreduced"]

PROJECTIVE: tuple[MethodName, ...] = ("projective", "hyperreduced")  #: methods that project constraints


class MethodTable(Section):
    """How a step is solved."""

    name: MethodName = Field(
        default="full",
        description="full: every vertex is an unknown; reduced: a trained subspace; skipping: full steps teach a "
        "subspace in which the others are taken; condensation: a trained subspace, and full space where something "
        "touches; posespace: a subspace for every pose of a "
        'rig with rest = "posed"; projective: constraints projected in turn, every vertex an unknown; hyperreduced: '
        "the same in small spaces, without training",
    )
    tolerance: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="full: residual at which a Newton solve is done (1e-4); "
        "reduced, condensation, posespace: error against the full solver that training aims at (0.01, 0.01, 0.05); "
        "skipping: error of a step, relative to the motion (1e-3; static 0.01); projective: part of the body's size "
        "below which iterations end (0); "
        "hyperreduced: error against unreduced steps, by which spaces are chosen",
    )
    newton_tolerance: float | None = Field(
        default=None, gt=0, lt=1, description="residual at which a Newton solve is done, whatever the method (1e-4)"
    )
    linear_solver: Literal["auto", "direct", "pcg"] = Field(default="auto", description="how linear systems are solved")
    max_iterations: int | None = Field(
        default=None,
        ge=1,
        le=100_000,
        description="Newton iterations before a step is halved; projective, hyperreduced: most iterations of a step "
        "(200)",
    )
    model: Annotated[str | None, FILE] = Field(
        default=None,
        description="reduced, condensation, posespace: trained model (default: `NAME.model.npz` beside the scene, "
        "trained when it is missing); skipping: model to begin with, of this or another run (default: none)",
    )
    save: Annotated[str | None, FILE] = Field(
        default=None, description="skipping: where what was learned is left as a model when the run ends"
    )
    rank: int | None = Field(
        default=None,
        ge=1,
        le=2000,
        description="reduced, condensation, posespace: fixed size of the subspace, or of the largest of its domains",
    )
    throttle: float = Field(
        default=1.0, ge=0, le=1e6, description="skipping: what the tolerance is multiplied with; 0 skips nothing"
    )
    max_rank: int | None = Field(
        default=None,
        ge=1,
        le=300,
        description="skipping: largest subspace that is learned (45, or more where that is cheap; of the paper 20)",
    )
    estimator: Literal["checks", "paper"] = Field(
        default="checks",
        description="skipping: steps are reduced as long as full residuals find them right (checks), or as [KJ09] "
        "prints it (paper), where the tolerance is of the body's longest side (0.01; static 0.005)",
    )
    discard: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="skipping by the paper's estimator: share of a displacement that its basis may miss (0.01; static "
        "0.001)",
    )
    elements: int | None = Field(
        default=None, ge=1, description="reduced, condensation: most elements that forces are taken from"
    )
    iterations: int | None = Field(
        default=None, ge=1, le=100_000, description="projective, hyperreduced: least iterations of a step (10)"
    )
    convergence: float | None = Field(
        default=None,
        ge=0,
        lt=1,
        description="projective, hyperreduced: a step ends when it is estimated to have this share of its way left "
        "(0.02); 0 takes exactly `iterations`",
    )
    history: int | None = Field(
        default=None,
        ge=0,
        le=100,
        description="projective: iterations remembered to make later ones longer (5; 0 for the co-rotational material "
        "where convergence is 0)",
    )
    handles: int | None = Field(
        default=None, ge=1, le=100_000, description="hyperreduced: points whose weights span the positions (120)"
    )
    radius: float | None = Field(
        default=None,
        gt=0,
        le=10,
        description="hyperreduced: reach of a handle, times the distance that covers the body (1.5, at least 1); 2 is "
        "smoother; condensation: reach of full space about what touches, in longest sides of the body (3 edges)",
    )
    weights: Literal["subtract", "paper"] = Field(
        default="subtract",
        description="condensation: beside exact elements, trained ones count less what the exact ones stand for "
        "(subtract), or those among the exact ones are left out, as [TMDK15] prints it (paper)",
    )
    oracle: Literal["contact", "error"] | None = Field(
        default=None,
        description="condensation: full space about what touches (contact, where a radius is given), or wherever "
        "forces are out of balance, as far about it as the tolerance takes (error)",
    )
    release: Literal["settled", "frames", "motion"] = Field(
        default="settled",
        description="condensation: vertices return to the subspace when it has them where they are (settled), two "
        "steps after they were last near what touches (frames), or when they hardly move (motion)",
    )
    projection: Literal["clusters", "fit"] | None = Field(
        default=None,
        description="hyperreduced: few projections stand for all by clusters of elements that turn together "
        "(clusters), or by a fit to samples (fit); bending is always fitted",
    )
    clusters: int | None = Field(default=None, ge=1, le=100_000, description="hyperreduced: clusters of elements (200)")
    functions: int | None = Field(
        default=None, ge=1, le=100_000, description="hyperreduced: weights that span fitted projections (60)"
    )
    samples: int | None = Field(
        default=None, ge=1, description="hyperreduced: constraints of each type that are evaluated for a fit (1000)"
    )
    candidates: int | None = Field(
        default=None,
        ge=1,
        description="vertices of the surface that may touch (projective: 4000, hyperreduced: 2400)",
    )

    @model_validator(mode="after")
    def _residual_is_said_once(self) -> MethodTable:
        if self.name == "full" and self.tolerance is not None and self.newton_tolerance is not None:
            raise ValueError("has both tolerance and newton_tolerance, which are one thing for full: keep one of them")
        return self

    @model_validator(mode="after")
    def _most_iterations_are_not_fewer(self) -> MethodTable:
        least = self.iterations or 10
        if self.is_projective and self.max_iterations is not None and self.max_iterations < least:
            raise ValueError(
                f"has max_iterations = {self.max_iterations} below iterations = {least}, the least of a step: raise it"
            )
        return self

    @model_validator(mode="after")
    def _handles_cover_the_body(self) -> MethodTable:
        if self.name == "hyperreduced" and self.radius is not None and self.radius < 1.0:
            raise ValueError("has a radius below 1, at which handles do not cover the body: give 1 or more")
        return self

    @model_validator(mode="after")
    def _discards_as_the_paper(self) -> MethodTable:
        if self.discard is not None and self.estimator != "paper":
            raise ValueError('has discard, which belongs to estimator = "paper": name that, or remove it')
        return self

    @property
    def is_projective(self) -> bool:
        """Whether bodies are tied by constraints."""
        return self.name in PROJECTIVE

    @property
    def residual(self) -> float:
        """Relative residual at which a Newton solve is done."""
        asked = self.tolerance if self.name == "full" else None
        return self.newton_tolerance or asked or NEWTON

    @property
    def accuracy(self) -> float:
        """Relative error that a reduced model shall have against the full solver."""
        usual = POSED_ACCURACY if self.name == "posespace" else ACCURACY
        return (None if self.name == "full" else self.tolerance) or usual
