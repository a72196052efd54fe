"""A scene changed while it runs: its keys, what is made of them, and its motion under another solver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from supple.elastic import Damping
from supple.errors import SceneError
from supple.method.posespace.state import PoseSpaceState
from supple.scene.build import set_stage
from supple.scene.load import override, parse_scene
from supple.scene.projective import refuse_unserved
from supple.scene.replay import EventLog
from supple.scene.rig_reduced import refuse_unbuilt
from supple.scene.schema import Scene
from supple.scene.stage import Built, Stage
from supple.solve import Event, SetScene

__all__ = ["carry", "change_scene", "check_changes", "keeps_model", "restage"]

LEARNED = ("tolerance", "rank", "elements", "model")  #: keys of a method that another model may be needed for


def change_scene(scene: Scene, changes: Mapping[str, Mapping[str, Any]]) -> Scene:
    """The scene with keys changed; settings of a method are forgotten with it, for they mean other things elsewhere."""
    asked = changes.get("method", {})
    name = asked.get("name", scene.method.name)
    forgotten: dict[str, Any] = {} if name == scene.method.name else {"model": None}
    if name == "full" and "tolerance" in asked:
        forgotten["newton_tolerance"] = None  # which is the same thing there
    other = scene.under(name)
    other = other.model_copy(update={"method": other.method.model_copy(update=forgotten)})
    return parse_scene(override(other.keys(), changes))


def check_changes(scene: Scene, events: EventLog) -> None:
    """Refuse events that change keys which the scene does not have, or to values that it cannot have."""
    for frame in sorted(events):
        for event in events[frame]:
            if isinstance(event, SetScene):
                try:
                    scene = change_scene(scene, event.changes)
                except SceneError as error:
                    raise SceneError(f"an event of frame {frame} changes the scene: {error}") from None


def restage(stage: Stage, scene: Scene) -> Stage:
    """What a scene describes that differs from a stage's in method and damping alone."""
    if stage.scene.method.is_projective != scene.method.is_projective:
        return set_stage(scene)  # whose body is of another kind
    refuse_unbuilt(scene)
    refuse_unserved(scene)
    damping = Damping(scene.material.damping_mass, scene.material.damping_stiffness)
    body = replace(stage.body, damping=damping)
    tied = None if stage.tied is None else replace(stage.tied, damping=damping)
    parts = {field.name: getattr(stage, field.name) for field in fields(Stage)}
    return Stage(**{**parts, "scene": scene, "body": body, "drive": replace(stage.drive, body=body), "tied": tied})


def keeps_model(old: Scene, new: Scene) -> bool:
    """Whether what was trained for one scene is what another asks for, if only method and damping differ."""
    one, other = old.method, new.method
    named = other.model is None or one.model == other.model
    return one.name == other.name and named and all(getattr(one, k) == getattr(other, k) for k in LEARNED[:-1])


def carry(old: Built, new: Built, state: Any) -> tuple[Any, tuple[Event, ...]]:
    """The state of one solver as another has it, and the events that tell it what the user had set.

    Motion is projected into the other's space; where that is the same space, nothing at all is lost.
    """
    if _shares_space(old, new):
        return new.solver.unpack(old.solver.pack(state)), ()
    x, v, a = old.solver.to_full(state)
    moved, step = new.solver.from_full(x, v, a, state.time, pose=new.drive.pose(state.time)), new.scene.time.step
    if isinstance(moved, PoseSpaceState):  # whose velocity is the way from its past
        pose = new.drive.pose(state.time - step)
        moved = moved.preceded(new.solver.from_full(x - step * v, v, a, state.time - step, pose=pose), step)
    return moved, state.live.retell()


def _shares_space(old: Built, new: Built) -> bool:
    """Whether two solvers have the same unknowns."""
    one, other = old.scene.method, new.scene.method
    if one.name == "hyperreduced" and one != other:
        return False
    return type(old.solver) is type(new.solver) and old.model is new.model
