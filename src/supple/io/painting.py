"""Numbers painted over a surface: attributes of vertices, or a picture over texture coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.errors import FileFormatError
from supple.io.character import Character
from supple.io.gltf_surface import read_gltf_numbers
from supple.io.image import Image, read_image
from supple.io.load import read_surface
from supple.mesh.paint import sample_triangles
from supple.mesh.trimesh import fan_corners

__all__ = ["CHANNELS", "Painting", "read_character_painting", "read_painting"]

FloatArray = NDArray[np.float64]
CHANNELS = ("red", "green", "blue", "alpha")
COLOURS = ("color", "COLOR_0", "displayColor")  #: what colours of vertices are called in PLY, glTF and USD


@dataclass(frozen=True, eq=False)
class Painting:
    """A surface with numbers at the corners of its triangles, or a picture that these look up."""

    corners: FloatArray
    """Positions in the file's unit, (k, 3, 3)."""
    values: FloatArray
    """What each corner has, (k, 3, c): numbers, NaN where there is no paint, or places in the picture."""
    channel: int | None
    """Which of the numbers counts; None: the mean of them but alpha."""
    picture: Image | None = None

    def sample(self, spacing: float) -> tuple[FloatArray, FloatArray]:
        """Painted points closer together than `spacing`, (s, 3), and their values, (s,)."""
        triangle, shares = sample_triangles(self.corners, spacing)
        points = np.einsum("sc,scd->sd", shares, self.corners[triangle])
        found = np.einsum("sc,scd->sd", shares, self.values[triangle])
        if self.picture is not None:
            found = self.picture.at(found)
        numbers = found[:, :3].mean(axis=1) if self.channel is None else found[:, self.channel]
        known = np.isfinite(numbers)
        return points[known], numbers[known]


def read_painting(path: Path, attribute: str | None, channel: str | None, picture: Path | None) -> Painting:
    """What a surface file has painted: an attribute by name, the colour of its vertices, or a picture over it."""
    raw = read_surface(path)
    return _paint(path, raw.vertices, raw.counts, raw.indices, raw.uv, raw.attributes, (attribute, channel, picture))


def read_character_painting(
    character: Character, attribute: str | None, channel: str | None, picture: Path | None
) -> Painting:
    """The same of a character's file, over all of its parts as they are at rest [m]."""
    path, parts = Path(character.file), character.parts
    before = np.cumsum([0, *(len(part.vertices) for part in parts)])
    vertices, counts = (np.concatenate([getattr(part, name) for part in parts]) for name in ("vertices", "counts"))
    corners = np.concatenate([part.corners + start for part, start in zip(parts, before, strict=False)])
    uv = [part.uv for part in parts if part.uv is not None]
    attributes: Mapping[str, FloatArray] = {}
    if path.suffix.lower() in (".glb", ".gltf"):
        attributes = read_gltf_numbers(path, [part.place for part in parts])
    elif picture is None:
        raw = read_surface(path)
        attributes = raw.attributes if len(raw.vertices) == len(vertices) else {}
    pairs = np.concatenate(uv) if len(uv) == len(parts) else None
    return _paint(path, vertices, counts, corners, pairs, attributes, (attribute, channel, picture))


def _paint(
    path: Path,
    vertices: FloatArray,
    counts: NDArray[np.int32],
    indices: NDArray[np.int32],
    uv: FloatArray | None,
    attributes: Mapping[str, FloatArray],
    wanted: tuple[str | None, str | None, Path | None],
) -> Painting:
    """The painting that is wanted, an attribute, a channel or a picture, over polygons."""
    attribute, channel, picture = wanted
    fans = fan_corners(counts)
    corners = vertices[indices[fans]]
    if picture is not None:
        if uv is None:
            raise FileFormatError(f"{path} has no texture coordinates to lay {picture} over; unwrap the surface first.")
        image = read_image(picture)
        return Painting(corners, uv[fans], _number(picture, channel, image.values.shape[2]), image)
    name = _choose(path, attribute, attributes)
    values = attributes[name].reshape(len(vertices), -1)
    return Painting(corners, values[indices[fans]], _number(path, channel, values.shape[1], f" '{name}'"))


def _choose(path: Path, attribute: str | None, known: Mapping[str, FloatArray]) -> str:
    """The attribute that is meant: the one that is named, or the colour."""
    named = attribute if attribute is not None else next((name for name in COLOURS if name in known), None)
    if named in known and named is not None:
        return named
    have = ", ".join(known) or "none"
    if named is None:
        raise FileFormatError(f"{path} has no colours of vertices; name one of its attributes ({have}), or an image.")
    near = get_close_matches(named, known, n=1)
    hint = f"did you mean '{near[0]}'?" if near else f"it has {have}."
    raise FileFormatError(f"{path} has no attribute '{named}' of vertices: {hint}")


def _number(path: Path, channel: str | None, count: int, what: str = "") -> int | None:
    """Which of `count` numbers a channel is; None for the mean of several."""
    if channel is None:
        return 0 if count == 1 else None
    number = CHANNELS.index(channel)
    if number >= count:
        raise FileFormatError(f"{path}{what} has {count} channel{'s' * (count > 1)} and no {channel}; leave it out.")
    return number
