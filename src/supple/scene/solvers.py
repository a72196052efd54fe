"""The solver that a stage's `[method]` and `[time]` name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from supple.errors import SceneError
from supple.method import (
    ArticulatedModel,
    ArticulatedSolver,
    CondensationSolver,
    FullSolver,
    PaperSkippingSolver,
    PoseSpaceModel,
    PoseSpaceSolver,
    ReducedModel,
    ReducedSolver,
    SkinnedSolver,
    SkippingSolver,
    Solver,
    TrainedModel,
)
from supple.scene.bodies import split_bodies
from supple.scene.company import couple
from supple.scene.projective import projective_solver
from supple.scene.stage import Built, Stage

__all__ = ["add_solver", "full_solver", "join_solvers", "reduced_solver", "skipping_solver"]


def add_solver(stage: Stage, model: TrainedModel | None = None) -> Built:
    """The stage with the solver that `[method]` and `[time]` name."""
    if stage.members:
        scenes = split_bodies(stage.scene)
        members = {name: add_solver(replace(one, scene=scenes[name])) for name, one in stage.members.items()}
        return join_solvers(stage, members)
    parts = {field.name: getattr(stage, field.name) for field in fields(Stage)}
    if stage.scene.method.name == "full":
        return Built(**parts, solver=full_solver(stage))
    if stage.tied is not None and stage.scene.method.is_projective:
        drive = stage.drive
        solver, said = projective_solver(stage.scene, stage.tied, drive.colliders, stage.contact, drive.forces(0.0))
        return Built(**parts, solver=solver, said=tuple(said))
    if stage.scene.method.name == "skipping":
        return Built(**parts, solver=skipping_solver(stage, model), model=model)
    if model is None:
        raise SceneError(
            f'method.name = "{stage.scene.method.name}" needs a trained model: give one, or use prepare_scene(), which '
            "finds or trains it."
        )
    return Built(**parts, solver=reduced_solver(stage, model), model=model)


def join_solvers(stage: Stage, members: Mapping[str, Built]) -> Built:
    """The stage of several bodies with their solvers, which press on each other."""
    parts = {field.name: getattr(stage, field.name) for field in fields(Stage)}
    said = tuple(f"{name}: {line}" for name, one in members.items() for line in one.said)
    return Built(**{**parts, "members": dict(members)}, solver=couple(stage, members), said=said)


def full_solver(stage: Stage) -> FullSolver:
    """The full-space solver of a scene, whatever method it names."""
    time, method, rigging = stage.scene.time, stage.scene.method, stage.drive.rigging
    return FullSolver(
        stage.body,
        integrator=time.integrator,
        tolerance=method.residual,
        linear_solver=method.linear_solver,
        max_iterations=method.max_iterations,
        time_step=time.step,
        colliders=stage.drive.colliders,
        contact=stage.contact,
        rig=None if rigging is None else rigging.rig,
        rest="neutral" if rigging is None else rigging.rest,
        anchors=None if rigging is None else rigging.anchors,
    )


def skipping_solver(stage: Stage, model: TrainedModel | None = None) -> SkippingSolver | PaperSkippingSolver:
    """The solver of a scene that takes full steps only where it must; a model is what it begins with."""
    time, method = stage.scene.time, stage.scene.method
    settings: dict[str, Any] = {
        "integrator": time.integrator,
        "throttle": method.throttle,
        "newton_tolerance": method.residual,
        "linear_solver": method.linear_solver,
        "max_iterations": method.max_iterations,
        "time_step": time.step,
        "colliders": stage.drive.colliders,
        "contact": stage.contact,
        "rig": None if stage.drive.rigging is None else stage.drive.rigging.skin,
    }
    if method.max_rank is not None:
        settings["max_rank"] = method.max_rank
    if method.estimator == "paper":
        if model is not None or method.save is not None:
            key = "save" if model is None else "model"
            raise SceneError(f'method.{key} is not for estimator = "paper", which learns every run anew: remove it.')
        return PaperSkippingSolver(stage.body, tolerance=method.tolerance, discard=method.discard, **settings)
    if (stage.drive.rigging is not None and method.save is not None) or not isinstance(model, ReducedModel | None):
        raise SceneError("what is learned of a body with a [rig] is not kept yet: remove method.save and method.model.")
    return SkippingSolver(stage.body, tolerance=method.tolerance, model=model, **settings)


def reduced_solver(stage: Stage, model: TrainedModel) -> Solver[Any]:
    """The solver of a scene in a trained subspace."""
    rigging, method = stage.drive.rigging, stage.scene.method
    common: dict[str, Any] = {"integrator": stage.scene.time.integrator, "tolerance": method.residual}
    touched: dict[str, Any] = {"colliders": stage.drive.colliders, "contact": stage.contact}
    if method.max_iterations is not None:
        common["max_iterations"] = method.max_iterations
    if method.name == "condensation":
        if isinstance(model, PoseSpaceModel):
            raise SceneError(
                "condensation needs a subspace of the neutral body, and the model is of posed ones: train again."
            )
        names = ("radius", "weights", "release", "oracle", "accuracy")
        own: dict[str, Any] = {name: getattr(method, name) for name in names}
        rig = None if rigging is None else rigging.skin
        return CondensationSolver(stage.body, model, rig=rig, **touched, **common, **own)
    if not isinstance(model, ReducedModel):
        if rigging is None:
            raise SceneError("the model is of a body with a rig and the scene has no [rig]: train again.")
        if isinstance(model, PoseSpaceModel):
            return PoseSpaceSolver(stage.body, rigging.rig, model, **touched, **common)
        if isinstance(model, ArticulatedModel):
            return ArticulatedSolver(stage.body, rigging.skin, model, **touched, **common)
        return SkinnedSolver(stage.body, rigging.skin, model, **touched, **common)
    if rigging is not None:
        raise SceneError("the scene has a [rig] and the model is of a body without one: train again.")
    return ReducedSolver(stage.body, model, **touched, **common)
