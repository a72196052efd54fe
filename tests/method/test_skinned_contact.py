"""Contact of skinned bodies in a subspace: a complete basis is the full solver, a fold stops at itself."""

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from reduced_helpers import FAR, complete_model, modal_model
from rig_helpers import skinned

from supple.contact import SelfContact
from supple.contact.collider import Collider
from supple.contact.contacts import Contacts
from supple.contact.potential import ContactPotential
from supple.contact.settings import ContactSettings
from supple.contact.sphere import Sphere
from supple.cubature import Rule
from supple.elastic import Body, Damping
from supple.material import StableNeoHookean
from supple.method import FullSolver
from supple.method.placed_contacts import freeze_placed
from supple.method.reduced.loads import STILL
from supple.method.skinned import touch
from supple.method.skinned.model import SkinnedModel
from supple.method.skinned.solver import SkinnedSolver
from supple.method.skinned.touch import STILL_TOUCHING
from supple.method.solver import Report, Solver
from supple.rig import Skeleton, SkinnedRig, find_bone_crossings, heat_weights, hold_bones
from supple.shape import make_shape
from supple.solve import Gravity, Inputs, Moment, Placement
from supple.subspace import diagonalise
from supple.subspace.pulled_back import pull_back_all, pulled_back_basis
from supple.subspace.vertex_shapes import VertexShapes

DOWN = Gravity(np.array([1.0, -9.81, 2.0]))
BALL: tuple[Collider, ...] = (Sphere(0.2),)
BELOW, FAR_AWAY = (Placement(np.eye(3), np.array([0.45, y, 0.0])) for y in (-0.3, -9.0))
H, STEPS = 0.02, 6


@cache
def rod(rank: int | None = None) -> tuple:
    """A capsule of two bones: its character, rig, pins, body and a model, complete by default."""
    character, rig, held, body = skinned("capsule", 8)
    body = replace(body, damping=Damping(mass=1.0))  # drag by stiffness is in single precision
    reduced = complete_model(body) if rank is None else modal_model(body, rank)
    everyone = Rule(np.arange(len(body.mass)), np.ones(len(body.mass)), 0.0)
    return character, rig, held, body, SkinnedModel(reduced.basis, reduced.rule, everyone, FAR)


def pose_at(name: str, bent: float, k: int, steps: int) -> np.ndarray:
    """The pose of a moment on the way into a share of a named one."""
    character, rig, *_ = rod()
    return rig.neutral + (k / steps) ** 2 * bent * character.poses[name]


def run(
    solver: Solver, name: str, bent: float, *places: Placement, steps: int = STEPS, begin=None, until: int | None = None
) -> tuple[list, list[Report]]:
    """States and reports of a run into a share of a pose, from the beginning or a state."""
    held = rod()[2]

    def at(k: int) -> Moment:
        pose = pose_at(name, bent, k, steps)
        return Moment(H * k, held.targets(pose), (DOWN,), places, pose=pose)

    states, reports = [solver.start(Inputs(at(0), at(1))) if begin is None else begin], []
    for k in range(round(states[0].time / H), until or steps):
        state, report = solver.step(states[-1], Inputs(at(k), at(k + 1)))
        states.append(state)
        reports.append(report)
    return states, reports


def compare(name: str, bent: float, *places: Placement, steps: int = STEPS, **settings) -> tuple[float, int]:
    """Largest difference from the full solver over a run, relative to the body's size, and how many touch at most."""
    _, rig, _, body, model = rod()
    solvers = FullSolver(body, rig=rig, **settings), SkinnedSolver(body, rig, model, **settings)
    (full, told), (found, reports) = (run(solver, name, bent, *places, steps=steps) for solver in solvers)
    counts = [report.contacts for report in told]
    assert [report.contacts for report in reports] == counts
    differences = [solvers[0].positions(a) - solvers[1].positions(b) for a, b in zip(full, found, strict=True)]
    return float(np.abs(differences).max()) / body.mesh.size(), max(counts)


@pytest.fixture
def _settled_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds until friction follows the pressure: else solvers differ by what it lags behind, some 1e-6 of a body."""
    monkeypatch.setattr("supple.method.outer._SETTLED", {"contact": 1e-7, "friction": 1e-7})


# Newmark's inertia of moving bones is another of the same order, so only a still pose compares to round-off
@pytest.mark.usefixtures("_settled_for_good")
@pytest.mark.parametrize(
    ("integrator", "friction", "bent"),
    [("static", 0.0, 0.3), ("static", 0.4, 0.3), ("implicit_euler", 0.0, 0.3), ("implicit_euler", 0.4, 0.3)]
    + [("newmark", 0.4, 0.0)],
)
def test_rod_on_a_ball_is_that_of_full_space(integrator: str, friction: float, bent: float) -> None:
    contact = ContactSettings(friction=friction)
    off, most = compare("bent", bent, BELOW, integrator=integrator, tolerance=1e-9, colliders=BALL, contact=contact)
    assert most > 0
    assert off < 1e-8


def test_fold_stops_at_itself_as_in_full_space() -> None:
    contact = ContactSettings(self_contact=True, friction=0.0)
    off, most = compare("folded", 0.8, tolerance=1e-8, contact=contact, steps=12)
    assert most > 4
    assert off < 1e-8


def test_trained_shapes_of_a_fold_stop_at_themselves() -> None:
    _, rig, _, body, complete = rod()
    own = {"contact": ContactSettings(self_contact=True, friction=0.0)}
    full = FullSolver(body, rig=rig, **own)
    states, _ = run(full, "folded", 0.8, steps=12)
    exact, poses = [full.positions(state) for state in states], [pose_at("folded", 0.8, k, 12) for k in range(13)]
    basis = diagonalise(pulled_back_basis(pull_back_all(rig, poses, exact), body.mass, rank=6), body)
    runs = [exact]
    for settings in ({}, own):
        solver = SkinnedSolver(body, rig, replace(complete, basis=basis), **settings)
        runs.append([solver.positions(state) for state in run(solver, "folded", 0.8, steps=12)[0]])
    # How deep is the law's affair: a tenth of an edge where a fold presses with Young's modulus. Beyond 0.8 of the way
    # bones turn the tets of the bend all inside out, and which vertices then touch depends on the way there: at 0.9
    # rank 12 lies 0.27 edges deep in 12 steps and 0.13 in 24, full space 0.10 in both
    deep, through, found = (float(SelfContact(body.mesh).find(one[-1]).depth.max()) for one in runs)
    assert through > 2 * deep, "without contact it goes through itself"
    assert found == pytest.approx(deep, rel=0.05)
    assert np.abs(np.subtract(runs[2], exact)).max() < 1e-3 * body.mesh.size()


def test_a_rod_of_six_bones_folds_all_the_way() -> None:
    """A bend long enough that bones turn no tet inside out: then the legs, pressed together, agree with full space."""
    mesh = make_shape("capsule", resolution=16, length=1.0, radius=0.08)
    ends = np.array([-0.46, -0.2, -0.1, 0.0, 0.1, 0.2, 0.46])[:, None] * [1.0, 0.0, 0.0]
    bones = Skeleton.of([f"bone {k}" for k in range(6)], range(-1, 5), ends[:-1], ends[1:])
    rig = SkinnedRig(bones, heat_weights(mesh, bones), mesh.vertices, "dual_quaternion")
    held = hold_bones(rig, find_bone_crossings(mesh.vertices, mesh.tets, bones))
    body = Body.build(mesh, StableNeoHookean(young=3e4, poisson=0.4), held.pins, Damping(mass=1.0))
    folded = rig.neutral.copy()
    folded[3:].reshape(6, 3)[1:, 2] = 1.2 * np.pi / 5

    def follow(solver: Solver) -> list[np.ndarray]:
        """Positions on the last part of the way."""
        poses = [(0.85 + 0.15 * k / 12) * folded for k in range(13)]
        moments = [Moment(H * k, held.targets(pose), (DOWN,), pose=pose) for k, pose in enumerate(poses)]
        states = [solver.start(Inputs(*moments[:2]))]
        for begin, end in pairwise(moments):
            states.append(solver.step(states[-1], Inputs(begin, end))[0])
        return [solver.positions(state) for state in states]

    own = {"contact": ContactSettings(self_contact=True, friction=0.0)}
    exact = follow(FullSolver(body, rig=rig, **own))
    pulled = pull_back_all(rig, [(0.85 + 0.15 * k / 12) * folded for k in range(13)], exact)
    basis = diagonalise(pulled_back_basis(pulled, body.mass, rank=6), body)
    everything = (Rule(np.arange(count), np.ones(count), 0.0) for count in (len(mesh.tets), len(mesh.vertices)))
    model = SkinnedModel(basis, *everything, FAR)
    through, found = (follow(SkinnedSolver(body, rig, model, **settings)) for settings in ({}, own))
    depths = [float(SelfContact(mesh).find(one[-1]).depth.max()) for one in (exact, through, found)]
    assert (replace(mesh, vertices=exact[-1]).volumes() > 0.1 * mesh.volumes()).all()
    assert depths[1] > 1.4 * depths[0]
    assert depths[2] == pytest.approx(depths[0], rel=0.01)
    assert np.abs(np.subtract(found, exact)).max() < 2e-4 * mesh.size()
    assert np.abs(np.subtract(through, exact)).max() > 5e-3 * mesh.size()


@pytest.mark.parametrize("integrator", ["static", "implicit_euler", "newmark"])
def test_nothing_to_touch_changes_nothing(integrator: str) -> None:
    _, rig, _, body, model = rod(10)
    plain = SkinnedSolver(body, rig, model, integrator=integrator)
    far = SkinnedSolver(body, rig, model, integrator=integrator, colliders=BALL, contact=ContactSettings(friction=0.5))
    (states, _), (others, reports) = run(plain, "bent", 0.5), run(far, "bent", 0.5, FAR_AWAY)
    for key, value in plain.pack(states[-1]).items():
        assert np.array_equal(value, plain.pack(others[-1])[key]), key
    assert reports[-1].contacts == 0
    assert reports[-1].contact_rounds == 1


@pytest.mark.parametrize("integrator", ["implicit_euler", "newmark"])
def test_restart_in_contact_equals_the_uninterrupted_run_bit_for_bit(integrator: str) -> None:
    def make() -> SkinnedSolver:
        _, rig, _, body, model = rod(20)
        contact = ContactSettings(friction=0.4, self_contact=True)
        return SkinnedSolver(body, rig, model, integrator=integrator, colliders=BALL, contact=contact)

    whole, reports = run(make(), "bent", 0.3, BELOW)
    first, _ = run(make(), "bent", 0.3, BELOW, until=3)
    second = make()
    packed = {key: value.copy() for key, value in second.pack(first[-1]).items()}
    resumed, _ = run(second, "bent", 0.3, BELOW, begin=second.unpack(packed))
    assert max(report.contacts for report in reports[:4]) > 0
    for key, value in second.pack(whole[-1]).items():
        assert np.array_equal(value, second.pack(resumed[-1])[key]), key


def test_kernels_know_the_laws_of_contact(monkeypatch: pytest.MonkeyPatch) -> None:
    # All that they call is plain Python, too: a kernel that is not compiled yet could not call what is
    called = "find_gap", "press", "_is_like", "_add_square", "stiffen_contacts", "push_back", "find_axes", "find_energy"
    for name in called:
        monkeypatch.setattr(touch, name, getattr(touch, name).py_func)
    pull, stiffen, height = (loop.py_func for loop in STILL_TOUCHING[:3])
    _, rig, _, body, model = rod(10)
    rng, n, count, rank = np.random.default_rng(3), len(body.mass), 40, 10
    normal = rng.standard_normal((count, 3))
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    weights = np.concatenate([np.ones((count, 1)), -rng.dirichlet(np.ones(3), count)], axis=1)
    weights[:20, 1:] = 0.0
    contacts = Contacts(
        rng.integers(0, n, (count, 4)).astype(np.int32), weights, 0.3 * rng.standard_normal((count, 3)), normal,
        rng.uniform(1, 2, count), np.zeros((count, 3)), np.zeros(count, np.int32), np.zeros(count, np.int32),
    )  # fmt: skip
    potential = ContactPotential(
        contacts, rig.rest + 0.02 * rng.standard_normal((n, 3)), 1e3, 0.2, rng.random(count) < 0.5, 0.5,
        rng.uniform(0, 50, count), 0.1, 0.01,
    )  # fmt: skip
    shapes = np.concatenate([rig.rest[:, :, None], model.basis.columns.reshape(n, 3, rank)], axis=2)
    loads = 0.0, np.zeros((0, 0)), np.zeros(rank)
    placed = freeze_placed(potential, rig, VertexShapes.of(model.basis, np.arange(n)), rig.neutral)
    data = (loads, placed)

    def energy(q: np.ndarray) -> float:
        return potential.energy(shapes @ np.concatenate([[1.0], q]))

    def slope(q: np.ndarray) -> np.ndarray:
        g = np.zeros(rank)
        pull(q, data, g)
        return g

    q, K, e = 0.01 * rng.standard_normal(rank), np.zeros((rank, rank)), 1e-6
    assert np.isclose(height(q, data)[0] - STILL.height(q, loads)[0], energy(q), rtol=1e-9)
    stiffen(q, data, K)
    K = np.tril(K) + np.tril(K, -1).T
    for k, d in enumerate(e * np.eye(rank)):
        assert np.isclose((energy(q + d) - energy(q - d)) / (2 * e), slope(q)[k], rtol=1e-5, atol=1e-5)
        assert np.allclose((slope(q + d) - slope(q - d)) / (2 * e), K[k], rtol=1e-4, atol=1e-2)
