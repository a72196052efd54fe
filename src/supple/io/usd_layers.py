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
from supple.io.drawn import DrawnSurface
from supple.io.files import replacing, writing
from supple.io.frames import CacheInfo
from supple.io.usd_colliders import add_colliders
from supple.mesh import TriMesh

__all__ = [
    "BODY",
    "MESH",
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
BODY, MESH = "/body", "/body/surface"
NOTE = "supple"  #: key of the layer's custom data that holds the run's description
TIME = "userProperties:time"  #: attribute with the simulated time [s] of a frame
#: Attributes that change from frame to frame, with their types.
SAMPLES = {"points": "Point3fArray", "extent": "Float3Array", "velocities": "Vector3fArray", TIME: "Double"}
COLOUR = (0.80, 0.55, 0.45)
BATCH = 32  # frames held in memory while they are joined


def make_still(info: CacheInfo, surface: DrawnSurface, colliders: Mapping[str, TriMesh]) -> Any:
    """Layer with all that stays the same: stage metadata, the mesh without its points, colliders without places."""
    from pxr import Gf, Kind, Sdf, Usd, UsdGeom, Vt

    layer = Sdf.Layer.CreateAnonymous(".usdc")
    describe_layer(layer, info)
    stage = Usd.Stage.Open(layer)
    body = UsdGeom.Xform.Define(stage, BODY)
    Usd.ModelAPI(body.GetPrim()).SetKind(Kind.Tokens.component)
    mesh = UsdGeom.Mesh.Define(stage, MESH)
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    mesh.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.ascontiguousarray(surface.counts)))
    mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(np.ascontiguousarray(surface.indices)))
    mesh.CreateDisplayColorAttr([Gf.Vec3f(*COLOUR)])
    if surface.uv is not None:
        names = Sdf.ValueTypeNames.TexCoord2fArray
        primvar = UsdGeom.PrimvarsAPI(mesh).CreatePrimvar("st", names, UsdGeom.Tokens.faceVarying)
        primvar.Set(Vt.Vec2fArray.FromNumpy(surface.uv.astype(np.float32)))
    add_colliders(stage, colliders, info.metres_per_unit)
    _declare(layer, [TIME])  # clips give values only to attributes that are there
    return layer


def make_frame(code: int, samples: Mapping[str, Any]) -> Any:
    """Layer with the samples of one frame by attribute: arrays (k, 3) in the file's unit, or USD values."""
    from pxr import Sdf, Vt

    layer = Sdf.Layer.CreateAnonymous(".usdc")
    _declare(layer, samples)
    for name, values in samples.items():
        if isinstance(values, np.ndarray):
            values = Vt.Vec3fArray.FromNumpy(values.astype(np.float32))
        layer.SetTimeSample(f"{MESH}.{name}", code, values)
    return layer


def make_root(info: CacheInfo, codes: Sequence[int], still: str, frames: Sequence[str], manifest: str) -> Any:
    """Small layer over the still layer and the frames, which it names as value clips by relative paths."""
    from pxr import Gf, Sdf, Vt

    layer = Sdf.Layer.CreateAnonymous(".usdc")
    describe_layer(layer, info)
    _set_range(layer, codes)
    layer.subLayerPaths.append(still)
    prim = Sdf.CreatePrimInLayer(layer, MESH)
    if codes:
        clips = {
            "primPath": MESH,
            "assetPaths": Sdf.AssetPathArray([Sdf.AssetPath(name) for name in frames]),
            "manifestAssetPath": Sdf.AssetPath(manifest),
            "active": Vt.Vec2dArray([Gf.Vec2d(code, place) for place, code in enumerate(codes)]),
            "times": Vt.Vec2dArray([Gf.Vec2d(code, code) for code in codes]),
        }
        prim.SetInfo("clips", {"default": clips})
    return layer


def make_manifest() -> Any:
    """Layer that tells which attributes the frames may hold."""
    from pxr import Sdf

    layer = Sdf.Layer.CreateAnonymous(".usda")
    _declare(layer, SAMPLES)
    return layer


def join_frames(path: Path, still: Any, frames: Sequence[tuple[int, Path]], add: Callable[[Any], None]) -> None:
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
            samples = read_frame(open_layer(file), code)
            _declare(whole, samples)
            for name, values in samples.items():
                whole.SetTimeSample(f"{MESH}.{name}", code, values)
            if place % BATCH == BATCH - 1:
                whole.Save()
        whole.Save()


def read_frame(layer: Any, code: float) -> dict[str, Any]:
    """Samples of the mesh at that time code, by attribute."""
    samples = {name: layer.QueryTimeSample(f"{MESH}.{name}", code) for name in SAMPLES}
    return {name: values for name, values in samples.items() if values is not None}


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


def _declare(layer: Any, names: Iterable[str]) -> None:
    """Attributes of the mesh, where the layer does not have them yet."""
    from pxr import Sdf

    prim = Sdf.CreatePrimInLayer(layer, MESH)
    for name in names:
        if name not in prim.attributes:
            spec = Sdf.AttributeSpec(prim, name, getattr(Sdf.ValueTypeNames, SAMPLES[name]))
            spec.custom = name == TIME
