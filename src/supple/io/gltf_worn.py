"""A run put back into the glTF file it came from: its clip goes on moving the skin, and morph targets do the rest.

x(t) = A(t) (v + d(t)) + t(t) is what a player computes, with A and t of the file's own skinning. Displacements are
pulled back, d = A⁻¹ (x - t) - v, and their principal components become morph targets with animated weights: flesh that
moves little against its bones needs few. Nothing else in the file changes.
"""

from __future__ import annotations

import copy
import mimetypes
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from supple.io.binding import name_apart
from supple.io.character import Character
from supple.io.files import within
from supple.io.frames import CacheInfo
from supple.io.gltf_animation import read_channels
from supple.io.gltf_container import GltfFile
from supple.io.gltf_pack import GltfBuilder
from supple.io.gltf_play import GltfPlay, skin_weights
from supple.io.gltf_surface import read_triangles
from supple.io.morph_normals import fit_normals
from supple.io.morphs import Morphs, fit_morphs

__all__ = ["WORN", "pack_worn"]

FloatArray = NDArray[np.float64]
WORN = "worn"  #: what the note on a run says of a file that keeps its skin
WORST = 1e5  # how much flatter than a rotation a blend of joints may be to be undone as it is
OFF = 1e-6  # of a sum of weights, which players may or may not normalise


def pack_worn(
    file: GltfFile,
    character: Character,
    points: Sequence[NDArray[np.floating]],
    times: FloatArray,
    tolerance: float,
    info: CacheInfo,
    clip: str | None = None,
) -> Iterable[bytes]:
    """Pieces of a .glb in which every part is within `tolerance` [m] of its points [m], (frames, n, 3) each.

    Times [s] of the frames count from where the clip, the first by default, begins.
    """
    animation = _animation(file, clip)
    begin = _begin(file, animation)
    play = GltfPlay(file, animation, begin + times)
    builder = GltfBuilder.over(*_gather(file))
    tree = builder.tree
    channels = []
    for node, numbers in _nodes(character).items():
        _own_mesh(tree, node)
        channels.append((node, _add_targets(builder, play, character, node, numbers, points, tolerance)))
    clock = builder.accessor(begin + times, bounds=True)
    animation = _animate(builder, animation, channels, clock)
    note = info.to_json(
        first=float(times[0]), clock=clock, unit=character.metres_per_unit,
        clip=-1 if animation is None else animation, **{WORN: 1},
    )  # fmt: skip
    places = [part.place for part in character.parts]
    tree["asset"]["extras"] = {**(tree["asset"].get("extras") or {}), "supple": note, "supple_parts": places}
    return builder.pack()


def _nodes(character: Character) -> dict[int, list[int]]:
    """Parts by the node that holds their mesh."""
    found: dict[int, list[int]] = {}
    for number, part in enumerate(character.parts):
        found.setdefault(int(part.place.split("/")[0]), []).append(number)
    return found


def _animation(file: GltfFile, clip: str | None) -> int | None:
    """The number of a clip among the file's animations, None where nothing is animated."""
    entries = file.entries("animations")
    names = name_apart([str(entry.get("name") or f"clip{k}") for k, entry in enumerate(entries)])
    moving = [k for k, entry in enumerate(entries) if read_channels(file, entry)]
    return next((k for k in moving if clip is None or names[k] == clip), None)


def _begin(file: GltfFile, animation: int | None) -> float:
    """When an animation begins [s]."""
    if animation is None:
        return 0.0
    samplers = file.list_of(file.entry("animations", animation), "samplers")
    keys = [file.accessor(one.get("input"), ("SCALAR",), "times of keys") for one in samplers]
    return float(min((times.min() for times in keys if len(times)), default=0.0))


def _gather(file: GltfFile) -> tuple[dict[str, Any], bytes]:
    """The file's JSON over one buffer that holds all of its buffers, and pictures beside it."""
    tree = copy.deepcopy(file.tree)
    data = bytearray()
    starts = []
    for number in range(len(file.list_of(tree, "buffers"))):
        starts.append(len(data))
        data += file.buffer(number)
        data += bytes(-len(data) % 4)
    for view in tree.get("bufferViews", []):
        view["byteOffset"] = view.get("byteOffset", 0) + starts[view.get("buffer", 0)]
        view["buffer"] = 0
    for image in tree.get("images", []):
        picture = _beside(file, image.get("uri"))
        if picture is not None:
            kind = mimetypes.guess_type(picture.name)[0] or "image/png"
            content = picture.read_bytes()
            tree.setdefault("bufferViews", []).append(
                {"buffer": 0, "byteOffset": len(data), "byteLength": len(content)}
            )
            image.pop("uri")
            image |= {"bufferView": len(tree["bufferViews"]) - 1, "mimeType": kind}
            data += content + bytes(-len(content) % 4)
    return tree, bytes(data)


def _beside(file: GltfFile, uri: object) -> Path | None:
    """The picture in the file's folder, or below, that it names; None where it is elsewhere."""
    if not isinstance(uri, str) or uri.startswith("data:") or file.folder is None:
        return None
    path = within(file.folder, unquote(uri))
    return path if path is not None and path.is_file() else None


def _own_mesh(tree: dict[str, Any], node: int) -> None:
    """Give a node a mesh that no other node shows."""
    mesh = tree["nodes"][node]["mesh"]
    if sum(other.get("mesh") == mesh for other in tree["nodes"]) > 1:
        tree["meshes"].append(copy.deepcopy(tree["meshes"][mesh]))
        tree["nodes"][node]["mesh"] = len(tree["meshes"]) - 1


def _add_targets(
    builder: GltfBuilder,
    play: GltfPlay,
    character: Character,
    node: int,
    numbers: list[int],
    points: Sequence[NDArray[np.floating]],
    tolerance: float,
) -> FloatArray:
    """Morph targets of a node's mesh; the weights of all of its targets at all times, (k, m)."""
    file, entry = play.file, builder.tree["nodes"][node]
    mesh = builder.tree["meshes"][entry["mesh"]]
    places = [int(character.parts[number].place.split("/")[1]) for number in numbers]
    given = [file.entry("meshes", file.entry("nodes", node)["mesh"])["primitives"][place] for place in places]
    before = max((len(file.list_of(one, "targets")) for one in mesh["primitives"]), default=0)
    shares = play.shares(node, before)
    unit = character.metres_per_unit
    pulled = [
        _pull_back(play, node, primitive, points[number] / unit, shares)
        for number, primitive in zip(numbers, given, strict=True)
    ]
    sizes = np.cumsum([0, *(shape.shape[1] for shape in pulled)])
    still = np.zeros((1, int(sizes[-1]), 3))  # the file's own shape, from which targets are offsets
    allowed = tolerance / unit / max(play.stretch(node), 1e-300)
    morphs = fit_morphs(np.concatenate([still, np.concatenate(pulled, axis=1)]), allowed)
    spans = {place: slice(*sizes[k : k + 2]) for k, place in enumerate(places)}
    lights = {
        place: _fit_light(file, primitive, morphs.part(spans[place]))
        for place, primitive in zip(places, given, strict=True)
        if "NORMAL" in primitive["attributes"]
    }
    _write_targets(builder, mesh, morphs, spans, lights, before)
    for place, primitive in zip(places, given, strict=True):
        if "skin" in entry:
            _normalise(builder, file, mesh["primitives"][place], primitive)
    resting = [*np.array(mesh.get("weights", [0.0] * before))[:before].tolist(), *[0.0] * len(morphs.shapes)]
    if resting:
        mesh["weights"] = resting
    if "weights" in entry:
        entry["weights"] = [*entry["weights"][:before], *[0.0] * len(morphs.shapes)]
    return np.concatenate([shares, morphs.weights[1:]], axis=1)


def _pull_back(
    play: GltfPlay, node: int, primitive: dict[str, Any], points: NDArray[np.floating], shares: FloatArray
) -> FloatArray:
    """Displacements that skinning takes to the points, (k, n, 3) each, in the file's unit."""
    rest = play.file.accessor(primitive["attributes"]["POSITION"], ("VEC3",), "positions").astype(np.float64)
    shapes, stretch, out = play.targets(primitive), play.stretch(node), np.empty(points.shape)
    for frame, (A, t) in enumerate(play.maps(node, primitive)):
        base = rest + np.tensordot(shares[frame, : len(shapes)], shapes, axes=1)
        out[frame] = _solve(A, points[frame] - t - np.einsum("nij,nj->ni", A, base), stretch)
    return out


def _solve(A: FloatArray, b: FloatArray, stretch: float) -> FloatArray:
    """A⁻¹ b for matrices (n, 3, 3) of norms up to `stretch`; where one is flat, as near as its range comes."""
    flat = np.abs(np.linalg.det(A)) <= stretch**3 / WORST
    safe = np.where(flat[:, None, None], np.eye(3), A)
    out = np.linalg.solve(safe, b[:, :, None])[:, :, 0]
    if flat.any():
        out[flat] = (np.linalg.pinv(A[flat], rcond=1.0 / WORST) @ b[flat, :, None])[:, :, 0]
    return np.asarray(out)


def _fit_light(file: GltfFile, primitive: dict[str, Any], morphs: Morphs) -> NDArray[np.float32]:
    """What the shapes of a primitive add to its normals, (k, n, 3)."""
    rest, normals = (
        file.accessor(primitive["attributes"][name], ("VEC3",), name.lower()).astype(np.float64)
        for name in ("POSITION", "NORMAL")
    )
    return fit_normals(read_triangles(file, primitive, len(rest)), rest, normals, morphs)


def _write_targets(
    builder: GltfBuilder,
    mesh: dict[str, Any],
    morphs: Morphs,
    spans: dict[int, slice],
    lights: dict[int, NDArray[np.float32]],
    before: int,
) -> None:
    """Add the shapes to the primitives they span, with their normals, and targets without effect to the others."""
    for number, primitive in enumerate(mesh["primitives"]):
        count = builder.tree["accessors"][primitive["attributes"]["POSITION"]]["count"]
        none = np.zeros((count, 3), np.float32)
        targets = [dict(target) for target in primitive.get("targets", [])]
        targets += [{"POSITION": builder.sparse(none)} for _ in range(before - len(targets))]
        for shape in morphs.shapes:
            targets.append({"POSITION": builder.sparse(shape[spans[number]] if number in spans else none)})
        if number in lights and len(morphs.shapes):
            own = [*[none] * before, *lights[number]]
            for target, light in zip(targets, own, strict=True):  # all or none: players ask the first one
                target.setdefault("NORMAL", builder.sparse(light))
        if targets:
            primitive["targets"] = targets
    extras = mesh.get("extras")
    if isinstance(extras, dict) and len(extras.get("targetNames", [])) == before:
        extras["targetNames"] = [*extras["targetNames"], *(f"supple {k}" for k in range(len(morphs.shapes)))]


def _normalise(builder: GltfBuilder, file: GltfFile, primitive: dict[str, Any], given: dict[str, Any]) -> None:
    """Write weights anew that do not sum to 1: some players normalise them and some do not."""
    attributes = primitive["attributes"]
    sets = [name for name in attributes if name.startswith("WEIGHTS_")]
    table = [file.accessor(given["attributes"][f"WEIGHTS_{k}"], ("VEC4",), "weights") for k in range(len(sets))]
    if np.abs(np.concatenate(table, axis=1).astype(np.float64).sum(axis=1) - 1.0).max(initial=0.0) <= OFF:
        return
    _, weights = skin_weights(file, given)
    for number in range(len(sets)):
        attributes[f"WEIGHTS_{number}"] = builder.accessor(
            np.ascontiguousarray(weights[:, 4 * number : 4 * number + 4])
        )


def _animate(
    builder: GltfBuilder, animation: int | None, channels: list[tuple[int, FloatArray]], clock: int
) -> int | None:
    """Let the animation, or a new one, drive the weights of nodes at the times of an accessor; its number."""
    moving = [(node, weights) for node, weights in channels if weights.shape[1]]
    if not moving:
        return animation
    if animation is None:
        builder.tree.setdefault("animations", []).append({"name": "supple", "samplers": [], "channels": []})
        animation = len(builder.tree["animations"]) - 1
    entry = builder.tree["animations"][animation]
    ours = {node for node, _ in moving}
    entry["channels"] = [
        one
        for one in entry["channels"]
        if not (one.get("target", {}).get("path") == "weights" and one["target"].get("node") in ours)
    ]
    for node, weights in moving:
        entry["samplers"].append(
            {"input": clock, "output": builder.accessor(weights.reshape(-1)), "interpolation": "LINEAR"}
        )
        target = {"node": node, "path": "weights"}
        entry["channels"].append({"sampler": len(entry["samplers"]) - 1, "target": target})
    return animation
