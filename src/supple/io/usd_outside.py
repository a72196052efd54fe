"""Which files a USD stage is put together from: run by `usd_child.py`, before it opens the stage."""

import os
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any


def find_outside(path: Path) -> str | None:
    """The first file outside its folder that a stage, or a layer of it, would be put together from; None if none is."""
    from pxr import Sdf

    waiting, seen = [str(path)], set()
    while waiting:
        name = waiting.pop()
        if name in seen or (name != str(path) and not Path(name).is_file() and "[" not in name):
            continue
        seen.add(name)
        layer = Sdf.Layer.FindOrOpen(name)
        if layer is None:
            continue
        for asset in [*layer.GetCompositionAssetDependencies(), *_clip_assets(layer)]:
            parts = PurePosixPath(asset.replace("\\", "/"))
            if parts.is_absolute() or ".." in parts.parts or ":" in asset or PureWindowsPath(asset).drive:
                return str(asset)
            there = layer.ComputeAbsolutePath(asset)
            if os.path.lexists(there) and not Path(there).resolve().is_relative_to(path.resolve().parent):
                return str(asset)  # a link leads out
            waiting.append(there)
    return None


def _clip_assets(layer: Any) -> list[str]:
    """Files of value clips, which are no dependencies of the composition."""
    from pxr import Sdf

    found: list[str] = []

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            for key, item in value.items():
                if key == "templateAssetPath" and isinstance(item, str):
                    found.append(item)
                collect(item)
        elif isinstance(value, Sdf.AssetPath):
            found.append(value.path)
        elif isinstance(value, Sdf.AssetPathArray):
            found.extend(item.path for item in value)

    def visit(path: Any) -> None:
        if path.IsPrimPath():
            prim = layer.GetPrimAtPath(path)
            if prim is not None and prim.HasInfo("clips"):
                collect(prim.GetInfo("clips"))

    layer.Traverse(Sdf.Path.absoluteRootPath, visit)
    return found
