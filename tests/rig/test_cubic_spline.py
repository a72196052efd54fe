"""Cubics through points against SciPy's own."""

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline, CubicSpline

from supple.rig.cubic_spline import hermite_pieces, spline_pieces

rng = np.random.default_rng(4)


@pytest.mark.parametrize("count", [2, 3, 4, 5, 40])
def test_pieces_are_those_of_scipy(count):
    times = np.cumsum(rng.uniform(0.1, 2.0, count))
    points, slopes = rng.standard_normal((2, count, 7))
    wanted = CubicSpline(times, points).c[::-1]
    found = spline_pieces(times, points)
    np.testing.assert_allclose(found[: len(wanted)], wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())
    assert np.abs(found[len(wanted) :]).max(initial=0.0) < 1e-12 * np.abs(wanted).max()
    wanted = CubicHermiteSpline(times, points, slopes).c[::-1]
    np.testing.assert_allclose(hermite_pieces(times, points, slopes), wanted, atol=1e-13 * np.abs(wanted).max())


def test_a_spline_through_a_cubic_is_that_cubic():
    times = np.array([0.0, 0.3, 1.0, 1.2, 2.0, 2.5])
    points = np.stack([times**3 - times, 2.0 * times**2 + 1.0], axis=1)
    at = times[:-1]
    wanted = [[at**3 - at, 3 * at**2 - 1, 3 * at, np.ones(5)], [2 * at**2 + 1, 4 * at, np.full(5, 2.0), np.zeros(5)]]
    np.testing.assert_allclose(spline_pieces(times, points), np.transpose(wanted, (1, 2, 0)), atol=1e-11)
