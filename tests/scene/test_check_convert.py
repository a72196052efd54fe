"""`supple check` and `supple convert` on files, and what comes of broken meshes when they are simulated."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from supple.cli import main
from supple.errors import OutputError, SceneError
from supple.io import CacheInfo, Frame, RenderMesh, load_mesh, load_surface, load_tets, open_cache, open_writer
from supple.io.save import save_surface, save_tets
from supple.mesh import TetMesh, TriMesh
from supple.scene import build_scene, parse_scene, run_scene
from supple.scene.check import check_file
from supple.scene.convert import Conversion, convert_file
from supple.shape import make_shape


@pytest.fixture
def body() -> TetMesh:
    return make_shape("beam", resolution=6)


def simulate(path: Path) -> np.ndarray:
    """Positions after two frames under gravity, held at one end."""
    scene = {"mesh": {"file": str(path)}, "pin": [{"select": "min x"}], "time": {"frames": 2, "substeps": 2}}
    output = path.with_name(f"{path.stem}.run.npz")
    run_scene(build_scene(parse_scene(scene)), [output])
    return open_cache(output).positions(2)


def test_a_mesh_with_half_its_tets_flipped_simulates_to_the_same_result(tmp_path, body):
    flipped = body.tets.copy()
    flipped[::2] = flipped[::2][:, [1, 0, 2, 3]]
    np.savez(tmp_path / "right.npz", vertices=body.vertices, tets=body.tets)
    np.savez(tmp_path / "flipped.npz", vertices=body.vertices, tets=flipped)
    assert check_file(tmp_path / "flipped.npz")["flaws"][0].kind == "mixed winding"
    right, other = simulate(tmp_path / "right.npz"), simulate(tmp_path / "flipped.npz")
    moved = np.abs(right - body.vertices).max()
    assert moved > 1e-4
    assert np.abs(other - right).max() < 1e-9 * moved


def test_a_badly_broken_mesh_is_refused_then_mended_and_simulates(tmp_path, body, capsys):
    tets = body.tets.copy()
    tets[4] = tets[4][[1, 0, 2, 3]]
    more = [[0, 1, 2, 2], tets[7], [5, 6, 7, 9999]]
    points = np.concatenate([body.vertices, [[np.nan, 0, 0], [7, 7, 7]]])
    np.savez(tmp_path / "broken.npz", vertices=points, tets=np.concatenate([tets, more]).astype(np.int32))
    assert main(["check", str(tmp_path / "broken.npz")]) == 1
    said = capsys.readouterr().out
    for words in ("not at a finite place", "beyond the", "no volume", "wound the other way", "there twice"):
        assert words in said
    arguments = ["check", str(tmp_path / "broken.npz"), "--fix", str(tmp_path / "mended.msh"), "--json", "-", "-q"]
    assert main(arguments) == 0
    facts = json.loads(capsys.readouterr().out)
    assert {flaw["kind"] for flaw in facts["flaws"]} >= {"non-finite vertices", "degenerate tets", "duplicate tets"}
    assert len(facts["changes"]) == 5
    assert facts["left"] == []
    mended = load_tets(tmp_path / "mended.msh")
    assert mended.volumes().sum() == pytest.approx(body.volumes().sum())
    np.savez(tmp_path / "whole.npz", vertices=body.vertices, tets=body.tets)
    assert np.abs(simulate(tmp_path / "mended.msh") - simulate(tmp_path / "whole.npz")).max() < 1e-9


def test_an_obj_counted_from_0_is_told_and_mended(tmp_path, body):
    surface = body.surface()
    lines = [f"v {x} {y} {z}" for x, y, z in surface.vertices] + [f"f {a} {b} {c}" for a, b, c in surface.triangles]
    (tmp_path / "zero.obj").write_text("\n".join(lines) + "\n")
    facts = check_file(tmp_path / "zero.obj", tmp_path / "one.obj")
    assert [flaw.kind for flaw in facts["flaws"]] == ["numbering"]
    assert not facts["failed"]
    assert np.array_equal(load_surface(tmp_path / "one.obj").triangles, surface.triangles)


def test_a_mended_surface_fills_and_simulates(tmp_path, body):
    surface = body.surface()
    holed = TriMesh.clean(surface.vertices, surface.triangles[1:, ::-1])
    save_surface(tmp_path / "holed.obj", holed)
    facts = check_file(tmp_path / "holed.obj", tmp_path / "closed.ply")
    assert {flaw.kind for flaw in facts["flaws"]} == {"holes", "inward orientation"}
    closed = load_surface(tmp_path / "closed.ply")
    assert closed.is_closed()
    assert closed.volume() == pytest.approx(body.volumes().sum(), rel=1e-6)
    assert np.isfinite(simulate(tmp_path / "closed.ply")).all()


def test_a_repair_into_a_format_that_cannot_hold_it_is_refused(tmp_path, body):
    save_tets(tmp_path / "a.npz", body)
    with pytest.raises(OutputError, match=r"tetrahedra are written as \.npz, \.msh"):
        check_file(tmp_path / "a.npz", tmp_path / "b.obj")


def test_meshes_are_converted_with_units_and_axes(tmp_path, body, capsys):
    save_tets(tmp_path / "a.msh", body)
    arguments = [str(tmp_path / "a.msh"), str(tmp_path / "b.usda"), "--units", "cm", "--to-units", "mm"]
    assert main(["convert", *arguments, "--to-up-axis", "z"]) == 0
    said = capsys.readouterr().out
    assert "metres per unit: 0.01" in said
    assert "written metres per unit: 0.001" in said
    assert "written up axis: z" in said
    back = load_tets(tmp_path / "b.usda")
    x, y, z = 10.0 * body.vertices.T
    assert back.vertices == pytest.approx(np.stack([x, -z, y], axis=1), abs=1e-5)
    convert_file(tmp_path / "b.usda", tmp_path / "c.glb", Conversion())  # metres, y up
    assert load_mesh(tmp_path / "c.glb").bounds()[1] == pytest.approx(0.01 * body.bounds()[1], abs=1e-7)


def record(path: Path, body: TetMesh, render: RenderMesh | None = None) -> list[np.ndarray]:
    writer = open_writer(path, body, CacheInfo(fps=30.0, metres_per_unit=0.01, start_frame=0), render=render)
    moved = [body.vertices * [1, 1 + 0.1 * k, 1] for k in range(3)]
    for k, points in enumerate(moved):
        writer.write(Frame(k, k / 30.0, points, velocities=0.1 * points))
    writer.close()
    return moved


@pytest.mark.parametrize("suffix", [".usdc", ".npz", ".obj", ".pc2", ".mdd", ".glb"])
def test_recordings_are_converted(tmp_path, body, suffix):
    moved = record(tmp_path / "run.npz", body)
    facts = convert_file(tmp_path / "run.npz", tmp_path / f"out{suffix}", Conversion(to_up_axis=None, to_units=None))
    assert (facts["frames"], facts["fps"]) == (3, 30.0)
    cache = open_cache(tmp_path / f"out{suffix}")
    expected = moved[2][body.surface_vertices()]
    assert cache.frames == 3
    assert cache.times == pytest.approx([0, 1 / 30, 2 / 30], abs=1e-6)
    assert np.abs(cache.surface_positions(2) - expected).max() < 2e-4 * body.size()


def test_quads_and_texture_survive_the_way_through_the_formats(tmp_path, body):
    corners = np.array([[x, y, z] for x in (-0.2, 0.2) for y in (-0.02, 0.02) for z in (-0.02, 0.02)])
    quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    uv = np.linspace(0, 1, 48).reshape(24, 2)
    skin = TriMesh.from_polygons(corners, [4] * 6, np.ravel(quads), uv)
    record(tmp_path / "a.usdc", body, RenderMesh.build(body, skin))
    way = ["a.usdc", "b.pc2", "c.mdd", "d.obj", "e.usda"]
    for source, target in itertools.pairwise(way):
        convert_file(tmp_path / source, tmp_path / target, Conversion())
    end = open_cache(tmp_path / "e.usda").surface()
    assert end.face_counts.tolist() == [4] * 6
    assert end.face_indices.tolist() == np.ravel(quads).tolist()
    assert end.uv == pytest.approx(uv, abs=1e-6)
    assert open_cache(tmp_path / "e.usda").info.fps == 30.0


def test_one_frame_becomes_a_mesh_and_rates_are_changed(tmp_path, body):
    moved = record(tmp_path / "run.npz", body)
    convert_file(tmp_path / "run.npz", tmp_path / "two.vtu", Conversion(frame=2, to_units="m"))
    assert load_tets(tmp_path / "two.vtu").vertices == pytest.approx(moved[2])
    convert_file(tmp_path / "run.npz", tmp_path / "slow.usdc", Conversion(fps=15.0))
    assert open_cache(tmp_path / "slow.usdc").times == pytest.approx([0, 1 / 15, 2 / 15])
    convert_file(tmp_path / "run.npz", tmp_path / "all.pvd", Conversion())
    assert open_cache(tmp_path / "all.pvd").body().tets.tolist() == body.tets.tolist()


@pytest.mark.parametrize(
    ("target", "asked", "reason"),
    [
        ("a.msh", Conversion(), "fill it first"),
        ("a.usdc", Conversion(units="cubits"), "no unit supple knows"),
        ("a.glb", Conversion(to_units="cm"), "glTF is in metres with y up"),
        ("a.ply", Conversion(frame=3), "--frame and --fps are for recordings"),
        ("a.ply", Conversion(dialect="sideways"), "no dialect"),
        ("a.fbx", Conversion(), "is written as"),
    ],
)
def test_what_cannot_be_converted_says_why(tmp_path, body, target, asked, reason):
    save_surface(tmp_path / "in.obj", body.surface())
    with pytest.raises((OutputError, SceneError), match=reason):
        convert_file(tmp_path / "in.obj", tmp_path / target, asked)
