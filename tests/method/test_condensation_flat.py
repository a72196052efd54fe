"""One compiled call says what the parts of a condensed step say one by one, and rows of domains what a matrix says."""

from dataclasses import replace

import numpy as np
import pytest
from condensation_helpers import make_step, sparse_model, tip
from reduced_helpers import beam
from test_articulated import bend, modal_domains, rod

from supple.contact.contacts import Contacts
from supple.contact.potential import ContactPotential
from supple.elastic import EXACT
from supple.method.condensation.assembly import fold_parts
from supple.method.condensation.footing import Footing
from supple.method.condensation.potential import Condensed
from supple.method.condensation.region import Ground
from supple.method.condensation.skinned import SkinnedStance


def press(vertices: np.ndarray, x: np.ndarray) -> ContactPotential:
    """Contacts of vertices at x (k, 3) with a plane that the first half is behind."""
    count, normal = len(vertices), np.tile([0.6, 0.8, 0.0], (len(vertices), 1))
    depth = np.where(np.arange(count) < count // 2, 0.004, -0.004)
    contacts = Contacts(
        np.repeat(vertices[:, None], 4, axis=1).astype(np.int32), np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)),
        x + depth[:, None] * normal, normal, np.full(count, 1e-4), np.zeros((count, 3)), np.zeros(count, np.int32),
        np.zeros(count, np.int32),
    )  # fmt: skip
    return ContactPotential(contacts, x, 1e9, 0.3, np.ones(count, bool))


def touched_step(weights: str, whole: bool) -> tuple[Condensed, np.ndarray]:
    body = beam(elements=200)
    model = sparse_model(body)
    ground = Ground(body, model.basis)
    region = ground.cut(tip(ground, 12), whole=whole)
    step, z = make_step(region, model, weights=weights, damping=0.5)
    own = np.array([0, 3, 5, len(region.full), len(region.full) + 2])  # full ones and some around them
    return step.with_joints([press(own, step.footing.place(z)[own])]), z


@pytest.mark.parametrize(("weights", "whole"), [("subtract", False), ("paper", False), ("subtract", True)])
def test_flat_loops_have_the_energy_and_the_forces_of_the_parts(weights: str, whole: bool) -> None:
    step, z = touched_step(weights, whole)
    assert step._flat is not None
    parts = replace(step, memory={})
    forces = parts._differentiate(z)
    np.testing.assert_allclose(step.gradient(z), forces, rtol=0, atol=1e-12 * np.abs(forces).max())
    there = z + 1e-3 * np.random.default_rng(0).standard_normal(len(z))
    ways = [energy(there)[0] - energy(z)[0] for energy in (step.energy, step._weigh)]
    assert ways[0] == pytest.approx(ways[1], rel=1e-9)
    assert parts.energy(z) == pytest.approx(parts._weigh(z), rel=1e-12)  # which forces had told already


@pytest.mark.parametrize("whole", [False, True])
def test_flat_assembly_is_that_of_the_parts(whole: bool) -> None:
    step, z = touched_step("subtract", whole)
    y = step.footing.place(z)
    made = step._assemble(y, z[step.region.size :], EXACT, keep=True)
    for ours, theirs in zip((made.blocks, made.C, made.B), fold_parts(step.footing, step.parts, y, EXACT), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12 * np.abs(theirs).max())


def test_balance_is_the_gradient_without_contacts_told_apart() -> None:
    step, z = touched_step("subtract", False)
    total, elastic, outside = step.balance(z)
    terms = step.terms(z)
    for found, name in ((elastic, "elastic force"), (outside, "external force")):
        np.testing.assert_allclose(found, terms[name], rtol=0, atol=1e-10 * np.abs(total).max())
    np.testing.assert_allclose(total + step.press(z), step.gradient(z), rtol=0, atol=1e-12 * np.abs(total).max())


def test_rows_of_domains_are_the_matrix_without_its_zeros() -> None:
    character, rig, _, body = rod()
    model, pose = modal_domains(body, rig), bend(character, rig, 3)[-1]
    ground = Ground(body, model.basis, subspace=object())  # type: ignore[arg-type]
    stance = SkinnedStance(rig, model.basis, pose)
    full = np.flatnonzero(ground.movable & (body.mesh.vertices[:, 0] > np.median(body.mesh.vertices[:, 0])))
    footing = Footing(ground.cut(full.astype(np.int32)), stance)
    region, rows, size = footing.region, footing.rows, footing.size
    U = stance.rows(region.vertices).reshape(3 * region.count, -1)
    assert (U == 0.0).mean() > 0.3
    rng = np.random.default_rng(1)
    q, forces = rng.standard_normal(U.shape[1]), rng.standard_normal((region.count, 3))
    close = {"rtol": 0, "atol": 1e-12 * np.abs(U).max() * len(U)}
    np.testing.assert_allclose(rows.to_dense(), U, **close)
    np.testing.assert_allclose(rows.move(q).ravel(), U[size:] @ q, **close)
    np.testing.assert_allclose(rows.move_full(q), U[:size] @ q, **close)
    np.testing.assert_allclose(rows.gather(forces[len(full) :]), forces.ravel()[size:] @ U[size:], **close)
    np.testing.assert_allclose(rows.gather_full(forces[: len(full)]), forces.ravel()[:size] @ U[:size], **close)
    some = np.array([0, len(full) - 1, region.count - 1])
    np.testing.assert_allclose(rows.pick(some), U.reshape(-1, 3, U.shape[1])[some], **close)
    weighed = U[:size].T @ (np.repeat(region.mass, 3)[:, None] * U[:size])
    np.testing.assert_allclose(rows.weigh_full(region.mass), weighed, rtol=0, atol=1e-12 * np.abs(weighed).max())


def test_lifts_of_lists_that_are_known_follow_the_coordinates() -> None:
    _, rig, _, body = rod()
    basis = modal_domains(body, rig).basis
    some, rng = np.arange(0, len(body.mass), 3), np.random.default_rng(2)
    for _ in range(2):
        q = rng.standard_normal(basis.rank)
        np.testing.assert_allclose(basis.lift(q, some), basis.lift(q)[some], atol=1e-12 * np.abs(basis.lift(q)).max())
    other = some.copy()
    other[:] = np.arange(1, len(other) + 1)
    np.testing.assert_allclose(basis.lift(q, other), basis.lift(q)[other], atol=1e-12 * np.abs(basis.lift(q)).max())
