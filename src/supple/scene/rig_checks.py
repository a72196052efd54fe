"""Checks of a scene's rig, made before long work starts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from supple.errors import MeshError
from supple.scene.finding import Finding
from supple.scene.joint_ranges import Beyond
from supple.scene.stage import Stage

__all__ = ["check_held", "check_posed_rest", "check_ranges", "check_start", "check_time"]

MOST_POSES = 48  #: poses of a run at which its rest shapes are looked at
SLACK = 3.0  #: degrees by which a joint may leave its range before it is told: between two poses within it may
MOST_NAMED = 3  #: joints beyond their ranges that are told one by one, the worst
AXES = ("x axis or hinge", "y axis or length", "z axis or side")
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
            stage.drive.rest_body(frame / time.fps)
        except MeshError as error:
            remedy = " Or leave out rig.fit." if stage.scene.rig is not None and stage.scene.rig.fit is False else ""
            yield Finding("error", "rig", f'frame {frame}: with rest = "posed" {error}{remedy}')
            return


def check_ranges(stage: Stage) -> Iterator[Finding]:
    """Joints that a motion turns farther than they can."""
    rigging, time = stage.drive.rigging, stage.scene.time
    if rigging is None or not rigging.ranges.names:
        return
    worst: dict[str, tuple[int, Beyond]] = {}
    for frame in range(time.frames + 1):
        for found in rigging.ranges.beyond(rigging.course.pose(frame / time.fps), SLACK):
            if found.joint not in worst or found.excess > worst[found.joint][1].excess:
                worst[found.joint] = frame, found
    for joint, (frame, found) in sorted(worst.items(), key=lambda entry: -entry[1][1].excess)[:MOST_NAMED]:
        yield Finding(
            "warning",
            "ranges",
            f"at frame {frame} joint '{joint}' is turned by {found.angle:.0f} degrees about its {AXES[found.axis]}, "
            f"where its range ends at {found.limit:.0f}: change the motion, or set motion.clamp = true.",
        )
    if len(worst) > MOST_NAMED:
        others = ", ".join(sorted(worst, key=lambda joint: -worst[joint][1].excess)[MOST_NAMED:])
        yield Finding("warning", "ranges", f"joints {others} leave their ranges as well: set motion.clamp = true.")
