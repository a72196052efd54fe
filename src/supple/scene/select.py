"""The scene's small selection language: which vertices or tetrahedra a key is about."""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_serializer, model_validator

from supple.errors import SceneError
from supple.mesh import TetMesh
from supple.scene.marks import Marks
from supple.scene.section import LENGTH, Section, Vec3, only

__all__ = ["HalfSpace", "Painted", "Select", "Side", "Sphere", "describe_place", "select_tets", "select_vertices"]

AXES = "xyz"
SIDE_TEXT = re.compile(r"^(min|max) ([xyz])(?: +([0-9.eE+-]+) *(%?))?$")
NAME_TEXT = re.compile(r"^(bone|group) (.+)$")
PAINT_TEXT = re.compile(r"^paint (.+) (above|below) (\S+)$")
DEFAULT_SHARE = 0.01


class Side(Section):
    """A slab at one side of the body."""

    end: Literal["min", "max"] = Field(description="which side")
    axis: Literal["x", "y", "z"] = Field(description="along which axis")
    thickness: Annotated[float | None, LENGTH] = Field(default=None, gt=0, description="thickness of the slab")
    share: float | None = Field(default=None, gt=0, le=1, description="thickness as a share of the body (default 0.01)")


class Sphere(Section):
    """A ball."""

    aliases: ClassVar = {"center": "centre"}
    centre: Annotated[Vec3, LENGTH] = Field(description="its centre")
    radius: Annotated[float, LENGTH] = Field(gt=0, description="its radius")


class HalfSpace(Section):
    """Everything on the far side of a plane."""

    point: Annotated[Vec3, LENGTH] = Field(description="a point of the plane")
    normal: Vec3 = Field(description="the direction that is selected")


class Painted(Section):
    """Where a paint is above or below a value."""

    name: str = Field(description="name of a `[[paint]]`")
    above: float | None = Field(default=None, description="values that are selected lie above this one")
    below: float | None = Field(default=None, description="values that are selected lie below this one")

    @model_validator(mode="after")
    def _is_bounded(self) -> Painted:
        if self.above is None and self.below is None:
            raise ValueError("must have above or below: say which values are selected")
        return self

    def holds(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which values are selected, (k,)."""
        low, high = -np.inf if self.above is None else self.above, np.inf if self.below is None else self.below
        return np.asarray((values > low) & (values < high))


class Select(Section):
    """Part of a body: a text such as "all", "min x", "max y 5%", "bone arm", "paint soft above 0.5", a table of one
    key, or a list of these."""

    all: bool = Field(default=False, description="the whole body")
    side: Side | None = Field(default=None, description='a slab at one side; the text "min x 5%" is the same thing')
    box: Annotated[tuple[Vec3, Vec3] | None, LENGTH] = Field(
        default=None, description="between two corners [low, high]"
    )
    sphere: Sphere | None = Field(default=None, description="inside a ball: { centre, radius }")
    half_space: HalfSpace | None = Field(default=None, description="beyond a plane: { point, normal }")
    vertices: tuple[int, ...] | None = Field(default=None, description="these vertices, counted from 0")
    region: Annotated[str | int | None, only((str, int), "the name or number of a region")] = Field(
        default=None, description="a region of the mesh, by name or number"
    )
    bone: str | None = Field(default=None, description='what is nearest to this bone; the text "bone NAME" is the same')
    group: str | None = Field(
        default=None,
        description="what lies at polygons of this group of an OBJ, or mesh of a glTF or USD file: vertices of the "
        'surface, tetrahedra below it; the text "group NAME" is the same',
    )
    paint: Painted | None = Field(
        default=None,
        description='where a paint is above or below a value; the text "paint NAME above 0.5" is the same',
    )
    any_of: tuple[Select, ...] | None = Field(
        default=None, description="the union of several selections; a list is the same"
    )
    all_of: tuple[Select, ...] | None = Field(default=None, description="what several selections have in common")
    none_of: tuple[Select, ...] | None = Field(default=None, description="all but what these selections hold")

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, data: object) -> object:
        """The table that a text or a list stands for."""
        if isinstance(data, str):
            return _parse_text(data)
        if isinstance(data, list):
            return {"any_of": tuple(data)}
        if isinstance(data, dict):
            return {key: tuple(value) if isinstance(value, list) else value for key, value in data.items()}
        if isinstance(data, Select):
            return data
        raise ValueError('must be a text such as "min x", a table such as { region = "bone" }, or a list of these')

    @model_serializer
    def _shortest(self) -> Any:
        """The shortest way to write it in a scene file."""
        if self.any_of is not None:
            return list(self.any_of)
        if self.side is not None:
            side = self.side
            depth = "" if side.thickness is None else f" {side.thickness!r}"
            depth += "" if side.share is None else f" {100 * side.share:.12g}%"
            return f"{side.end} {side.axis}{depth}"
        return "all" if self.all else {key: getattr(self, key) for key in self.model_fields_set}

    @model_validator(mode="after")
    def _holds_one_thing(self) -> Select:
        given = self.model_fields_set
        if len(given) != 1:
            keys = ", ".join(sorted(given)) or "nothing"
            raise ValueError(f"must hold exactly one key, not {keys}; use a list to select several parts")
        if self.box is not None and any(low > high for low, high in zip(*self.box, strict=True)):
            raise ValueError("has a box whose first corner is not below its second: give [low, high]")
        if self.all_of == ():
            raise ValueError("has all_of without selections: name what they shall have in common")
        if self.half_space is not None and not any(self.half_space.normal):
            raise ValueError("has a half_space with a zero normal: give a direction")
        return self


def _parse_text(text: str) -> dict[str, object]:
    """The table that "all", "min x", "max y 5%" or "max y 0.02" stands for."""
    if text.strip() == "all":
        return {"all": True}
    plain = " ".join(text.split())
    named, painted, found = NAME_TEXT.match(plain), PAINT_TEXT.match(plain), SIDE_TEXT.match(plain)
    if named is not None:
        return {named[1]: named[2]}
    if painted is not None:
        try:
            return {"paint": {"name": painted[1], painted[2]: float(painted[3])}}
        except ValueError:
            raise ValueError(f"has the value {painted[3]!r}, which is no number") from None
    if found is None:
        raise ValueError(
            'must read "all", "min x", "max y 5%", "max y 0.02", "bone NAME", "group NAME" or "paint NAME above 0.5" '
            "when it is a text"
        )
    end, axis, amount, percent = found.groups()
    side: dict[str, object] = {"end": end, "axis": axis}
    if amount is not None:
        try:
            side |= {"share": float(amount) / 100} if percent else {"thickness": float(amount)}
        except ValueError:
            raise ValueError(f"has the thickness {amount!r}, which is no number") from None
    return {"side": side}


def select_vertices(
    select: Select, mesh: TetMesh, key: str, metres: float = 1.0, marks: Marks | None = None
) -> NDArray[np.int32]:
    """Selected vertices, sorted, shape (k,); an empty selection is refused, saying where the body lies.

    `key` is the table that selects, `metres` the size of one scene unit: both for the message. `marks` has the names
    that the selection may use.
    """
    chosen = np.flatnonzero(_vertex_mask(select, marks or Marks(mesh), key)).astype(np.int32)
    if chosen.size == 0:
        raise SceneError(_nothing_selected(key, "vertex", mesh, metres))
    return chosen


def select_tets(
    select: Select, mesh: TetMesh, key: str, metres: float = 1.0, marks: Marks | None = None
) -> NDArray[np.int32]:
    """Tetrahedra whose centroid is selected (or whose name, paint or four vertices are), sorted, shape (k,)."""
    chosen = np.flatnonzero(_tet_mask(select, marks or Marks(mesh), key)).astype(np.int32)
    if chosen.size == 0:
        raise SceneError(_nothing_selected(key, "tetrahedron", mesh, metres))
    return chosen


def _nothing_selected(key: str, what: str, mesh: TetMesh, metres: float) -> str:
    place = describe_place(mesh, metres)
    return f"{key} selects no {what}: {place}; move or widen the selection, or check units."


def describe_place(mesh: TetMesh, metres: float = 1.0) -> str:
    """Where the body lies and how large it is, in scene units, in words."""
    low, high = (np.asarray(corner) / metres for corner in mesh.bounds())
    size = " x ".join(f"{extent:.4g}" for extent in high - low)
    corners = (f"({', '.join(f'{value:.4g}' for value in corner)})" for corner in (low, high))
    return f"the body is {size} in size and lies between {' and '.join(corners)} in scene units"


def _vertex_mask(select: Select, marks: Marks, key: str) -> NDArray[np.bool_]:
    mesh = marks.mesh
    parts = _parts(select)
    if parts is not None:
        return _combine(select, [_vertex_mask(part, marks, key) for part in parts], len(mesh.vertices))
    if select.vertices is not None:
        return _listed_mask(select.vertices, mesh, key)
    if select.region is not None:
        mask = np.zeros(len(mesh.vertices), dtype=np.bool_)
        mask[mesh.tets[mesh.regions == region_number(select.region, mesh, key)]] = True
        return mask
    if select.bone is not None:
        return marks.bone_vertices(select.bone, key)
    if select.group is not None:
        return marks.group_vertices(select.group, key)
    if select.paint is not None:
        return select.paint.holds(marks.paint(select.paint.name, key).vertices)
    return _inside(select, mesh.vertices, mesh)


def _tet_mask(select: Select, marks: Marks, key: str) -> NDArray[np.bool_]:
    mesh = marks.mesh
    parts = _parts(select)
    if parts is not None:
        return _combine(select, [_tet_mask(part, marks, key) for part in parts], len(mesh.tets))
    if select.vertices is not None:
        return np.asarray(_listed_mask(select.vertices, mesh, key)[mesh.tets].all(axis=1))
    if select.region is not None:
        return np.asarray(mesh.regions == region_number(select.region, mesh, key))
    if select.bone is not None:
        return marks.bone_tets(select.bone, key)
    if select.group is not None:
        return marks.group_tets(select.group, key)
    if select.paint is not None:
        return select.paint.holds(marks.paint(select.paint.name, key).tets)
    return _inside(select, mesh.vertices[mesh.tets].mean(axis=1), mesh)


def _parts(select: Select) -> tuple[Select, ...] | None:
    """The selections that one is made of, if it is."""
    return next((parts for parts in (select.any_of, select.all_of, select.none_of) if parts is not None), None)


def _combine(select: Select, masks: list[NDArray[np.bool_]], count: int) -> NDArray[np.bool_]:
    """What several selections of `count` things hold together."""
    if not masks:
        return np.full(count, select.none_of is not None)
    if select.all_of is not None:
        return np.asarray(np.logical_and.reduce(masks))
    union = np.logical_or.reduce(masks)
    return np.asarray(~union if select.none_of is not None else union)


def _listed_mask(vertices: tuple[int, ...], mesh: TetMesh, key: str) -> NDArray[np.bool_]:
    count = len(mesh.vertices)
    wrong = next((v for v in vertices if not 0 <= v < count), None)
    if wrong is not None:
        raise SceneError(f"{key} names vertex {wrong}, but the mesh has vertices 0 to {count - 1}: correct the list.")
    mask = np.zeros(count, dtype=np.bool_)
    mask[list(vertices)] = True
    return mask


def region_number(region: str | int, mesh: TetMesh, key: str) -> int:
    """The number of a region given by name or number, or an error that lists what the mesh has."""
    numbers = {int(number) for number in np.unique(mesh.regions)}
    by_name = mesh.region_names.get(str(region))
    if by_name is not None:
        return by_name
    if str(region).lstrip("-").isdigit() and int(region) in numbers:
        return int(region)
    names = ", ".join([*map(repr, mesh.region_names), *map(str, sorted(numbers))])
    raise SceneError(f"{key} names the region {region!r}, which the mesh does not have: it has {names}.")


def _inside(select: Select, points: NDArray[np.float64], mesh: TetMesh) -> NDArray[np.bool_]:
    """Which points [m], shape (k, 3), a geometric selection holds."""
    low, high = (np.asarray(corner) for corner in mesh.bounds())
    slack = 1e-9 * mesh.size()
    if select.side is not None:
        side, axis = select.side, AXES.index(select.side.axis)
        extent = high[axis] - low[axis]
        depth = side.thickness if side.thickness is not None else extent * (side.share or DEFAULT_SHARE)
        if side.end == "min":
            return np.asarray(points[:, axis] <= low[axis] + depth + slack)
        return np.asarray(points[:, axis] >= high[axis] - depth - slack)
    if select.box is not None:
        first, second = (np.asarray(corner) for corner in select.box)
        return np.asarray(((points >= first - slack) & (points <= second + slack)).all(axis=1))
    if select.sphere is not None:
        reach = np.linalg.norm(points - np.asarray(select.sphere.centre), axis=1)
        return np.asarray(reach <= select.sphere.radius + slack)
    if select.half_space is not None:
        normal = np.asarray(select.half_space.normal) / np.linalg.norm(select.half_space.normal)
        return np.asarray((points - np.asarray(select.half_space.point)) @ normal >= -slack)
    return np.full(len(points), select.all, dtype=np.bool_)
