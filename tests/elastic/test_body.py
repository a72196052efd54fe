"""Energy, force and stiffness of whole bodies: derivatives, invariance, patch test, chosen elements, threads."""

import numba
import numpy as np
import pytest

from supple.elastic import Body, Elements, Pins, StiffnessMap, elastic_energy, elastic_gradient, strain_between
from supple.errors import ArgumentError, MaterialError
from supple.material import MATERIALS, ArrudaBoyce, Linear, Material, StableNeoHookean
from supple.shape import make_shape


def make(name: str) -> Material:
    return ArrudaBoyce() if name == "arruda_boyce" else MATERIALS[name](young=1e5, poisson=0.4)  # type: ignore[call-arg]


@pytest.fixture(scope="module")
def mesh():
    return make_shape("box", resolution=3)


@pytest.fixture(params=sorted(MATERIALS))
def body(request: pytest.FixtureRequest, mesh) -> Body:
    return Body.build(mesh, make(request.param))


def disturbed(body: Body, amount: float = 0.03) -> np.ndarray:
    x = body.mesh.vertices
    return x + amount * np.random.default_rng(5).normal(size=x.shape)


def dense_stiffness(body: Body, x: np.ndarray, project: bool) -> np.ndarray:
    places = StiffnessMap.build(len(body.mass), body.parts, body.pins)
    data = places.assemble(body.parts, x, np.empty(places.pattern.nonzeros), form=int(project))
    return places.pattern.to_scipy(data).toarray()


def test_forces_are_minus_the_gradient_of_the_energy_at_second_order(body: Body) -> None:
    x, d = disturbed(body), np.random.default_rng(6).normal(size=body.mesh.vertices.shape)
    exact = -float(np.vdot(body.forces(x), d))
    steps = np.array([4e-3, 2e-3, 1e-3])
    errors = [abs((body.energy(x + h * d) - body.energy(x - h * d)) / (2 * h) - exact) for h in steps]
    assert errors[-1] < 1e-8 * abs(exact) or 1.8 < np.polyfit(np.log(steps), np.log(errors), 1)[0] < 2.3


def test_stiffness_is_the_derivative_of_the_forces_at_second_order(body: Body) -> None:
    x = disturbed(body)
    for d in (np.random.default_rng(6).normal(size=x.shape), body.forces(x) / np.linalg.norm(body.forces(x))):
        exact = (dense_stiffness(body, x, project=False) @ d.ravel()).reshape(-1, 3)
        steps = np.array([4e-3, 2e-3, 1e-3])
        errors = [np.abs((body.forces(x - h * d) - body.forces(x + h * d)) / (2 * h) - exact).max() for h in steps]
        assert errors[-1] < 1e-8 * np.abs(exact).max() or 1.8 < np.polyfit(np.log(steps), np.log(errors), 1)[0] < 2.3


def test_projected_stiffness_has_no_negative_eigenvalue(body: Body) -> None:
    x = disturbed(body, 0.2)
    raw = np.linalg.eigvalsh(dense_stiffness(body, x, project=False))
    values = np.linalg.eigvalsh(dense_stiffness(body, x, project=True))
    assert values.min() > -1e-9 * values.max()
    if not isinstance(body.parts[0].material, Linear):
        assert raw.min() < -1e-6 * raw.max(), "the state is too tame to test the projection"


def test_rigid_motion_costs_no_energy_and_no_force(body: Body) -> None:
    if isinstance(body.parts[0].material, Linear):
        pytest.skip("linear elasticity is not invariant under rotation")
    angle = 2.1
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1.0]])
    x = body.mesh.vertices @ turn.T + [3.0, -2.0, 1.0]
    scale = body.energy(disturbed(body))
    assert abs(body.energy(x)) < 1e-12 * scale
    assert np.abs(body.forces(x)).max() < 1e-10 * np.abs(body.forces(disturbed(body))).max()


def test_internal_forces_have_no_net_force_and_no_torque(body: Body) -> None:
    x = disturbed(body)
    f = body.forces(x)
    assert np.abs(f.sum(axis=0)).max() < 1e-11 * np.abs(f).max()
    if not isinstance(body.parts[0].material, Linear):
        assert np.abs(np.cross(x, f).sum(axis=0)).max() < 1e-10 * np.abs(f).max()


def test_patch_of_uniform_strain_has_forces_on_its_boundary_only(body: Body) -> None:
    F = np.array([[1.1, 0.05, 0.0], [0.0, 0.95, 0.02], [0.03, 0.0, 1.02]])
    x = body.mesh.vertices @ F.T
    inside = np.setdiff1d(np.arange(len(x)), body.mesh.surface_vertices())
    assert len(inside) > 0
    f = body.forces(x)
    assert np.abs(f[inside]).max() < 1e-10 * np.abs(f).max()
    P = body.parts[0].material.stress(F)
    volume = body.mesh.volumes().sum()
    assert np.allclose(-f.T @ body.mesh.vertices / volume, P, rtol=1e-9, atol=1e-9 * np.abs(P).max())


def test_chosen_elements_with_weights_add_up_to_the_whole(mesh) -> None:
    body = Body.build(mesh, StableNeoHookean())
    x, ids = disturbed(body), np.arange(len(mesh.tets))
    parts = [
        Elements.build(mesh.vertices, mesh.tets, StableNeoHookean(), half, np.full(len(half), 2.0))
        for half in (ids[::2], ids[1::2])
    ]
    total = sum(elastic_energy((part,), x) for part in parts)
    assert np.isclose(total, 2 * body.energy(x), rtol=1e-12)
    gradient = sum(elastic_gradient((part,), x) for part in parts)
    assert np.allclose(gradient, -2 * body.forces(x), atol=1e-12 * np.abs(gradient).max())


def test_kernels_give_the_same_bits_at_any_thread_count(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PARALLEL_FROM", "LIGHT_PARALLEL_FROM"):
        monkeypatch.setattr(f"supple.elastic.elements.{name}", 0)
    mesh = make_shape("box", resolution=8)
    body = Body.build(mesh, StableNeoHookean())
    x = disturbed(body, 0.005)
    places = StiffnessMap.build(len(body.mass), body.parts, Pins.none())
    threads, found = numba.get_num_threads(), []
    try:
        for count in (1, numba.config.NUMBA_NUM_THREADS):
            numba.set_num_threads(count)
            data = places.assemble(body.parts, x, np.empty(places.pattern.nonzeros))
            found.append((body.energy(x), body.forces(x).tobytes(), data.tobytes()))
    finally:
        numba.set_num_threads(threads)
    assert found[0] == found[1]


def test_clusters_of_one_colour_share_no_vertex(mesh) -> None:
    part = Body.build(mesh, StableNeoHookean()).parts[0]
    start, colour = part.clusters.start, part.clusters.colour
    assert np.array_equal(np.sort(part.clusters.order), np.arange(len(mesh.tets)))
    for c in range(len(colour) - 1):
        sets = [set(part.tets[:, start[k] : start[k + 1]].ravel().tolist()) for k in range(colour[c], colour[c + 1])]
        assert sum(len(s) for s in sets) == len(set().union(*sets))


def test_mass_is_density_times_volume(mesh) -> None:
    body = Body.build(mesh, StableNeoHookean(density=1234.0))
    assert np.isclose(body.mass.sum(), 1234.0 * mesh.volumes().sum())


def test_regions_take_their_own_material(mesh) -> None:
    from dataclasses import replace

    regions = (mesh.vertices[mesh.tets].mean(axis=1)[:, 0] > mesh.vertices[:, 0].mean()).astype(np.int32)
    halves = replace(mesh, regions=regions)
    soft, stiff = StableNeoHookean(young=1e4), StableNeoHookean(young=1e6)
    body = Body.build(halves, {0: soft, 1: stiff})
    x = disturbed(body)
    expected = sum(
        elastic_energy((Elements.build(mesh.vertices, mesh.tets, m, np.flatnonzero(regions == r)),), x)
        for r, m in ((0, soft), (1, stiff))
    )
    assert np.isclose(body.energy(x), expected, rtol=1e-12)
    with pytest.raises(MaterialError, match="region 1"):
        Body.build(halves, {0: soft})


def test_pin_outside_the_mesh_is_refused(mesh) -> None:
    with pytest.raises(ArgumentError, match=rf"Body\(pins\): got vertex {len(mesh.vertices)}"):
        Body.build(mesh, StableNeoHookean(), Pins.of([len(mesh.vertices)]))


def test_fields_of_a_uniform_stretch(mesh) -> None:
    body = Body.build(mesh, Linear(young=1e5, poisson=0.0))
    x = mesh.vertices * [1.001, 1.0, 1.0]
    assert np.allclose(body.jacobians(x), 1.001)
    assert np.allclose(body.von_mises(x), 1e5 * 0.001, rtol=2e-3)


def test_locked_axes_leave_the_matrix(mesh) -> None:
    pins = Pins.merge([Pins.of([0, 1], "xy"), Pins.of([1], "z"), Pins.of([5])])
    places = StiffnessMap.build(len(mesh.vertices), Body.build(mesh, StableNeoHookean()).parts, pins)
    assert 5 not in places.free
    assert 1 not in places.free
    assert len(places.locked) == 2
    body = Body.build(mesh, StableNeoHookean(), pins)
    dense = dense_stiffness(body, disturbed(body), project=True)
    assert not dense[places.locked].any()
    assert not dense[:, places.locked].any()


def test_matrix_of_the_unknowns_is_part_of_the_whole_one(mesh) -> None:
    pins = Pins.merge([Pins.of([0, 7], "xy"), Pins.of([3, 5, 20])])
    body = Body.build(mesh, StableNeoHookean(), pins)
    x = disturbed(body)
    whole = StiffnessMap.build(len(body.mass), body.parts, Pins.none())
    own = StiffnessMap.build(len(body.mass), body.parts, pins)
    data = whole.assemble(body.parts, x, np.empty(whole.pattern.nonzeros))
    expected = own.assemble(body.parts, x, np.empty(own.pattern.nonzeros))
    assert np.array_equal(own.extract(data, own.places_in(whole)), expected)


def test_strain_between_two_shapes_is_the_largest_change_of_a_gradient() -> None:
    body = Body.build(make_shape("box", resolution=3), StableNeoHookean(young=1e5, poisson=0.3))
    x = body.mesh.vertices
    change = np.array([[0.1, 0.2, 0.0], [0.0, -0.1, 0.0], [0.3, 0.0, 0.05]])
    assert strain_between(body.parts, x, x @ (np.eye(3) + change).T + 0.7) == pytest.approx(np.linalg.norm(change))
    one = x.copy()
    one[3] += 0.01
    assert strain_between(body.parts, x, x + 0.7) < 1e-12 < strain_between(body.parts, x, one)
