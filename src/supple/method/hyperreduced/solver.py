"""The hyper-reduced solver: projective dynamics in small spaces, at a cost that does not know the mesh.

Algorithm 2 of [BEH18] without a solve in its loop: A is constant, so positions are q = A⁻¹b + D c, b once a frame and
D = A⁻¹UᵀSᵀV once and for all. Iterations run in single precision about the body's centre, what they arrive at is
evaluated in double precision, so that free flight keeps momentum.
"""

from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from supple.constraint import ProjectiveBody
from supple.contact.collider import Collider
from supple.contact.pressing import Pressing
from supple.contact.settings import ContactSettings
from supple.errors import ConvergenceError
from supple.method.checks import check_projective, check_step
from supple.method.hyperreduced.clusters import ClusterLoop
from supple.method.hyperreduced.energy import SampledEnergy
from supple.method.hyperreduced.loads import Loads
from supple.method.hyperreduced.loop import LoopInputs, SampleLoop
from supple.method.hyperreduced.model import HyperReducedModel, prepare_spaces
from supple.method.hyperreduced.state import HyperReducedState
from supple.method.hyperreduced.system import HyperReducedSystem
from supple.method.measured import Measured, find_load_points
from supple.method.projective.contact import ProjectiveContact, choose_candidates
from supple.method.projective.stopping import CONVERGENCE, Stopping
from supple.method.solver import Arrays, Report
from supple.solve.inputs import Inputs, round_duration
from supple.solve.live import Live
from supple.solve.stopwatch import Stopwatch

__all__ = ["HyperReducedSolver"]

FloatArray = NDArray[np.float64]
_KEPT = 4  # systems of different lengths of step, stiffness or holds: a user goes back and forth


class HyperReducedSolver:
    """Implicit Euler steps of projective dynamics in the spaces of a model."""

    name = "hyperreduced"

    def __init__(
        self,
        body: ProjectiveBody,
        model: HyperReducedModel | None = None,
        *,
        time_step: float = 0.01,
        iterations: int = 10,
        max_iterations: int | None = None,
        convergence: float = CONVERGENCE,
        precision: Literal["single", "double"] = "single",
        colliders: Sequence[Collider] = (),
        contact: ContactSettings | None = None,
        candidates: int = 2400,
    ) -> None:
        """Without a `model` spaces of the usual size are made. `time_step` [s] is what steps are expected to be; one
        of another length is prepared when it comes. `iterations`, `max_iterations` and `convergence` are as for
        `ProjectiveSolver`; `precision` is that of the iterations. The placements of `colliders` come with each moment;
        so many `candidates` among the surface's vertices touch them."""
        check_projective(body, time_step, contact)
        self.body, self.stopping = body, Stopping.of(iterations, max_iterations, convergence)
        self._precision: type[np.floating[Any]] = np.float32 if precision == "single" else np.float64
        self.model = model or prepare_spaces(body)
        self._loads = Loads(self.model.positions, self.model.mass, body.pins)
        self._time_step = time_step
        self._systems: OrderedDict[tuple[Any, ...], HyperReducedSystem] = OrderedDict()
        alone = self.model.alone
        self._loop: SampleLoop | ClusterLoop = (
            SampleLoop(self.model, self.stopping, self._precision)
            if alone is None
            else ClusterLoop(alone, self.model.positions, self.stopping, self._precision)
        )
        self._centre = np.asarray(self.model.mass @ self.model.positions.constant) / body.mass.sum()
        self._contact: ProjectiveContact | None = None
        if colliders or (contact is not None and contact.self_contact):
            vertices = choose_candidates(body, candidates)
            place = self.model.positions.rows.take(vertices).apply
            self._contact = ProjectiveContact(body, vertices, self._loads.U, place, colliders, contact)
        self.system(time_step, Live())

    @property
    def candidates(self) -> NDArray[np.int32] | None:
        """Vertices that may touch something, (k,); None where there is nothing to touch."""
        return None if self._contact is None else self._contact.vertices

    def start(self, inputs: Inputs | None = None) -> HyperReducedState:
        x, time = self.body.vertices, 0.0
        if inputs is not None:
            x, time = Live().place(x, self.body.pins, inputs.begin.targets), inputs.begin.time
        still = np.zeros_like(x)
        return self.from_full(x, still, still, time)

    def step(self, state: HyperReducedState, inputs: Inputs) -> tuple[HyperReducedState, Report]:
        check_step(inputs, self.body.pins)
        watch, h, live = Stopwatch(), inputs.duration, state.live
        if inputs.events:
            live = live.after(inputs.events, self.positions(state))
        with watch.phase("prediction"):
            system = self.system(h, live)
            forces = live.forces(inputs.end.forces)
            targets = self._loads.targets(live, inputs.end.targets) if len(system.pull) else _NOWHERE
            push = self._loads.push(forces)
            right = system.gather(state.q, state.v, push, targets)
            base = system.solve(right)
            guess = state.q + h * state.v
            guess += np.outer(self.model.positions.constant, h * h * self._loads.gravity(forces))
        touching, origin = None, self._centre @ guess
        if self._contact is not None:
            with watch.phase("contact"):
                links = system.delassus(self._loads.U)
                touching = self._contact.begin(state.q, state.v, guess, inputs, state.pressing, links, origin, state.a)
        with watch.phase("iterations"):
            q, turns, done, change = self._loop.run(
                system, LoopInputs(base, guess, state.turns, live.volume, origin, touching)
            )
        if not np.isfinite(q).all():
            raise ConvergenceError("positions are no longer finite: take a smaller step, or more samples.")
        pressed = np.zeros(3) if touching is None else touching.total()
        q = system.keep_moving(q, state.q, state.v, self.model.positions.constant @ push + pressed)
        if touching is None or not touching.grip.force.any():  # what touches turns the body too
            q = system.keep_turning(q, right)
        v, pressing, touch = (q - state.q) / h, Pressing.none(), None
        if touching is not None:
            rebound = touching.rebound(touching.look(v))
            if rebound is not None:
                v = v + system.solve(touching.push(rebound, len(v)))
            pressing, touch = touching.finish(touching.look(q))
        reached = HyperReducedState(inputs.end.time, q, v, (v - state.v) / h, turns, live, pressing)
        count = 0 if touch is None else len(touch)
        report = Report(
            watch.finish(), kind="reduced", full_share=0.0, contacts=count, touching=touch,
            local_global_iterations=done, change=change, converged=self.stopping.is_met(change),
        )  # fmt: skip
        return reached, report

    def positions(self, state: HyperReducedState, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        return self.model.positions.lift(state.q, vertices)

    def to_full(self, state: HyperReducedState) -> tuple[FloatArray, FloatArray, FloatArray]:
        lift = self.model.positions.lift
        return lift(state.q), lift(state.v), lift(state.a)

    def measure(self, state: HyperReducedState, inputs: Inputs) -> Measured:
        live, mass, q = state.live, self.model.mass, state.q
        return Measured(
            0.5 * float(np.vdot(state.v, mass @ state.v)),
            live.stiffness * self._sampled.energy(q, live.volume),
            self._sampled.volumes(q),
            False,
            find_load_points(
                live.forces(inputs.end.forces),
                lambda: (mass @ self.model.positions.constant) @ q,
                lambda vertices, weights: self._loads.spread(vertices, weights) @ q,
            ),
        )

    @cached_property
    def _sampled(self) -> SampledEnergy:
        return SampledEnergy(self.model)

    def from_full(
        self, x: FloatArray, v: FloatArray, a: FloatArray, time: float = 0.0, *, pose: FloatArray | None = None
    ) -> HyperReducedState:
        q, speed, change = (self.model.positions.project(np.asarray(field, np.float64)) for field in (x, v, a))
        return HyperReducedState(time, q, speed, change)

    def pack(self, state: HyperReducedState) -> dict[str, NDArray[np.generic]]:
        return state.pack()

    def unpack(self, arrays: Arrays) -> HyperReducedState:
        return HyperReducedState.unpack(arrays)

    def describe(self) -> list[str]:
        first, *others = self.model.describe()
        return [f"hyper-reduced projective dynamics, {first}, {self.stopping.describe()}", *others]

    def system(self, duration: float, live: Live) -> HyperReducedSystem:
        """The matrices of steps of a duration [s], as the user has set stiffness, pins and grabs."""
        rounded, holds = round_duration(duration), self._loads.holds(live)
        duration = self._time_step if rounded == round_duration(self._time_step) else rounded
        key = (duration, live.stiffness, holds.key)
        if key not in self._systems:
            self._systems[key] = HyperReducedSystem(
                self.model, self.body.damping, duration, live.stiffness, holds, self._precision
            )
            while len(self._systems) > _KEPT:
                self._systems.popitem(last=False)
        self._systems.move_to_end(key)
        return self._systems[key]


_NOWHERE = np.zeros((0, 3))
