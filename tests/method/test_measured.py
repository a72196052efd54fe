"""What methods measure at their own points is what the whole body has, where these are all there are."""

from dataclasses import replace

import numpy as np
import pytest
from posespace_helpers import PoseSpaceSolver, beam_model, drive, rooted_beam
from projective_helpers import bar, span
from reduced_helpers import FAR, beam, end_of, modal_model, spinning
from rig_helpers import moment, skinned

from supple.cubature import Rule
from supple.elastic import Damping, Pins
from supple.method import FullSolver, ProjectiveSolver, ReducedSolver, SkinnedModel, SkinnedSolver
from supple.method.hyperreduced.model import SpaceSizes, prepare_spaces
from supple.method.hyperreduced.solver import HyperReducedSolver
from supple.method.measured import Measured, measure_body
from supple.solve import Gravity, Inputs, Moment, NodalForce, SetStiffness

H = 0.02
DOWN = Gravity(np.array([0.5, -9.81, 1.0]))


def push(body, where: slice = slice(-4, None)) -> NodalForce:
    vertices = np.arange(len(body.mass), dtype=np.int32)[where]
    return NodalForce(vertices, np.full(len(vertices), 1.0 / len(vertices)), np.array([3.0, 0.0, -2.0]))


def lifted(solver, body, state, forces) -> Measured:
    x, v, _ = solver.to_full(state)
    return measure_body(body, x, v, forces, state.live.stiffness)


def assert_same(found: Measured, wanted: Measured, rel: float = 1e-9) -> None:
    assert found.kinetic_energy == pytest.approx(wanted.kinetic_energy, rel=rel)
    assert found.elastic_energy == pytest.approx(wanted.elastic_energy, rel=rel)
    assert found.volumes is not None
    assert wanted.volumes is not None
    assert found.volumes.least == pytest.approx(wanted.volumes.least, rel=1e-6)
    assert found.volumes.worst == wanted.volumes.worst
    np.testing.assert_allclose(found.loads.points, wanted.loads.points, atol=1e-9 * wanted.kinetic_energy + 1e-9)
    np.testing.assert_array_equal(found.loads.vectors, wanted.loads.vectors)


@pytest.mark.parametrize("held", ["still", "moved", "free"])
def test_a_reduced_body_with_every_element_has_the_measures_of_the_whole(held: str) -> None:
    body = beam(None if held == "free" else end_of)
    solver, forces = ReducedSolver(body, modal_model(body, 8)), (DOWN, push(body))
    targets = body.mesh.vertices[body.pins.vertices]
    state = solver.start()
    if held == "free":
        x = body.mesh.vertices
        state = solver.from_full(x, spinning(body, (1.0, 2.0, 3.0), (0.5, 0.0, 1.0)), np.zeros_like(x))
    for k in range(5):
        way = np.array([0.0, 0.02 * k, 0.01 * k]) if held == "moved" else np.zeros(3)
        ends = Moment(k * H, targets + way, forces), Moment((k + 1) * H, targets + way, forces)
        inputs = Inputs(*ends, (SetStiffness(0.5),) if k == 2 else ())
        state, _ = solver.step(state, inputs)
    assert_same(solver.measure(state, inputs), lifted(solver, body, state, forces))


def test_a_skinned_body_with_every_element_and_vertex_has_the_measures_of_the_whole() -> None:
    character, rig, held, body = skinned("capsule", 8)
    reduced = modal_model(body, 8)
    count = len(body.mass)
    model = SkinnedModel(reduced.basis, reduced.rule, Rule(np.arange(count), np.ones(count), 0.0), FAR)
    solver, bent = SkinnedSolver(body, rig, model), character.poses["bent"]
    poses = [rig.neutral + (k / 8) ** 2 * bent for k in range(9)]
    state = solver.start(Inputs(*(moment(0.0, held, poses[0], DOWN) for _ in range(2))))
    for k in range(8):
        inputs = Inputs(*(moment(H * j, held, poses[j], DOWN, push(body)) for j in (k, k + 1)))
        state, _ = solver.step(state, inputs)
    assert_same(solver.measure(state, inputs), lifted(solver, body, state, inputs.end.forces), rel=1e-6)


def test_a_body_in_pose_space_has_the_measures_of_the_whole() -> None:
    body, rig, held = rooted_beam()
    model = beam_model(body, rig, 0.3, 3) if len(rig.controls) == 1 else None
    if model is None:
        from posespace_helpers import pose_bases, whole_rules

        from supple.method import assemble_posespace

        poses = [rig.neutral + angle * np.eye(len(rig.neutral))[-1] for angle in (-0.3, 0.0, 0.3)]
        model = assemble_posespace(body, rig, pose_bases(body, rig, poses, 8, 24), whole_rules(body, 3))
    solver = PoseSpaceSolver(body, rig, model)

    def pose(time: float) -> np.ndarray:
        return rig.neutral + 2.0 * time * np.eye(len(rig.neutral))[-1]

    state = drive(solver, held, pose, H, 5, DOWN, push(body))[-1]
    end = Moment(state.time, held.targets(pose(state.time)), (DOWN, push(body)), pose=pose(state.time))
    posed = body.posed(rig.positions(state.poses[0]))
    found = solver.measure(state, Inputs(end, end))
    x, v, _ = solver.to_full(state)
    wanted = measure_body(posed, x, v, end.forces)
    assert found.elastic_energy == pytest.approx(wanted.elastic_energy, rel=1e-3)  # columns are in single precision
    assert found.kinetic_energy == pytest.approx(wanted.kinetic_energy, rel=1e-3)
    assert found.volumes is not None
    assert wanted.volumes is not None
    assert found.volumes.least == pytest.approx(wanted.volumes.least, rel=1e-4)
    np.testing.assert_allclose(found.loads.points, wanted.loads.points, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("sizes", "near"),
    [(SpaceSizes(handles=8, clusters=10_000), 1e-5), (SpaceSizes(handles=8, clusters=200), 0.1)],
)
def test_sampled_constraints_tell_the_energy_of_all(sizes: SpaceSizes, near: float) -> None:
    body = bar(5, Pins.of(np.arange(6)))
    model = prepare_spaces(body, sizes)
    solver, forces = HyperReducedSolver(body, model, time_step=H), (DOWN, push(body))
    state = solver.start()
    for k in range(5):
        inputs = span(k, H, forces, body.vertices[body.pins.vertices])
        state, _ = solver.step(state, inputs)
    found, (x, v, _) = solver.measure(state, inputs), solver.to_full(state)
    assert found.kinetic_energy == pytest.approx(0.5 * body.mass @ (v**2).sum(axis=1), rel=1e-9)
    assert found.elastic_energy == pytest.approx(body.energy(x), rel=near)
    np.testing.assert_allclose(found.loads.points[0], body.mass @ x)
    np.testing.assert_allclose(found.loads.points[1], x[-4:].mean(axis=0))


def test_projective_bodies_tell_the_energy_of_their_constraints() -> None:
    body = bar(4, Pins.of(np.arange(6)))
    solver, forces = ProjectiveSolver(body, time_step=H), (DOWN,)
    inputs = span(0, H, forces, body.vertices[body.pins.vertices], (SetStiffness(2.0),))
    state, _ = solver.step(solver.start(), inputs)
    assert solver.measure(state, inputs).elastic_energy == pytest.approx(2.0 * body.energy(state.x))


def test_work_of_gravity_is_the_height_lost() -> None:
    body = replace(beam(None), damping=Damping())
    solver = FullSolver(body)
    inputs = Inputs(Moment(0.0, np.zeros((0, 3)), (DOWN,)), Moment(H, np.zeros((0, 3)), (DOWN,)))
    begin = solver.start(inputs)
    end, _ = solver.step(begin, inputs)
    work = solver.measure(end, inputs).loads.work_from(solver.measure(begin, inputs).loads)
    assert work == pytest.approx(float(DOWN.acceleration @ (body.mass @ (end.x - begin.x))))
    assert work > 0.0
