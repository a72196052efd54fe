"""What is watched for contact: enough in every step, and little of the surface while nothing comes near."""

from functools import cache
from itertools import pairwise

import numpy as np
from reduced_helpers import beam, modal_model

from supple.contact.settings import ContactSettings
from supple.contact.sphere import Sphere
from supple.method import CondensationSolver, FullSolver
from supple.solve import Gravity, Inputs, Moment, Placement

H, BALL = 0.01, 0.12


@cache
def bar():
    body = beam(elements=600)
    return body, modal_model(body, 8)


def ball_at(time: float) -> Placement:
    """A ball that comes down on the end of the bar, and turns."""
    rest = bar()[0].mesh.vertices
    high, angle = rest.max(axis=0), 0.3 * time
    turn = np.array([[np.cos(angle), 0.0, np.sin(angle)], [0.0, 1.0, 0.0], [-np.sin(angle), 0.0, np.cos(angle)]])
    middle = rest.mean(axis=0)
    return Placement(turn, np.array([0.7 * high[0], high[1] + BALL + 0.4 - 3.5 * time, middle[2]]))


def play(solver, steps: int):
    """States, reports, and how many vertices were watched in each step."""
    held = bar()[0].mesh.vertices[bar()[0].pins.vertices]
    gravity = (Gravity(np.array([0.0, -4.0, 0.0])),)
    moments = [Moment(H * k, held, gravity, (ball_at(H * k),)) for k in range(steps + 1)]
    state, found = solver.start(Inputs(*moments[:2])), []
    for begin, end in pairwise(moments):
        state, report = solver.step(state, Inputs(begin, end))
        known = solver._lookout._watched if isinstance(solver, CondensationSolver) else None
        found.append((state, report, 0 if known is None else len(known.vertices)))
    return found


def touching() -> dict:
    return {"colliders": (Sphere(BALL),), "contact": ContactSettings(friction=0.0, self_contact=False)}


def test_few_vertices_are_watched_and_none_is_missed() -> None:
    """Watching all of the surface gives the same steps, bit for bit."""
    body, model = bar()
    solver, whole = (CondensationSolver(body, model, radius=0.2, **touching()) for _ in range(2))
    begin = whole._lookout.begin
    whole._lookout.begin = lambda state, inputs, *, anew: begin(state, inputs, anew=True)
    some, every = play(solver, 16), play(whole, 16)
    surface = len(body.mesh.surface_vertices())
    assert some[0][2] < 0.5 * surface < every[0][2]
    assert max(report.contacts for _, report, _ in some) > 0
    for (one, _, _), (other, _, _) in zip(some, every, strict=True):
        assert np.array_equal(one.full, other.full)
        assert np.allclose(one.motion, other.motion, rtol=0.0, atol=1e-12)


def test_a_body_that_outruns_its_bound_is_looked_at_again() -> None:
    """Thrown at the ball within one step, the bar does not go through it."""
    body, model = bar()
    solver = CondensationSolver(body, model, radius=0.2, **touching())
    held = body.mesh.vertices[body.pins.vertices]
    place = (ball_at(0.0),)
    strong = Gravity(np.array([0.0, 6e3, 0.0]))
    calm, thrown = (Moment(0.0, held, (), place), Moment(H, held, (), place)), Moment(2 * H, held, (strong,), place)
    state, _ = solver.step(solver.start(Inputs(*calm)), Inputs(*calm))
    _, report = solver.step(state, Inputs(calm[1], thrown))
    full = FullSolver(body, **touching())
    state, _ = full.step(full.start(Inputs(*calm)), Inputs(*calm))
    assert full.step(state, Inputs(calm[1], thrown))[1].contacts > 0
    assert report.contacts > 0
