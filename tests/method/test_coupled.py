"""Bodies with solvers of their own that touch each other."""

from functools import cache

import numpy as np
import pytest

from supple.contact.between import BetweenBodies
from supple.contact.settings import ContactSettings
from supple.contact.stiffness import default_stiffness
from supple.elastic import Body, Pins
from supple.elastic.joined import join_bodies
from supple.material import StableNeoHookean
from supple.mesh import fill_box
from supple.mesh.joined import join_tets
from supple.method import CoupledInputs, CoupledSolver, Coupling, FullSolver, Member
from supple.solve import Grab, Gravity, Inputs, Moment, Placement

H = 1.0 / 48.0
G = 9.81


class Pile:
    """A block above a pinned slab, each with its own solver, and both as one body with self-contact."""

    def __init__(
        self, friction: float = 0.3, density: float = 1e3, young: float = 3e4, tilt: float = 0.0, gap: float = 1e-3
    ) -> None:
        low, up = slab_and_block(gap)
        pins = Pins.of(np.flatnonzero(low.vertices[:, 1] < 1e-9))
        self.low = Body.build(low, StableNeoHookean(young=3e4, poisson=0.4, density=1e3), pins)
        self.up = Body.build(up, StableNeoHookean(young=young, poisson=0.4, density=density))
        self.n = len(low.vertices)
        self.union = join_bodies([self.low, self.up], join_tets({"low": low, "up": up}))
        self.force = Gravity(G * np.array([np.sin(tilt), -np.cos(tilt), 0.0]))
        self.whole = FullSolver(self.union, time_step=H, contact=ContactSettings(self_contact=True, friction=friction))
        self.solver = couple({"low": self.low, "up": self.up}, friction, default_stiffness(self.union))

    def inputs(self, k: int, events: tuple = ()) -> CoupledInputs:
        parts = tuple(step(body, k, self.force) for body in (self.low, self.up))
        return CoupledInputs(parts[0].begin, parts[0].end, events, parts)


@cache
def slab_and_block(gap: float):
    low = fill_box((0, 0, 0), (0.4, 0.1, 0.4), elements=200)
    return low, fill_box((0.1, 0.1 + gap, 0.1), (0.3, 0.25 + gap, 0.3), elements=120)


def step(body: Body, k: int, *forces) -> Inputs:
    targets = body.mesh.vertices[body.pins.vertices]
    return Inputs(Moment(k * H, targets, forces), Moment((k + 1) * H, targets, forces))


def couple(bodies: dict[str, Body], friction: float, stiffness: float, places=None) -> CoupledSolver:
    members, first = [], 0
    for number, (name, body) in enumerate(bodies.items()):
        last = first + len(body.mass)
        place = Placement.still() if places is None else places[number]
        members.append(Member(name, FullSolver(body, time_step=H), body, place, slice(first, last)))
        first = last
    mesh = join_tets({one.name: one.body.mesh for one in members})
    between = BetweenBodies(mesh, [one.vertices for one in members])
    return CoupledSolver(members, Coupling(members, between, stiffness, friction, "implicit_euler"))


@pytest.mark.parametrize(("density", "young"), [(1e3, 3e4), (50.0, 1e6), (8e3, 3e4)])
def test_bodies_apart_rest_on_each_other_as_the_parts_of_one_do(density, young):
    """Light and stiff on soft, and heavy on light, too: positions within 1 % of an edge, in few exchanges."""
    pile = Pile(density=density, young=young)
    state, one, rounds = pile.solver.start(pile.inputs(0)), pile.whole.start(step(pile.union, 0, pile.force)), 0
    for k in range(10):
        state, report = pile.solver.step(state, pile.inputs(k))
        one, _ = pile.whole.step(one, step(pile.union, k, pile.force))
        rounds += report.contact_rounds
        assert report.contact_settled
    assert np.abs(pile.solver.positions(state) - one.x).max() < 4e-4
    assert rounds <= 12 * 4


def test_a_body_at_rest_is_borne_with_its_weight_and_as_deep_as_the_law_has_it():
    pile = Pile()
    state = pile.solver.start(pile.inputs(0))
    for k in range(40):
        state, report = pile.solver.step(state, pile.inputs(k))
    weight = G * pile.up.mass.sum()
    assert state.push[pile.n :, 1].sum() == pytest.approx(weight, rel=0.02)
    touching = report.touching
    assert touching is not None
    mean = touching.force[:, 1] @ touching.depth / touching.force[:, 1].sum()
    assert mean == pytest.approx(weight / (default_stiffness(pile.union) * 0.2 * 0.2), rel=0.5)  # corners press more


def test_momentum_is_kept_to_round_off():
    """Two blocks collide in flight: what one loses, the other gains, in every step."""
    box = fill_box((0, 0, 0), (0.1, 0.1, 0.1), elements=30)
    light, heavy = (
        Body.build(box, StableNeoHookean(young=2e4, poisson=0.4, density=density)) for density in (300.0, 3e3)
    )
    places = [Placement.still(), Placement(np.eye(3), np.array([0.13, 0.02, 0.01]))]
    meshes = {"light": light, "heavy": heavy}
    solver = couple(meshes, 0.5, default_stiffness(heavy), places)
    x = np.concatenate([place.move(box.vertices) for place in places])
    v = np.zeros_like(x)
    v[: len(box.vertices), 0] = 1.5
    state = solver.from_full(x, v, np.zeros_like(x))
    mass = np.concatenate([light.mass, heavy.mass])
    before = mass @ v
    for k in range(8):
        parts = (step(light, k), step(heavy, k))
        state, _ = solver.step(state, CoupledInputs(parts[0].begin, parts[0].end, (), parts))
        assert np.abs(state.push.sum(axis=0)).max() <= 1e-12 * np.abs(state.push).sum()
    after = solver.to_full(state)[1]
    assert (mass @ after)[0] == pytest.approx(before[0], rel=2e-4)  # Newton's tolerance
    assert light.mass @ after[: len(light.mass), 0] < 0.2 * before[0]  # they did meet


@pytest.mark.parametrize(("friction", "slides"), [(0.7, False), (0.2, True)])
def test_a_body_slides_on_another_where_friction_is_less_than_the_slope(friction, slides):
    angle = np.radians(25.0)
    pile = Pile(friction=friction, tilt=angle, young=1e5)
    state = pile.solver.start(pile.inputs(0))
    way = []
    for k in range(14):
        state, _ = pile.solver.step(state, pile.inputs(k))
        way.append(float(pile.solver.positions(state)[pile.n :, 0].mean()))
    speed = np.diff(way) / H
    if not slides:
        assert abs(speed[-4:].mean()) < 0.02
    else:
        wanted = G * (np.sin(angle) - friction * np.cos(angle))
        assert (speed[-1] - speed[-7]) / (6 * H) == pytest.approx(wanted, rel=0.1)


def test_a_step_can_be_saved_and_taken_again():
    pile = Pile(gap=1e-4)
    state = pile.solver.start(pile.inputs(0))
    for k in range(3):
        state, _ = pile.solver.step(state, pile.inputs(k))
    again = pile.solver.unpack(pile.solver.pack(state))
    first, second = (pile.solver.step(one, pile.inputs(3))[0] for one in (state, again))
    assert np.array_equal(pile.solver.positions(first), pile.solver.positions(second))
    assert state.push.any()


def test_events_reach_the_body_whose_vertices_they_name():
    pile = Pile(gap=0.1)
    state = pile.solver.start(pile.inputs(0))
    top = pile.n + int(pile.up.mesh.vertices[:, 1].argmax())
    place = tuple(pile.solver.positions(state)[top] + [0.0, 0.2, 0.0])
    state, _ = pile.solver.step(state, pile.inputs(0, (Grab("hand", (top,), (1.0,), place, 500.0),)))
    low, up = state.states
    assert not low.live.grabs
    assert up.live.grabs[0].vertices == (top - pile.n,)
