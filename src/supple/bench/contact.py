"""Contact: what looking for it costs, its forces, its stiffness, and what it adds to a step of the full solver.

`floor` is a block on a plane, `stack` a block on another that is held, both one body that also looks for contact with
itself; they are shaken sideways in implicit Euler steps of a hundredth second, without friction and with it. `fold` is
a capsule bent over itself, without steps. Beside the refit stands `pass_ms`, one copy of a box for every tet; beside
the search `brute_ms`, every surface vertex against every tet, where that takes seconds at most. `freeze_ms` finds the
rows of the contacts' springs among the unknowns, once a round. A step without contact is that of the same body on the
same supports: its touching vertices are held, where friction holds them too in all directions, else up and down only,
so that it slides as freely. Beside it stands the step of the same body in the air, which nothing supports.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.bench.yardstick import best_ms
from supple.contact.collider import Collider
from supple.contact.detector import Detector
from supple.contact.plane import Plane
from supple.contact.potential import ContactPotential
from supple.contact.self_contact import SelfContact
from supple.contact.settings import ContactSettings
from supple.elastic import Body, Pins
from supple.material import StableNeoHookean
from supple.mesh import TetMesh, fill_box
from supple.method import FullSolver, Report
from supple.shape import make_shape
from supple.solve import Gravity, Inputs, Moment, Placement
from supple.solve.coupling import Coupling
from supple.solve.system import System

__all__ = ["run"]

FloatArray = NDArray[np.float64]

_FLOOR = {"small": (20,), "paper": (20, 62)}  # bricks along a side: contacts are one more, squared
_STACK = {"small": (14,), "paper": (14, 44)}  # the same, twice
_FOLD = {"small": (5_000,), "paper": (5_000, 100_000)}  # tets
_FRICTION = (0.0, 0.5)
_STEP, _WARM_UP, _STEPS = 0.01, 3, 8
_STEP_KEYS = (
    "step_ms_free", "step_ms_air", "step_ms_contact", "contact_share", "newton_free", "newton_contact",
    "linear_free", "linear_contact", "rounds", "step_contacts",
)  # fmt: skip
_DOWN = np.array([0.0, -9.81, 0.0])
_SHAKE = 0.2  # speed at which the top starts sideways, in block sides a second
_BRUTE = 2e9  # pairs of vertices and tets that can be gone through in seconds
_PRESSED = 0.02  # depth of the contacts that are measured, in bricks


@dataclass(frozen=True, eq=False)
class _Case:
    """A body at places where it touches."""

    name: str
    mesh: TetMesh
    x: FloatArray
    """Where it touches [m], (n, 3)."""
    touching: NDArray[np.intp]
    """Vertices that are held where contact is left out; none: no steps are taken."""
    held: NDArray[np.intp]
    """Vertices that are always held."""
    floor: bool = False

    @property
    def colliders(self) -> tuple[Collider, ...]:
        return (Plane(),) if self.floor else ()

    def moment(self, time: float, pins: Pins) -> Moment:
        places = (Placement.still(),) if self.floor else ()
        return Moment(time, self.mesh.vertices[pins.vertices], (Gravity(_DOWN),), places)


def run(size: str) -> list[dict[str, object]]:
    """Rows of the benchmark at size "small" or "paper"."""
    cases = [_lay_floor(side) for side in _FLOOR[size]]
    cases += [_stack(side) for side in _STACK[size]]
    cases += [_fold(count) for count in _FOLD[size]]
    for warm_up in (_lay_floor(4), _stack(4)):  # kernels compile or load
        _measure(warm_up, _FRICTION[-1])
    return [_measure(case, friction) for case in cases for friction in (_FRICTION if len(case.touching) else (0.0,))]


def _lay_floor(side: int) -> _Case:
    """A flat block on the plane y = 0."""
    mesh = fill_box((0.0, 0.0, 0.0), (1.0, 3.0 / side, 1.0), side, None)
    low = np.flatnonzero(mesh.vertices[:, 1] < 1e-9)
    none = np.empty(0, np.intp)
    return _Case("floor", mesh, mesh.vertices - [0.0, _PRESSED / side, 0.0], low, none, floor=True)


def _stack(side: int) -> _Case:
    """A flat block on another, a little turned, so that no vertex lies above one of the other."""
    lower = fill_box((0.0, -3.0 / side, 0.0), (1.0, 0.0, 1.0), side, None)
    middle = np.array([0.5, 0.0, 0.5])
    turn = np.array([[np.cos(0.1), 0.0, np.sin(0.1)], [0.0, 1.0, 0.0], [-np.sin(0.1), 0.0, np.cos(0.1)]])
    upper = (lower.vertices + [0.0, 3.0 / side, 0.0] - middle) @ turn.T * [0.9, 1.0, 0.9] + middle
    count = len(lower.vertices)
    mesh = TetMesh.clean(np.concatenate([lower.vertices, upper]), np.concatenate([lower.tets, lower.tets + count]))
    x = mesh.vertices.copy()
    x[count:, 1] -= _PRESSED / side
    held = np.flatnonzero(mesh.vertices[:, 1] < -3.0 / side + 1e-9)
    return _Case("stack", mesh, x, np.flatnonzero(np.abs(mesh.vertices[:, 1]) < 1e-9), held)


def _fold(count: int) -> _Case:
    """A capsule bent into a ring whose ends run into each other."""
    mesh = make_shape("capsule", elements=count, length=2.0, radius=0.15)
    radius = 0.9 * 2.0 / (2.0 * np.pi)  # of the ring: its circle is shorter than the capsule
    angle, reach = mesh.vertices[:, 0] / radius, radius - mesh.vertices[:, 1]
    x = np.column_stack([reach * np.sin(angle), radius - reach * np.cos(angle), mesh.vertices[:, 2]])
    none = np.empty(0, np.intp)
    return _Case("fold", mesh, x, none, none)


def _measure(case: _Case, friction: float) -> dict[str, object]:
    pins, settings = Pins.of(case.held), ContactSettings(self_contact=True, friction=friction)
    body = Body.build(case.mesh, StableNeoHookean(young=1e5, poisson=0.4), pins)
    detector = Detector(body, case.colliders, settings)
    itself, x = SelfContact(case.mesh), np.ascontiguousarray(case.x)
    inputs = Inputs(case.moment(0.0, pins), case.moment(_STEP, pins))
    contacts = detector.detect(x, inputs)
    touching = int((contacts.depth(x) > 0.0).sum())
    lagged = detector.stiffness * contacts.area * np.maximum(contacts.depth(x), 0.0)
    potential = ContactPotential(
        contacts, case.mesh.vertices, detector.stiffness, friction=friction, lagged=lagged, duration=_STEP
    )
    system = System(body, pins, "direct", None)
    coupling, surface = Coupling([potential], system.map), len(itself.vertices)
    boxes = np.zeros((len(case.mesh.tets), 6))
    copy = np.empty_like(boxes)
    few = surface * len(case.mesh.tets) <= _BRUTE
    return {
        "case": case.name,
        "surface_vertices": surface,
        "tets": len(case.mesh.tets),
        "contacts": touching,
        "friction": friction,
        "refit_ms": best_ms(lambda: itself.tree.refit(x), 10),
        "pass_ms": best_ms(lambda: np.copyto(copy, boxes), 10),
        "detect_ms": best_ms(lambda: detector.detect(x, inputs)),
        "force_ms": best_ms(lambda: potential.gradient(x)),
        "freeze_ms": best_ms(lambda: Coupling([potential], system.map)),
        "hessian_ms": best_ms(lambda: coupling.stiffen(x)),
        "brute_ms": best_ms(lambda: itself.find_brute(x), 1) if few else None,
        **_compare_steps(case, settings),
    }


def _compare_steps(case: _Case, settings: ContactSettings) -> dict[str, object]:
    """Medians of steps with contact, of steps with the touching vertices held instead, and of steps in the air."""
    if not len(case.touching):
        return dict.fromkeys(_STEP_KEYS)
    touching = _take_steps(case, Pins.of(case.held), case.colliders, settings)
    supports = Pins.merge([Pins.of(case.held), Pins.of(case.touching, "xyz" if settings.friction else "y")])
    free = _take_steps(case, supports, (), None)
    air = _take_steps(case, Pins.of(case.held), (), None)
    without, aloft, spent = (
        np.median([report.milliseconds["total"] for report in found]) for found in (free, air, touching)
    )
    newton, linear = (
        [np.mean([getattr(report, key) for report in found]) for found in (free, touching)]
        for key in ("newton_iterations", "linear_iterations")
    )
    rounds, contacts = np.mean([(report.contact_rounds, report.contacts) for report in touching], axis=0)
    values = (without, aloft, spent, spent / without - 1.0, *newton, *linear, rounds, contacts)
    return dict(zip(_STEP_KEYS, map(float, values), strict=True))


def _take_steps(
    case: _Case, pins: Pins, colliders: Sequence[Collider], settings: ContactSettings | None
) -> list[Report]:
    """Reports of steps of the shaken body, without the first ones."""
    body = Body.build(case.mesh, StableNeoHookean(young=1e5, poisson=0.4), pins)
    solver = FullSolver(body, time_step=_STEP, colliders=colliders, contact=settings)
    moving = case if colliders else _Case(case.name, case.mesh, case.x, case.touching, case.held)
    x = case.mesh.vertices
    v = np.zeros_like(x)
    v[:, 0] = _SHAKE * np.maximum(x[:, 1], 0.0) / x[:, 1].max()
    v[pins.vertices] = 0.0
    state, reports = solver.from_full(x, v, np.zeros_like(x)), []
    for k in range(_WARM_UP + _STEPS):
        begin, end = moving.moment(_STEP * k, pins), moving.moment(_STEP * (k + 1), pins)
        state, report = solver.step(state, Inputs(begin, end))
        reports.append(report)
    return reports[_WARM_UP:]
