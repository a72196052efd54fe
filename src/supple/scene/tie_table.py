"""The `[[spring]]`, `[strain]` and `[examples]` tables: further ties between the vertices of projective bodies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field
from scipy.spatial import cKDTree

from supple.constraint import Constraint, ExampleShapes, Positions, Springs, TetStrain, tet_stencils
from supple.elastic import Body
from supple.errors import SceneError
from supple.io import load_mesh
from supple.material import Material
from supple.mesh import TetMesh
from supple.mesh.adjacency import unique_edges
from supple.scene.section import FILE, Section, Unit
from supple.scene.select import Select, select_vertices
from supple.scene.shell_table import Range

__all__ = ["ExamplesTable", "SpringTable", "StrainTable", "list_ties"]

STIFF = 10.0  #: shear moduli of the material with which stretches beyond their limits are resisted

FloatArray = NDArray[np.float64]


def _other_end(value: object) -> object:
    """A word that says where springs end, or a selection."""
    return value if value in ("edges", "place") or isinstance(value, Select) else Select.model_validate(value)


class SpringTable(Section):
    """Springs from selected vertices (projective, hyperreduced)."""

    name: str | None = Field(default=None, description="what messages call it")
    select: Select = Field(description="vertices that the springs begin at")
    to: Annotated[Select | Literal["edges", "place"], BeforeValidator(_other_end)] = Field(
        default="edges",
        description='"edges": along the edges of the mesh between the selected vertices; "place": to where each is at '
        "rest in the world; or a selection: from each to the nearest vertex of that",
    )
    stiffness: Annotated[float, Unit("N/m")] = Field(gt=0, description="of each spring")
    limits: Range = Field(default=(1.0, 1.0), description="lengths, times that at rest, between which it is slack")


class StrainTable(Section):
    """Stretches beyond which tetrahedra resist harder than their material (projective, hyperreduced)."""

    limits: Range = Field(description="free stretches, such as [0.8, 1.2]")
    shear: Annotated[float | None, Unit("Pa")] = Field(
        default=None, gt=0, description="shear modulus beyond them (default: ten times that of `[material]`)"
    )


class ExamplesTable(Section):
    """Shapes that the body likes as much as its own (projective, hyperreduced)."""

    files: Annotated[list[str], FILE] = Field(
        min_length=1, description="meshes with the vertices of the body in the same order, one for each example"
    )
    shear: Annotated[float | None, Unit("Pa")] = Field(
        default=None, gt=0, description="how hard it is drawn to the nearest blend of them (default: as `[material]`)"
    )


def list_ties(
    springs: list[SpringTable],
    strain: StrainTable | None,
    examples: ExamplesTable | None,
    body: Body,
    material: Material,
    metres: float,
) -> list[Constraint]:
    """The constraints that tables in metres ask for; files are in units of `metres`."""
    mesh = body.mesh
    ties = [_make_springs(table, number, mesh, metres) for number, table in enumerate(springs)]
    if strain is not None:
        ties.append(TetStrain.build(tet_stencils(mesh), strain.shear or STIFF * material.mu, strain.limits))
    if examples is not None:
        shapes = [_load_example(Path(file), mesh, metres) for file in examples.files]
        ties.append(ExampleShapes.build(tet_stencils(mesh), shapes, examples.shear or material.mu))
    return ties


def _make_springs(table: SpringTable, number: int, mesh: TetMesh, metres: float) -> Constraint:
    key = f"spring[{number}]" if table.name is None else f'spring[{number}] "{table.name}"'
    rest, chosen = mesh.vertices, select_vertices(table.select, mesh, key, metres)
    if table.to == "place":
        if table.limits != (1.0, 1.0):
            raise SceneError(f'{key} has limits, which a spring to = "place" without length cannot keep: remove them.')
        return Positions.build(rest, chosen, table.stiffness)
    if table.to == "edges":
        cells = mesh.tets if len(mesh.tets) else mesh.surface_triangles()
        edges = unique_edges(cells, len(rest))
        edges = edges[np.isin(edges, chosen).all(axis=1)]
        if not len(edges):
            raise SceneError(f"{key} selects vertices with no edge between them: select more, or say where `to`.")
    else:
        ends = select_vertices(table.to, mesh, f"{key}.to", metres)
        nearest = ends[cKDTree(rest[ends]).query(rest[chosen])[1]]
        edges = np.column_stack([chosen, nearest])[chosen != nearest]
        if not len(edges):
            raise SceneError(f"{key} ends where it begins: select other vertices in `to`.")
    return Springs.build(rest, edges, table.stiffness, table.limits)


def _load_example(path: Path, mesh: TetMesh, metres: float) -> FloatArray:
    positions = load_mesh(path).vertices * metres
    if positions.shape != mesh.vertices.shape:
        raise SceneError(
            f"examples.files: {path} has {len(positions):,} vertices where the body has {len(mesh.vertices):,}: give "
            "the body's own mesh in another shape."
        )
    return np.asarray(positions, np.float64)
