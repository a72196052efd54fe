"""One of every constraint, on a small body."""

import numpy as np

from supple.constraint import (
    Bending,
    Constraint,
    CorotationalTets,
    ExampleShapes,
    Positions,
    Springs,
    TetStrain,
    TetVolume,
    TriangleStrain,
    tet_stencils,
    triangle_stencils,
)
from supple.mesh import TetMesh, TriMesh, fill_box


def block() -> TetMesh:
    """A few tets with no two edges alike."""
    mesh = fill_box((-0.5, -0.3, -0.4), (0.5, 0.3, 0.4), 3)
    rng = np.random.default_rng(3)
    return TetMesh.clean(mesh.vertices + 0.03 * rng.standard_normal(mesh.vertices.shape), mesh.tets)


def skin(mesh: TetMesh) -> TriMesh:
    """The surface over all vertices."""
    return TriMesh(mesh.vertices, mesh.surface_triangles())


def every_constraint(mesh: TetMesh) -> list[Constraint]:
    tets, triangles = tet_stencils(mesh), triangle_stencils(skin(mesh))
    rng = np.random.default_rng(4)
    mu = rng.uniform(1e3, 2e3, len(tets))
    return [
        CorotationalTets.build(tets, mu, 2.0 * mu),
        CorotationalTets.build(tets, mu),
        TetStrain.build(tets, mu, (0.95, 1.05)),
        TetVolume.build(tets, mu, (0.98, 1.02)),
        TriangleStrain.build(triangles, 1e4, 0.3, 0.01),
        TriangleStrain.build(triangles, 1e4, 0.3, 0.01, (0.95, 1.05)),
        Bending.build(skin(mesh), 2.0),
        Springs.build(mesh.vertices, mesh.tets[:, :2], 10.0, (0.9, 1.02)),
        Positions.build(mesh.vertices, [0, 3, 5], 10.0),
        ExampleShapes.build(tets, [mesh.vertices * [1.3, 1.0, 0.8], mesh.vertices * [0.7, 1.2, 1.0]], mu),
    ]
