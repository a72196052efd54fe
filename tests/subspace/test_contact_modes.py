"""Bases of bodies that touch themselves."""

import numpy as np
import pytest

from pads import TOUCH, two_pads
from supple.contact.settings import ContactSettings
from supple.errors import TrainingError
from supple.subspace.contact_modes import contact_columns
from supple.subspace.pose_columns import PoseColumns
from supple.subspace.pose_models import build_pose_bases
from supple.subspace.rest_stiffness import RestStiffness
from supple.subspace.self_touch import SelfTouch

RANK = 8


def touching(binding):
    """The pads face to face: the body in that pose, its shape, contacts, and what they forbid."""
    body, rig = two_pads()
    shape = rig.positions(TOUCH)
    touch = SelfTouch(body.mesh, binding)
    contacts = touch.find(shape)
    return body.posed(shape), shape, contacts, touch.forbid(contacts)


def test_both_faces_touch_and_nothing_else_does() -> None:
    body, rig = two_pads()
    touch = SelfTouch(body.mesh)
    assert len(touch.find(rig.positions(np.array([0.8])))) == 0
    contacts = touch.find(rig.positions(TOUCH))
    y = body.mesh.vertices[:, 1]
    assert set(contacts.vertices[:, 0]) == set(np.flatnonzero((np.abs(y - 0.1) < 1e-9) | (np.abs(y - 0.2) < 1e-9)))
    assert np.allclose(np.abs(contacts.normal), [0.0, 1.0, 0.0], atol=1e-9)


def test_no_contact_vertex_moves_along_its_normal() -> None:
    body, shape, contacts, rows = touching("slides")
    columns = contact_columns(body, shape, RANK, rows, opens=False)
    fields = columns.reshape(-1, 3, RANK)[contacts.vertices[:, 0]]
    assert np.abs(np.einsum("ci,cir->cr", contacts.normal, fields)).max() < 1e-10 * np.abs(fields).max()
    assert np.abs(fields).max() > 0.1 * np.abs(columns).max()  # they slide
    metric = np.repeat(body.mass, 3)[:, None]
    assert np.allclose(columns.T @ (metric * columns), np.eye(RANK), atol=1e-10)


def test_what_sticks_does_not_move_at_all() -> None:
    body, shape, contacts, rows = touching("sticks")
    columns = contact_columns(body, shape, RANK, rows, opens=False)
    assert np.abs(columns.reshape(-1, 3, RANK)[contacts.vertices[:, 0]]).max() < 1e-10 * np.abs(columns).max()


def test_what_opens_breaks_the_constraints_in_some_columns_only() -> None:
    body, shape, _, rows = touching("opens")
    parts = np.linalg.svd(rows @ contact_columns(body, shape, 12, rows, opens=True), compute_uv=False)
    assert np.count_nonzero(parts > 1e-9 * parts[0]) == 12 // 3


def test_columns_that_open_answer_a_pull_on_a_face_and_modes_alone_do_not() -> None:
    body, shape, contacts, rows = touching("opens")
    pull = np.zeros((len(body.mass), 3))
    upper = contacts.normal[:, 1] > 0.0
    np.add.at(pull, contacts.vertices[upper, 0], contacts.normal[upper])
    stiffness = RestStiffness(body, shape)
    exact = float(pull.ravel() @ stiffness.spread(stiffness.solve(stiffness.map.unknowns(pull))).ravel())
    shares = []
    for own, opens in ((rows, True), (rows[:0], False)):
        U = contact_columns(body, shape, 12, own, opens=opens)
        K, f = U.T @ stiffness.spread(stiffness.matrix @ stiffness.gather(U)), U.T @ pull.ravel()
        shares.append(float(f @ np.linalg.solve(K, f)) / exact)
    assert 0.8 < shares[0] <= 1.0
    assert shares[1] < 0.5


def test_poses_without_contact_are_as_if_it_were_unknown_and_constraints_survive_alignment() -> None:
    body, rig = two_pads()
    poses = np.array([[0.0], TOUCH])
    plain = build_pose_bases(body, rig, poses, RANK)
    bound = build_pose_bases(body, rig, poses, RANK, maker=PoseColumns(SelfTouch(body.mesh, "slides")))
    assert np.array_equal(plain.columns[0], bound.columns[0])
    _, _, _, rows = touching("slides")
    assert np.abs(rows @ bound.columns[1]).max() < 1e-10 * np.abs(bound.columns[1]).max()
    assert np.abs(rows @ plain.columns[1]).max() > 0.1 * np.abs(plain.columns[1]).max()


def test_what_never_touches_and_what_is_not_known() -> None:
    body, rig = two_pads()
    y = body.mesh.vertices[:, 1]
    apart = ContactSettings(self_contact=True, ignored=((np.flatnonzero(y < 0.15), np.flatnonzero(y > 0.15)),))
    assert len(SelfTouch(body.mesh, "slides", apart).find(rig.positions(TOUCH))) == 0
    with pytest.raises(TrainingError, match="use one of sticks, slides, opens"):
        SelfTouch(body.mesh, "glues")
