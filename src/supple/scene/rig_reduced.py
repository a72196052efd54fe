"""Scenes whose rig a method cannot follow yet."""

from __future__ import annotations

from collections.abc import Iterator

from supple.errors import SceneError
from supple.scene.rig_table import RigTable
from supple.scene.schema import Scene

__all__ = ["refuse_unbuilt"]


def refuse_unbuilt(scene: Scene) -> None:
    """Refuse what a subspace about a skinned pose does not know, with the key at fault and what to do."""
    if scene.rig is None or scene.method.name == "full":
        return
    if scene.method.name == "skipping":
        raise SceneError('method.name = "skipping" does not know a [rig] yet: use method.name = "reduced" or "full".')
    for reason in _list_unknown(scene, scene.rig):
        raise SceneError(f'method.name = "reduced" does not know {reason}, or use method.name = "full".')


def _list_unknown(scene: Scene, rig: RigTable) -> Iterator[str]:
    if rig.rest == "posed":
        yield 'rig.rest = "posed", where flesh springs back to another shape at every step: use rest = "neutral"'
    if scene.touching() is not None:
        yield "contact of a body with a [rig]: remove [contact] and [[collider]]"
    if scene.time.integrator == "newmark":
        yield 'time.integrator = "newmark" for a body with a [rig]: use "implicit_euler"'
    if rig.hold == "none":
        yield 'rig.hold = "none", for nothing would tie flesh to bones: use hold = "bones"'
    for number, pin in enumerate(scene.pin):
        if pin.from_ is None:
            yield f"a pin[{number}] that holds what bones do not: select it in rig.hold, give it a `from`"
