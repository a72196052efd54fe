import numpy as np
import pytest

from supple.mesh.adjacency import unique_edges, vertex_graph


@pytest.mark.parametrize(("corners", "cells"), [(4, 200), (3, 10), (4, 0)])
def test_neighbours_are_the_ends_of_all_edges(corners: int, cells: int) -> None:
    rng, count = np.random.default_rng(0), 40  # more vertices than ten triangles reach
    found = np.reshape([rng.choice(count, corners, replace=False) for _ in range(cells)], (-1, corners))
    joined = np.zeros((count, count), bool)
    joined[tuple(unique_edges(found.astype(np.int32), count).T)] = True
    joined |= joined.T
    starts, neighbours = vertex_graph(found.astype(np.int32), count)
    np.testing.assert_array_equal(np.diff(starts), joined.sum(axis=1))
    np.testing.assert_array_equal(neighbours, np.nonzero(joined)[1])
