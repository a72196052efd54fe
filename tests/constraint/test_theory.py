"""What the numbers of constraints mean in SI units."""

import numpy as np
import pytest
from constraint_samples import block

from supple.constraint import (
    Bending,
    CorotationalTets,
    ProjectiveBody,
    Shell,
    Springs,
    TetStrain,
    TetVolume,
    TriangleStrain,
    tet_stencils,
    triangle_stencils,
)
from supple.elastic import Body
from supple.errors import MaterialError, MeshError, SceneError
from supple.material import Corotational
from supple.mesh import TetMesh, TriMesh

RNG = np.random.default_rng(7)
MESH = block()


def sphere(radius: float, rounds: int) -> TriMesh:
    """An octahedron divided, on a sphere."""
    points = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0), (0, -1, 0), (0, 0, -1)]
    vertices = [np.array(p, float) for p in points]
    triangles = [(0, 1, 2), (1, 3, 2), (3, 4, 2), (4, 0, 2), (1, 0, 5), (3, 1, 5), (4, 3, 5), (0, 4, 5)]
    for _ in range(rounds):
        middle: dict[tuple[int, int], int] = {}
        finer = []
        for a, b, c in triangles:
            new = []
            for p, q in ((a, b), (b, c), (c, a)):
                key = min(p, q), max(p, q)
                if key not in middle:
                    middle[key] = len(vertices)
                    sum_ = vertices[p] + vertices[q]
                    vertices.append(sum_ / np.linalg.norm(sum_))
                new.append(middle[key])
            ab, bc, ca = new
            finer += [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
        triangles = finer
    return TriMesh.clean(radius * np.array(vertices), np.array(triangles))


def sheet(cells: int = 8, size: float = 1.0) -> TriMesh:
    """A flat square in z = 0."""
    line = np.linspace(0.0, size, cells + 1)
    x, y = np.meshgrid(line, line, indexing="ij")
    corner = (np.arange(cells)[:, None] * (cells + 1) + np.arange(cells)).ravel()
    quads = np.stack([corner, corner + cells + 1, corner + cells + 2, corner + 1], axis=1)
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    return TriMesh.clean(np.stack([x.ravel(), y.ravel(), 0.0 * x.ravel()], axis=1), triangles)


@pytest.mark.parametrize("noise", [0.01, 0.1, 0.4])
def test_tets_store_the_energy_of_the_corotational_material(noise):
    mesh = TetMesh.clean(MESH.vertices, MESH.tets, np.arange(len(MESH.tets)) % 2)
    soft, hard = Corotational(young=1e4, poisson=0.45), Corotational(young=5e5, poisson=0.1, density=500.0)
    body = Body.build(mesh, {0: soft, 1: hard})
    projective = ProjectiveBody.from_body(body)
    x = mesh.vertices + noise * RNG.standard_normal(mesh.vertices.shape)
    assert projective.energy(x) == pytest.approx(body.energy(x), rel=1e-10)
    size = np.abs(body.forces(x)).max()
    np.testing.assert_allclose(projective.forces(x), body.forces(x), atol=1e-9 * size)
    np.testing.assert_array_equal(projective.mass, body.mass)


def test_the_matrix_bounds_the_energy_from_above():
    # E(y) <= E(x) + ∇E·(y - x) + ½ (y - x)ᵀ K (y - x): why the objective falls
    body = ProjectiveBody.from_body(Body.build(MESH, Corotational(young=1e4, poisson=0.4)))
    K = body.stiffness()
    for size in (0.01, 0.05):
        for _ in range(20):
            x = MESH.vertices + 0.05 * RNG.standard_normal(MESH.vertices.shape)
            d = size * RNG.standard_normal(MESH.vertices.shape)
            bound = body.energy(x) - np.vdot(body.forces(x), d) + 0.5 * np.vdot(d, K @ d)
            assert body.energy(x + d) <= bound


def test_a_membrane_pulled_along_one_side_has_youngs_modulus():
    young, poisson, thickness, strain = 2e6, 0.3, 2e-3, 1e-4
    mesh = sheet()
    membrane = TriangleStrain.build(triangle_stencils(mesh), young, poisson, thickness)
    x = mesh.vertices * [1.0 + strain, 1.0 - poisson * strain, 1.0]
    forces = membrane.forces(x)
    right, top = mesh.vertices[:, 0] > 0.99, mesh.vertices[:, 1] > 0.99
    assert -forces[right, 0].sum() == pytest.approx(young * strain * thickness, rel=1e-6)
    assert abs(forces[top, 1].sum()) < 1e-4 * young * strain * thickness


def test_a_membrane_within_its_limits_is_slack():
    mesh = sheet()
    membrane = TriangleStrain.build(triangle_stencils(mesh), 1e6, 0.3, 1e-3, (0.9, 1.2))
    assert membrane.energy(mesh.vertices * [1.1, 0.95, 1.0]) < 1e-20
    stretched = membrane.energy(mesh.vertices * [1.3, 1.0, 1.0])
    assert stretched == pytest.approx(1e6 / 1.3 * 1e-3 * 0.5 * 0.1**2, rel=1e-9)


def test_curvature_of_a_sphere():
    radius = 0.3
    bending = Bending.build(sphere(radius, 3), 1.0)
    assert len(bending.stencils) == len(sphere(radius, 3).vertices)
    curvature = np.linalg.norm(bending.stencils.values(sphere(radius, 3).vertices), axis=(1, 2))
    assert bending.stencils.measure @ curvature / bending.stencils.measure.sum() == pytest.approx(
        2.0 / radius, rel=0.01
    )
    assert (bending.parameters[1] == -1.0).all()  # the vector points inward


def test_a_plate_rolled_up_stores_the_energy_of_a_plate():
    cells, radius, rigidity = 40, 0.5, 3.0
    mesh = sheet(cells)
    bending = Bending.build(mesh, rigidity)
    x = mesh.vertices
    rolled = np.stack([radius * np.sin(x[:, 0] / radius), x[:, 1], radius * np.cos(x[:, 0] / radius)], axis=1)
    inner_area = bending.stencils.measure.sum()  # vertices on the border do not bend
    assert inner_area == pytest.approx((1.0 - 1.0 / cells) ** 2, rel=1e-9)
    assert bending.energy(rolled) == pytest.approx(0.5 * rigidity / radius**2 * inner_area, rel=0.01)


def test_a_dent_is_told_from_the_bulge_it_was():
    ball = sphere(1.0, 2)
    bending = Bending.build(ball, 1.0)
    assert bending.energy(-ball.vertices) > 100.0 * bending.energy(0.9 * ball.vertices)
    middle = bending.project_at(-ball.vertices)
    assert (np.einsum("epi,epi->e", middle, bending.stencils.values(-ball.vertices)) < 0.0).all()


def test_volume_resists_with_the_bulk_modulus():
    bulk, stretch = 3e4, 1.0 + 1e-4
    volume = TetVolume.build(tet_stencils(MESH), bulk)
    expected = 0.5 * bulk * (stretch**3 - 1.0) ** 2 * MESH.volumes().sum()
    assert volume.energy(stretch * MESH.vertices) == pytest.approx(expected, rel=1e-3)
    assert volume.energy(MESH.vertices * [2.0, 0.5, 1.0]) < 1e-12


def test_projected_volumes_lie_in_their_range_whatever_the_shape():
    volume = TetVolume.build(tet_stencils(MESH), 1.0, (0.9, 1.1)).inflated(2.0)
    values = np.concatenate([s * RNG.standard_normal((2000, 3, 3)) for s in (0.01, 1.0, 10.0)])
    repeats = np.arange(len(values)) % len(volume.stencils)
    projected = np.concatenate([volume.project(values[i : i + 1], repeats[i : i + 1]) for i in range(0, 6000, 50)])
    ratio = np.linalg.det(projected)
    assert ((ratio > 1.8 - 1e-9) & (ratio < 2.2 + 1e-9)).all()


def test_springs_are_slack_within_their_range():
    rest = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    spring = Springs.build(rest, [[0, 1]], 5.0, (0.5, 1.5))
    assert spring.energy(rest * 1.4) == 0.0
    assert spring.energy(rest * 2.0) == pytest.approx(0.5 * 5.0 * 1.0**2)
    assert spring.energy(rest * 0.0) == pytest.approx(0.5 * 5.0 * 1.0**2)


def test_a_skin_adds_its_mass_and_its_forces():
    body = Body.build(MESH, Corotational())
    bare, skinned = ProjectiveBody.from_body(body), ProjectiveBody.from_body(body, Shell(thickness=1e-3, density=900.0))
    area = bare.surface.areas().sum()
    assert skinned.mass.sum() - bare.mass.sum() == pytest.approx(900.0 * 1e-3 * area, rel=1e-9)
    assert [c.kind for c in skinned.constraints] == ["corotational", "triangle strain", "bending"]


def test_bad_numbers_are_named():
    tets = tet_stencils(MESH)
    with pytest.raises(MaterialError, match=r"CorotationalTets.build\(mu\): got -1; want above 0 \[Pa\]"):
        CorotationalTets.build(tets, -1.0)
    with pytest.raises(MaterialError, match="2/3 mu"):
        CorotationalTets.build(tets, 1.0, -2.0)
    with pytest.raises(MaterialError, match="not finite"):
        CorotationalTets.build(tets, np.where(np.arange(len(tets)) == 3, np.nan, 1.0))
    with pytest.raises(MaterialError, match=r"TetStrain.build\(limits\): got \(1.1, 0.9\)"):
        TetStrain.build(tets, 1.0, (1.1, 0.9))
    with pytest.raises(MaterialError, match=r"Springs.build\(stiffness\)"):
        Springs.build(MESH.vertices, [[0, 1]], 0.0)
    with pytest.raises(MeshError, match="spring 0 uses vertices"):
        Springs.build(MESH.vertices, [[0, 1000]], 1.0)
    with pytest.raises(SceneError, match="volume factor"):
        TetVolume.build(tets, 1.0).inflated(0.0)
    with pytest.raises(MaterialError, match=r"Shell\(thickness\): got 0.0; want above 0 \[m\]"):
        Shell(thickness=0.0)
    with pytest.raises(MaterialError, match="poisson"):
        Shell(poisson=0.5)


def test_bad_surfaces_are_named():
    flat = TriMesh(np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0]]), np.array([[0, 1, 3], [0, 1, 2]], np.int32))
    with pytest.raises(MeshError, match=r"triangle 1 near .* has no area"):
        ProjectiveBody.shell(flat, Shell())
    lone = TriMesh(np.eye(4, 3), np.array([[0, 2, 1]], np.int32))
    with pytest.raises(MeshError, match="belongs to no triangle"):
        ProjectiveBody.shell(lone, Shell())
    fan = TriMesh(
        np.array([[0.0, 0, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [-1, 0, 0]]),
        np.array([[0, 1, 2], [0, 1, 3], [0, 1, 4]], np.int32),
    )
    with pytest.raises(MeshError, match="manifold"):
        ProjectiveBody.shell(fan, Shell())


def test_bad_solids_are_named():
    with pytest.raises(MeshError, match="surface without volume"):
        tet_stencils(sheet())
    flat = TetMesh(MESH.vertices * [1.0, 0.0, 1.0], MESH.tets, MESH.regions, {})
    with pytest.raises(MeshError, match=r"tet 0 near .* has no volume"):
        tet_stencils(flat)
