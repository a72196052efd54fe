"""Soft flesh for the selected character, from inside Blender: Object > Simulate with supple.

Install it under Edit > Preferences > Add-ons > Install from Disk, or run it in the text editor. It exports what is
selected as glTF, calls `supple run`, and imports the result beside the original, which it does not touch. Files go into
the folder `supple` beside the .blend: NAME.glb is the export, NAME.toml the scene, NAME_soft.glb the result. The first
run writes the scene and later ones use it: edit it to change the flesh, delete it to start afresh.

Without a window: blender walk.blend --background --python supple_flesh.py -- --objects Hero --frames 48
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

try:
    import bpy
except ImportError:  # the functions that need no Blender can be used without it
    bpy = None

bl_info = {
    "name": "Simulate with supple",
    "description": "Soft flesh on rigged characters, computed by supple",
    "blender": (3, 6, 0),
    "category": "Animation",
    "location": "Object > Simulate with supple",
}

KINDS = {"glTF": ".glb", "point cache": ".pc2"}
NOTHING = "select a mesh, or an armature with meshes on it"


def find_supple(given: str = "") -> str:
    """The program that is called: the given one, or the first on the path."""
    found = shutil.which(given or "supple")
    if found is None:
        raise FileNotFoundError(
            f"{given or 'supple'} is not found: run `pip install .` in a checkout of supple, or give the program's path"
        )
    return found


def plain_name(name: str) -> str:
    """A name that any file may have."""
    kept = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in name)
    return kept.strip("_") or "character"


def paths_of(folder: Path, name: str, kind: str) -> dict[str, Path]:
    """The files of a character: what is exported, the scene, and the result."""
    stem = plain_name(name)
    return {
        "export": folder / f"{stem}.glb",
        "scene": folder / f"{stem}.toml",
        "result": folder / f"{stem}_soft{KINDS[kind]}",
    }


def make_command(program: str, paths: dict[str, Path], frames: int = 0, method: str = "") -> list[str]:
    """The command line: the scene where there is one, else the bare character, whose scene it leaves."""
    has_scene = paths["scene"].is_file()
    command = [program, "run", str(paths["scene"] if has_scene else paths["export"]), "-o", str(paths["result"]), "-v"]
    command += [] if has_scene else ["--write-scene", str(paths["scene"])]
    command += ["--overwrite"]  # the result is this script's own, whatever it was made of before
    command += ["--frames", str(frames)] if frames else []
    return command + (["--method", method] if method else [])


def export_arguments(known: set[str], path: Path) -> dict[str, object]:
    """What the exporter is told, as far as this version of Blender knows it."""
    wanted = {
        "filepath": str(path),
        "export_format": "GLB",
        "use_selection": True,
        "export_apply": False,  # modifiers but the armature would part the mesh from its weights
        "export_skins": True,
        "export_animations": True,
        "export_frame_range": True,
        "export_force_sampling": True,
        "export_morph": True,
        "export_attributes": True,  # painted maps: attributes whose names begin with _
        "export_vertex_color": "ACTIVE",
        "export_all_vertex_colors": True,
        "export_yup": True,
        "export_optimize_animation_size": False,
    }
    return {key: value for key, value in wanted.items() if key in known}


def last_words(text: str) -> str:
    """The line in which supple says what is wrong, out of all that it said."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "supple ended without a word"


def choose_objects(selected: list) -> list:
    """The selected meshes and armatures, the armatures that move them, and the meshes that these move."""
    chosen = [one for one in selected if one.type in ("MESH", "ARMATURE")]
    for one in list(chosen):
        if one.type == "MESH":
            chosen += [mod.object for mod in one.modifiers if mod.type == "ARMATURE" and mod.object is not None]
    armatures = [one for one in chosen if one.type == "ARMATURE"]
    for one in bpy.context.scene.objects:
        if one.type == "MESH" and any(mod.type == "ARMATURE" and mod.object in armatures for mod in one.modifiers):
            chosen.append(one)
    unique = list(dict.fromkeys(chosen))
    if not any(one.type == "MESH" for one in unique):
        raise ValueError(NOTHING)
    return unique


def work_folder() -> Path:
    """Where the files go: beside the .blend, or where Blender keeps what is not saved."""
    base = Path(bpy.data.filepath).parent if bpy.data.filepath else Path(bpy.app.tempdir)
    folder = base / "supple"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def export_character(objects: list, path: Path) -> None:
    """Write the objects as glTF; the selection is afterwards what it was."""
    before = [one for one in bpy.context.scene.objects if one.select_get()]
    for one in bpy.context.scene.objects:
        one.select_set(one in objects)
    try:
        known = set(bpy.ops.export_scene.gltf.get_rna_type().properties.keys())
        bpy.ops.export_scene.gltf(**export_arguments(known, path))
    finally:
        for one in bpy.context.scene.objects:
            one.select_set(one in before)


def import_result(path: Path) -> list:
    """Bring the result in, in a collection of its own; what is new in the scene."""
    before = set(bpy.data.objects)
    if path.suffix == ".glb":
        bpy.ops.import_scene.gltf(filepath=str(path))
    else:
        bpy.ops.wm.obj_import(filepath=f"{path}.obj", validate_meshes=False)
    new = [one for one in bpy.data.objects if one not in before]
    collection = bpy.data.collections.new(path.stem)
    bpy.context.scene.collection.children.link(collection)
    for one in new:
        for old in list(one.users_collection):
            old.objects.unlink(one)
        collection.objects.link(one)
        if path.suffix == ".pc2" and one.type == "MESH":
            add_cache(one, path)
    return new


def add_cache(mesh, path: Path) -> None:
    """Let a mesh follow a point cache of the same vertices, frame by frame."""
    cache = mesh.modifiers.new("supple", "MESH_CACHE")
    cache.cache_format = "PC2"
    cache.filepath = str(path)
    cache.frame_start = float(bpy.context.scene.frame_start)


if bpy is not None:

    class SimulateWithSupple(bpy.types.Operator):
        """Give the selected character soft flesh; Esc stops"""

        bl_idname = "object.supple_simulate"
        bl_label = "Simulate with supple"
        bl_options = {"REGISTER"}  # noqa: RUF012

        program: bpy.props.StringProperty(name="Program", subtype="FILE_PATH", description="Empty: supple on the path")
        kind: bpy.props.EnumProperty(name="Load back", items=[(kind, kind, "") for kind in KINDS])
        frames: bpy.props.IntProperty(name="Frames", min=0, description="0: as long as the animation")
        method: bpy.props.StringProperty(name="Method", description="Empty: the scene's own")

        def invoke(self, context, event):
            return context.window_manager.invoke_props_dialog(self)

        def execute(self, context):
            try:
                objects = choose_objects(context.selected_objects)
                name = next((one.name for one in objects if one.type == "ARMATURE"), objects[0].name)
                self.paths = paths_of(work_folder(), name, self.kind)
                command = make_command(find_supple(self.program), self.paths, self.frames, self.method)
            except (ValueError, FileNotFoundError) as error:
                self.report({"ERROR"}, str(error))
                return {"CANCELLED"}
            export_character(objects, self.paths["export"])
            self.log = self.paths["result"].with_suffix(".log").open("w+", encoding="utf-8")
            self.process = subprocess.Popen(command, stdout=self.log, stderr=subprocess.STDOUT)
            if context.window is None:
                self.process.wait()
                return self.finish()
            self.timer = context.window_manager.event_timer_add(0.5, window=context.window)
            context.window_manager.modal_handler_add(self)
            return {"RUNNING_MODAL"}

        def modal(self, context, event):
            if event.type == "ESC":
                self.process.terminate()
            if self.process.poll() is None:
                return {"PASS_THROUGH"}
            context.window_manager.event_timer_remove(self.timer)
            return self.finish()

        def finish(self):
            """Load the result, or tell what supple said."""
            self.log.seek(0)
            said = self.log.read()
            self.log.close()
            if self.process.returncode:
                self.report({"ERROR"}, last_words(said))
                return {"CANCELLED"}
            import_result(self.paths["result"])
            self.report({"INFO"}, f"{self.paths['result'].name} is loaded; its scene is {self.paths['scene']}")
            return {"FINISHED"}


def draw_menu(menu, context):
    menu.layout.operator("object.supple_simulate")


def register():
    bpy.utils.register_class(SimulateWithSupple)
    bpy.types.VIEW3D_MT_object.append(draw_menu)


def unregister():
    bpy.types.VIEW3D_MT_object.remove(draw_menu)
    bpy.utils.unregister_class(SimulateWithSupple)


def run_without_window(arguments: list[str]) -> Path:
    """Simulate the named objects, load the result and save the .blend under another name; that name."""
    parser = argparse.ArgumentParser(prog="supple_flesh.py")
    parser.add_argument("--objects", nargs="+", required=True, help="meshes or armatures by name")
    parser.add_argument("--program", default="", help="the program supple")
    parser.add_argument("--kind", choices=list(KINDS), default="glTF", help="how the result is loaded back")
    parser.add_argument("--frames", type=int, default=0, help="frames to simulate; 0: as long as the animation")
    parser.add_argument("--method", default="", help="the scene's own by default")
    given = parser.parse_args(arguments)
    objects = choose_objects([bpy.data.objects[name] for name in given.objects])
    paths = paths_of(work_folder(), given.objects[0], given.kind)
    command = make_command(find_supple(given.program), paths, given.frames, given.method)
    export_character(objects, paths["export"])
    subprocess.run(command, check=True)
    import_result(paths["result"])
    saved = Path(bpy.data.filepath).with_suffix(".soft.blend")
    bpy.ops.wm.save_as_mainfile(filepath=str(saved))
    return saved


if __name__ == "__main__":
    if "--" in sys.argv:
        run_without_window(sys.argv[sys.argv.index("--") + 1 :])
    else:
        register()
