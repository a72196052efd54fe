"""Paint out of files: colours and other attributes of vertices, pictures over texture coordinates."""

from pathlib import Path

import numpy as np
import PIL.Image
import pytest
from test_mutations import count_refused

from supple.errors import FileFormatError
from supple.io.image import read_image
from supple.io.load import read_surface
from supple.io.painting import read_painting
from supple.mesh import TriMesh
from supple.mesh.paint import sample_triangles

SQUARE = TriMesh(
    np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]),
    np.array([[0, 1, 2], [0, 2, 3]], np.int32),
    uv=np.array([[0.0, 0], [1, 0], [1, 1], [0, 0], [1, 1], [0, 1]]),
)


@pytest.fixture
def ply(tmp_path: Path) -> Path:
    """A square whose red grows with x, in bytes, and whose `weight` grows with y."""
    rows = "".join(f"{x:g} {y:g} 0 {round(255 * x):d} 51 0 {y}\n" for x, y, _ in SQUARE.vertices.tolist())
    path = tmp_path / "square.ply"
    path.write_text(
        "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
        "property uchar red\nproperty uchar green\nproperty uchar blue\nproperty float weight\n"
        f"element face 2\nproperty list uchar int vertex_indices\nend_header\n{rows}3 0 1 2\n3 0 2 3\n"
    )
    return path


def test_samples_cover_triangles_with_their_corners() -> None:
    corners = SQUARE.vertices[SQUARE.triangles]
    triangle, shares = sample_triangles(corners, 0.25)
    points = np.einsum("sc,scd->sd", shares, corners[triangle])
    assert np.allclose(shares.sum(axis=1), 1.0)
    assert len(points) == 2 * (7 * 8) // 2  # the diagonal of 1.41 takes 6 steps
    gaps = np.linalg.norm(np.random.default_rng(1).random((50, 2))[:, None] - points[None, :, :2], axis=2).min(axis=1)
    assert gaps.max() < 0.25
    assert len(sample_triangles(corners, 10.0)[0]) == 6


def test_ply_has_colours_from_0_to_1_and_other_properties(ply: Path) -> None:
    attributes = read_surface(ply).attributes
    assert set(attributes) == {"color", "weight"}
    assert attributes["color"].tolist() == [[0, 0.2, 0], [1, 0.2, 0], [1, 0.2, 0], [0, 0.2, 0]]
    points, values = read_painting(ply, None, "red", None).sample(0.2)
    assert np.allclose(values, points[:, 0])
    points, values = read_painting(ply, "weight", None, None).sample(0.2)
    assert np.allclose(values, points[:, 1])
    points, values = read_painting(ply, None, None, None).sample(0.2)
    assert np.allclose(values, (points[:, 0] + 0.2) / 3.0)


def test_usd_primvars_are_attributes(tmp_path: Path) -> None:
    from pxr import Sdf, Usd, UsdGeom, Vt

    stage = Usd.Stage.CreateNew(str(tmp_path / "two.usda"))
    for name, x in (("one", 0.0), ("other", 5.0)):
        mesh = UsdGeom.Mesh.Define(stage, f"/{name}")
        mesh.CreatePointsAttr([(x + a, b, c) for a, b, c in SQUARE.vertices.tolist()])
        mesh.CreateFaceVertexCountsAttr([3, 3])
        mesh.CreateFaceVertexIndicesAttr(SQUARE.triangles.reshape(-1).tolist())
        api = UsdGeom.PrimvarsAPI(mesh)
        if name == "one":
            api.CreatePrimvar("softness", Sdf.ValueTypeNames.FloatArray, "vertex").Set([0.0, 1.0, 1.0, 0.0])
        corner = api.CreatePrimvar("displayColor", Sdf.ValueTypeNames.Color3fArray, "faceVarying")
        corner.Set(Vt.Vec3fArray([(0.5, 0.0, y) for y in SQUARE.vertices[SQUARE.triangles.ravel(), 1].tolist()]))
        api.CreatePrimvar("names", Sdf.ValueTypeNames.StringArray, "vertex").Set(["a"] * 4)
    stage.Save()
    raw = read_surface(tmp_path / "two.usda")
    assert set(raw.attributes) == {"softness", "displayColor"}
    assert raw.attributes["softness"][:4].tolist() == [0, 1, 1, 0]
    assert np.isnan(raw.attributes["softness"][4:]).all()
    points, values = read_painting(tmp_path / "two.usda", "softness", None, None).sample(0.5)
    assert points[:, 0].max() <= 1.0  # the other mesh is not painted
    assert np.allclose(values, points[:, 0])
    points, values = read_painting(tmp_path / "two.usda", None, "blue", None).sample(0.5)
    assert np.allclose(values, points[:, 1])


def test_gltf_has_colours_and_attributes_of_its_own(tmp_path: Path) -> None:
    from supple.io.gltf_pack import GltfBuilder

    builder, x = GltfBuilder(), SQUARE.vertices[:, 0]
    attributes = {
        "POSITION": builder.accessor(SQUARE.vertices, bounds=True),
        "COLOR_0": builder.accessor(np.column_stack([x, 0.0 * x, 0.0 * x, 1.0 - x])),
        "_SOFTNESS": builder.accessor(2.0 * x),
    }
    indices = builder.accessor(SQUARE.triangles.reshape(-1))
    builder.tree["meshes"] = [{"primitives": [{"attributes": attributes, "indices": indices}]}]
    builder.tree["nodes"] = [{"mesh": 0, "translation": [3.0, 0.0, 0.0]}]
    (tmp_path / "square.glb").write_bytes(b"".join(builder.pack()))
    for attribute, channel, factor, offset in (("_SOFTNESS", None, 2.0, 0.0), (None, "alpha", -1.0, 1.0)):
        points, values = read_painting(tmp_path / "square.glb", attribute, channel, None).sample(0.3)
        assert np.allclose(values, factor * (points[:, 0] - 3.0) + offset, atol=1e-6)


@pytest.mark.parametrize("deep", [False, True])
def test_pictures_are_looked_up_from_the_lower_left(tmp_path: Path, deep: bool) -> None:
    from supple.io import save_surface

    rows = np.linspace(1.0, 0.0, 64)[:, None] * np.ones(32)  # bright at the top
    stored = np.round(65535 * rows).astype(np.uint16) if deep else np.round(255 * rows).astype(np.uint8)
    PIL.Image.fromarray(stored).save(tmp_path / "up.png")
    save_surface(tmp_path / "square.obj", SQUARE)
    points, values = read_painting(tmp_path / "square.obj", None, None, tmp_path / "up.png").sample(0.1)
    inside = (points[:, 1] > 0.05) & (points[:, 1] < 0.95)
    assert np.allclose(values[inside], points[inside, 1], atol=0.02)


def test_colours_alpha_and_palettes_of_pictures(tmp_path: Path) -> None:
    pixels = np.zeros((2, 2, 4), np.uint8)
    pixels[..., 0], pixels[0, 0, 3] = 255, 51
    picture = PIL.Image.fromarray(pixels)
    picture.save(tmp_path / "alpha.png")
    assert read_image(tmp_path / "alpha.png").values[0, 0].tolist() == pytest.approx([1, 0, 0, 0.2])
    picture.convert("RGB").quantize(4).save(tmp_path / "palette.png")
    assert read_image(tmp_path / "palette.png").values[1, 1].tolist() == [1, 0, 0]


def test_damaged_pictures_give_only_named_errors(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    PIL.Image.fromarray(rng.integers(0, 255, (20, 30, 3), np.uint8)).save(tmp_path / "noise.png")
    assert count_refused(tmp_path / "noise.png", read_image) > 15


def test_what_is_not_there_is_told(ply: Path, tmp_path: Path) -> None:
    cases = [
        (("wieght", None, None), "no attribute 'wieght' of vertices: did you mean 'weight'?"),
        (("weight", "green", None), "'weight' has 1 channel and no green"),
        ((None, None, tmp_path / "none.png"), "no texture coordinates"),
    ]
    for arguments, words in cases:
        with pytest.raises(FileFormatError, match=words.replace("?", r"\?")):
            read_painting(ply, *arguments)
    (tmp_path / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(40))
    with pytest.raises(FileFormatError, match="cannot be read as a picture"):
        read_image(tmp_path / "broken.png")
    (tmp_path / "plain.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    with pytest.raises(FileFormatError, match="no colours of vertices"):
        read_painting(tmp_path / "plain.obj", None, None, None)
