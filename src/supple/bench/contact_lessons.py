"""What the models of the contact benchmarks are made from: poses settled in full space, a subspace, rules."""

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.bench.contact_case import CONTACT, Case
from supple.contact.self_contact import SelfContact
from supple.errors import TrainingError
from supple.linalg.work_clock import work_clock
from supple.method import ArticulatedModel, make_articulated
from supple.method.selfcontact.training import learn_contacts
from supple.scene.statics_cache import record_statics
from supple.subspace import DomainBases, Interface, bone_domains
from supple.subspace.contact_columns import contact_columns, lead_with_contacts
from supple.subspace.interface import FITTING
from supple.subspace.pulled_back import pull_back_all, pulled_back_basis

__all__ = ["Lessons", "record", "train"]

FloatArray = NDArray[np.float64]
_RULES = 0.05  # tolerance of contact rules, as in the paper
_LONG = 8  # iterates of a pose above which the basis knows some of them beside its equilibrium
_FORCES = 0.04  # that of the elements' rule, as in the authors' code


class Lessons(NamedTuple):
    """Poses that have an equilibrium."""

    poses: FloatArray
    """(t, p)"""
    x: FloatArray
    """[m], (t, n, 3)"""
    iterates: list[NDArray[np.float32]]
    """What Newton's method went through."""


def record(case: Case, folder: Path | None = None) -> Lessons:
    """The poses to learn from in full space, one after another; read from a folder where it has them."""
    found = record_statics(case.body, case.rig, case.learned, CONTACT, folder=folder)
    kept = [(pose, one) for pose, one in zip(case.learned, found, strict=True) if one is not None]
    if not kept:
        raise TrainingError("no pose to learn from has an equilibrium: mesh finer, or bend less.")
    return Lessons(
        np.array([pose for pose, _ in kept]), np.array([one.x for _, one in kept]), [one.iterates for _, one in kept]
    )


def train(case: Case, lessons: Lessons) -> ArticulatedModel:
    """The model of a body, a domain a bone."""
    body, rig, rng = case.body, case.rig, np.random.default_rng(0)
    pulled = pull_back_all(rig, lessons.poses, lessons.x)
    poses, x = _add_iterates(case, lessons)
    shapes = pull_back_all(rig, poses, x)
    columns = contact_columns(body, rig, poses, x, SelfContact(body.mesh))
    whole = lead_with_contacts(pulled_back_basis(shapes, body.mass, rank=case.rank), columns)
    domains = bone_domains(body, rig.skeleton, rig.influences)
    interface = Interface.of(domains, bond=FITTING)
    dents = np.eye(whole.rank)[:, : columns.shape[1]]
    bases = DomainBases.cut(domains, whole, whole.project_all(shapes), dents).diagonalised(interface)
    begin = work_clock()
    model = make_articulated(bases, interface, rig, lessons.poses, bases.project_all(pulled), rng, tolerance=_FORCES)
    model = replace(model, facts={**model.facts, "cubature_s": work_clock() - begin})
    poses = np.concatenate([rig.neutral[None], lessons.poses])
    shapes = np.concatenate([0.0 * pulled[:1], pulled])
    return learn_contacts(body, rig, model, poses, shapes, CONTACT, rng, tolerance=_RULES)


def _add_iterates(case: Case, lessons: Lessons) -> tuple[FloatArray, FloatArray]:
    """Poses (s, p) and positions [m], (s, n, 3), of the equilibria and of some iterates on the way to those where
    contact made it long: shapes of flesh that is pressed more or less than in the end."""
    poses, x = [], []
    for pose, end, iterates in zip(lessons.poses, lessons.x, lessons.iterates, strict=True):
        some = np.linspace(len(iterates) // 4, len(iterates) - 1, case.beside + 1).astype(int)[:-1]
        shapes = [case.rig.positions(pose) + iterates[k] for k in some] if len(iterates) > _LONG else []
        x += [*shapes, end]
        poses += [pose] * (1 + len(shapes))
    return np.array(poses), np.array(x)
