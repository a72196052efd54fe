"""Newton's method where vertices are joined across the mesh, and where pins lock single axes."""

from typing import Any

import numpy as np
import pytest

from supple.contact.contacts import SELF, Contacts
from supple.contact.potential import ContactPotential
from supple.elastic import Body, Pins
from supple.material import StableNeoHookean
from supple.mesh.grid import fill_box
from supple.solve.increment import Increment
from supple.solve.integrator import INTEGRATORS
from supple.solve.line_search import _go_on
from supple.solve.newton import minimise
from supple.solve.stopwatch import Stopwatch
from supple.solve.system import System


@pytest.fixture(scope="module")
def body() -> Body:
    """A beam held at one end, whose lower edge slides along a guide."""
    mesh = fill_box((0.0, 0.0, 0.0), (4.0, 1.0, 1.0), elements=300)
    x, y, z = mesh.vertices.T
    held = Pins.merge([Pins.of(np.flatnonzero(x == 0.0)), Pins.of(np.flatnonzero((y == 0.0) & (z == 0.0)), "y")])
    return Body.build(mesh, StableNeoHookean(young=1e4), held)


def join_ends(body: Body) -> ContactPotential:
    """Contacts of the free end's vertices with triangles near the held end, too far apart for any shared element."""
    triangles = body.mesh.surface_triangles()
    x = body.mesh.vertices
    near = triangles[(x[triangles, 0] < 1.5).all(axis=1)]
    tip = np.flatnonzero(x[:, 0] == 4.0)
    m = len(tip)
    vertices = np.column_stack([tip, near[:m]]).astype(np.int32)
    weights = np.tile([1.0, -0.5, -0.3, -0.2], (m, 1))
    normal = np.tile([-1.0, 0.0, 0.0], (m, 1))  # the tip is behind the triangles: pulled towards them
    contacts = Contacts(
        vertices, weights, np.zeros((m, 3)), normal, np.full(m, 0.1), np.zeros((m, 3)),
        np.full(m, SELF, np.int32), np.arange(m, dtype=np.int32),
    )  # fmt: skip
    return ContactPotential(contacts, x, 3e3, 0.2, np.ones(m, bool), 0.3, np.full(m, 50.0), 0.01, 0.05)


def solve(body: Body, name: str, contact: ContactPotential | None) -> np.ndarray:
    system = System(body, body.pins, name, 10.0)
    x = body.mesh.vertices
    motion = INTEGRATORS["implicit_euler"](x, np.zeros_like(x), np.zeros_like(x), 0.05)
    force = body.mass[:, None] * np.array([0.0, 3.0, -9.81])
    step = Increment(body.parts, body.mass, motion, 0.0, None, force, (), system.map, contact)
    gradient = step.gradient(x)
    found = minimise(
        step, system, x, gradient, reference=float(np.linalg.norm(gradient)), floor=0.0,
        tolerance=1e-8, max_iterations=60, watch=Stopwatch(),
    )  # fmt: skip
    return found.x


def test_every_linear_solver_leads_to_the_same_contact(body: Body) -> None:
    contact = join_ends(body)
    expected = solve(body, "direct", contact)
    size = np.abs(expected - body.mesh.vertices).max()
    assert np.abs(expected - solve(body, "direct", None)).max() > 0.1 * size
    assert np.allclose(solve(body, "pcg", contact), expected, atol=1e-6 * size)


@pytest.mark.parametrize("name", ["direct", "pcg"])
def test_locked_axes_stay_exactly_where_they_are(body: Body, name: str) -> None:
    x = solve(body, name, join_ends(body))
    rest, pins = body.mesh.vertices, body.pins
    assert np.array_equal(x[pins.vertices][pins.held], rest[pins.vertices][pins.held])


def test_contacts_that_change_leave_the_stiffness_of_elements_as_it_was(
    body: Body, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = {"stiffen": 0, "join": 0}

    def counted(name: str) -> Any:
        own = getattr(Increment, name)

        def call(self: Increment, *args: Any, **options: Any) -> Any:
            counts[name] += 1
            return own(self, *args, **options)

        return call

    for name in counts:
        monkeypatch.setattr(Increment, name, counted(name))
    solve(body, "pcg", join_ends(body))
    assert counts["stiffen"] <= 0.7 * counts["join"], "contacts are joined anew in every iteration"


@pytest.mark.parametrize(("lowest", "end"), [(0.9, 1.0), (2.5, 2.0), (3.6, 4.0), (50.0, 8.0)])
def test_a_step_goes_on_by_doubling_while_that_lowers_the_energy(lowest: float, end: float) -> None:
    x, ahead = np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0]])
    assert _go_on(lambda at: (float((at[0, 0] - lowest) ** 2), 1.0), x, ahead)[0, 0] == end
