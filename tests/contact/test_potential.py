"""The potential of frozen contacts: what it derives from, what it conserves, how a step's matrix holds it."""

from dataclasses import replace

import numpy as np
import pytest

from supple.contact.contacts import SELF, Contacts
from supple.contact.potential import ContactPotential
from supple.contact.stiffness import default_stiffness, estimate_depth
from supple.elastic import Body, Pins, StiffnessMap
from supple.linalg.overlay import Merger
from supple.material import NeoHookean, StVK
from supple.mesh.grid import fill_box
from supple.solve.events import Grab
from supple.solve.increment import Increment, Motion
from supple.solve.integrator import INTEGRATORS

COUNT = 40
STIFFNESS = 3e3


def make_contacts(seed: int = 0, self_contacts: int = 25, colliders: int = 15) -> tuple[Contacts, np.ndarray]:
    """Random contacts as a detection leaves them, d along n, every other one penetrating; and the positions."""
    rng = np.random.default_rng(seed)
    x, m = rng.normal(size=(COUNT, 3)), self_contacts + colliders
    own = np.arange(m) < self_contacts
    vertices = np.array([rng.permutation(COUNT)[:4] for _ in range(m)], np.int32)
    vertices[~own] = vertices[~own, :1]
    weights = np.tile([1.0, 0.0, 0.0, 0.0], (m, 1))
    weights[own, 1:] = -rng.dirichlet(np.ones(3), self_contacts)
    offset = np.where(own[:, None], 0.0, x[vertices[:, 0]] + 0.05 * rng.normal(size=(m, 3)))
    gap = np.einsum("mk,mki->mi", weights, x[vertices]) - offset
    normal = gap / np.linalg.norm(gap, axis=1, keepdims=True)
    normal[::2] *= -1.0
    velocity = np.where(own[:, None], 0.0, rng.normal(size=(m, 3)))
    source = np.where(own, SELF, 0).astype(np.int32)
    area = rng.uniform(0.5, 2.0, m)
    return Contacts(vertices, weights, offset, normal, area, velocity, source, np.zeros(m, np.int32)), x


def make_potential(alpha: float = 0.3, friction: float | None = 0.5) -> tuple[ContactPotential, np.ndarray]:
    contacts, x = make_contacts()
    lagged = np.random.default_rng(5).uniform(1.0, 50.0, len(contacts))
    engaged = contacts.depth(x) > 0.0
    assert 0 < engaged.sum() < len(engaged)
    return ContactPotential(contacts, x, STIFFNESS, alpha, engaged, friction, lagged, 0.02, 0.01), x


def moved(x: np.ndarray, seed: int = 2, size: float = 0.01) -> np.ndarray:
    return x + size * np.random.default_rng(seed).normal(size=x.shape)


def observed_order(errors: list[float], steps: tuple[float, ...]) -> float:
    return float(np.polyfit(np.log(steps), np.log(errors), 1)[0])


def hessian_times(potential: ContactPotential, x: np.ndarray, step: np.ndarray) -> np.ndarray:
    c = potential.contacts
    slide = np.einsum("mk,mki->mi", c.weights, step[c.vertices])
    return c.scatter(np.einsum("mij,mj->mi", potential.curvature(x), slide), COUNT)


def test_gradient_is_that_of_the_energy_at_second_order() -> None:
    potential, begin = make_potential()
    x, step = moved(begin), moved(np.zeros_like(begin), 3, 1.0)
    exact = float(np.vdot(potential.gradient(x), step))
    steps = (2e-3, 1e-3, 5e-4)
    errors = [abs((potential.energy(x + h * step) - potential.energy(x - h * step)) / (2 * h) - exact) for h in steps]
    assert 1.7 < observed_order(errors, steps) < 2.4, errors
    assert errors[-1] < 1e-4 * abs(exact)


def test_curvature_is_the_derivative_of_the_gradient() -> None:
    potential, begin = make_potential()
    x, step = moved(begin), moved(np.zeros_like(begin), 3, 1.0)
    exact = hessian_times(potential, x, step)
    steps = (4e-4, 2e-4, 1e-4)  # short enough for no contact to open or close
    errors = [
        float(np.abs((potential.gradient(x + h * step) - potential.gradient(x - h * step)) / (2 * h) - exact).max())
        for h in steps
    ]
    assert 1.7 < observed_order(errors, steps) < 2.4, errors


def test_penetrating_contacts_have_the_papers_stiffness() -> None:
    contacts, x = make_contacts()
    potential = ContactPotential(contacts, x, STIFFNESS, 0.3, contacts.depth(x) > 0.0)
    deep = contacts.depth(x) > 0.0
    n = contacts.normal
    tensor = 0.7 * n[:, :, None] * n[:, None, :] + 0.3 * np.eye(3)  # Eq. (7) of [TOK14]
    expected = (STIFFNESS * contacts.area)[:, None, None] * tensor
    assert np.allclose(potential.curvature(x)[deep], expected[deep])
    assert np.array_equal(potential.curvature(x)[~deep], np.zeros((int((~deep).sum()), 3, 3)))
    assert np.allclose(potential.forces(x)[deep], -np.einsum("mij,mj->mi", expected, contacts.gap(x))[deep])


def test_curvature_is_positive_semi_definite_everywhere() -> None:
    potential, begin = make_potential()
    for seed, size in ((2, 1e-4), (3, 1e-2), (4, 1.0)):
        values = np.linalg.eigvalsh(potential.curvature(moved(begin, seed, size)))
        assert values.min() >= -1e-12 * values.max()


def test_self_contact_forces_sum_to_zero_and_make_no_torque_where_they_were_found() -> None:
    contacts, x = make_contacts(colliders=0)
    potential = ContactPotential(contacts, x, STIFFNESS, 0.3, contacts.depth(x) > 0.0)
    force = potential.gradient(x)
    size = np.abs(force).sum()
    assert size > 0.0
    assert np.abs(force.sum(axis=0)).max() < 1e-13 * size
    assert np.abs(np.cross(x, force).sum(axis=0)).max() < 1e-13 * size


def test_open_contacts_without_friction_do_nothing() -> None:
    contacts, x = make_contacts()
    far = replace(contacts, offset=contacts.offset - 10.0 * contacts.normal)
    potential = ContactPotential(far, x, STIFFNESS)
    assert potential.energy(x) == 0.0
    assert not potential.forces(x).any()
    assert not potential.curvature(x).any()


def test_cautious_curvature_bounds_friction_from_above() -> None:
    """½ (u - v)ᵀ C (u - v) with the gradient at v lies above D everywhere, and C above its second derivative."""
    potential, begin = make_potential()
    for x in (moved(begin), moved(begin, 4, 1.0)):
        cautious, exact = potential.curvature(x, cautious=True), potential.curvature(x)
        assert np.linalg.eigvalsh(cautious - exact).min() >= -1e-12 * np.abs(cautious).max()
    assert np.abs(cautious - exact).max() > 0.0


def test_terms_are_named_and_make_up_the_gradient() -> None:
    potential, begin = make_potential()
    x = moved(begin)
    terms = potential.terms(x)
    assert list(terms) == ["contact", "friction"]
    assert np.allclose(terms["contact"] + terms["friction"], potential.gradient(x), atol=1e-12)


def test_no_contacts_are_no_potential() -> None:
    x = np.zeros((5, 3))
    potential = ContactPotential(Contacts.none(), x, STIFFNESS, 0.1, None, 0.5, np.zeros(0), 1e-3, 0.01)
    assert potential.energy(x) == 0.0
    assert potential.gradient(x).shape == (5, 3)
    assert potential.curvature(x).shape == (0, 3, 3)


@pytest.fixture(scope="module")
def body() -> Body:
    mesh = fill_box((0.0, 0.0, 0.0), (2.0, 1.0, 1.0), elements=60)
    held = Pins.merge([Pins.of([0, 1]), Pins.of([2, 3], "x"), Pins.of([5], "yz")])
    return Body.build(mesh, NeoHookean(young=1e4), held)


def make_step(
    body: Body, contact: ContactPotential | None, grabs: tuple[Grab, ...] = ()
) -> tuple[Increment, np.ndarray]:
    x = body.mesh.vertices
    still = np.zeros_like(x)
    motion: Motion = INTEGRATORS["implicit_euler"](x, still, still, 0.05)
    map = StiffnessMap.build(len(x), body.parts, body.pins)
    return Increment(body.parts, body.mass, motion, 0.0, None, still, grabs, map, contact), x


def touching(body: Body) -> ContactPotential:
    """Self-contacts between any vertices, held and free, some named twice, and contacts with a collider."""
    rng = np.random.default_rng(1)
    x, m = body.mesh.vertices, 30
    contacts, _ = make_contacts(1, m - 10, 10)
    vertices = rng.integers(0, len(x), (m, 4)).astype(np.int32)
    vertices[:10, 0] = np.arange(10)  # pins among them
    vertices[3] = vertices[2]
    vertices[-10:] = vertices[-10:, :1]
    contacts = replace(contacts, vertices=vertices)
    return ContactPotential(contacts, x, 1e4, 0.2, contacts.depth(x) > 0.0, 0.4, np.full(m, 30.0), 0.02, 0.05)


def test_a_step_holds_contact_and_grabs_in_energy_gradient_and_hessian(body: Body) -> None:
    last = len(body.mesh.vertices) - 1
    grabs = (Grab("far apart", (4, last, 7), (0.5, 0.3, 0.2), (1.0, 2.0, 3.0), 500.0),)
    step, rest = make_step(body, touching(body), grabs)
    x = rest + 0.01 * np.random.default_rng(4).normal(size=rest.shape)
    assert {"contact", "friction", "grab"} <= set(step.terms(x))
    data = np.empty(step.map.pattern.nonzeros)
    step.stiffen(x, data, project=False)
    pattern, total = Merger(step.map.pattern).merge(data, step.join(x))
    dense = pattern.to_scipy(total).toarray()
    free, h = step.map.free, 1e-6
    direction = np.random.default_rng(5).normal(size=(len(free), 3))
    direction.ravel()[step.map.locked] = 0.0
    ahead, behind = x.copy(), x.copy()
    ahead[free] += h * direction
    behind[free] -= h * direction
    numeric = (step.gradient(ahead) - step.gradient(behind)) / (2 * h)
    exact = dense @ direction.ravel()
    assert np.allclose(numeric, exact, atol=1e-6 * np.abs(exact).max())
    slope = (step.energy(ahead)[0] - step.energy(behind)[0]) / (2 * h)
    assert slope == pytest.approx(float(step.gradient(x) @ direction.ravel()), rel=1e-6)
    locked = dense[step.map.locked]
    assert np.array_equal(locked, np.eye(len(dense))[step.map.locked])


def test_a_collider_and_a_grab_of_one_element_need_no_new_pattern(body: Body) -> None:
    tet = tuple(int(v) for v in body.mesh.tets[5])
    grabs = (Grab("point", tet, (0.1, 0.2, 0.3, 0.4), (0.0, 0.0, 0.0), 100.0),)
    contacts, _ = make_contacts(1, 0, 10)
    contacts = replace(contacts, vertices=contacts.vertices % len(body.mesh.vertices))
    step, x = make_step(body, ContactPotential(contacts, body.mesh.vertices, 1e4), grabs)
    data = np.zeros(step.map.pattern.nonzeros)
    assert Merger(step.map.pattern).merge(data, step.join(x))[0] is step.map.pattern


def test_default_stiffness_sinks_contacts_by_a_tenth_of_what_an_element_gives(body: Body) -> None:
    surface = body.mesh.surface()
    ends = surface.vertices[surface.edges()]
    edge = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).mean()
    k, pressure = default_stiffness(body), 200.0
    assert pressure / k == pytest.approx(0.1 * edge * pressure / 1e4)
    stiff = Body.build(body.mesh, StVK(young=5e4))
    assert default_stiffness(stiff) == pytest.approx(5.0 * k)


def test_depth_under_its_own_weight_is_weight_over_stiffness_and_shadow(body: Body) -> None:
    weight = body.mass.sum() * 9.81
    assert estimate_depth(body, 1e5, np.array([0.0, 0.0, -9.81])) == pytest.approx(weight / (1e5 * 2.0))
    assert estimate_depth(body, 1e5, np.array([-9.81, 0.0, 0.0])) == pytest.approx(weight / (1e5 * 1.0))
    assert estimate_depth(body, 1e5, np.zeros(3)) == 0.0
