"""Bases in overlapping regions."""

import numpy as np
import pytest
from pose_beams import bent_beam

from pads import TOUCH, two_pads
from supple.errors import TrainingError
from supple.subspace.pose_columns import PoseColumns
from supple.subspace.pose_frequencies import PoseVibration
from supple.subspace.pose_models import build_pose_bases
from supple.subspace.regions import Region, Regions, find_regions
from supple.subspace.rest_stiffness import RestStiffness
from supple.subspace.self_touch import SelfTouch
from supple.subspace.static_responses import static_responses

ENDS = (Region("root", (0.1, 0.0, 0.0)), Region("tip", (0.8, 0.0, 0.0), (0.95, 0.0, 0.0)))


def test_regions_are_whole_at_their_handles_and_overlap() -> None:
    body, _ = bent_beam("core")
    regions = find_regions(body.mesh, ENDS)
    x = body.mesh.vertices[:, 0]
    assert regions.names == ("root", "tip")
    assert regions.weights.min() == 0.0
    assert (regions.weights[1, x > 0.97] > 0.9).all()
    assert (regions.weights[1, x < 0.05] == 0.0).all()
    assert (regions.weights.max(axis=0) > 0.5).all()  # nothing is left out
    assert ((regions.weights > 0.0).all(axis=0) & (np.abs(x - 0.45) < 0.1)).any()


def test_one_region_is_the_whole_body() -> None:
    body, rig = bent_beam("core")
    regions = find_regions(body.mesh, ENDS[:1])
    assert (regions.weights == 1.0).all()
    shape = rig.positions(np.array([0.5]))
    posed = body.posed(shape)
    whole, one = PoseColumns().make(posed, shape, 8), PoseColumns(regions=regions).make(posed, shape, 8)
    angles = np.linalg.svd(whole.T @ (np.repeat(body.mass, 3)[:, None] * one), compute_uv=False)
    assert angles.min() > 1.0 - 1e-8


def test_columns_are_zero_outside_fade_to_the_rim_and_are_independent() -> None:
    body, rig = bent_beam("core")
    regions = find_regions(body.mesh, ENDS)
    maker = PoseColumns(regions=regions)
    bases = build_pose_bases(body, rig, np.array([[0.0], [0.6]]), 12, maker=maker)
    assert bases.owners.tolist() == [0] * 6 + [1] * 6
    tets = body.mesh.tets
    for region in range(2):
        inside = regions.weights[region] > 0.0
        fields = bases.columns[:, :, bases.owners == region].reshape(2, len(body.mass), -1)
        assert not fields[:, ~inside].any()
        rim = np.unique(tets[~inside[tets].all(axis=1)])
        assert np.abs(fields[:, rim]).max() < 0.15 * np.abs(fields).max()
    for columns in bases.columns:
        mass = columns.T @ (np.repeat(body.mass, 3)[:, None] * columns)
        assert np.linalg.eigvalsh(mass)[0] > 0.05
        assert np.allclose(mass[:6, :6], np.eye(6), atol=1e-9)


def test_localised_modes_leave_no_seam() -> None:
    """Columns strain hardly at the rim of their region, and flesh pulled there less than elsewhere: where they are cut
    off instead of fading, both are worst at the rim."""
    body, rig = bent_beam("core")
    shape = rig.positions(np.array([0.5]))
    posed, tets, x = body.posed(shape), body.mesh.tets, rig.rest
    stiffness, inverse = RestStiffness(posed, shape), np.linalg.inv(shape[tets[:, 1:]] - shape[tets[:, :1]])
    pull = np.zeros((len(x), 3))
    pull[(np.abs(x[:, 0] - 0.45) < 0.06) & (x[:, 1] > 0.055), 1] = 1.0  # where the regions overlap

    def strain(U: np.ndarray) -> np.ndarray:
        """Largest derivative of columns in each tet, (t, k)."""
        fields = U.reshape(len(x), 3, -1)
        return np.abs(np.einsum("tbe,teak->tabk", inverse, fields[tets[:, 1:]] - fields[tets[:, :1]])).max(axis=(1, 2))

    faded = find_regions(body.mesh, ENDS)
    nearest = faded.weights.argmax(axis=0)
    at_rims, pulled = [], []
    for regions in (faded, Regions.of([(nearest == k) * 1.0 for k in range(2)])):
        U = PoseColumns(regions=regions).make(posed, shape, 24)
        inside = regions.weights[:, tets] > 0.0
        rims = inside.any(axis=2) & ~inside.all(axis=2)  # (2, t)
        sizes, owners = strain(U), np.repeat([0, 1], 12)
        at_rims.append(max(sizes[rims[owner], k].max() / sizes[:, k].max() for k, owner in enumerate(owners)))
        K = U.T @ stiffness.spread(stiffness.matrix @ stiffness.gather(U))
        answer = strain(U @ np.linalg.solve(K, U.T @ pull.reshape(-1, 1)))[:, 0]
        pulled.append(answer[rims.any(axis=0)].max() / answer.max())
    assert at_rims[0] < 0.2
    assert at_rims[1] == 1.0
    assert pulled[0] < 0.7
    assert pulled[1] == 1.0


def test_a_poke_in_one_region_hardly_moves_another() -> None:
    body, rig = bent_beam("core")
    shape = rig.rest
    x = shape[:, 0]
    poke = np.zeros((len(body.mass), 3))
    poke[int(np.argmax(x + shape[:, 1])), 1] = 1.0
    stiffness = RestStiffness(body, shape)
    far = []
    for maker in (PoseColumns(regions=find_regions(body.mesh, ENDS)), PoseColumns()):
        U = maker.make(body, shape, 24)
        K = U.T @ stiffness.spread(stiffness.matrix @ stiffness.gather(U))
        u = np.linalg.norm((U @ np.linalg.solve(K, U.T @ poke.ravel())).reshape(-1, 3), axis=1)
        far.append(u[x < 0.3].max() / u.max())
    assert far[0] < 0.01
    assert far[0] < 0.2 * far[1]


def test_the_whole_body_may_be_a_region_beside_others() -> None:
    # A beam with a free end bends as one, which no region does by itself, and cut responses not quite
    body, rig = bent_beam("cantilever")
    vibration = PoseVibration(body, rig.rest, count=3)
    errors = []
    for handles in (ENDS, (*ENDS, Region("all", None, rank=6))):
        U = PoseColumns(regions=find_regions(body.mesh, handles)).make(body, rig.rest, 18)
        errors.append(np.abs(vibration.reduced(U) / vibration.exact - 1.0).max())
    assert 0.02 < errors[0] < 0.1
    assert errors[1] < 0.01


def test_regions_together_respond_to_an_acceleration_as_the_body_does() -> None:
    body, rig = bent_beam("core")
    shape = rig.positions(np.array([0.5]))
    posed, metric = body.posed(shape), np.repeat(body.mass, 3)
    U, answers = (
        PoseColumns(regions=find_regions(body.mesh, ENDS)).make(posed, shape, 12),
        static_responses(posed, shape),
    )
    missed = answers - U @ np.linalg.lstsq(np.sqrt(metric)[:, None] * U, np.sqrt(metric)[:, None] * answers)[0]
    assert np.abs(missed).max() < 1e-9 * np.abs(answers).max()


def test_contact_holds_in_regions_too() -> None:
    # Eqs. (34) and (35): a region for each pad, and contact between them
    body, rig = two_pads()
    halves = Regions.of([(body.mesh.vertices[:, 1] < 0.15) * 1.0, (body.mesh.vertices[:, 1] > 0.15) * 1.0], [4, 6])
    touch = SelfTouch(body.mesh, "slides")
    shape = rig.positions(TOUCH)
    columns = PoseColumns(touch, halves).make(body.posed(shape), shape, 99)
    assert columns.shape[1] == 10
    assert np.abs(touch.forbid(touch.find(shape)) @ columns).max() < 1e-10 * np.abs(columns).max()


def test_ranks_are_shared_and_bad_regions_are_refused() -> None:
    body, _ = bent_beam("core")
    weights = np.ones((3, 4))
    assert Regions.of(weights).share(11) == (4, 4, 3)
    assert Regions.of(weights, [5, None, 2]).share(11) == (5, 4, 2)
    with pytest.raises(TrainingError, match=r"leaves 0 columns for 1 regions .* raise method\.rank"):
        Regions.of(weights, [5, None, 6]).share(11)
    with pytest.raises(TrainingError, match="at least one point or segment"):
        find_regions(body.mesh, ())
    with pytest.raises(TrainingError, match="make no sense"):
        find_regions(body.mesh, ENDS, fade=1.5)
