"""Subspace condensation: full space exactly where it is needed, a subspace everywhere else [TMDK15]."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from supple.contact.collider import Collider
from supple.contact.detector import Detector
from supple.contact.mixed_detector import MixedDetector
from supple.contact.settings import ContactSettings
from supple.elastic import Body
from supple.errors import SceneError
from supple.method.articulated.model import ArticulatedModel
from supple.method.checks import check_settings, check_step
from supple.method.condensation.again import Crowded, Overlap, Turned
from supple.method.condensation.crowd import Crowd
from supple.method.condensation.free import RIGID
from supple.method.condensation.lookout import Lookout, Outrun
from supple.method.condensation.oracle import Oracle, Sight
from supple.method.condensation.others import Makers, Others
from supple.method.condensation.region import Ground
from supple.method.condensation.rules import RulesBeside
from supple.method.condensation.setup import Releasing, Seeing, make_oracle, make_steps
from supple.method.condensation.state import CondensedState, fold_back
from supple.method.condensation.step import CondensedStep
from supple.method.condensation.terms import Weights
from supple.method.condensation.tools import Tools
from supple.method.contact_samples import find_flesh
from supple.method.full.solver import FullSolver
from supple.method.halving import Tally, advance
from supple.method.measured import Measured, measure_body
from supple.method.model import ReducedModel
from supple.method.outer import Approach, ContactLoop, Round, count_contact
from supple.method.reach import Reach
from supple.method.skinned.model import SkinnedModel
from supple.method.skinned.solver import SkinnedSolver
from supple.method.solver import Arrays, Report
from supple.rig import SkinnedRig
from supple.solve.inputs import Inputs
from supple.solve.integrator import INTEGRATORS
from supple.solve.stopwatch import Stopwatch

__all__ = ["CondensationSolver", "Releasing", "Seeing"]

FloatArray = NDArray[np.float64]
Model = ReducedModel | SkinnedModel | ArticulatedModel
_RINGS = 3.0  # edges about what touches that are full where nobody says how far
_WORST = 0.04  # error of a rule, should training say more
_TURNS = 4  # times that a step may begin again because the body turned otherwise than foreseen


class CondensationSolver:
    """Implicit Euler steps of a body, free or held by pins or by the bones of its rig; static ones of a held one."""

    name = "condensation"

    def __init__(
        self,
        body: Body,
        model: Model,
        *,
        rig: SkinnedRig | None = None,
        integrator: str = "implicit_euler",
        tolerance: float = 1e-4,
        max_iterations: int | None = None,
        colliders: Sequence[Collider] = (),
        contact: ContactSettings | None = None,
        radius: float | None = None,
        weights: Weights = "subtract",
        release: Releasing = "settled",
        oracle: Seeing | Oracle | None = None,
        accuracy: float = 0.01,
    ) -> None:
        """`tolerance` is Newton's, relative to the forces that act. A skinned model needs its `rig`.

        `radius`: reach of full space about what touches, in longest sides of the body. `weights`: how the rule's
        elements count beside exact ones (method/condensation/potential.py). `release`: when vertices return to the
        subspace. `oracle`: full space about what touches ("contact", where a radius is given) or wherever forces are
        out of balance, as far about it as an `accuracy` of patches relative to the displacement takes ("error"); or one
        of your own, which also says what returns.
        """
        check_settings(body, integrator, tolerance, contact)
        if integrator == "newmark":
            raise SceneError('condensation knows no integrator "newmark": use "implicit_euler" or "static".')
        free = not len(body.pins.vertices)
        if free and integrator == "static":
            raise SceneError("condensation needs a body that pins hold in statics: add a pin, or use the full solver.")
        self.body, self.model, self.tolerance, self._rig = body, model, tolerance, rig
        self.is_static, self._integrator = integrator == "static", integrator
        self._options = {"integrator": integrator, "tolerance": tolerance, "max_iterations": max_iterations}
        self._steps = make_steps(body, model, rig, integrator, tolerance)
        self._colliders, self._contact = tuple(colliders), contact
        self._reach = Reach(model.basis.importance, model.reach, "train with stronger loads or these contacts")
        more = RIGID if free else 0
        self._ground = ground = Ground(body, model.basis, self._steps.subspace, more)
        side, edge = float(np.ptp(body.mesh.vertices, axis=0).max()), body.mesh.surface().mean_edge()
        self.radius = _RINGS * edge if radius is None else radius * side
        """[m]"""
        self._sees: Seeing | None = None
        if oracle is None or isinstance(oracle, str):
            self._sees = oracle or ("error" if radius is None else "contact")
            oracle = make_oracle(ground, self._sees, release, self.radius, accuracy, edge)
        rule = model.rule
        floor = 1e-13 * float(np.sqrt(model.basis.importance.max() * body.mass.sum())) * body.mesh.size()
        error = min(max(rule.training_error, rule.heldout_error or 0.0), _WORST)
        # Bones take flesh past what it touched; loads press it farther in, and alone they would press it through
        own = contact or ContactSettings()
        self._foresees = rig is not None and own.is_slippery
        crowds = self._sees == "contact" and weights == "subtract"  # who chooses otherwise wants what is chosen
        self._tools = Tools(
            ground, self._steps, np.append(model.basis.importance, np.zeros(more)), oracle,
            INTEGRATORS[integrator], weights=weights, tolerance=tolerance, max_iterations=max_iterations or 200,
            floor=floor, edge=edge, error=error,
            # Where bones press flesh equilibria are many, and closer than its error a rule does not know them
            slack=error**2 if self._foresees and self.is_static else 0.0,
            crowd=Crowd(ground, is_static=self.is_static) if crowds else None,
        )  # fmt: skip
        self._weights = weights
        self._lookout: Lookout | None = None
        self._rules: RulesBeside | None = None
        if colliders or (contact is not None and contact.self_contact):
            loop = ContactLoop(self._make_detector(), body.mass, body.mesh.size())
            self._lookout = Lookout(loop, ground)
        self._others = Others(
            self._tools, Makers(self._make_full, self._make_ruled), self._lookout, self._rules, is_static=self.is_static
        )
        self._rests = self.is_static and self._sees == "contact"  # the coordinates alone may be asked first
        self._frees = (
            self._rests and self._foresees and release == "settled" and (contact is None or contact.self_contact)
        )

    def _make_detector(self) -> Detector:
        """What sees all contacts, or all but those that rules stand for."""
        settings = self._contact
        if settings is None or not (settings.self_contact and settings.rules):
            return Detector(self.body, self._colliders, settings)
        if self._rig is None or isinstance(self.model, ReducedModel) or self.model.contacts is None:
            raise SceneError('the model has no rules for contact.self = "rules": train again, or use "all".')
        flesh = find_flesh(self.body, self._rig)
        detector = MixedDetector(self.body, self._colliders, settings, flesh.bones_at, flesh.triangle_owners())
        self._rules = RulesBeside(self._rig, self.model.contacts, flesh, detector, self.is_static)
        return detector

    def start(self, inputs: Inputs | None = None) -> CondensedState:
        return CondensedState(self._steps.start(inputs))

    def step(self, state: CondensedState, inputs: Inputs) -> tuple[CondensedState, Report]:
        check_step(inputs, self.body.pins)
        watch, tally = Stopwatch(), Tally()
        if inputs.events:
            live = state.live.after(inputs.events, self.positions(state))
            if len(live.added.vertices) or len(live.released.vertices):
                raise SceneError("condensation cannot add or release pins while it runs: use the full solver.")
            state, inputs = state.hear(live), replace(inputs, events=())
        self._share = 0.0
        state = advance(partial(self._single, watch=watch), state, inputs, tally, self.body, self.is_static)
        kind: Literal["full", "reduced", "hybrid"] = "hybrid" if self._share else "reduced"
        kind = "full" if self._share == 1.0 else kind
        if self._share:  # else the solver of the subspace alone has looked
            q = self._steps.subspace.coordinates(state.below)[: self.model.basis.rank]
            self._reach.look(q, inputs.end.time)
        error = None if self._reach.is_left else self.model.error
        return state, tally.report(watch.finish(), kind, self._share, error)

    def positions(self, state: CondensedState, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        return state.place(self._ground, vertices)

    def to_full(self, state: CondensedState) -> tuple[FloatArray, FloatArray, FloatArray]:
        x, v, a = (state.place(self._ground, level=level) for level in range(3))
        return x, v, a

    def measure(self, state: CondensedState, inputs: Inputs) -> Measured:
        x, v, _ = self.to_full(state)
        return measure_body(self.body, x, v, state.live.forces(inputs.end.forces), state.live.stiffness)

    def from_full(
        self, x: FloatArray, v: FloatArray, a: FloatArray, time: float = 0.0, *, pose: FloatArray | None = None
    ) -> CondensedState:
        return CondensedState(self._steps.from_full(x, v, a, time, pose, None))

    def pack(self, state: CondensedState) -> dict[str, NDArray[np.generic]]:
        return state.pack()

    def unpack(self, arrays: Arrays) -> CondensedState:
        return CondensedState.unpack(arrays, self._steps.unpack(arrays))

    def describe(self) -> list[str]:
        size = self._ground.most
        beside = {"subtract": "less what exact ones stand for", "paper": "without exact ones, as [TMDK15] prints it"}
        grows = ", more where forces are out of balance" if self._sees == "error" else ""
        return [
            f"subspace condensation, {self._ground.rank} coordinates and up to {3 * size:,} unknowns of full space, "
            f"{self._integrator.replace('_', ' ')}, Newton to {self.tolerance:g} of the forces that act",
            f"full space within {self.radius:.3g} m of what touches{grows}; elsewhere forces from "
            f"{self.model.rule.size:,} of {len(self.body.mesh.tets):,} elements, {beside[self._weights]}",
        ]

    def _single(self, state: CondensedState, inputs: Inputs, tally: Tally, watch: Stopwatch) -> CondensedState:
        stride, state = state.stride, state._replace(stride=None)  # whoever ends the step says how far it went
        if self._frees and (ended := self._others.step_bare(state, inputs, tally, watch)) is not None:
            return ended
        with watch.phase("region"):
            state = self._let_go(state, inputs)
        if len(state.full) == self._ground.most:
            return self._step_full(state, inputs, tally)
        begun, anew, turns = False, False, 0
        while True:
            step = CondensedStep(self._tools, state, inputs, tally, watch, self._rules, stride)
            if self._rules is not None and not begun:
                with watch.phase("contact"):
                    pose, ahead = np.asarray(inputs.end.pose), step.ahead
                    self._rules.begin(pose, ahead.stance, ahead.guess, state.pairs, state.full)
                begun = True
                if self._rests and (ended := self._others.step_ruled(state, inputs, tally, watch)) is not None:
                    return ended
            try:
                return self._settle(step, state, inputs, tally, watch, anew, turns < _TURNS)
            except Overlap:
                continue
            except Crowded:
                assert self._tools.crowd is not None
                return self._step_full(self._tools.crowd.fill(state), inputs, tally)
            except Outrun:
                anew = True
            except Turned:
                turns += 1

    def _settle(
        self,
        step: CondensedStep,
        state: CondensedState,
        inputs: Inputs,
        tally: Tally,
        watch: Stopwatch,
        anew: bool,
        strict: bool,
    ) -> CondensedState:
        """The end of a step, through as many rounds of contact as it takes."""
        step.wanted.look()
        h, reduced = inputs.duration, None

        def solve(round: Round) -> tuple[FloatArray, float]:
            nonlocal reduced
            reduced = None
            if round.potential is None and step.wanted.is_empty():
                if step.rest is None:
                    reduced = self._others.step_reduced(state, inputs, tally)
                else:
                    reduced = state._replace(below=step.rest.below, steps=state.steps + 1)
                if self.is_static:
                    step.wanted.look(reduced)
                if step.wanted.is_empty():
                    return step.follow(reduced.below), 0.0
                reduced = None
            return step.solve(round, predicted)

        with watch.phase("contact"):
            watched = None if self._lookout is None else step.watch(self._lookout, anew=anew)
        if self._lookout is None or watched is None or not len(watched.vertices):
            predicted = None
            solve(Round(None, None, 0.0, False, False))
            pairs = state.pairs
        else:
            loop = self._lookout.loop
            with watch.phase("contact"):
                x = step.begin()
                known = state.pairs
                if not self.is_static:
                    predicted = x + h * step.begin(1)
                elif not loop.detector.settings.self_contact:
                    predicted = step.carry()
                elif self._foresees and (rest := step.foresee()) is not None:
                    x = predicted = rest
                    known = loop.detector.still_near(known, rest)
                else:  # as full space does: bones would take a body through itself before it can touch
                    predicted = x
            motion = INTEGRATORS[self._integrator](np.zeros(1), np.zeros(1), np.zeros(1), h)
            approach = Approach(
                x, predicted, inputs, motion.ca, count_contact(motion, h), watched.free, known,
                hasty=not self.is_static, bends=True,
            )  # fmt: skip
            outcome = loop.settle(approach, solve, watch)
            tally.note(outcome)
            if outcome.touching is not None:
                tally.touching = outcome.touching.renumbered(watched.vertices)
            pairs = outcome.pairs
        if reduced is not None:
            return reduced._replace(pairs=pairs)
        if strict and not step.serves():
            raise Turned
        self._share = max(self._share, step.region.share)
        return step.finish()._replace(pairs=pairs)

    def _let_go(self, state: CondensedState, inputs: Inputs) -> CondensedState:
        """The state with those vertices back in the subspace that no oracle holds."""
        crowd = self._tools.crowd
        if not len(state.full) or (crowd is not None and crowd.rests(state)):
            return state
        duration = 0.0 if self.is_static else inputs.duration
        held = self._tools.oracle.hold(Sight(self._ground, state, duration))
        return state if crowd is not None and crowd.stays(state, held) else fold_back(state, self._ground, held)

    def _step_full(self, state: CondensedState, inputs: Inputs, tally: Tally) -> CondensedState:
        self._share = 1.0
        return self._others.step_full(state, inputs, tally)

    def _make_ruled(self) -> SkinnedSolver:
        assert self._rig is not None
        assert not isinstance(self.model, ReducedModel)
        known = {"integrator": self._integrator, "tolerance": self.tolerance, "contact": self._contact}
        return SkinnedSolver(self.body, self._rig, self.model, **known)  # type: ignore[arg-type]

    def _make_full(self) -> FullSolver:
        return FullSolver(self.body, colliders=self._colliders, contact=self._contact, rig=self._rig, **self._options)  # type: ignore[arg-type]
