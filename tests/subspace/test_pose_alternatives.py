"""What the bases of poses are compared with is a basis too, and a worse one."""

import numpy as np
import pytest
from pose_beams import bent_beam, fan

from supple.errors import TrainingError
from supple.subspace import PoseBases, build_pose_bases
from supple.subspace.pose_alternatives import fix_basis, pool_bases, warp_basis
from supple.subspace.pose_frequencies import PoseVibration

RANK, NEUTRAL, BENT = 12, 1, 2


@pytest.fixture(scope="module")
def bases() -> PoseBases:
    return build_pose_bases(*bent_beam("cantilever"), fan(135, 3), RANK, alignments=("world",))


def excess(bases: PoseBases, pose: int) -> float:
    """By how much the first frequency in one of the poses is too high."""
    found = PoseVibration(bent_beam("cantilever")[0], bases.rest[pose], count=2)
    return float(found.reduced(bases.columns[pose])[0] / found.exact[0] - 1.0)


def test_alternatives_keep_their_own_pose_and_are_stiffer_in_others(bases: PoseBases) -> None:
    body, _ = bent_beam("cantilever")
    assert excess(bases, BENT) < 1e-3
    for other in (warp_basis(body, bases, NEUTRAL), fix_basis(bases, NEUTRAL)):
        assert np.abs(other.columns[NEUTRAL] - bases.columns[NEUTRAL]).max() < 1e-9
        assert excess(other, BENT) > 0.2


def test_a_pool_of_all_columns_is_as_soft_as_each_pose_and_a_small_one_is_not(bases: PoseBases) -> None:
    assert excess(pool_bases(bases, 3 * RANK), BENT) < 1e-3
    assert excess(pool_bases(bases, 4), BENT) > 0.2
    metric = np.repeat(bases.mass, 3)[:, None]
    columns = pool_bases(bases, RANK).columns[0]
    assert np.allclose(columns.T @ (metric * columns), np.eye(RANK), atol=1e-9)
    with pytest.raises(TrainingError, match="bases of 3 poses"):
        pool_bases(bases, 5 * RANK)
