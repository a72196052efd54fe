"""Regions in a step: elements know the coordinates of the regions that reach them, and nothing changes but the time."""

from dataclasses import replace
from functools import cache

import numpy as np
from posespace_helpers import bend_beam, drive, whole_rules

from supple.method.posespace.model import assemble
from supple.method.posespace.products import find_blocks, mix_products, pack_products
from supple.method.posespace.regions import POSED, pack_regions
from supple.method.posespace.solver import PoseSpaceSolver
from supple.method.posespace.surface import PoseSurface
from supple.subspace.alignment import Alignment
from supple.subspace.pose_columns import PoseColumns
from supple.subspace.pose_models import build_pose_bases
from supple.subspace.regions import Region, find_regions

AT = (0.15, 0.5, 0.85)
PLAIN: tuple[Alignment, ...] = ("paper",)  # these tests are of products: which kind of columns is best is not theirs


@cache
def model(regions: int = 3):
    body, rig, _ = bend_beam(12, damping=(0.5, 0.001))
    handles = [Region(f"part {x}", (x, 0.06, 0.08)) for x in AT[:regions]]
    maker = PoseColumns(regions=find_regions(body.mesh, handles))
    bases = build_pose_bases(body, rig, np.radians([[0.0], [40.0]]), 12, maker=maker, alignments=PLAIN)
    return assemble(body, rig, bases, whole_rules(body, 2))


def test_elements_stand_in_groups_that_know_few_coordinates() -> None:
    one = model()
    packed = pack_regions(one.owners, one.edges)
    known = packed.groups[:, 3] - packed.groups[:, 2]
    assert set(known) <= {0, 4, 8, 12}
    assert (known < 12).sum() > (known == 12).sum()
    assert packed.groups[-1, 1] == len(one.elements)
    everything = pack_regions(one.owners[:0], one.edges)
    half, count = len(one.elements) // 2, len(one.elements)
    assert everything.groups.tolist() == [
        [0, half, 0, 12, 16],
        [half, count, 12, 24, 16],
    ]  # one for each of two threads
    assert np.array_equal(everything.edges.reshape(*one.edges.shape[:3], -1)[..., :12], one.edges)


def test_sparse_products_are_the_dense_ones() -> None:
    one = model()
    packed = pack_regions(one.owners, one.edges)
    rng = np.random.default_rng(3)
    dense = one.edges[:, 0].reshape(-1, 12).astype(float)
    A = np.zeros((len(one.elements), 9, packed.width), np.float32)
    for own, (begin, width) in zip(A, packed.spans, strict=True):
        own[:, :width] = packed.edges[begin : begin + 9 * width].reshape(9, width)
    A = A.reshape(-1, packed.width)
    G = (A, 12, packed.groups, packed.members)
    q, P, F, out = rng.normal(size=12), rng.normal(size=len(A)), np.empty(len(A)), np.empty(12)
    POSED.strain(G, q, F)
    POSED.gather(P, G, out)
    assert np.abs(F - dense @ q).max() < 1e-13 * np.abs(F).max()
    assert np.abs(out - P @ dense).max() < 1e-13 * np.abs(out).max()


def test_products_of_regions_that_do_not_meet_are_left_out_and_nothing_else() -> None:
    one, rng = model(), np.random.default_rng(3)
    blocks = find_blocks(one.owners, one.gram)
    assert {(0, 4, 8, 12), (8, 12, 0, 4)}.isdisjoint(map(tuple, blocks.tolist()))
    packed = pack_products(blocks, one.gram)
    assert packed.shape == (3, 7 * 16)
    w, before, y = rng.random(2), rng.random((2, 2)), rng.standard_normal((2, 12))
    M, carried = np.empty((12, 12)), np.empty((2, 12))
    mix_products(packed, blocks, w, before, y, M, carried)
    U = one.columns.reshape(2, -1, 12).astype(float)
    heavy = np.repeat(bend_beam(12, damping=(0.5, 0.001))[0].mass, 3)[:, None] * np.tensordot(w, U, 1)
    assert np.abs(M - heavy.T @ np.tensordot(w, U, 1)).max() < 1e-6  # columns are in single precision
    for past, b, q in zip(carried, before, y, strict=True):
        assert np.abs(past - heavy.T @ (np.tensordot(b, U, 1) @ q)).max() < 1e-6


def test_surfaces_of_regions_leave_zeros_out() -> None:
    body, rig, held = bend_beam(12, damping=(0.5, 0.001))
    solver = PoseSpaceSolver(body, rig, model())
    state = drive(solver, held, lambda time: np.array([4.0 * time]), 1 / 30, 4)[-1]
    vertices = body.mesh.surface_vertices()
    surface, exact = PoseSurface(rig, solver.model, vertices), solver.positions(state, vertices)
    moved = np.abs(exact - rig.positions(state.poses[0], vertices)).max()
    assert np.abs(surface.positions(state) - exact).max() < 2e-4 * moved
    whole = PoseSurface(rig, replace(model(), columns=np.ones_like(model().columns)), vertices)
    assert surface.nbytes < 0.8 * whole.nbytes


def test_steps_with_regions_are_those_without_knowing_of_them() -> None:
    body, rig, held = bend_beam(12, damping=(0.5, 0.001))
    ends = []
    for one in (model(), replace(model(), owners=model().owners[:0])):
        solver = PoseSpaceSolver(body, rig, one, tolerance=1e-9)
        ends.append(drive(solver, held, lambda time: np.array([np.sin(4.0 * time)]), 1 / 60, 20)[-1])
    assert len(model().owners) == 12
    # Damping takes stiffness in single precision, whose sums have another order in each of the 20 steps
    assert np.abs(ends[0].y - ends[1].y).max() < 20 * np.finfo(np.float32).eps * np.abs(ends[1].y).max()


def test_one_region_is_the_model_of_the_whole_body() -> None:
    body, rig, held = bend_beam(12, damping=(0.5, 0.001))
    assert len(model(1).owners) == 0
    bases = build_pose_bases(body, rig, np.radians([[0.0], [40.0]]), 12, alignments=PLAIN)
    moved = []
    for one in (model(1), assemble(body, rig, bases, whole_rules(body, 2))):
        solver = PoseSpaceSolver(body, rig, one, tolerance=1e-8)
        states = drive(solver, held, lambda time: np.array([np.sin(4.0 * time)]), 1 / 60, 20)
        moved.append(solver.positions(states[-1]) - rig.positions(states[-1].poses[0]))
    assert np.abs(moved[0] - moved[1]).max() < 1e-4 * np.abs(moved[1]).max()
