"""Painted maps and named parts in scenes: stiffness, density, pins, what a rig holds."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supple.errors import SceneError
from supple.scene.build import build_scene, set_stage
from supple.scene.load import parse_scene
from supple.scene.simulate import simulate
from supple.scene.stage import Stage
from supple.shape import make_shape


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """rod.ply: a capsule along x whose red grows from end to end and whose `hold` is 1 beyond the middle."""
    path = tmp_path_factory.mktemp("paint")
    surface = make_shape("capsule", resolution=12).surface()
    x = surface.vertices[:, 0]
    red = (x - x.min()) / np.ptp(x)
    lines = [
        "ply", "format ascii 1.0", f"element vertex {len(x)}",
        *(f"property float {axis}" for axis in "xyz"), *(f"property float {name}" for name in ("red", "green", "blue")),
        "property float hold", f"element face {len(surface.triangles)}", "property list uchar int vertex_indices",
        "end_header",
        *(f"{a} {b} {c} {r} 0 0 {float(a > 0.0)}" for (a, b, c), r in zip(surface.vertices.tolist(), red, strict=True)),
        *(f"3 {a} {b} {c}" for a, b, c in surface.triangles.tolist()),
    ]  # fmt: skip
    (path / "rod.ply").write_text("\n".join(lines) + "\n")
    return path


ROD = {"file": "rod.ply", "elements": 900}
RED, HOLD = {"name": "red", "channel": "red"}, {"name": "hold", "attribute": "hold"}


def stage(folder: Path, **tables: Any) -> Stage:
    return set_stage(parse_scene({"mesh": ROD, "paint": [RED, HOLD], **tables}, "scene", folder))


def in_order(made: Stage, name: str) -> np.ndarray:
    """An array of the body's elements in the order of its tets."""
    out = np.empty(len(made.mesh.tets))
    for part in made.body.parts:
        out[part.ids] = getattr(part, name)
    return out


def test_paint_grades_stiffness_and_density_from_end_to_end(folder: Path) -> None:
    made = stage(folder, material={"painted": [{"paint": "red", "stiffness": [0.1, 10.0], "density": [1.0, 4.0]}]})
    x = made.mesh.vertices[made.mesh.tets].mean(axis=1)[:, 0]
    low, high = made.mesh.vertices[:, 0].min(), made.mesh.vertices[:, 0].max()
    share = (x - low) / (high - low)
    assert np.abs((np.log10(in_order(made, "stiffness")) + 1.0) / 2.0 - share).max() < 0.06
    assert np.abs(np.log(in_order(made, "mass") / (1000.0 * made.mesh.volumes())) / np.log(4.0) - share).max() < 0.06
    assert any("stiffness from 0.1" in line for line in made.describe())


def test_paint_selects_vertices_and_tets(folder: Path) -> None:
    made = stage(
        folder,
        pin=[{"select": "paint hold above 0.5"}],
        material={"regions": {"far": {"select": {"paint": {"name": "red", "below": 0.25}}, "young": 1e6}}},
    )
    edge = made.mesh.surface().mean_edge()
    held = np.zeros(len(made.mesh.vertices), bool)
    held[made.body.pins.vertices] = True
    x = made.mesh.vertices[:, 0]
    assert held[x > edge].all()
    assert not held[x < -edge].any()
    far = made.mesh.regions == made.mesh.region_names["material.regions.far"]
    low, high = x.min(), x.max()
    share = (made.mesh.vertices[made.mesh.tets].mean(axis=1)[:, 0] - low) / (high - low)
    assert share[far].max() < 0.33
    assert share[~far].min() > 0.17


@pytest.mark.parametrize("method", ["full", "skipping", "projective", "hyperreduced"])
def test_even_paint_is_a_stiffer_and_heavier_material(folder: Path, method: str) -> None:
    ends = []
    for material in (
        {"young": 16e4, "density": 500.0},
        {"young": 2e4, "painted": [{"paint": "red", "stiffness": [8.0, 8.0], "density": [0.5, 0.5]}]},
    ):
        tables = {"mesh": ROD, "paint": [RED, HOLD], "pin": [{"select": "paint hold above 0.5"}], "time": {"frames": 2}}
        built = build_scene(
            parse_scene(
                {**tables, "material": material, "method": {"name": method, "convergence": 0.0}}, "scene", folder
            )
        )
        ends.append(built.solver.to_full(list(simulate(built))[-1].state)[0] - built.mesh.vertices)
    assert np.abs(ends[0]).max() > 0.02
    assert np.abs(ends[1] - ends[0]).max() < 1e-6


def test_rig_holds_paint_and_bones_select(folder: Path) -> None:
    scene = {
        "mesh": {"shape": "capsule", "resolution": 8},
        "rig": {"hold": {"all_of": ["bone first", {"none_of": ["max y 40%"]}]}},
        "paint": [{"name": "end", "file": "rod.ply", "attribute": "hold"}],
        "pin": [{"select": "bone second"}],
        "force": [{"kind": "region", "select": "paint end above 0.9", "vector": [0, 1, 0]}],
    }
    made = set_stage(parse_scene(scene, "scene", folder))
    rigging = made.drive.rigging
    assert rigging is not None
    second = made.drive.parts[0].vertices
    skeleton = rigging.posing.actor.skeleton
    assert skeleton is not None
    x, y = made.mesh.vertices[:, 0], made.mesh.vertices[:, 1]
    joint = skeleton.heads[skeleton.names.index("second")][0]
    assert len(second) == int((x > joint + 1e-9).sum()) or np.abs(x[second] - joint).min() < 0.2
    held = rigging.held.pins.vertices
    assert not set(held.tolist()) & set(second.tolist())
    assert y[held].max() < 0.5 * y.max()
    assert x[made.drive.loads[0].vertices].min() > -0.1


def attached(folder: Path, paint: np.ndarray, **tables: Any) -> Stage:
    np.savez(folder / "tied.npz", tied=paint)
    scene = {
        "mesh": {"shape": "capsule", "resolution": 6},
        "material": {"young": 1e5, "density": 1000.0},
        "paint": [{"name": "tied", "file": "tied.npz"}],
        "rig": {"hold": "none", "attach": {"paint": "tied", "reach": 0.2}},
        "time": {"integrator": "static", "frames": 1},
        **tables,
    }
    return set_stage(parse_scene(scene, "scene", folder))


def test_painted_attachment_is_as_strong_as_the_paint_says(tmp_path: Path) -> None:
    rest = make_shape("capsule", resolution=6).vertices
    for share, times in ((0.5, 1.0), (0.8, 4.0), (0.2, 0.25)):  # springs alone hold up all weight: u = rho g L² / E
        made = attached(tmp_path, np.full(len(rest), share), motion={"keys": [{"t": 0.0}]})
        assert any("tied to the rig by springs of" in line for line in made.describe())
        built = build_scene(made.scene)
        (now,) = simulate(built)
        sunk = built.solver.positions(now.state) - rest
        np.testing.assert_allclose(sunk[:, 1], -1000 * 9.81 * 0.2**2 / 1e5 / times, rtol=1e-3)
    graded = (rest[:, 0] - rest[:, 0].min()) / np.ptp(rest[:, 0])
    built = build_scene(attached(tmp_path, graded, motion={"keys": [{"t": 0.0}]}).scene)
    (now,) = simulate(built)
    sunk = rest[:, 1] - built.solver.positions(now.state)[:, 1]
    assert np.all(np.diff([sunk[np.abs(graded - share) < 0.1].mean() for share in (0.1, 0.4, 0.7, 1.0)]) < 0.0)
    assert np.abs(sunk[graded > 0.99]).max() < 0.02 * sunk.max()
    with pytest.raises(SceneError, match=r"does not know rig\.attach"):
        attached(tmp_path, graded, method={"name": "reduced"})
    with pytest.raises(SceneError, match="did you mean 'tied'"):
        attached(tmp_path, graded, rig={"attach": {"paint": "tide"}})


def test_groups_of_the_drawn_surface_select_what_lies_at_them(tmp_path: Path) -> None:
    surface = make_shape("box", resolution=3).surface()
    right = surface.vertices[surface.triangles].mean(axis=1)[:, 0] > 0.0
    faces = [f"f {a} {b} {c}" for a, b, c in (surface.triangles + 1).tolist()]
    lines = [f"v {x} {y} {z}" for x, y, z in surface.vertices.tolist()]
    for name, chosen in (("left", ~right), ("right", right)):
        lines += [f"g {name}", *(face for face, own in zip(faces, chosen, strict=True) if own)]
    (tmp_path / "box.obj").write_text("\n".join(lines) + "\n")
    scene = {
        "mesh": {"file": "box.obj", "resolution": 6},
        "pin": [{"select": "group right"}],
        "material": {"regions": {"soft": {"select": {"group": "left"}, "young": 1e4}}},
    }
    made = set_stage(parse_scene(scene, "scene", tmp_path))
    held = made.body.pins.vertices
    skin = made.mesh.surface_vertices()
    assert set(held.tolist()) <= set(skin.tolist())
    x = made.mesh.vertices[:, 0]
    assert set(skin[x[skin] > 0.2].tolist()) <= set(held.tolist())
    assert x[held].min() > -0.2
    soft = made.mesh.regions == made.mesh.region_names["material.regions.soft"]
    centres = made.mesh.vertices[made.mesh.tets].mean(axis=1)[:, 0]
    assert soft[centres < -0.2].all()
    assert not soft[centres > 0.2].any()


def test_npz_paints_every_vertex_of_the_mesh(tmp_path: Path) -> None:
    mesh = make_shape("box", resolution=3)
    np.savez(tmp_path / "map.npz", height=10.0 * mesh.vertices[:, 1])
    scene = {
        "mesh": {"shape": "box", "resolution": 3},
        "paint": [{"name": "height", "file": "map.npz", "range": [-5.0, 5.0]}],
        "pin": [{"select": "paint height above 0.999"}],
    }
    made = set_stage(parse_scene(scene, "scene", tmp_path))
    assert np.allclose(made.mesh.vertices[made.body.pins.vertices, 1], mesh.vertices[:, 1].max())
    assert 0.0 <= made.marks.paints["height"].tets.min() <= made.marks.paints["height"].tets.max() <= 1.0


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"pin": [{"select": "paint rde above 0.5"}]}, "did you mean 'red'?"),
        ({"pin": [{"select": "paint red above 7"}]}, "selects no vertex"),
        ({"pin": [{"select": "bone arm"}]}, "the body has no bones: add a [rig]"),
        ({"pin": [{"select": "group arm"}]}, "the drawn surface has none"),
        ({"pin": [{"select": "paint red above much"}]}, "'much', which is no number"),
        ({"pin": [{"select": {"paint": {"name": "red"}}}]}, "must have above or below"),
        ({"pin": [{"select": {"all_of": []}}]}, "all_of without selections"),
        ({"paint": [RED, RED]}, "called 'red' as another is"),
        ({"paint": [{"name": "a", "attribute": "hold", "image": "a.png"}]}, "both attribute and image"),
        ({"material": {"painted": [{"paint": "red"}]}}, "changes nothing"),
        ({"material": {"painted": [{"paint": "red", "stiffness": [0.0, 1.0]}]}}, "not above 0"),
        (
            {
                "paint": [{"name": "far", "attribute": "hold", "range": [1.0, 0.999]}, RED],
                "mesh": {"shape": "box", "resolution": 2},
            },
            "a built-in shape brings no paint",
        ),
    ],
)
def test_what_cannot_be_painted_or_selected_is_told(folder: Path, tables: dict[str, Any], words: str) -> None:
    with pytest.raises(SceneError) as caught:
        stage(folder, **{"mesh": {"file": "rod.ply", "elements": 100}, **tables})
    assert words in str(caught.value)


def test_paint_beyond_0_to_1_grades_nothing(tmp_path: Path) -> None:
    mesh = make_shape("box", resolution=2)
    np.savez(tmp_path / "map.npz", wide=200.0 + 100.0 * mesh.vertices[:, 1])
    scene = {
        "mesh": {"shape": "box", "resolution": 2},
        "paint": [{"name": "wide", "file": "map.npz"}],
        "material": {"painted": [{"paint": "wide", "stiffness": [0.1, 1.0]}]},
    }
    with pytest.raises(SceneError, match=r"give that \[\[paint\]\] a range"):
        set_stage(parse_scene(scene, "scene", tmp_path))
