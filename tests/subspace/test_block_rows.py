import numpy as np
import pytest

from supple.subspace.block_rows import BlockRows


@pytest.fixture
def rows() -> BlockRows:
    rng = np.random.default_rng(0)
    counts = np.array([2, 0, 5, 1, 3])  # one row is empty
    starts = np.concatenate([[0], np.cumsum(counts)])
    blocks = np.concatenate([np.sort(rng.choice(7, count, replace=False)) for count in counts]).astype(np.int32)
    return BlockRows(starts, blocks, rng.normal(size=(len(blocks), 4)))


def test_rows_act_as_their_matrix(rows: BlockRows) -> None:
    rng, A = np.random.default_rng(1), rows.matrix(28).toarray()
    q, fields = rng.normal(size=(28, 3)), rng.normal(size=(5, 3))
    np.testing.assert_allclose(rows.apply(q), A @ q, rtol=0, atol=1e-13)
    np.testing.assert_allclose(rows.apply(np.asfortranarray(q)), A @ q, rtol=0, atol=1e-13)
    np.testing.assert_allclose(rows.gather(fields, 28), A.T @ fields, rtol=0, atol=1e-13)


@pytest.mark.parametrize("chosen", [[3, 1, 2, 3], []])
def test_chosen_rows_are_those_of_the_matrix(rows: BlockRows, chosen: list[int]) -> None:
    few = np.array(chosen, np.int64)
    np.testing.assert_array_equal(rows.take(few).matrix(28).toarray(), rows.matrix(28).toarray()[few])
