"""Scenes turned into bodies, loads and solvers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supple.errors import FileFormatError, SceneError
from supple.io import open_cache, save_surface, save_tets
from supple.material import ArrudaBoyce, StableNeoHookean, StVK
from supple.mesh import TetMesh
from supple.scene import Built, build_scene, parse_scene, run_scene
from supple.scene.material import MaterialTable, RegionTable, make_material
from supple.shape import make_shape

BEAM: dict[str, Any] = {"mesh": {"shape": "beam", "resolution": 10}}


def build(**tables: Any) -> Built:
    return build_scene(parse_scene({**BEAM, **tables}))


def test_material_defaults_presets_and_overrides() -> None:
    assert make_material(MaterialTable()) == StableNeoHookean(young=1e5, poisson=0.4, density=1000.0)
    fat = make_material(MaterialTable.model_validate({"preset": "fat", "nu": 0.3}))
    assert fat == StableNeoHookean(young=3e3, poisson=0.3, density=920.0)
    base = MaterialTable.model_validate({"model": "stvk", "E": 1e4, "rho": 900.0})
    assert make_material(base, RegionTable.model_validate({"E": 5e4})) == StVK(young=5e4, poisson=0.4, density=900.0)
    chains = RegionTable.model_validate({"model": "arruda_boyce", "shear": 4e3})
    assert make_material(base, chains) == ArrudaBoyce(shear=4e3, density=900.0)


def test_regions_are_chosen_by_selection_and_the_last_one_counts() -> None:
    regions = {"half": {"select": "min x 50%", "E": 2e5}, "end": {"select": "min x 10%", "E": 3e5}}
    built = build(material={"regions": regions})
    centres = built.mesh.vertices[built.mesh.tets].mean(axis=1)[:, 0]
    numbers = built.body.mesh.regions
    assert ((numbers == 2) == (centres < -0.4)).all()
    assert ((numbers == 0) == (centres > 0)).all()
    assert list(built.materials) == ["material", "material.regions.half", "material.regions.end"]


def test_regions_of_the_mesh_keep_their_names_for_pins_and_materials(tmp_path: Path) -> None:
    box = make_shape("box", resolution=3)
    regions = np.where(box.vertices[box.tets].mean(axis=1)[:, 1] > 0, 4, 2)
    save_tets(tmp_path / "b.msh", TetMesh.clean(box.vertices, box.tets, regions, {"top": 4, "bottom": 2}))
    tables = {
        "mesh": {"file": str(tmp_path / "b.msh")},
        "material": {"regions": {"top": {"rho": 2000.0}}},
        "pin": [{"select": {"region": "bottom"}}],
    }
    built = build_scene(parse_scene(tables))
    top = regions == 4
    assert built.body.mass.sum() == pytest.approx(1000 * box.volumes()[~top].sum() + 2000 * box.volumes()[top].sum())
    read = built.source.mesh
    assert set(built.body.pins.vertices) == set(read.tets[read.regions == 2].ravel())
    with pytest.raises(SceneError, match=r"material\.regions\.tpo names the region 'tpo'.*'top'"):
        build_scene(parse_scene({**tables, "material": {"regions": {"tpo": {"rho": 2000.0}}}}))


def test_pin_that_selects_nothing_says_where_the_body_is_in_scene_units() -> None:
    pin = {"name": "wall", "select": {"box": [[200, 0, 0], [300, 1, 1]]}}
    mesh = {"shape": "beam", "resolution": 10, "size": {"length": 100, "width": 20, "height": 20}}
    with pytest.raises(SceneError) as caught:
        build(units="cm", mesh=mesh, pin=[pin])
    text = str(caught.value)
    assert text.startswith('pin[0] "wall" selects no vertex: the body is 100 x 20 x 20 in size')
    assert "between (-50, -10, -10) and (50, 10, 10)" in text


def test_forces_add_up_to_what_the_scene_says() -> None:
    forces = [
        {"kind": "region", "vector": [1, 0, 0], "select": "max x"},
        {"kind": "point", "vector": [0, 2, 0], "at": [0.1, 0.02, 0.03]},
        {"kind": "body", "vector": [0, 0, 3], "select": "all", "from": 1.0},
    ]
    built = build(force=forces, gravity=[0.0, -1.0, 0.0])
    mass = built.body.mass
    for time, body_force in ((0.0, 0.0), (2.0, 3.0 * mass.sum())):
        total = np.zeros((len(mass), 3))
        for force in built.drive.forces(time):
            force.add_to(total, mass)
        assert total.sum(axis=0) == pytest.approx([1, 2 - mass.sum(), body_force])
    load = built.drive.loads[1]
    assert load.weights @ built.mesh.vertices[load.vertices] == pytest.approx([0.1, 0.02, 0.03])


def test_overlapping_pins_hold_the_union_and_the_last_one_moves() -> None:
    pins = [
        {"select": "min x", "move": {"velocity": [1, 0, 0]}},
        {"select": "min x", "axes": "y", "move": {"velocity": [0, 5, 7]}},
    ]
    built = build(pin=pins)
    rest = built.mesh.vertices[built.body.pins.vertices]
    assert built.body.pins.held.all()
    assert built.drive.targets(2.0, 2.0) - rest == pytest.approx(np.tile([2, 10, 0], (len(rest), 1)))
    assert built.drive.moment(-1.0).targets == pytest.approx(rest)


def test_surface_file_is_filled_and_carried_along(tmp_path: Path) -> None:
    surface = make_shape("sphere", resolution=8).surface()
    save_surface(tmp_path / "ball.obj", surface)
    tables = {
        "units": "cm",
        "mesh": {"file": str(tmp_path / "ball.obj"), "elements": 300},
        "pin": [{"select": "min y 5%"}],
    }
    built = build_scene(parse_scene({**tables, "time": {"frames": 1}}))
    assert built.mesh.size() == pytest.approx(0.01 * np.sqrt(3), rel=0.1)
    assert any("filled the surface" in note for note in built.source.notes)
    run_scene(built, [tmp_path / "ball.usdc"])
    cache = open_cache(tmp_path / "ball.usdc")
    assert cache.surface_positions(0) == pytest.approx(0.01 * surface.vertices, abs=1e-8)
    own = build_scene(parse_scene({**tables, "mesh": {**tables["mesh"], "render": False}}))  # type: ignore[dict-item]
    assert own.source.render is None


def test_wrong_shape_size_and_resolution_of_tets_are_scene_errors(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match="did you mean 'beam'"):
        build(mesh={"shape": "bean"})
    with pytest.raises(SceneError, match="did you mean 'length'"):
        build(mesh={"shape": "beam", "size": {"lenght": 1.0}})
    save_tets(tmp_path / "b.npz", make_shape("box", resolution=2))
    with pytest.raises(SceneError, match=r"mesh\.elements has no meaning"):
        build(mesh={"file": str(tmp_path / "b.npz"), "elements": 100})
    with pytest.raises(FileFormatError, match=r"none\.npz"):
        build(mesh={"file": str(tmp_path / "none.npz")})


def test_description_names_what_will_run() -> None:
    lines = build(units="mm", mesh={"shape": "beam", "resolution": 10}, material={"preset": "muscle"}).describe()
    text = "\n".join(lines)
    assert "stable_neo_hookean, density 1060 kg/m³, young 30000 Pa, poisson 0.45" in text
    assert 'units: "mm" (0.001 m), y up' in text
    assert "unknowns" in text
