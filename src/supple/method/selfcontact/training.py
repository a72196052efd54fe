"""From a trained model of a skinned body and poses to its contact rules ([TOK14] 4.3)."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from supple.contact.self_contact import SelfContact
from supple.contact.settings import ContactSettings
from supple.contact.stiffness import default_stiffness
from supple.cubature.train_contact_rules import Look, train_contact_rules
from supple.elastic import Body
from supple.errors import ConvergenceError, SuppleWarning, TrainingError
from supple.linalg.ties import first_largest
from supple.method.articulated.model import ArticulatedModel
from supple.method.contact_samples import (
    AROUND,
    JUDGED,
    LEARNED,
    ContactSampler,
    Shapes,
    around,
    between,
    find_flesh,
    look_at_iterates,
)
from supple.method.skinned.model import SkinnedModel
from supple.method.skinned.solver import SkinnedSolver
from supple.rig import SkinnedRig
from supple.solve.forces import Force
from supple.solve.inputs import Inputs, Moment

__all__ = ["choose_apart", "learn_contacts"]

FloatArray = NDArray[np.float64]
Ruled = TypeVar("Ruled", SkinnedModel, ArticulatedModel)


def learn_contacts(
    body: Body,
    rig: SkinnedRig,
    model: Ruled,
    poses: FloatArray,
    shapes: FloatArray,
    contact: ContactSettings,
    rng: np.random.Generator,
    *,
    forces: Sequence[Force] = (),
    iterates: Sequence[NDArray[np.floating] | None] = (),
    tolerance: float = 0.05,
) -> Ruled:
    """The model with rules for its contact with itself, from poses (t, p) and displacements in them (t, n, 3) [m].

    Contacts are those of the model itself, in its static equilibria under `forces`; displacements, which are pulled
    back to rest, are where these are looked for. `iterates` are what Newton's method went through in full space in each
    pose, as displacements from the skinned body [m], (k, n, 3). Rules are right to the share `tolerance` of the contact
    forces.
    """
    settings = replace(contact, self_contact=True, rules=False, friction=0.0, collider_friction=())
    own = SelfContact(body.mesh, thickness=settings.thickness, ignored=settings.ignored)
    stiffness = settings.stiffness or default_stiffness(body)
    sampler = ContactSampler(body, rig, model.basis, own, stiffness)
    touching = SkinnedSolver(body, rig, model, integrator="static", contact=settings)
    free = SkinnedSolver(body, rig, model, integrator="static")
    learned: list[list[Look]] = []
    judged: list[list[Look]] = []
    kept: list[FloatArray] = []
    seed = rng.integers(2**32)  # all poses have the same random states
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)  # of states that serve to learn only
        for number, (pose, u) in enumerate(zip(poses, shapes, strict=True)):
            try:
                found = Shapes(pose, *(_settle(solver, body, rig, pose, u, forces) for solver in (touching, free)))
            except ConvergenceError:
                continue
            kept.append(pose)
            passed = iterates[number] if len(iterates) else None
            taught, held_out = _look_at(sampler, found, model.basis.importance, np.random.default_rng(seed), passed)
            learned.append(taught)
            judged.append(held_out)
        if not kept:
            raise TrainingError(
                f"none of {len(poses)} poses has an equilibrium with self-contact: train with other poses, or use "
                'contact.self = "all".'
            )
        scale = 1.0 / np.sqrt(model.basis.importance)  # forces count by how far they deform
        flesh = find_flesh(body, rig)
        rules = train_contact_rules(flesh, np.array(kept), learned, judged, scale, tolerance, rng)
    facts = {
        "contact_poses": len(kept),
        "contact_most": rules.most,
        "contact_rule_most": rules.rules.largest,
        "contact_bones": len(rules.rules.rules),
        "contact_training_error": rules.training_error,
        "contact_heldout_error": rules.heldout_error,
    }
    return replace(model, contacts=rules.rules, facts={**model.facts, **facts})


def _look_at(
    sampler: ContactSampler,
    shapes: Shapes,
    importance: FloatArray,
    rng: np.random.Generator,
    iterates: NDArray[np.floating] | None,
) -> tuple[list[Look], list[Look]]:
    """Looks at a pose to learn from, and to judge by; none where nothing touches even in the shape without contact."""
    if not len(sampler.look(shapes.pose, shapes.free).pairs):
        return [], []
    learned, judged = (
        between(sampler, shapes, shares) + around(sampler, shapes, importance, count, rng)
        for shares, count in ((LEARNED, AROUND[0]), (JUDGED, AROUND[1]))
    )
    if iterates is not None:
        looks = look_at_iterates(sampler, shapes.pose, iterates)
        learned += [look for k, look in enumerate(looks) if k % 4 != 1]
        judged += looks[1::4]
    return learned, judged


def choose_apart(rig: SkinnedRig, poses: FloatArray, count: int) -> NDArray[np.int64]:
    """Numbers, ascending, of at most `count` poses among (t, p) that are farthest from each other, the first of them
    being the one farthest from the neutral."""
    points = np.array([rig.embed(pose) for pose in poses])
    least = np.linalg.norm(points - rig.embed(rig.neutral), axis=1)
    chosen: list[int] = []
    while len(chosen) < min(count, len(poses)):
        chosen.append(first_largest(least))
        away = np.linalg.norm(points - points[chosen[-1]], axis=1)
        least = away if len(chosen) == 1 else np.minimum(least, away)
        if least.max() == 0.0:
            break
    return np.sort(np.array(chosen, np.int64))


def _settle(
    solver: SkinnedSolver, body: Body, rig: SkinnedRig, pose: FloatArray, u: FloatArray, forces: Sequence[Force]
) -> FloatArray:
    """Coordinates (r,) of the equilibrium in a pose, looked for from displacements [m], (n, 3)."""
    x = rig.push_forward(pose, rig.rest + u)
    state = solver.from_full(x, np.zeros_like(x), np.zeros_like(x), pose=pose)
    targets = rig.positions(pose, body.pins.vertices)
    begin, end = (Moment(time, targets, tuple(forces), pose=pose) for time in (0.0, 1.0))
    return np.asarray(solver.step(state, Inputs(begin, end))[0].shapes[0])
