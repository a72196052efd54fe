"""Contacts of a whole step, foreseen as it begins."""

import numpy as np

from supple.contact import Box, Plane, Sphere
from supple.contact.approach import approach_colliders, hold_up
from supple.solve import Inputs, Moment
from supple.solve.placement import Placement


def look(collider, begin, end, first=None, last=None, **settings):
    begin, end = np.atleast_2d(np.array(begin, float)), np.atleast_2d(np.array(end, float))
    places = first or Placement.still(), last or Placement.still()
    step = Inputs(*(Moment(0.1 * k, np.zeros((0, 3)), (), (place,)) for k, place in enumerate(places)))
    return approach_colliders((collider,), step, np.arange(len(begin), dtype=np.int32), begin, end, 0.01, **settings)


def test_only_what_comes_near_is_found():
    begin = [[0.0, 0.005, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, -0.1, 0.0]]
    end = [[0.0, 0.5, 0.0], [0.0, -0.1, 0.0], [0.0, 0.9, 0.0], [0.0, -0.1, 0.0]]
    found = look(Plane(), begin, end)
    assert found.vertices[:, 0].tolist() == [0, 1, 3]
    np.testing.assert_array_equal(found.normal, np.tile([0.0, 1.0, 0.0], (3, 1)))
    np.testing.assert_allclose(found.offset[:, 1], 0.0)


def test_a_thin_box_that_is_passed_through_is_met_on_the_side_it_is_come_from():
    thin = Box((1.0, 0.02, 1.0))
    found = look(thin, [[0.1, 0.3, 0.0], [2.0, 0.3, 0.0]], [[0.1, -0.3, 0.0], [2.0, -0.3, 0.0]])
    assert found.vertices[:, 0].tolist() == [0]
    np.testing.assert_allclose(found.normal[0], [0.0, 1.0, 0.0])


def test_who_passes_beside_a_sphere_does_not_touch_it():
    found = look(Sphere(0.5), [[0.8, 0.6, 0.0]], [[0.8, -0.6, 0.0]])
    assert len(found) == 0


def test_points_of_a_moving_collider_have_its_speed_and_thickness_lifts_them():
    last = Placement(np.eye(3), np.array([0.02, 0.01, 0.0]))
    found = look(Plane(), [[0.0, 0.002, 0.0]], [[0.0, 0.002, 0.0]], last=last, thickness=0.003)
    np.testing.assert_allclose(found.velocity, [[0.2, 0.1, 0.0]])
    np.testing.assert_allclose(found.offset[0, 1], 0.013)


def test_what_held_a_vertex_up_does_so_again_but_no_more_than_that():
    coast, loaded = np.zeros((4, 3)), np.tile([0.0, -0.01, 0.0], (4, 1))
    again = np.array([[0.0, -0.01, 0.0], [0.0, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, -0.004, 0.0]])
    end = hold_up(coast, loaded, again)  # falls freely, rests, was stopped by an impact, is held up in part
    np.testing.assert_allclose(end[:, 1], [-0.01, 0.0, 0.0, -0.004], atol=1e-15)
    np.testing.assert_array_equal(hold_up(coast, coast, again), coast)  # without loads nothing is taken away
