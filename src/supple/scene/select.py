"""The scene's small selection language: which vertices or tetrahedra a key is about."""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_serializer, model_validator

from supple.errors import SceneError
from supple.mesh import TetMesh
from supple.scene.section import LENGTH, Section, Vec3, only

__all__ = ["HalfSpace", "Select", "Side", "Sphere", "describe_place", "select_tets", "select_vertices"]

AXES = "xyz"
SIDE_TEXT = re.compile(r"^(min|max) ([xyz])(?: +([0-9.eE+-]+) *(%?))?$")
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


class Select(Section):
    """Part of a body: "all", "min x", "max y 5%", "max y 0.02", a table of one key, or a list of these."""

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
    any_of: tuple[Select, ...] | None = Field(
        default=None, description="the union of several selections; a list is the same"
    )

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
        if self.half_space is not None and not any(self.half_space.normal):
            raise ValueError("has a half_space with a zero normal: give a direction")
        return self


def _parse_text(text: str) -> dict[str, object]:
    """The table that "all", "min x", "max y 5%" or "max y 0.02" stands for."""
    if text.strip() == "all":
        return {"all": True}
    found = SIDE_TEXT.match(" ".join(text.split()))
    if found is None:
        raise ValueError('must read "all", "min x", "max y 5%" or "max y 0.02" when it is a text')
    end, axis, amount, percent = found.groups()
    side: dict[str, object] = {"end": end, "axis": axis}
    if amount is not None:
        try:
            side |= {"share": float(amount) / 100} if percent else {"thickness": float(amount)}
        except ValueError:
            raise ValueError(f"has the thickness {amount!r}, which is no number") from None
    return {"side": side}


def select_vertices(select: Select, mesh: TetMesh, key: str, metres: float = 1.0) -> NDArray[np.int32]:
    """Selected vertices, sorted, shape (k,); an empty selection is refused, saying where the body lies.

    `key` is the table that selects, `metres` the size of one scene unit: both for the message.
    """
    chosen = np.flatnonzero(_vertex_mask(select, mesh, key)).astype(np.int32)
    if chosen.size == 0:
        raise SceneError(_nothing_selected(key, "vertex", mesh, metres))
    return chosen


def select_tets(select: Select, mesh: TetMesh, key: str, metres: float = 1.0) -> NDArray[np.int32]:
    """Tetrahedra whose centroid is selected (or whose region or four vertices are), sorted, shape (k,)."""
    chosen = np.flatnonzero(_tet_mask(select, mesh, key)).astype(np.int32)
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


def _vertex_mask(select: Select, mesh: TetMesh, key: str) -> NDArray[np.bool_]:
    if select.any_of is not None:
        masks = [_vertex_mask(part, mesh, key) for part in select.any_of]
        return np.logical_or.reduce(masks) if masks else np.zeros(len(mesh.vertices), dtype=np.bool_)
    if select.vertices is not None:
        return _listed_mask(select.vertices, mesh, key)
    if select.region is not None:
        mask = np.zeros(len(mesh.vertices), dtype=np.bool_)
        mask[mesh.tets[mesh.regions == region_number(select.region, mesh, key)]] = True
        return mask
    return _inside(select, mesh.vertices, mesh)


def _tet_mask(select: Select, mesh: TetMesh, key: str) -> NDArray[np.bool_]:
    if select.any_of is not None:
        masks = [_tet_mask(part, mesh, key) for part in select.any_of]
        return np.logical_or.reduce(masks) if masks else np.zeros(len(mesh.tets), dtype=np.bool_)
    if select.vertices is not None:
        return np.asarray(_listed_mask(select.vertices, mesh, key)[mesh.tets].all(axis=1))
    if select.region is not None:
        return np.asarray(mesh.regions == region_number(select.region, mesh, key))
    return _inside(select, mesh.vertices[mesh.tets].mean(axis=1), mesh)


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
