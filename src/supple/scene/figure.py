"""A character as a scene takes it: what of it is simulated, what is drawn, and what rides along."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.errors import SceneError, SuppleWarning
from supple.io.assembled import RigFiles, assemble_character
from supple.io.character import Character, Clip, Part, tell_choice
from supple.io.load_character import load_character
from supple.mesh import TetMesh, TriMesh, weld_points
from supple.mesh.checks import plural
from supple.rig import Influences
from supple.rig.inside import extend_inside, sample_surface

__all__ = ["Figure", "choose_body", "filled", "make_figure"]

FloatArray = NDArray[np.float64]
SEAM = 1e-6  #: share of a character's size within which vertices of two parts are one
SHARED = 3  #: vertices that make two parts one
LARGE = 0.05  #: share of the body's area from which a part on joints of its own belongs to it


@dataclass(frozen=True, eq=False)
class Figure:
    """A character and its body."""

    character: Character
    body: TriMesh
    """The surface that is filled and simulated [m]: some parts, joined where they touch."""
    influences: Influences | None
    """Weights of the body's vertices."""
    targets: Mapping[str, FloatArray]
    """Offsets [m] of the body's vertices in blend shapes, (n, 3), by "PART.SHAPE"."""
    drawn: TriMesh
    """All parts [m], vertices and polygons in the order of the file, a group each."""
    riders: NDArray[np.bool_]
    """Which of the drawn vertices belong to no part of the body, (n,)."""
    notes: tuple[str, ...]

    def shares(self, clip: Clip) -> dict[str, FloatArray]:
        """Shares of the body's blend shapes in the frames of a clip, (k,), where they are ever mixed in."""
        found = {}
        for number, part in enumerate(self.character.parts):
            for column, name in zip(clip.shares.get(number, np.zeros((0, 0))).T, part.targets, strict=False):
                if f"{part.name}.{name}" in self.targets and column.any():
                    found[f"{part.name}.{name}"] = column
        return found

    def shapes(self, mesh: TetMesh) -> dict[str, FloatArray]:
        """The blend shapes carried into the tetrahedra that fill the body: positions [m], (v, 3), by name."""
        skin = mesh.vertices[mesh.surface_vertices()]
        with filled():
            return {
                name: mesh.vertices + extend_inside(mesh, sample_surface(self.body, offsets, skin, mesh.size()))
                for name, offsets in self.targets.items()
            }


@contextmanager
def filled() -> Iterator[None]:
    """Nothing is said of tetrahedra far from the surface that they fill: there it has a hole."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)
        yield


def make_figure(file: Path, names: Sequence[str] | None, metres: float, rig: RigFiles | None = None) -> Figure:
    """The character of a file in units of `metres` with the parts of these names, or all, as its body.

    With a `rig` in files of its own nothing but the body is drawn.
    """
    character = load_character(file, metres) if rig is None else assemble_character(file, rig, metres, names)
    known = list(dict.fromkeys(part.name for part in character.parts))
    names = known if names is None else names
    for name in names:
        if name not in known:
            raise SceneError(f"mesh.parts: {file} has no mesh '{name}': {tell_choice(name, known)}")
    chosen = [part for part in character.parts if part.name in names]
    if not chosen:
        raise SceneError(f"mesh.parts names no mesh of {file}: it has {', '.join(known)}.")
    body, influences, targets = _join(chosen)
    kept = [k for k, part in enumerate(character.parts) if part.name in names or _rides(part, influences, character)]
    apart = [part.name for k, part in enumerate(character.parts) if k not in kept]
    character = character.keep(kept)
    drawn = _draw(character.parts)
    riders = np.repeat([part.name not in names for part in character.parts], _sizes(character.parts))
    others = [name for name in known if name not in names and name not in apart]
    notes = [_tell(character), *character.notes]
    if others:
        ride = "mesh rides" if len(others) == 1 else "meshes ride"
        notes.append(f"{len(others)} other {ride} along: {', '.join(others)}")
    if apart:
        hang, are = ("mesh hangs", "is") if len(apart) == 1 else ("meshes hang", "are")
        names_apart = ", ".join(dict.fromkeys(apart))
        notes.append(f"{len(apart)} {hang} on no joint of the body and {are} left out: {names_apart}")
    if not body.is_closed():
        notes.append("the body's surface has holes: they are closed where it is filled")
    return Figure(character, body, influences, targets, drawn, riders, tuple(notes))


def _tell(character: Character) -> str:
    """What the file holds, its unit, axis and rates, in a line."""
    parts, joints = len(character.parts), 0 if character.skeleton is None else len(character.skeleton)
    clips = [f"{clip.name} ({len(clip.times)} frames at {clip.fps:g} a second)" for clip in character.clips]
    return (
        f"{Path(character.file).name}: {plural(parts, 'mesh', 'meshes')}, {plural(joints, 'joint')}, units of "
        f"{character.metres_per_unit:g} m, {character.up_axis} up; clips: {', '.join(clips) or 'none'}"
    )


def _rides(part: Part, body: Influences | None, character: Character) -> bool:
    """Whether most of a part hangs on a skeleton that the body hangs on, too."""
    if part.influences is None or body is None or character.skeleton is None:
        return False
    parents = character.skeleton.parents
    roots = np.arange(len(parents))
    for k, parent in enumerate(parents):
        roots[k] = k if parent < 0 else roots[parent]
    return bool(np.isin(roots[part.influences.main_joints()], roots[body.main_joints()]).mean() > 0.5)


def choose_body(character: Character) -> list[str]:
    """Names of the parts that make up the body.

    The skinned one with the largest surface, what shares vertices with it, and large parts on joints of their own:
    heads and hands that are meshes by themselves.
    """
    parts = [part for part in character.parts if part.influences is not None] or list(character.parts)
    areas = [_area(part) for part in parts]
    grid = SEAM * float(np.ptp(np.concatenate([part.vertices for part in parts]), axis=0).max())
    keys = [{tuple(row) for row in np.round(part.vertices / grid).astype(np.int64)} for part in parts]
    first = int(np.argmax(areas))
    body, total = {first}, areas[first]
    grew = True
    while grew:
        grew = False
        for k in sorted(set(range(len(parts))) - body):
            touches = any(len(keys[k] & keys[other]) >= SHARED for other in body)
            large = areas[k] > LARGE * total and _rides(parts[k], parts[first].influences, character)
            if touches or (large and _is_alone(parts[k], [parts[other] for other in body])):
                body.add(k)
                total += areas[k]
                grew = True
    return list(dict.fromkeys(parts[k].name for k in sorted(body)))


def _is_alone(part: Part, others: list[Part]) -> bool:
    """Whether most of a part follows joints that none of the others does."""
    if part.influences is None:
        return False
    taken = np.unique(np.concatenate([one.influences.main_joints() for one in others if one.influences is not None]))
    return bool((~np.isin(part.influences.main_joints(), taken)).mean() > 0.5)


def _sizes(parts: Sequence[Part]) -> list[int]:
    return [len(part.vertices) for part in parts]


def _triangles(part: Part) -> NDArray[np.int64]:
    """The polygons of a part as fans of triangles, (t, 3)."""
    starts = np.cumsum(part.counts) - part.counts
    fans = np.maximum(part.counts - 2, 0)
    step = np.arange(fans.sum()) - np.repeat(np.cumsum(fans) - fans, fans)
    first = np.repeat(starts, fans)
    return np.stack([part.corners[first], part.corners[first + step + 1], part.corners[first + step + 2]], axis=1)


def _area(part: Part) -> float:
    a, b, c = part.vertices[_triangles(part)].transpose(1, 0, 2)
    return float(0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())


def _join(parts: Sequence[Part]) -> tuple[TriMesh, Influences | None, dict[str, FloatArray]]:
    """One surface of some parts, joined along seams, and the weights and blend shapes of its vertices."""
    points = np.concatenate([part.vertices for part in parts])
    before = np.cumsum([0, *_sizes(parts)])
    corners = np.concatenate([_triangles(part) + start for part, start in zip(parts, before, strict=False)])
    grid = SEAM * float(np.ptp(points, axis=0).max())
    place = weld_points(np.round(points / grid))[1]
    first = np.unique(place, return_index=True)[1]
    cells = place[corners]
    proper = (cells[:, 0] != cells[:, 1]) & (cells[:, 1] != cells[:, 2]) & (cells[:, 0] != cells[:, 2])
    used = np.unique(cells[proper])
    body = TriMesh.clean(points[first], cells[proper])
    whole = _weigh(parts)
    targets: dict[str, FloatArray] = {}
    for part, start in zip(parts, before, strict=False):
        for name, offsets in part.targets.items():
            target = targets.setdefault(f"{part.name}.{name}", np.zeros_like(points))
            target[start : start + len(offsets)] = offsets
    picked = {name: offsets[first[used]] for name, offsets in targets.items() if offsets[first[used]].any()}
    return body, None if whole is None else whole.pick(first[used]), picked


def _draw(parts: Sequence[Part]) -> TriMesh:
    """All parts as one mesh, nothing joined and nothing left out."""
    before = np.cumsum([0, *_sizes(parts)])
    triangles = [_triangles(part) + start for part, start in zip(parts, before, strict=False)]
    counts = np.concatenate([part.counts for part in parts])
    indices = np.concatenate([part.corners + np.int32(start) for part, start in zip(parts, before, strict=False)])
    uv = [part.uv for part in parts if part.uv is not None]
    names = tuple(dict.fromkeys(part.name for part in parts))
    groups = np.repeat([names.index(part.name) for part in parts], [len(part.counts) for part in parts])
    plain = bool((counts == 3).all())
    return TriMesh(
        np.concatenate([part.vertices for part in parts]),
        np.concatenate(triangles).astype(np.int32),
        (),
        None if plain else counts.astype(np.int32),
        None if plain else indices.astype(np.int32),
        np.concatenate(uv) if len(uv) == len(parts) else None,
        groups.astype(np.int32),
        names,
    )


def _weigh(parts: Sequence[Part]) -> Influences | None:
    """Weights of the vertices of all parts in turn, the first joint's for those that have none; None without any."""
    widths = [part.influences.weights.shape[1] for part in parts if part.influences is not None]
    if not widths:
        return None
    joints, weights = [], []
    for part in parts:
        own = part.influences or Influences(
            np.zeros((len(part.vertices), 1), np.int32), np.ones((len(part.vertices), 1))
        )
        spare = max(widths) - own.weights.shape[1]
        joints.append(np.concatenate([own.joints, np.repeat(own.joints[:, :1], spare, axis=1)], axis=1))
        weights.append(np.pad(own.weights, ((0, 0), (0, spare))))
    return Influences(np.concatenate(joints), np.concatenate(weights))
