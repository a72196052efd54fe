"""The Blender script: what it exports, calls and loads back, with a stand-in for Blender."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

SCRIPT = Path(__file__).parent.parent / "examples" / "blender" / "supple_flesh.py"


class Thing:
    """An object of a scene."""

    def __init__(self, name: str, kind: str, selected: bool = False, armature: "Thing | None" = None) -> None:
        self.name, self.type, self.selected = name, kind, selected
        self.modifiers: Any = [] if armature is None else [SimpleNamespace(type="ARMATURE", object=armature)]
        self.users_collection: list[Any] = []

    def select_get(self) -> bool:
        return self.selected

    def select_set(self, value: bool) -> None:
        self.selected = value


class Objects(list):
    """Objects by number, or by name."""

    def __getitem__(self, key: Any) -> Any:
        return next(one for one in self if one.name == key) if isinstance(key, str) else super().__getitem__(key)


class Modifiers(list):
    def new(self, name: str, kind: str) -> SimpleNamespace:
        self.append(SimpleNamespace(name=name, type=kind))
        return self[-1]


class Blender:
    """The few parts of Blender that the script uses; remembers what it was asked."""

    def __init__(self, things: list[Thing], folder: Path) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.collections: list[SimpleNamespace] = []
        known = {"filepath", "use_selection", "export_format", "export_frame_range"}

        def export(**given: Any) -> None:
            self.calls.append(("export", given | {"selected": [thing.name for thing in things if thing.selected]}))
            Path(given["filepath"]).write_bytes(b"glTF")

        export.get_rna_type = lambda: SimpleNamespace(  # type: ignore[attr-defined]
            properties=dict.fromkeys(known)
        )

        def bring(**given: Any) -> None:
            self.calls.append(("import", given))
            new = Thing("flesh", "MESH")
            new.modifiers = Modifiers()
            things.append(new)

        def collect(name: str) -> SimpleNamespace:
            inside: list[Thing] = []
            made = SimpleNamespace(name=name, objects=SimpleNamespace(link=inside.append), inside=inside)
            self.collections.append(made)
            return made

        scene = SimpleNamespace(
            objects=things, frame_start=5, collection=SimpleNamespace(children=SimpleNamespace(link=lambda made: None))
        )
        self.module = ModuleType("bpy")
        parts: dict[str, Any] = {
            "context": SimpleNamespace(scene=scene),
            "data": SimpleNamespace(
                objects=things, filepath=str(folder / "hero.blend"), collections=SimpleNamespace(new=collect)
            ),
            "app": SimpleNamespace(tempdir=str(folder)),
            "ops": SimpleNamespace(
                export_scene=SimpleNamespace(gltf=export),
                import_scene=SimpleNamespace(gltf=bring),
                wm=SimpleNamespace(
                    obj_import=bring, save_as_mainfile=lambda **given: self.calls.append(("save", given))
                ),
            ),
            "types": SimpleNamespace(Operator=object),
            "props": SimpleNamespace(
                StringProperty=lambda **given: str, EnumProperty=lambda **given: str, IntProperty=lambda **given: int
            ),
        }
        for name, part in parts.items():
            setattr(self.module, name, part)


def load(monkeypatch: pytest.MonkeyPatch, blender: Blender | None = None) -> Any:
    monkeypatch.setitem(sys.modules, "bpy", None if blender is None else blender.module)  # type: ignore[arg-type]
    spec = importlib.util.spec_from_file_location("supple_flesh", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def things() -> list[Thing]:
    bones = Thing("Bones", "ARMATURE")
    hero, shirt = Thing("Hero", "MESH", True, bones), Thing("Shirt", "MESH", False, bones)
    return Objects([hero, shirt, bones, Thing("Lamp", "LIGHT")])


def test_first_run_writes_a_scene_and_later_ones_use_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = load(monkeypatch)
    paths = script.paths_of(tmp_path, "Hero / walk", "glTF")
    assert paths["export"].name == "Hero___walk.glb"
    first = script.make_command("supple", paths, frames=12)
    assert first[:5] == ["supple", "run", str(paths["export"]), "-o", str(tmp_path / "Hero___walk_soft.glb")]
    assert first[first.index("--write-scene") + 1] == str(paths["scene"])
    assert first[first.index("--frames") + 1] == "12"
    paths["scene"].write_text("")
    later = script.make_command("supple", paths, method="projective")
    assert later[2] == str(paths["scene"])
    assert "--write-scene" not in later
    assert later[-2:] == ["--method", "projective"]


def test_commands_are_ones_that_supple_knows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from supple.cli import app

    command = load(monkeypatch).make_command("supple", load(monkeypatch).paths_of(tmp_path, "a", "glTF"), 3, "full")
    chosen, _, _ = app.parse_args(command[1:], exit_on_error=False, print_error=False)
    assert chosen.__name__ == "run"


def test_meshes_come_with_their_armature_and_all_that_it_moves(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, things: list[Thing]
) -> None:
    script = load(monkeypatch, Blender(things, tmp_path))
    for selected in ([things[0]], [things[2]]):
        assert {one.name for one in script.choose_objects(selected)} == {"Hero", "Shirt", "Bones"}
    with pytest.raises(ValueError, match="select a mesh"):
        script.choose_objects([things[3]])


@pytest.mark.parametrize(("kind", "suffix"), [("glTF", ".glb"), ("point cache", ".pc2")])
def test_a_run_exports_calls_and_loads_back_and_spares_the_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, things: list[Thing], kind: str, suffix: str
) -> None:
    blender = Blender(things, tmp_path)
    script = load(monkeypatch, blender)
    commands: list[list[str]] = []
    monkeypatch.setattr(script, "find_supple", lambda given: "supple")
    monkeypatch.setattr(script.subprocess, "run", lambda command, check: commands.append(command))
    saved = script.run_without_window(["--objects", "Hero", "--kind", kind, "--frames", "7"])
    assert [name for name, _ in blender.calls] == ["export", "import", "save"]
    assert saved == tmp_path / "hero.soft.blend"
    assert blender.calls[2][1] == {"filepath": str(saved)}
    result = tmp_path / "supple" / f"Hero_soft{suffix}"
    assert commands[0][2:5] == [str(tmp_path / "supple" / "Hero.glb"), "-o", str(result)]
    assert blender.calls[1][1]["filepath"] == (f"{result}.obj" if suffix == ".pc2" else str(result))
    (new,) = blender.collections[0].inside
    assert [(mod.cache_format, mod.frame_start) for mod in new.modifiers] == (
        [("PC2", 5.0)] if suffix == ".pc2" else []
    )


def test_the_export_holds_the_selection_and_only_what_this_version_knows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, things: list[Thing]
) -> None:
    blender = Blender(things, tmp_path)
    script = load(monkeypatch, blender)
    script.export_character(things[:2], tmp_path / "hero.glb")
    (name, given) = blender.calls[0]
    assert name == "export"
    assert given["selected"] == ["Hero", "Shirt"]
    assert set(given) == {"filepath", "use_selection", "export_format", "export_frame_range", "selected"}
    assert [thing.name for thing in things if thing.selected] == ["Hero"]


def test_errors_are_supples_last_words(monkeypatch: pytest.MonkeyPatch) -> None:
    script = load(monkeypatch)
    assert (
        script.last_words("frame 1\n\nerror: mesh.file is missing: add it.\n") == "error: mesh.file is missing: add it."
    )
    assert "without a word" in script.last_words("")
    with pytest.raises(FileNotFoundError, match=r"pip install \."):
        script.find_supple("no-such-program")
