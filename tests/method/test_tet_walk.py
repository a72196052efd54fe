"""Walks from tet to tet find what a search of all tets finds, and read little for it."""

import numpy as np
from rig_helpers import skinned

from supple.contact.rule_look import Skin
from supple.contact.self_contact import SelfContact
from supple.contact.tet_walk import Shallows, walk_all


def bent_cylinder():
    """A cylinder whose skin is bent into its own crease, its contacts, and the bones of its triangles."""
    character, rig, _, body = skinned("cylinder", 14)
    own = SelfContact(body.mesh)
    heaviest = np.argmax(rig.influences.weights, axis=1)
    bones = rig.influences.joints[np.arange(len(heaviest)), heaviest]
    owners = np.sort(bones[own.triangles], axis=1)[:, 1].astype(np.int64)
    return rig, own, owners, character.poses["folded"]


def walk(own, owners, vertices, triangles, x, known=None, last=None):
    """All walks, with positions known where they are said to be, by default everywhere."""
    slots = np.full(len(x), -1, np.int32)
    some = np.arange(len(x)) if known is None else known
    slots[some] = np.arange(len(some))
    last = np.full(len(vertices), -1, np.int32) if last is None else last
    room = np.empty(len(x), np.int32)
    return walk_all(vertices, triangles, last, x, slots, len(some), room, Skin.of(own), Shallows.of(own, owners))


def test_a_walk_ends_where_a_search_of_all_tets_does() -> None:
    """Begun where the vertex touched a little earlier on its way into the crease, up to one and a half edges deep."""
    rig, own, owners, pose = bent_cylinder()
    met, deepest = 0, 0.0
    before = own.find(rig.positions(0.5 * pose))
    for share in np.linspace(0.52, 0.8, 8):
        x = rig.positions(share * pose)
        now = own.find_brute(x)
        _, old, new = np.intersect1d(before.vertex, now.vertex, return_indices=True)
        inside = (owners[before.triangle[old]] == owners[now.triangle[new]]) & (now.tet[new] >= 0)
        old, new = old[inside], new[inside]
        held = walk(own, owners, now.vertex[new], before.triangle[old], x)
        np.testing.assert_array_equal(held.tet, now.tet[new])
        again = walk(own, owners, now.vertex[new], before.triangle[old], x, last=held.tet)
        np.testing.assert_array_equal(again.tet, held.tet)
        met, deepest, before = met + len(new), max(deepest, now.depth[new].max()), now
    assert met > 100
    assert deepest > 1.3 * own.edge


def test_what_no_tet_holds_is_not_found() -> None:
    rig, own, owners, pose = bent_cylinder()
    x = rig.positions(0.6 * pose)
    now = own.find_brute(x)
    others = np.setdiff1d(own.vertices, now.vertex).astype(np.int32)
    triangles = np.random.default_rng(0).integers(len(own.triangles), size=len(others)).astype(np.int32)
    assert (walk(own, owners, others, triangles, x).tet == -1).all()


def test_a_walk_asks_for_what_it_does_not_know() -> None:
    """And for little of the body: one or two more vertices a tet."""
    rig, own, owners, pose = bent_cylinder()
    x = rig.positions(0.7 * pose)
    now = own.find(x)
    known, rounds = np.unique(own.triangles[now.triangle]), 0
    while rounds < 12:
        partly = np.full_like(x, np.nan)
        partly[known] = x[known]
        partly[now.vertex] = x[now.vertex]
        held = walk(own, owners, now.vertex, now.triangle, partly, known)
        if not len(held.wanted):
            break
        known, rounds = np.concatenate([known, held.wanted]), rounds + 1
    assert rounds > 0
    assert len(known) < len(x) / 2
    np.testing.assert_array_equal(held.triangle, walk(own, owners, now.vertex, now.triangle, x).triangle)
