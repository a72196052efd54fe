"""The limit case: with every vibration and every element the reduced solver is the full one, step by step."""

import numpy as np
import pytest
from reduced_helpers import beam, compare_runs, complete_model, end_of, ends_of, run, spinning, turn

from supple.elastic import Body, Damping, Pins
from supple.material import MATERIALS, StableNeoHookean, StVK
from supple.mesh import TetMesh
from supple.method import FullSolver
from supple.method.reduced.solver import ReducedSolver
from supple.solve import Grab, Gravity, Move, NodalForce, Release, SetGravity, SetStiffness
from supple.subspace import carried_fields
from supple.subspace.rigid_fit import pin_displacement

DYNAMIC = ["implicit_euler", "newmark"]
ALL = [*DYNAMIC, "static"]
PUSH = Gravity(np.array([1.0, -9.81, 2.0]))
SPIN, SPEED = (3.0, 5.0, -8.0), (1.0, 2.0, 0.0)


def check_equal(body: Body, model, integrator: str, h: float, steps: int, *forces, bound: float = 1e-8, **options):
    """Positions to `bound` of the largest displacement; each derivative by time may lose one digit."""
    found = compare_runs(body, model, integrator, h, steps, *forces, **options)
    assert found[0] < bound, f"positions differ by {found[0]:.1e}"
    assert found[1] < 10 * bound, f"velocities differ by {found[1]:.1e}"
    assert found[2] < 100 * bound, f"accelerations differ by {found[2]:.1e}"


def user_at_work(body: Body) -> dict:
    """Events of a lively session."""
    triangle = tuple(int(v) for v in body.mesh.tets[-1][:3])
    return {
        1: (SetGravity((3.0, 0.0, -5.0)),),
        3: (SetStiffness(0.4),),
        5: (Grab("g", triangle, (0.2, 0.3, 0.5), (1.2, 0.5, 0.3), 200.0),),
        7: (Move("g", (0.5, -0.5, 0.2)), SetStiffness(2.0)),
        9: (Release("g"),),
    }


@pytest.mark.parametrize("integrator", ALL)
def test_held_body(integrator: str) -> None:
    body = beam()
    check_equal(body, complete_model(body), integrator, 0.01, 12, PUSH)


@pytest.mark.parametrize("integrator", ALL)
def test_held_body_while_a_user_pulls_and_changes_settings(integrator: str) -> None:
    # Equilibria of a softened body are found by energies, whose digits end before those of forces
    digits = {"tolerance": 1e-7, "bound": 1e-6} if integrator == "static" else {}
    body = beam()
    check_equal(body, complete_model(body), integrator, 0.01, 11, PUSH, events=user_at_work(body), **digits)


@pytest.mark.parametrize("integrator", DYNAMIC)
def test_damped_body(integrator: str) -> None:
    # Drag uses the stiffness of the subspace, whose products are in single precision
    body = beam(damping=Damping(mass=1.0, stiffness=0.01))
    check_equal(body, complete_model(body), integrator, 0.01, 11, PUSH, events=user_at_work(body), bound=1e-6)


@pytest.mark.parametrize("name", ["stvk"])
def test_other_materials(name: str) -> None:
    body = beam(material=MATERIALS[name](young=2e5))
    check_equal(body, complete_model(body), "newmark", 0.01, 6, PUSH)


@pytest.mark.parametrize("integrator", ALL)
def test_body_of_three_materials(integrator: str) -> None:
    plain = beam()
    mesh = plain.mesh
    along = mesh.vertices[mesh.tets].mean(axis=1)[:, 0]
    mesh = TetMesh.clean(mesh.vertices, mesh.tets, np.digitize(along, (-0.2, 0.2)))
    made_of = {0: StableNeoHookean(young=2e5), 1: StVK(young=4e5, poisson=0.3), 2: StableNeoHookean(young=1e5)}
    body = Body.build(mesh, made_of, plain.pins)
    check_equal(body, complete_model(body), integrator, 0.01, 8, PUSH, events=user_at_work(body))


@pytest.mark.parametrize("integrator", ALL)
def test_pins_along_some_axes(integrator: str) -> None:
    body = beam(lambda mesh: Pins.merge([end_of(mesh, "x"), Pins.of([0, 1])]))
    assert not body.pins.held.all()
    check_equal(body, complete_model(body), integrator, 0.01, 10, PUSH)


@pytest.mark.parametrize("integrator", ALL)
def test_point_and_region_forces(integrator: str) -> None:
    body = beam()
    tip = np.flatnonzero(body.mesh.vertices[:, 0] > 0.49).astype(np.int32)
    push = NodalForce(tip, np.full(len(tip), 1 / len(tip)), np.array([5.0, 10.0, -40.0]))
    point = NodalForce(body.mesh.tets[3], np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.0, 60.0, 0.0]))
    check_equal(body, complete_model(body), integrator, 0.01, 6, PUSH, push, point)


@pytest.mark.parametrize("integrator", ALL)
def test_pins_that_carry_the_body(integrator: str) -> None:
    body = beam(damping=Damping(mass=0.5))
    held = body.mesh.vertices[body.pins.vertices]
    centre = held.mean(axis=0)

    def targets(time: float) -> np.ndarray:
        return (held - centre) @ turn(2, 20.0 * time).T + centre + [0.3 * time, 2.0 * time**2, 0.0]

    check_equal(body, complete_model(body), integrator, 0.01, 12, PUSH, targets=targets)


def test_pins_that_turn_a_damped_body_under_implicit_euler() -> None:
    body = beam(damping=Damping(mass=0.5, stiffness=0.01))
    held = body.mesh.vertices[body.pins.vertices]
    check_equal(
        body, complete_model(body), "implicit_euler", 0.01, 10, PUSH, bound=2e-6,
        targets=lambda time: held @ turn(2, 20.0 * time).T + [0.3 * time, 2.0 * time**2, 0.0],
    )  # fmt: skip


def test_pins_that_turn_a_damped_body_under_newmark_agree_to_first_order() -> None:
    # Drag that follows a frame is of first order in both spaces, each with an error of its own
    body = beam(damping=Damping(stiffness=0.01))
    held, model = body.mesh.vertices[body.pins.vertices], complete_model(body)
    found = [
        compare_runs(
            body, model, "newmark", 0.15 / steps, steps, PUSH,
            targets=lambda time: held @ turn(2, 1.0 - np.cos(8.0 * time)).T,
        )[0]
        for steps in (15, 30)
    ]  # fmt: skip
    assert found[0] < 0.05
    assert found[1] < 0.55 * found[0]


@pytest.mark.parametrize("integrator", DYNAMIC)
def test_pins_that_carry_a_damped_body_without_turning_it(integrator: str) -> None:
    body = beam(damping=Damping(mass=0.5, stiffness=0.01))
    held = body.mesh.vertices[body.pins.vertices]
    check_equal(
        body, complete_model(body), integrator, 0.01, 10, PUSH, bound=1e-6,
        targets=lambda time: held + [time, 30.0 * time**2, 0.0],
    )  # fmt: skip


def wring(rest: np.ndarray, time: float) -> np.ndarray:
    right = rest[:, :1] > 0.0
    twisted = np.where(right, rest @ turn(0, 10.0 * time).T, rest @ turn(0, -8.0 * time).T)
    return twisted + np.where(right, 1.0, -1.0) * [time, 0.0, 0.0] + [0.0, 5.0 * time**2, 0.0]


def pull_apart(rest: np.ndarray, time: float) -> np.ndarray:
    return rest * [1.0 + 6.0 * time, 1.0, 1.0]


def bend(rest: np.ndarray, time: float) -> np.ndarray:
    tip = np.array([0.5, 0.0, 0.0])
    return np.where(rest[:, :1] > 0.0, (rest - tip) @ turn(2, 6.0 * time).T + tip * (1.0 + 2.0 * time), rest)


@pytest.mark.parametrize("motion", [pull_apart, wring, bend])
@pytest.mark.parametrize("integrator", ALL)
def test_pins_that_strain_the_body(integrator: str, motion) -> None:
    body = beam(ends_of)
    rest = body.mesh.vertices
    held = rest[body.pins.vertices]
    seen = [pin_displacement(body.pins, rest, motion(held, time)) for time in np.linspace(0.0, 0.1, 11)]
    model = complete_model(body, carried=carried_fields(body, np.array(seen), 1e-9))
    assert 1 <= model.carried.shape[1] <= 4
    check_equal(body, model, integrator, 0.01, 10, PUSH, targets=lambda time: motion(held, time))


@pytest.mark.parametrize("integrator", ALL)
def test_pins_that_begin_away_from_rest_and_come_back(integrator: str) -> None:
    body = beam()
    held = body.mesh.vertices[body.pins.vertices]
    check_equal(
        body, complete_model(body), integrator, 0.01, 8, PUSH,
        targets=lambda time: held + [0.0, max(0.02 - time, 0.0), 0.0],
    )  # fmt: skip


@pytest.mark.parametrize("integrator", DYNAMIC)
def test_free_body_that_tumbles(integrator: str) -> None:
    body = beam(None, damping=Damping(mass=0.5))
    check_equal(body, complete_model(body), integrator, 0.005, 30, PUSH, velocity=spinning(body, SPIN, SPEED))


@pytest.mark.parametrize("integrator", DYNAMIC)
def test_free_body_that_tumbles_while_a_user_pulls_and_changes_settings(integrator: str) -> None:
    body = beam(None)
    velocity = spinning(body, SPIN, SPEED)
    check_equal(body, complete_model(body), integrator, 0.005, 15, PUSH, velocity=velocity, events=user_at_work(body))


def test_static_free_body_held_by_a_grab_alone_relaxes_to_the_full_shape() -> None:
    # Turns about the point that is held cost nothing, so shapes are compared by their energy
    body = beam(None)
    corner = int(np.argmax(body.mesh.vertices.sum(axis=1)))
    events = {0: (Grab("g", (corner,), (1.0,), tuple(body.mesh.vertices[corner] + [0.1, 0.2, 0.0]), 500.0),)}
    solver = ReducedSolver(body, complete_model(body), integrator="static", tolerance=1e-8)
    end = run(solver, 1.0, 1, events=events)[-1]
    x = solver.positions(end)
    assert np.allclose(x[corner], body.mesh.vertices[corner] + [0.1, 0.2, 0.0], atol=1e-6)
    assert body.energy(x) < 1e-10 * 2e5 * body.mesh.volumes().sum()


@pytest.mark.parametrize("integrator", DYNAMIC)
def test_half_of_the_vibrations_are_not_enough_for_equality(integrator: str) -> None:
    # The bounds above would notice: a basis that lacks some vibrations differs by far more
    body = beam()
    model = complete_model(body)
    fewer = type(model)(model.basis.truncated(model.basis.rank // 2), model.rule, model.carried, model.reach)
    assert compare_runs(body, fewer, integrator, 0.01, 6, PUSH)[0] > 1e-5


@pytest.mark.parametrize("integrator", ALL)
def test_methods_can_be_switched_half_way(integrator: str) -> None:
    body = beam()
    full = FullSolver(body, integrator=integrator, tolerance=1e-9)
    reduced = ReducedSolver(body, complete_model(body), integrator=integrator, tolerance=1e-9)
    whole = run(full, 0.01, 8, PUSH)
    half = reduced.from_full(*full.to_full(whole[4]), whole[4].time)
    mixed = run(reduced, 0.01, 4, PUSH, begin=half)[-1]
    scale = np.abs(whole[-1].x - body.mesh.vertices).max()
    assert np.abs(reduced.positions(mixed) - whole[-1].x).max() < 1e-8 * scale
