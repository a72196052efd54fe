"""The `[contact]` table: what touches what, and how hard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from supple.contact.ccd import import_ipctk
from supple.contact.settings import ContactSettings
from supple.contact.stiffness import default_stiffness, estimate_depth
from supple.elastic import Body
from supple.scene.collider import ColliderTable
from supple.scene.marks import Marks
from supple.scene.section import FRICTION, LENGTH, Section, Unit
from supple.scene.select import Select, select_vertices

__all__ = ["ContactTable", "contact_settings", "describe_contact", "describe_holding", "sinking_depth"]


def _pair(value: object) -> object:
    """A list of two selections as a pair."""
    if isinstance(value, list | tuple) and len(value) == 2:
        return tuple(value)
    raise ValueError('must be two selections, such as ["min x 20%", { region = "bone" }]')


def _whether(value: object) -> object:
    """Yes, no, or how."""
    if isinstance(value, bool) or value in ("all", "rules"):
        return value
    raise ValueError('must be true or false, "all" or "rules"')


class ContactTable(Section):
    """Contact with colliders and of the body with itself; it acts when the scene has this table or a `[[collider]]`.

    Contact is a stiff spring that pushes back what has gone in: it lets things sink in a little, and by itself does
    not guarantee that nothing passes through; `ccd` checks that.
    """

    self_: Annotated[bool | Literal["all", "rules"], BeforeValidator(_whether)] = Field(
        default=True,
        alias="self",
        description='whether the body stops at itself; "rules": methods in a subspace about a rig look at few contacts '
        'that are learned to stand for all, "all" and true: at all of them',
    )
    friction: Annotated[float, FRICTION] = Field(
        default=0.3,
        ge=0,
        le=100,
        description="coefficient of Coulomb friction; 0: slippery; colliders may have their own",
    )
    restitution: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="projective, hyperreduced: share of its speed at which what hits a collider leaves it",
    )
    thickness: Annotated[float, LENGTH] = Field(
        default=0.0, ge=0, description="distance from a surface at which contact begins"
    )
    stiffness: Annotated[float | None, Unit("Pa/m")] = Field(
        default=None, gt=0, description="pressure per depth (default: from the material and the mesh)"
    )
    alpha: float = Field(
        default=0.0, ge=0, le=1, description="share of the stiffness that also holds a contact sideways"
    )
    ignore: list[Annotated[tuple[Select, Select], BeforeValidator(_pair)]] = Field(
        default_factory=list, description="pairs of selections of the body that never touch each other"
    )
    bodies: bool = Field(default=True, description="whether several bodies stop at each other")
    edges: bool = Field(default=False, description="whether edges touch edges too, for sharp bodies (needs ipctk)")
    ccd: bool = Field(
        default=False,
        description="check after every step whether surfaces have passed through each other (needs ipctk)",
    )

    @model_validator(mode="after")
    def _edges_are_its_own(self) -> ContactTable:
        if self.edges and not self.self_:
            raise ValueError("has edges, which are those of the body against its own, with self = false: remove one")
        return self


def contact_settings(
    table: ContactTable, colliders: Sequence[ColliderTable], marks: Marks, metres: float
) -> ContactSettings:
    """The settings of tables whose lengths are in metres; `metres` is the size of one scene unit, for messages."""
    for wanted, key in ((table.ccd, "ccd"), (table.edges, "edges")):
        if wanted:
            import_ipctk(f"contact.{key} = true")  # said before a run, not in its middle
    ignored = tuple(
        (
            select_vertices(one, marks.mesh, f"contact.ignore[{number}]", metres, marks),
            select_vertices(other, marks.mesh, f"contact.ignore[{number}]", metres, marks),
        )
        for number, (one, other) in enumerate(table.ignore)
    )
    return ContactSettings(
        self_contact=table.self_ is not False,
        rules=table.self_ == "rules",
        friction=table.friction,
        restitution=table.restitution,
        collider_friction=tuple(collider.friction for collider in colliders),
        thickness=table.thickness,
        stiffness=table.stiffness,
        alpha=table.alpha,
        ignored=ignored,
        edges=table.edges,
        ccd=table.ccd,
    )


def sinking_depth(settings: ContactSettings, body: Body, gravity: Sequence[float] | None) -> float:
    """How deep a body sinks into a flat floor under its own weight [m]."""
    stiffness = settings.stiffness or default_stiffness(body)
    return 0.0 if gravity is None else estimate_depth(body, stiffness, np.asarray(gravity))


def describe_contact(settings: ContactSettings, body: Body, gravity: Sequence[float] | None, colliders: int) -> str:
    """What touches and how hard, in a user's words."""
    stiffness = settings.stiffness or default_stiffness(body)
    depth = sinking_depth(settings, body, gravity)
    sinks = f", its weight sinks about {1e3 * depth:.2g} mm in" if depth else ""
    return f"{_who_touches(settings, colliders)}, stiffness {stiffness:.3g} Pa/m{sinks}{_checked(settings)}"


def describe_holding(settings: ContactSettings, colliders: int, where: str) -> str:
    """The same for methods whose contact holds without a stiffness, `where` they look at it."""
    bounce = f", restitution {settings.restitution:g}" if settings.restitution else ""
    return f"{_who_touches(settings, colliders)}{bounce}, held {where}{_checked(settings)}"


def _who_touches(settings: ContactSettings, colliders: int) -> str:
    what = [f"{colliders} collider{'s' * (colliders > 1)}"] if colliders else []
    what += ["itself"] if settings.self_contact else []
    friction = f"{settings.friction:g}"
    if any(one is not None for one in settings.collider_friction):
        own = settings.friction_of(np.arange(colliders))
        friction += f" ({', '.join(f'{one:g}' for one in own)} at the collider{'s' * (colliders > 1)})"
    return f"contact with {' and '.join(what) or 'nothing'}: friction {friction}"


def _checked(settings: ContactSettings) -> str:
    return "; every step is checked for crossings" if settings.ccd else ""
