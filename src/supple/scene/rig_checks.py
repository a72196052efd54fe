"""Checks of a scene's rig, made before long work starts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from supple.errors import MeshError
from supple.scene.build import Stage
from supple.scene.finding import Finding

__all__ = ["check_held", "check_posed_rest", "check_start", "check_time"]

MOST_POSES = 48  #: poses of a run at which its rest shapes are looked at
MUCH = 0.5  #: share of the vertices that bones may hold before flesh has little left to do


def check_held(stage: Stage) -> Iterator[Finding]:
    """Bones that hold most of a mesh, because it is coarse."""
    rigging = stage.drive.rigging
    if rigging is None:
        return
    share = len(rigging.held.pins.vertices) / len(stage.mesh.vertices)
    if share > MUCH:
        yield Finding(
            "warning" if share == 1.0 else "note",
            "rig",
            f"the rig holds {100 * share:.0f} % of the vertices, which leaves little to be soft: use a finer mesh, or "
            "hold less.",
        )


def check_time(stage: Stage) -> Iterator[Finding]:
    """A motion that is over before the run is."""
    rigging, time = stage.drive.rigging, stage.scene.time
    if rigging is None or rigging.course.motion.gain is not None or not rigging.course.moves:
        return
    end, last = rigging.course.motion.end, time.frames / time.fps
    if end < last - 1.0 / time.fps:
        yield Finding(
            "note",
            "motion",
            f"the motion is over at {end:.3g} s and the run at {last:.3g} s; in between the rig stands still, unless "
            "motion.loop is true.",
        )


def check_start(stage: Stage) -> Iterator[Finding]:
    """Flesh that starts in a pose without time to settle in it."""
    rigging, time = stage.drive.rigging, stage.scene.time
    if rigging is None or time.preroll or time.integrator == "static" or rigging.rest == "posed":
        return
    if not np.array_equal(rigging.course.pose(0.0), rigging.rig.neutral):
        yield Finding(
            "note",
            "rig",
            "the run begins in a pose other than the neutral one, so the flesh starts skinned and settles while it is "
            f"seen: set time.preroll = {max(round(time.fps), 1)}.",
        )


def check_posed_rest(stage: Stage) -> Iterator[Finding]:
    """Poses in which skinning turns tetrahedra inside out, where these are to be rest shapes."""
    rigging, time = stage.drive.rigging, stage.scene.time
    if rigging is None or rigging.rest == "neutral":
        return
    frames = np.arange(-time.preroll, time.frames + 1)
    for frame in frames[:: 1 + len(frames) // MOST_POSES]:
        try:
            rigging.rest_body(stage.body, frame / time.fps)
        except MeshError as error:
            yield Finding("error", "rig", f'frame {frame}: with rest = "posed" {error}')
            return
