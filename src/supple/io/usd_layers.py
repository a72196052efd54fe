"""Layers that a run is written to as USD: what stays the same, one frame, the root that ties them together.

All are made in memory and exported whole: no half-written file, nothing left in USD's own cache of layers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import OutputError
from supple.io.files import replacing, writing
from supple.io.frames import CacheInfo
from supple.io.usd_colliders import add_colliders
from supple.io.usd_pieces import BODY, Piece
from supple.mesh import TriMesh

__all__ = [
    "NOTE",
    "TIME",
    "USD_OUT",
    "describe_layer",
    "export_layer",
    "join_frames",
    "make_frame",
    "make_manifest",
    "make_root",
    "make_still",
    "open_layer",
    "read_frame",
]

USD_OUT = (".usd", ".usdc", ".usda")  #: suffixes that are written
NOTE = "supple"  #: key of the layer's custom data that holds the run's description
TIME = "userProperties:time"  #: attribute with the simulated time [s] of a frame
#: Attributes that change from frame to frame, with their types.
SAMPLES = {"points": "Point3fArray", "extent": "Float3Array", "velocities": "Vector3fArray", TIME: "Double"}
Samples = Mapping[str, Mapping[str, Any]]  #: values of a frame by the path of a mesh, then by attribute
COLOUR = (0.80, 0.55, 0.45)
BATCH = 32  # frames held in memory while they are joined


def make_still(info: CacheInfo, pieces: Sequence[Piece], colliders: Mapping[str, TriMesh]) -> Any:
    """Layer with all that stays the same: stage metadata, meshes without their points, colliders without places."""
    from pxr import Kind, Sdf, Usd, UsdGeom

    layer = Sdf.Layer.CreateAnonymous(".usdc")
    describe_layer(layer, info)
    stage = Usd.Stage.Open(layer)
    body = UsdGeom.Xform.Define(stage, BODY)
    Usd.ModelAPI(body.GetPrim()).SetKind(Kind.Tokens.component)
    for piece in pieces:
        _add_mesh(stage, piece)
    add_colliders(stage, colliders, info.metres_per_unit)
    for piece in pieces:
        _declare(layer, piece.path, [TIME])  # clips give values only to attributes that are there
    return layer


def _add_mesh(stage: Any, piece: Piece) -> None:
    from pxr import Gf, Sdf, UsdGeom, Vt

    mesh = UsdGeom.Mesh.Define(stage, piece.path)
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    mesh.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.ascontiguousarray(piece.counts)))
    mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(np.ascontiguousarray(piece.indices)))
    mesh.CreateDisplayColorAttr([Gf.Vec3f(*COLOUR)])
    if piece.uv is not None:
        names = Sdf.ValueTypeNames.TexCoord2fArray
        primvar = UsdGeom.PrimvarsAPI(mesh).CreatePrimvar("st", names, UsdGeom.Tokens.faceVarying)
        primvar.Set(Vt.Vec2fArray.FromNumpy(piece.uv.astype(np.float32)))


def make_frame(code: int, samples: Samples) -> Any:
    """Layer with the samples of one frame: arrays (k, 3) in the file's unit, or USD values."""
    from pxr import Sdf

    layer = Sdf.Layer.CreateAnonymous(".usdc")
    _set_samples(layer, code, samples)
    return layer


def make_root(
    info: CacheInfo, pieces: Sequence[Piece], codes: Sequence[int], still: str, frames: Sequence[str], manifest: str
) -> Any:
    """Small layer over the still layer and the frames, which it names as value clips by relative paths."""
    from pxr import Gf, Sdf, Vt

    layer = Sdf.Layer.CreateAnonymous(".usdc")
    describe_layer(layer, info)
    _set_range(layer, codes)
    layer.subLayerPaths.append(still)
    for piece in pieces:
        prim = Sdf.CreatePrimInLayer(layer, piece.path)
        if codes:
            clips = {
                "primPath": piece.path,
                "assetPaths": Sdf.AssetPathArray([Sdf.AssetPath(name) for name in frames]),
                "manifestAssetPath": Sdf.AssetPath(manifest),
                "active": Vt.Vec2dArray([Gf.Vec2d(code, place) for place, code in enumerate(codes)]),
                "times": Vt.Vec2dArray([Gf.Vec2d(code, code) for code in codes]),
            }
            prim.SetInfo("clips", {"default": clips})
    return layer


def make_manifest(pieces: Sequence[Piece]) -> Any:
    """Layer that tells which attributes the frames may hold."""
    from pxr import Sdf

    layer = Sdf.Layer.CreateAnonymous(".usda")
    for piece in pieces:
        _declare(layer, piece.path, SAMPLES)
    return layer


def join_frames(
    path: Path, pieces: Sequence[Piece], still: Any, frames: Sequence[tuple[int, Path]], add: Callable[[Any], None]
) -> None:
    """Make a binary file at `path` with the still layer, the samples of all frames and what `add` puts into a layer."""
    from pxr import Sdf

    with writing(path):
        path.unlink(missing_ok=True)
    with _usd_writing(path):
        whole = Sdf.Layer.CreateNew(str(path))
        whole.TransferContent(still)
        _set_range(whole, [code for code, _ in frames])
        add(whole)
        for place, (code, file) in enumerate(frames):
            _set_samples(whole, code, read_frame(open_layer(file), pieces, code))
            if place % BATCH == BATCH - 1:
                whole.Save()
        whole.Save()


def read_frame(layer: Any, pieces: Sequence[Piece], code: float) -> Samples:
    """Samples of the meshes at that time code."""
    found = {}
    for piece in pieces:
        samples = {name: layer.QueryTimeSample(f"{piece.path}.{name}", code) for name in SAMPLES}
        found[piece.path] = {name: values for name, values in samples.items() if values is not None}
    return found


def open_layer(path: Path) -> Any:
    """The file as a layer of its own, apart from what the process has loaded before."""
    from pxr import Sdf

    return Sdf.Layer.OpenAsAnonymous(str(path))


def export_layer(layer: Any, path: Path) -> None:
    """Write the layer to `path`, text for .usda and binary otherwise, whole or not at all."""
    arguments = {"format": "usdc"} if path.suffix.lower() == ".usd" else {}
    with replacing(path) as part, _usd_writing(path):
        layer.Export(str(part), args=arguments)


@contextmanager
def _usd_writing(path: Path) -> Iterator[None]:
    """Turn what USD says against writing `path` into an OutputError."""
    from pxr import Tf

    try:
        yield
    except Tf.ErrorException as error:
        reason = str(error).strip().splitlines()[0].rpartition(" : ")[2].strip("' ")
        message = f"{path} cannot be written as USD ({reason}); free some space or name another folder."
        raise OutputError(message) from None


def describe_layer(layer: Any, info: CacheInfo) -> None:
    """Tell the layer unit, up axis, frame rate and title of a run."""
    from pxr import Sdf

    layer.defaultPrim = BODY.removeprefix("/")
    layer.timeCodesPerSecond = layer.framesPerSecond = info.fps
    layer.pseudoRoot.SetInfo("metersPerUnit", info.metres_per_unit)
    layer.pseudoRoot.SetInfo("upAxis", info.up_axis.upper())
    layer.documentation = info.title
    layer.customLayerData = {NOTE: info.to_json()}
    Sdf.CreatePrimInLayer(layer, BODY)
    _set_range(layer, [info.start_frame])


def _set_range(layer: Any, codes: Sequence[int]) -> None:
    if codes:
        layer.startTimeCode, layer.endTimeCode = codes[0], codes[-1]


def _set_samples(layer: Any, code: int, samples: Samples) -> None:
    from pxr import Vt

    for path, own in samples.items():
        _declare(layer, path, own)
        for name, values in own.items():
            if isinstance(values, np.ndarray):
                values = Vt.Vec3fArray.FromNumpy(values.astype(np.float32))
            layer.SetTimeSample(f"{path}.{name}", code, values)


def _declare(layer: Any, path: str, names: Iterable[str]) -> None:
    """Attributes of a mesh, where the layer does not have them yet."""
    from pxr import Sdf

    prim = Sdf.CreatePrimInLayer(layer, path)
    for name in names:
        if name not in prim.attributes:
            spec = Sdf.AttributeSpec(prim, name, getattr(Sdf.ValueTypeNames, SAMPLES[name]))
            spec.custom = name == TIME
