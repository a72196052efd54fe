"""What is watched for colliders where pins or bones move, nothing holds a body, or all is at rest: little, and enough.

Work is counted, not timed: vertices that are placed to be looked at, and looks at the whole surface.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from reduced_helpers import beam, modal_model
from rig_helpers import moment
from test_condensation_free import brick, model
from test_skinned import rod, skin

from supple.contact.settings import ContactSettings
from supple.contact.sphere import Sphere
from supple.method import CondensationSolver
from supple.method.condensation.anchors import SkinAnchor, domain_lengths
from supple.solve import Gravity, Inputs, Moment, Placement

H, STEPS = 0.005, 20
TOUCHING = {"colliders": (Sphere(0.05),), "contact": ContactSettings(friction=0.0, self_contact=False)}
DOWN = Gravity(np.array([0.0, -4.0, 0.0]))


def come_down(rest: np.ndarray, x: float, deep: float, share: float) -> tuple[Placement, ...]:
    """A ball that comes from above, in the end `deep` [m] in the body's upper side."""
    high, middle = rest[:, 1].max(), rest.mean(axis=0)
    above = 0.05 - deep + 0.3 * (1.0 - share)
    return (Placement(np.eye(3), np.array([x, high + above, middle[2]])),)


def held_beam(integrator: str, moves: bool):
    body = beam(elements=600)
    rest, held = body.mesh.vertices, body.mesh.vertices[body.pins.vertices]
    solver = CondensationSolver(body, modal_model(body, 8), radius=0.2, integrator=integrator, **TOUCHING)
    moments = []
    for k in range(STEPS + 1):
        angle = 0.004 * k if moves else 0.0
        turn = np.array([[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]])
        down = Gravity(k / STEPS * np.array([0.0, 0.0 if integrator == "static" else -4.0, 0.0]))
        moments.append(Moment(H * k, held @ turn.T, (down,), come_down(rest, 0.2, 0.03, k / STEPS)))
    return body, solver, moments


def free_brick():
    body, rest = brick(), brick().mesh.vertices
    solver = CondensationSolver(body, model(8), radius=0.2, **TOUCHING)
    nothing = np.zeros((0, 3))
    moments = [Moment(H * k, nothing, (DOWN,), come_down(rest, 0.22, 0.06, k / STEPS)) for k in range(STEPS + 1)]
    return body, solver, moments


def bent_rod():
    character, rig, held, body = rod(resolution=10)
    solver = CondensationSolver(body, skin(modal_model(body, 6), body), rig=rig, radius=0.25, **TOUCHING)
    place = (Placement(np.eye(3), np.array([0.0, rig.rest[:, 1].max() + 0.03, 0.0])),)
    poses = [k / STEPS * 0.3 * character.poses["bent"] for k in range(STEPS + 1)]
    return body, solver, [replace(moment(H * k, held, pose), colliders=place) for k, pose in enumerate(poses)]


KINDS = {
    "moving pins": lambda: held_beam("implicit_euler", True),
    "statics": lambda: held_beam("static", False),
    "statics on moving pins": lambda: held_beam("static", True),
    "free": free_brick,
    "bones": bent_rod,
}


def play(kind: str, whole: bool):
    """Positions in every step, vertices watched in each, contacts, and looks at the whole surface."""
    body, solver, moments = KINDS[kind]()
    lookout, looks = solver._lookout, []
    begin, look = lookout.begin, lookout._look
    if whole:
        lookout.begin = lambda state, inputs, *, anew: begin(state, inputs, anew=True)

    def count(*args):
        looks.append(1)
        return look(*args)

    lookout._look = count
    state, x, watched, contacts = solver.start(Inputs(*moments[:2])), [], [], []
    for one, other in pairwise(moments):
        state, report = solver.step(state, Inputs(one, other))
        x.append(solver.positions(state))
        watched.append(len(lookout._watched.vertices))
        contacts.append(report.contacts)
    return body, np.array(x), np.array(watched), contacts, len(looks)


@pytest.mark.parametrize("kind", KINDS)
def test_most_steps_look_at_few_vertices_and_miss_none(kind: str) -> None:
    """Looking at all of the surface in every step gives the same run."""
    body, x, watched, contacts, looks = play(kind, whole=False)
    _, exact, every, touched, _ = play(kind, whole=True)
    surface = len(body.mesh.surface_vertices())
    assert max(contacts) > 0
    assert contacts == touched
    assert every.min() == surface
    assert watched.mean() < 0.6 * surface, watched
    assert looks <= STEPS / 2, looks
    assert np.abs(x - exact).max() < 1e-7 * np.ptp(body.mesh.vertices, axis=0).max()


@pytest.mark.parametrize("mode", ["dual_quaternion", "linear"])
def test_bones_take_no_vertex_farther_than_is_foreseen(mode: str) -> None:
    """From any pose to any other that is less than a right angle away, flesh displaced or not."""
    character, rig, _, body = rod(mode)
    basis, rng = modal_model(body, 6).basis, np.random.default_rng(0)
    vertices = body.mesh.surface_vertices()
    lengths = domain_lengths(basis, vertices)
    solver = CondensationSolver(body, skin(modal_model(body, 6), body), rig=rig)
    stance, tight = solver._ground.subspace.stance(solver.start().below), []
    for _ in range(60):
        pose = character.poses["bent"] * rng.uniform(-1.0, 1.0) + rng.normal(0.0, 0.2, len(rig.neutral))
        other = pose + rng.normal(0.0, 0.25, len(pose))
        q, p = 0.02 * rng.standard_normal((2, 6))
        anchor = SkinAnchor(rig, basis, pose, q, vertices, lengths)
        bound = anchor.lengths @ anchor.measure(replace(stance, pose=other), p)
        way = np.linalg.norm(
            replace(stance, pose=other).place(p, vertices) - replace(stance, pose=pose).place(q, vertices), axis=1
        )
        assert (way <= bound * (1.0 + 1e-12)).all()
        tight.append(float((way / bound).max()))
    assert max(tight) > 0.2  # not so wide that it says nothing
