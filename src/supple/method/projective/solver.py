"""Projective dynamics in full space: Algorithm 1 of [BEH18], as quasi-Newton steps from the constant matrix."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from supple.constraint import ProjectiveBody
from supple.constraint.local_step import LocalStep, Memory
from supple.contact.collider import Collider
from supple.contact.pressing import Pressing
from supple.contact.settings import ContactSettings
from supple.elastic import Pins
from supple.errors import SceneError
from supple.linalg.ldlt import LDLT
from supple.method.checks import check_projective, check_step
from supple.method.measured import Measured, find_load_points, kinetic_energy
from supple.method.projective.contact import ProjectiveContact, choose_candidates
from supple.method.projective.global_step import GlobalStep
from supple.method.projective.objective import StepObjective
from supple.method.projective.press import descend_pressing, push_back
from supple.method.projective.quasi_newton import Descent, descend
from supple.method.projective.stopping import CONVERGENCE, Stopping
from supple.method.solver import Arrays, Report
from supple.method.state import FullState, pack_state, unpack_state
from supple.method.step_frame import foresee_frame
from supple.solve.forces import external_force
from supple.solve.inputs import Inputs, round_duration
from supple.solve.live import Live
from supple.solve.pull import Pull
from supple.solve.stopwatch import Stopwatch

__all__ = ["ProjectiveSolver", "ProjectiveState"]

FloatArray = NDArray[np.float64]
_HISTORY = 5  # iterations remembered: a stiff beam converges in a fifth of the iterations of plain steps
_KEPT = 4  # factors: a user goes to and fro between a few settings


@dataclass(frozen=True, eq=False)
class ProjectiveState(FullState):
    """Motion of every vertex, what the user changed, and the rotations of the elements."""

    memories: tuple[Memory, ...] = ()
    """Quaternions to go on from, one array a constraint."""
    pressing: Pressing = field(default_factory=Pressing.none)


class ProjectiveSolver:
    """Implicit Euler steps by local projections and a prefactored global step.

    Mass damping counts as in the full solver. Stiffness damping resists the change of the constraints' forces, beside
    the rigid part of the step, as in the full solver.
    """

    name = "projective"

    def __init__(
        self,
        body: ProjectiveBody,
        *,
        time_step: float = 0.01,
        iterations: int = 10,
        max_iterations: int | None = None,
        convergence: float = CONVERGENCE,
        tolerance: float = 0.0,
        history: int | None = None,
        colliders: Sequence[Collider] = (),
        contact: ContactSettings | None = None,
        candidates: int = 4000,
    ) -> None:
        """`time_step` [s] is what steps are expected to be: the matrix is factorised for it, for others as they come.

        A step takes at least `iterations`, and ends when what is left of its way is estimated at a share of
        `convergence` (method/projective/stopping.py) or after `max_iterations` (200); with a convergence of 0 it takes
        exactly `iterations`. It also ends when an iteration moves no vertex by more than `tolerance` of the body's
        size.
        `history` earlier iterations make later ones longer (method/projective/quasi_newton.py); 0 is plain projective
        dynamics. Where None it is 5, and 0 where `convergence` is 0 and the matrix bounds the constraints' curvature.
        The placements of `colliders` come with each moment; so many `candidates` among the surface's vertices touch
        them. While they do, `history` counts nothing.
        """
        check_projective(body, time_step, contact)
        if not 0.0 <= tolerance < 1.0:
            raise SceneError(f"tolerance = {tolerance:g} must lie between 0 and 1: 1e-4 is a part of the body's size.")
        self.body = body
        self.stopping = Stopping.of(iterations, max_iterations, convergence)
        self._bounded = all(constraint.bounded for constraint in body.constraints)
        usual = 0 if convergence == 0.0 and self._bounded else _HISTORY
        self.tolerance, self.history = tolerance, usual if history is None else history
        self._time_step = round_duration(time_step)
        stiffness = body.stiffness()
        factor, self._number = LDLT.ordered(stiffness + self._inertia_matrix(time_step, stiffness))
        self._order = np.argsort(self._number)
        self._stiffness = stiffness[self._order][:, self._order]
        self._bare = factor
        self._mass = body.mass[self._order]
        self._steps = [LocalStep.build(c, body.vertices, self._number) for c in body.constraints]
        self._changed: dict[tuple[float, float], list[LocalStep]] = {(1.0, 1.0): self._steps}
        self._globals: dict[bytes, GlobalStep] = {}
        self._skin = np.unique(body.surface.triangles).astype(np.int32)
        self._contact: ProjectiveContact | None = None
        if colliders or (contact is not None and contact.self_contact):
            rows = sp.csr_array(sp.eye_array(len(body.vertices)))[:, self._skin]
            vertices = choose_candidates(body, candidates)
            among = np.searchsorted(self._skin, vertices)
            self._contact = ProjectiveContact(body, vertices, rows, lambda x: x[among], colliders, contact)
        self._global(time_step, Live())

    @property
    def candidates(self) -> NDArray[np.int32] | None:
        """Vertices that may touch something, (k,); None where there is nothing to touch."""
        return None if self._contact is None else self._contact.vertices

    def start(self, inputs: Inputs | None = None) -> ProjectiveState:
        x = self.body.vertices.copy()
        if inputs is not None:
            x = Live().place(x, self.body.pins, inputs.begin.targets)
        return self.from_full(x, np.zeros_like(x), np.zeros_like(x), 0.0 if inputs is None else inputs.begin.time)

    def step(self, state: ProjectiveState, inputs: Inputs) -> tuple[ProjectiveState, Report]:
        check_step(inputs, self.body.pins)
        watch = Stopwatch()
        state = replace(state, live=state.live.after(inputs.events, state.x))
        with watch.phase("factor"):
            system = self._global(inputs.duration, state.live)
        objective, begin = self._objective(state, inputs)
        touching = None
        if self._contact is not None:
            with watch.phase("contact"):
                skin, links = self._skin, system.delassus(self._skin, self._number)
                goal = objective.goal[self._number[skin]]
                touching = self._contact.begin(state.x[skin], state.v[skin], goal, inputs, state.pressing, links)
        work = watch.timed("local", objective.evaluate), watch.timed("global", system.solve), begin
        still, bounded = self.tolerance * self.body.size(), self._bounded
        if touching is None:
            descent = descend(
                *work, stopping=self.stopping, still=still, history=self.history, bounded=bounded
            )  # fmt: skip
            new, touch = self._arrive(state, inputs, descent, objective.memories), None
        else:
            there = replace(touching.contacts, vertices=self._number[touching.contacts.vertices].astype(np.int32))
            descent = descend_pressing(
                *work, touching, there, objective.held, stopping=self.stopping, still=still, bounded=bounded
            )
            new = self._arrive(state, inputs, descent, objective.memories)
            rebound = touching.rebound(touching.look(new.v[self._skin]))
            if rebound is not None:
                v = new.v + system.solve(push_back(there, rebound, objective.held))[self._number]
                new = replace(new, v=v, a=(v - state.v) / inputs.duration)
            pressing, touch = touching.finish(touching.look(new.x[self._skin]))
            new = replace(new, pressing=pressing)
        report = Report(
            watch.finish(), local_global_iterations=descent.iterations, change=descent.change,
            converged=self.stopping.is_met(descent.change), contacts=0 if touch is None else len(touch), touching=touch,
        )  # fmt: skip
        return new, report

    def positions(self, state: ProjectiveState, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        return state.x if vertices is None else state.x[vertices]

    def to_full(self, state: ProjectiveState) -> tuple[FloatArray, FloatArray, FloatArray]:
        return state.x, state.v, state.a

    def measure(self, state: ProjectiveState, inputs: Inputs) -> Measured:
        body, live, x = self.body, state.live, state.x
        return Measured(
            kinetic_energy(body.mass, state.v),
            live.stiffness * sum(constraint.inflated(live.volume).energy(x) for constraint in body.constraints),
            None,
            False,
            find_load_points(
                live.forces(inputs.end.forces),
                lambda: body.mass @ x,
                lambda vertices, weights: weights @ x[vertices],
            ),
        )

    def from_full(
        self, x: FloatArray, v: FloatArray, a: FloatArray, time: float = 0.0, *, pose: FloatArray | None = None
    ) -> ProjectiveState:
        x, v, a = (np.array(field, np.float64, order="C") for field in (x, v, a))
        there = x[self._order]
        return ProjectiveState(time, x, v, a, memories=tuple(step.recall(there) for step in self._steps))

    def pack(self, state: ProjectiveState) -> dict[str, NDArray[np.generic]]:
        memories = {f"memory_{k}": memory for k, memory in enumerate(state.memories)}
        return {**pack_state(state), **memories, **state.pressing.pack()}

    def unpack(self, arrays: Arrays) -> ProjectiveState:
        memories = tuple(np.array(arrays[f"memory_{k}"], np.float32) for k in range(len(self._steps)))
        return ProjectiveState(**vars(unpack_state(arrays)), memories=memories, pressing=Pressing.unpack(arrays))

    def describe(self) -> list[str]:
        kinds = ", ".join(f"{len(c.stencils):,} {c.kind}" for c in self.body.constraints)
        megabytes = sum(system.memory for system in self._globals.values()) / 1e6
        until = f" or until a step is below {self.tolerance:g} of the size" if self.tolerance else ""
        faster = f", {self.history} of them remembered" if self.history else ""
        return [
            f"projective dynamics, {len(self._mass):,} vertices, constraints: {kinds}",
            f"{self.stopping.describe()}{until}{faster}; factor of {megabytes:.1f} MB",
        ]

    def _objective(self, state: ProjectiveState, inputs: Inputs) -> tuple[StepObjective, FloatArray]:
        """Φ of a step in the order of elimination, and where its descent begins: at the goal, pins in their places."""
        body, live, h = self.body, state.live, inputs.duration
        alpha = body.damping.mass
        force = external_force(live.forces(inputs.end.forces), body.mass)
        # (x - x_n - h v)/h² + α (x - x_n)/h - f/m = (1/h² + α/h) (x - s)
        goal = state.x + (h * state.v + h**2 * force / body.mass[:, None]) / (1.0 + alpha * h)
        begin = live.place(goal, body.pins, inputs.end.targets)
        drag, share = None, body.damping.stiffness / round_duration(h)
        if share > 0.0:
            drag = np.zeros_like(goal)
            for step, memory in zip(self._local(live), state.memories, strict=True):
                step.pull(state.x[self._order], memory.copy(), drag)
            frame = foresee_frame(body.vertices, body.mass, body.pins, state, inputs)
            drag = share * (drag if frame is None else drag @ frame.R.T)
        grabs = tuple(replace(g, vertices=tuple(self._number[list(g.vertices)].tolist())) for g in live.grabs)
        objective = StepObjective(
            self._local(live, 1.0 + share), tuple(memory.copy() for memory in state.memories),
            self._mass * (1.0 / h**2 + alpha / h), goal[self._order], self._held(live.pins(body.pins)),
            drag, Pull(grabs) if grabs else None,
        )  # fmt: skip
        return objective, begin[self._order]

    def _arrive(
        self, state: ProjectiveState, inputs: Inputs, descent: Descent, memories: Sequence[Memory]
    ) -> ProjectiveState:
        x = descent.x[self._number]
        if not np.isfinite(x).all():
            raise ArithmeticError("a step of projective dynamics left numbers that are not finite")
        v = (x - state.x) / inputs.duration
        a = (v - state.v) / inputs.duration
        return ProjectiveState(inputs.end.time, x, v, a, state.live, memories=tuple(memories))

    def _local(self, live: Live, share: float = 1.0) -> list[LocalStep]:
        """The local steps with the stiffness, times a share, and the target volume that the user has set."""
        key = share * live.stiffness, live.volume
        if key not in self._changed:
            self._changed = dict([*self._changed.items()][1 - _KEPT :])
            self._changed[key] = [step.changed(*key) for step in self._steps]
        return self._changed[key]

    def _global(self, duration: float, live: Live) -> GlobalStep:
        """The global step of a duration, a stiffness and pins; the last few are kept."""
        duration, held = round_duration(duration), self._held(live.pins(self.body.pins))
        key = np.array([duration, live.stiffness]).tobytes() + held.tobytes()
        system = self._globals.pop(key, None)
        if system is None:
            stiffness = live.stiffness * self._stiffness
            matrix = stiffness + self._inertia_matrix(duration, stiffness, self._mass)
            usual = duration == self._time_step and live.stiffness == 1.0
            system = GlobalStep(matrix, held, self._bare if usual else None)
        self._globals[key] = system  # last used, last in line
        while len(self._globals) > _KEPT:
            del self._globals[next(iter(self._globals))]
        system.pulled(live.grabs, self._number)
        return system

    def _inertia_matrix(self, h: float, stiffness: sp.csr_array, mass: FloatArray | None = None) -> sp.csr_array:
        """What inertia and damping add to the stiffness."""
        damping = self.body.damping
        diagonal = (self.body.mass if mass is None else mass) * (1.0 / h**2 + damping.mass / h)
        return sp.csr_array(sp.diags_array(diagonal) + damping.stiffness / h * stiffness)

    def _held(self, pins: Pins) -> NDArray[np.bool_]:
        held = np.zeros((len(self._number), 3), np.bool_)
        held[self._number[pins.vertices]] = pins.held
        return held
