"""Scenes whose rig a method in a subspace cannot follow."""

from __future__ import annotations

from collections.abc import Iterator

from supple.errors import SceneError
from supple.scene.rig_table import RigTable
from supple.scene.schema import Scene

__all__ = ["refuse_unbuilt"]


_RULED = ("reduced", "condensation")  # methods that rules of contact mean something to


def refuse_unbuilt(scene: Scene) -> None:
    """Refuse what a subspace about a skinned pose does not know, with the key at fault and what to do."""
    name = scene.method.name
    if name == "posespace" and scene.rig is None:
        raise SceneError(
            'method.name = "posespace" needs poses, and the scene has no [rig]: add one, or use "reduced".'
        )
    if name == "condensation":
        for reason in _list_uncondensed(scene):
            raise SceneError(f'method.name = "condensation" does not know {reason}, or use method.name = "full".')
    if scene.contact is not None and scene.contact.self_ == "rules" and scene.rig is None and name in _RULED:
        raise SceneError('contact.self = "rules" is learned by poses and the scene has no [rig]: use "all".')
    if scene.material.pose and (scene.rig is None or scene.rig.rest != "posed"):
        raise SceneError(
            'material.pose needs poses that are rest shapes: add a [rig] with rest = "posed", or remove the table.'
        )
    if scene.material.pose and name not in ("full", "posespace"):
        raise SceneError(
            f'method.name = "{name}" does not know material.pose: use "full" or "posespace", or remove it.'
        )
    if scene.time.integrator == "generalized_alpha" and name != "full":
        raise SceneError(
            f'method.name = "{name}" does not know time.integrator = "generalized_alpha": use "implicit_euler", or '
            'method.name = "full".'
        )
    if scene.rig is not None and scene.rig.attach is not None and name != "full":
        raise SceneError(f'method.name = "{name}" does not know rig.attach: use "full", or hold flesh by rig.hold.')
    if scene.rig is None or name not in ("reduced", "posespace", "skipping"):
        return
    for reason in _list_unknown(scene, scene.rig):
        raise SceneError(f'method.name = "{name}" does not know {reason}, or use method.name = "full".')


def _list_uncondensed(scene: Scene) -> Iterator[str]:
    if scene.rig is None and not scene.pin and scene.time.integrator == "static":
        yield "equilibria of bodies that nothing holds: add a [[pin]]"
    for number, pin in enumerate(scene.pin):
        if scene.rig is not None:
            yield f"a pin[{number}] of a body with a [rig]: let bones hold it by rig.hold"
        if pin.from_ is not None or pin.until is not None:
            yield f"a pin[{number}] that comes or goes: let it hold all the time"
    if scene.time.integrator == "newmark":
        yield 'time.integrator = "newmark": use "implicit_euler" or "static"'
    if scene.rig is not None:
        yield from _list_unknown(scene, scene.rig)


def _list_unknown(scene: Scene, rig: RigTable) -> Iterator[str]:
    posed = scene.method.name == "posespace"
    if rig.rest == "posed" and not posed:
        yield (
            'rig.rest = "posed", where flesh springs back to another shape at every step: use rest = "neutral", '
            'or method.name = "posespace"'
        )
    if rig.rest == "neutral" and posed:
        yield (
            'rig.rest = "neutral", where flesh springs back to one shape only: use rest = "posed", or '
            'method.name = "reduced"'
        )
    if posed and scene.training.domains != "none":
        yield f'training.domains = "{scene.training.domains}": remove it'
    if not posed and scene.training.region:
        yield "training.region, which is of bodies in pose space: remove it"
    if posed and scene.time.integrator == "newmark":
        yield 'time.integrator = "newmark" for a body in pose space: use "implicit_euler"'
    if rig.hold == "none":
        yield 'rig.hold = "none", for nothing would tie flesh to bones: use hold = "bones"'
    for number, pin in enumerate(scene.pin):
        if pin.from_ is None:
            yield f"a pin[{number}] that holds what bones do not: select it in rig.hold, give it a `from`"
