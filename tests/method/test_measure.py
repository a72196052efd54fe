"""Errors between motions are what their definitions say."""

import numpy as np
import pytest
from numpy.typing import NDArray

from supple.errors import SceneError
from supple.method.measure import Errors, Measure, measure_errors

FloatArray = NDArray[np.float64]
SIZE = 2.0


@pytest.fixture
def motion() -> tuple[FloatArray, FloatArray, FloatArray]:
    """A start (n, 3), masses (n,) and eight frames (t, n, 3) of a body that bends."""
    rng = np.random.default_rng(1)
    start, mass = rng.uniform(-1, 1, (30, 3)), rng.uniform(0.5, 2, 30)
    bend = np.zeros((30, 3))
    bend[:, 1] = start[:, 0] ** 2
    return start, mass, np.array([start + np.sin(t) * bend for t in range(8)])


def turned(points: FloatArray, angle: float) -> FloatArray:
    c, s = np.cos(angle), np.sin(angle)
    return points @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]]).T


def disturbed(frames: FloatArray, seed: int = 2) -> FloatArray:
    return frames + 0.01 * np.random.default_rng(seed).standard_normal(frames.shape)


def assert_same(a: Errors, b: Errors, lengths: float = 1.0) -> None:
    """Relative figures agree; lengths of `a` are so many times those of `b`."""
    np.testing.assert_allclose(a.by_frame, b.by_frame, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(a.greatest, lengths * b.greatest, rtol=1e-9, atol=1e-12)
    assert a.relative == pytest.approx(b.relative, rel=1e-9)
    assert a.of_deformation == pytest.approx(b.of_deformation, rel=1e-6)
    assert a.deformation == pytest.approx(b.deformation, rel=1e-6)


def test_equal_motions_have_no_error(motion) -> None:
    start, mass, frames = motion
    errors = measure_errors(frames, frames, start, mass, SIZE)
    assert errors.relative == errors.of_deformation == 0.0
    assert not errors.by_frame.any()
    assert not errors.greatest.any()
    assert not errors.rms.any()


def test_a_motion_that_is_a_tenth_too_small_is_a_tenth_off(motion) -> None:
    start, mass, frames = motion
    errors = measure_errors(start + 0.9 * (frames - start), frames, start, mass, SIZE)
    assert errors.relative == pytest.approx(0.1)


def test_errors_of_a_moved_body_follow_their_formulas() -> None:
    start, mass = np.array([[0.0, 0, 0], [1.0, 0, 0]]), np.array([1.0, 3.0])
    reference = np.array([start + [0, 2.0, 0], start + [0, 4.0, 0]])
    frames = reference.copy()
    frames[0, 1, 2] += 0.2
    frames[1, 0, 0] -= 0.4
    errors = measure_errors(frames, reference, start, mass, size=5.0)
    travel = np.sqrt((4 + 16) / 2)
    by_frame = np.sqrt([0.75 * 0.04, 0.25 * 0.16]) / travel
    np.testing.assert_allclose(errors.by_frame, by_frame)
    assert errors.motion == pytest.approx(travel)
    assert errors.relative == pytest.approx(np.sqrt(np.mean(by_frame**2)))
    np.testing.assert_allclose(errors.greatest, [0.2, 0.4])
    np.testing.assert_array_equal(errors.vertex, [1, 0])
    np.testing.assert_allclose(errors.rms, np.sqrt([0.02, 0.08]) / 5.0)
    np.testing.assert_allclose(errors.by_vertex, [0.4, 0.2])
    assert errors.worst == 1
    assert errors.deformation == pytest.approx(0.0, abs=1e-15)
    assert errors.of_deformation is None, "a body that only travels has no deformation to be relative to"


def test_relative_errors_do_not_depend_on_the_unit_of_length_or_mass(motion) -> None:
    start, mass, frames = motion
    near = measure_errors(disturbed(frames), frames, start, mass, SIZE)
    far = measure_errors(1e3 * disturbed(frames), 1e3 * frames, 1e3 * start, 7 * mass, 1e3 * SIZE)
    assert_same(far, near, lengths=1e3)
    np.testing.assert_allclose(far.rms, near.rms)


def test_a_frame_that_passes_the_start_does_not_blow_up(motion) -> None:
    start, mass, frames = motion
    assert np.array_equal(frames[0], start)
    errors = measure_errors(disturbed(frames), frames, start, mass, SIZE)
    assert errors.by_frame[0] < 2 * errors.relative


def test_deformation_is_what_no_rigid_motion_explains(motion) -> None:
    start, mass, _ = motion
    tumbling = np.array([turned(start, 0.7 * t) + [0, -t * t, 0.5 * t] for t in range(1, 6)])
    rigid = measure_errors(disturbed(tumbling), tumbling, start, mass, SIZE)
    assert rigid.deformation < 1e-12
    assert rigid.of_deformation is None
    squashed = measure_errors(disturbed(tumbling), tumbling * [1, 1, 0.9], start, mass, SIZE)
    assert squashed.of_deformation is not None
    assert squashed.of_deformation > 5 * squashed.relative


def test_frames_one_by_one_equal_all_at_once(motion) -> None:
    start, mass, frames = motion
    other = disturbed(frames)
    measure = Measure(start, mass, SIZE)
    for x, reference in zip(other, frames, strict=True):
        measure.add(x.copy(), reference.copy())
    streamed, whole = measure.finish(), measure_errors(other, frames, start, mass, SIZE)
    for name in ("relative", "by_frame", "greatest", "vertex", "rms", "by_vertex", "motion", "deformation"):
        np.testing.assert_array_equal(getattr(streamed, name), getattr(whole, name))


def test_a_patch_is_measured_as_if_it_were_the_body(motion) -> None:
    start, mass, frames = motion
    other, patch = disturbed(frames), np.array([3, 7, 12, 13, 29])
    chosen = measure_errors(other, frames, start, mass, SIZE, patch)
    alone = measure_errors(other[:, patch], frames[:, patch], start[patch], mass[patch], SIZE)
    assert_same(chosen, alone)
    np.testing.assert_array_equal(chosen.vertex, patch[alone.vertex])


def test_a_reference_that_stands_still_is_refused_unless_both_do(motion) -> None:
    start, mass, frames = motion
    still = np.array([start, start])
    assert measure_errors(still, still, start, mass, SIZE).relative == 0.0
    with pytest.raises(SceneError, match="does not move"):
        measure_errors(frames[1:3], still, start, mass, SIZE)


def test_what_cannot_be_measured_is_refused(motion) -> None:
    start, mass, frames = motion
    with pytest.raises(SceneError, match="no frame"):
        Measure(start, mass, SIZE).finish()
    with pytest.raises(SceneError, match="one mesh"):
        measure_errors(frames[:, :-1], frames, start, mass, SIZE)
    with pytest.raises(SceneError, match="no vertex"):
        Measure(start, mass, SIZE, np.empty(0, np.intp))
