"""Bases: orthonormal in mass, exact where theory is, the same subspace however it is turned."""

import numpy as np
import pytest

from supple.elastic import Body, Pins
from supple.errors import MeshError, TrainingError
from supple.linalg.orthonormal import orthonormalise
from supple.material import MATERIALS, ArrudaBoyce, Linear, StableNeoHookean
from supple.mesh import fill_box
from supple.subspace import (
    RestStiffness,
    diagonalise,
    empty_basis,
    force_curvature,
    grow,
    linear_modes,
    modal_basis,
    modal_derivatives,
    principal_basis,
    shrink,
)


def make_body(name: str = "stable_neo_hookean", pinned: bool = True) -> Body:
    mesh = fill_box((0, 0, 0), (1.0, 0.25, 0.25), 8)
    material = ArrudaBoyce() if name == "arruda_boyce" else MATERIALS[name](young=1e5, poisson=0.35)  # type: ignore[call-arg]
    pins = Pins.of(np.flatnonzero(mesh.vertices[:, 0] < 1e-9)) if pinned else Pins.none()
    return Body.build(mesh, material, pins)


@pytest.fixture(scope="module")
def held() -> Body:
    return make_body()


@pytest.fixture(scope="module")
def free() -> Body:
    return make_body(pinned=False)


def gram(basis) -> np.ndarray:
    return basis.columns.T @ (basis.metric[:, None] * basis.columns)


@pytest.mark.parametrize("which", ["held", "free"])
def test_modes_solve_the_eigenproblem_of_the_dense_matrices(which: str, request: pytest.FixtureRequest) -> None:
    body = request.getfixturevalue(which)
    modes, stiffness = linear_modes(body, 8), RestStiffness(body)
    assert np.allclose(gram(modes), np.eye(8), atol=1e-8)
    root = np.sqrt(stiffness.mass)
    exact = np.linalg.eigvalsh(stiffness.matrix.toarray() / np.outer(root, root))
    rigid = 0 if which == "held" else 6
    assert stiffness.rigid.shape[1] == rigid
    assert np.allclose(modes.importance, exact[rigid : rigid + 8], rtol=1e-8)
    phi = stiffness.gather(modes.columns)
    error = stiffness.matrix @ phi - stiffness.mass[:, None] * phi * modes.importance
    assert np.abs(error).max() < 1e-6 * np.abs(stiffness.matrix @ phi).max()


def test_modes_of_a_free_body_carry_no_momentum(free: Body) -> None:
    modes = linear_modes(free, 5).columns.reshape(-1, 3, 5)
    assert np.abs(np.einsum("n,nij->ij", free.mass, modes)).max() < 1e-9
    spin = np.cross(free.mesh.vertices[:, :, None], modes, axis=1)
    assert np.abs(np.einsum("n,nij->ij", free.mass, spin)).max() < 1e-9


def test_partly_pinned_body_keeps_the_rigid_motion_its_pins_allow() -> None:
    mesh = fill_box((0, 0, 0), (1.0, 0.25, 0.25), 4)
    body = Body.build(mesh, StableNeoHookean(), Pins.of(np.arange(len(mesh.vertices)), "z"))
    assert RestStiffness(body).rigid.shape[1] == 3  # two translations and a turn in the plane
    modes = linear_modes(body, 3)
    assert not modes.columns.reshape(-1, 3, 3)[:, 2].any()
    assert modes.importance[0] > 0.0


def test_modes_do_not_depend_on_how_many_are_found(held: Body) -> None:
    many = linear_modes(held, 9).columns
    for count in range(1, 9):
        assert np.abs(linear_modes(held, count).columns - many[:, :count]).max() < 1e-6 * np.abs(many).max()


def test_too_many_modes_are_refused_with_the_number_there_are(held: Body) -> None:
    with pytest.raises(MeshError, match="ask for 1 to"):
        linear_modes(held, 10**6)


def test_all_modes_of_a_small_body_span_everything() -> None:
    mesh = fill_box((0, 0, 0), (1.0, 1.0, 1.0), 1)
    body = Body.build(mesh, StableNeoHookean(), Pins.of([0, 1, 2]))
    modes = linear_modes(body, 15)
    assert np.allclose(gram(modes), np.eye(15), atol=1e-9)
    with pytest.raises(MeshError):
        linear_modes(body, 16)


@pytest.mark.parametrize("name", sorted(MATERIALS))
def test_force_curvature_is_the_second_derivative_of_the_force(name: str) -> None:
    body = make_body(name)
    rng = np.random.default_rng(0)
    x = body.mesh.vertices + 0.01 * rng.normal(size=body.mesh.vertices.shape)
    a, b = rng.normal(size=(2, *x.shape))
    exact = force_curvature(body, x, a, b)
    steps = np.array([4e-3, 2e-3, 1e-3])

    def gradient(y: np.ndarray) -> np.ndarray:
        return -body.forces(y)

    errors = []
    for h in steps:
        mixed = (
            gradient(x + h * (a + b))
            - gradient(x + h * (a - b))
            - gradient(x - h * (a - b))
            + gradient(x - h * (a + b))
        )
        errors.append(np.abs(mixed / (4 * h * h) - exact).max())
    if isinstance(body.parts[0].material, Linear):
        assert not exact.any()
        return
    assert errors[-1] < 1e-5 * np.abs(exact).max() or 1.8 < np.polyfit(np.log(steps), np.log(errors), 1)[0] < 2.3


@pytest.mark.parametrize("which", ["held", "free"])
def test_modal_derivatives_are_second_derivatives_of_the_static_response(which: str, request) -> None:
    # Loads K (φ_i p + φ_j q) deform the body by φ_i p + φ_j q + ½ (ψ_ii p² + 2 ψ_ij p q + ψ_jj q²) + ...
    body = request.getfixturevalue(which)
    modes, stiffness = linear_modes(body, 2), RestStiffness(body)
    derivatives = modal_derivatives(body, modes)
    phi = stiffness.gather(modes.columns)

    def respond(p: float, q: float) -> np.ndarray:
        load, u = stiffness.matrix @ (phi @ [p, q]), phi @ [p, q]
        for _ in range(12):
            x = body.mesh.vertices + stiffness.spread(u).reshape(-1, 3)
            u = u + stiffness.solve(load + stiffness.gather(body.forces(x).ravel()))
        return u

    exact = stiffness.gather(derivatives[:, 1])
    steps, errors = np.array([1.6e-3, 8e-4, 4e-4]) / np.abs(phi).max(), []
    for h in steps:
        mixed = (respond(h, h) - respond(h, -h) - respond(-h, h) + respond(-h, -h)) / (4 * h * h)
        errors.append(np.abs(mixed - exact).max() / np.abs(exact).max())
    assert errors[-1] < 2e-3
    assert 1.8 < np.polyfit(np.log(steps), np.log(errors), 1)[0] < 2.2  # central differences


def test_modal_basis_is_orthonormal_and_holds_the_modes(held: Body) -> None:
    modes = linear_modes(held, 4)
    basis = modal_basis(held, modes, 12)
    assert basis.rank == 12
    assert np.allclose(gram(basis), np.eye(12), atol=1e-9)
    first = modes.columns[:, 0].reshape(-1, 3)
    assert np.linalg.norm(basis.lift(basis.project(first)) - first) < 0.02 * np.linalg.norm(first)


def test_principal_components_reproduce_snapshots_within_the_tolerance(held: Body) -> None:
    rng = np.random.default_rng(1)
    modes = linear_modes(held, 6)
    coordinates = rng.normal(size=(30, 6)) * [1.0, 0.5, 0.2, 1e-2, 1e-3, 1e-4]
    snapshots = np.array([modes.lift(q) for q in coordinates])
    exact = principal_basis(snapshots, held.mass)
    assert exact.rank == 6
    rough = principal_basis(snapshots, held.mass, tolerance=1e-2)
    assert rough.rank < 6
    lost = sum(np.sum(held.mass[:, None] * (u - rough.lift(rough.project(u))) ** 2) for u in snapshots)
    whole = sum(np.sum(held.mass[:, None] * u**2) for u in snapshots)
    assert np.sqrt(lost / whole) <= 1e-2
    assert principal_basis(snapshots, held.mass, rank=2).rank == 2


def test_growing_appends_what_is_new_and_discards_what_is_known(held: Body) -> None:
    modes = linear_modes(held, 3)
    a, b, c = (modes.lift(q) for q in np.eye(3))
    basis, share = grow(empty_basis(held.mass), a, 1e-3)
    assert basis.rank == 1
    assert share == 1.0
    basis, share = grow(basis, 2.0 * a + 1e-5 * b, 1e-3)
    assert basis.rank == 1
    assert np.isclose(share, 0.5e-5, rtol=1e-3)
    basis, _ = grow(basis, a + 1e-7 * c, 1e-9)  # nearly dependent: one pass of Gram-Schmidt would lose orthogonality
    assert basis.rank == 2
    assert np.allclose(gram(basis), np.eye(2), atol=1e-12)
    assert grow(basis, 0.0 * a, 1e-3)[1] == 0.0


def test_shrinking_keeps_the_directions_that_were_used(held: Body) -> None:
    modes = linear_modes(held, 6)
    rng = np.random.default_rng(2)
    used = np.linalg.qr(rng.normal(size=(6, 2)))[0]
    recent = rng.normal(size=(5, 2)) @ used.T
    small, turn = shrink(modes, recent, 2)
    assert small.rank == 2
    for q in recent:
        assert np.allclose(small.lift(turn.T @ q), modes.lift(q), atol=1e-12)


def test_diagonalising_keeps_the_subspace_and_gives_frequencies(held: Body) -> None:
    rng = np.random.default_rng(3)
    modes = linear_modes(held, 5)
    mixed = modes.rotated(rng.normal(size=(5, 5)))
    turned = diagonalise(mixed, held)
    assert np.allclose(turned.importance, modes.importance, rtol=1e-7)
    assert np.allclose(gram(turned), np.eye(5), atol=1e-9)
    u = mixed.lift(rng.normal(size=5))
    assert np.allclose(turned.lift(turned.project(u)), u, atol=1e-9 * np.abs(u).max())


def test_orthonormalise_drops_dependent_columns() -> None:
    rng = np.random.default_rng(4)
    metric = rng.random(12) + 0.5
    columns = rng.normal(size=(12, 4))
    columns[:, 2] = columns[:, 0] - columns[:, 1]
    kept = orthonormalise(columns, metric)
    assert kept.shape[1] == 3
    assert np.allclose(kept.T @ (metric[:, None] * kept), np.eye(3))


def test_ranks_that_cannot_be_had_are_refused_with_the_largest_that_can(held: Body) -> None:
    modes = linear_modes(held, 3)
    with pytest.raises(TrainingError, match=r"rank 10 cannot be had from 3 modes and 6 derivatives: ask for 1 to 9"):
        modal_basis(held, modes, 10)
    snapshots = np.array([modes.lift(q) for q in np.random.default_rng(0).normal(size=(8, 3))])
    with pytest.raises(TrainingError, match=r"rank 4 cannot be had from 8 snapshots: ask for 1 to 3"):
        principal_basis(snapshots, held.mass, rank=4)
    with pytest.raises(TrainingError, match="rank 0"):
        modal_basis(held, modes, 0)
    stiff = make_body("linear")  # whose modes have no derivatives
    with pytest.raises(TrainingError, match="ask for 1 to 2"):
        modal_basis(stiff, linear_modes(stiff, 2), 4)


def test_snapshots_that_span_nothing_are_refused(held: Body) -> None:
    snapshots = np.zeros((4, len(held.mass), 3))
    with pytest.raises(TrainingError, match="the 4 snapshots hold no motion"):
        principal_basis(snapshots, held.mass)
    snapshots[2, 0] = np.inf
    with pytest.raises(TrainingError, match="snapshot 2 of 4"):
        principal_basis(snapshots, held.mass)
    with pytest.raises(TrainingError, match="displacements of this mesh"):
        principal_basis(snapshots[:, :-1], held.mass)
