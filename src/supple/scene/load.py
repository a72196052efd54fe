"""A scene file read and checked; what is wrong with it said in one sentence."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from pathlib import Path, PureWindowsPath
from typing import Any, get_args, get_origin

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from supple.errors import SceneError
from supple.io import MESH_SUFFIXES
from supple.io.tree import parse_json, parse_toml
from supple.scene.rig_code import permit_code
from supple.scene.schema import Scene
from supple.scene.section import FileName, Section, change_marked, key_names

__all__ = ["explain", "load_scene", "override", "parse_scene"]

TYPES = {
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "bool_type": "must be true or false",
    "string_type": "must be a text",
    "list_type": "must be a list",
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "model_attributes_type": "must be a table",
    "finite_number": "must be a finite number",
}
BOUNDS = {
    "greater_than": "greater than",
    "greater_than_equal": "at least",
    "less_than": "less than",
    "less_than_equal": "at most",
}


SCENE_SUFFIXES = (".toml", ".json")
LARGEST = 2**26  #: bytes of a scene file


def load_scene(path: str | Path, changes: Mapping[str, Any] | None = None, *, allow_code: bool = False) -> Scene:
    """The scene in a .toml (or .json) file; file names in it start at its folder.

    `changes` are keys and tables that override the file's, such as {"units": "cm", "time": {"frames": 10}}.
    With `allow_code` the Python files that it names may be run by this process, as they are now.
    """
    path = Path(path)
    if path.suffix.lower() not in SCENE_SUFFIXES:
        raise SceneError(
            f"{path} is neither a scene ({', '.join(SCENE_SUFFIXES)}) nor a mesh supple reads "
            f"({', '.join(MESH_SUFFIXES)}): convert it, or check its name."
        )
    try:
        if path.stat().st_size > LARGEST:
            raise SceneError(f"{path} has more than {LARGEST:,} bytes: put arrays into files of their own.")
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise SceneError(f"{path} does not exist: check the path of the scene file.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SceneError(f"{path} cannot be read ({error}): give a text file in TOML.") from None
    try:
        data = parse_json(text) if path.suffix.lower() == ".json" else parse_toml(text)
    except ValueError as error:
        raise SceneError(f"{path} is no valid {path.suffix[1:].upper()}: {error}; correct that line.") from None
    if not isinstance(data, dict):
        raise SceneError(f"{path} holds a {type(data).__name__} where a scene is a table: begin it with {{.")
    return parse_scene(override(data, changes or {}), str(path), path.parent, allow_code=allow_code)


def override(data: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of `data` with the keys of `changes` put in, table by table."""
    merged = dict(data)
    for key, value in changes.items():
        below = merged.get(key)
        if isinstance(value, Mapping) and isinstance(below, Mapping):
            merged[key] = override(below, value)
        else:
            merged[key] = value
    return merged


def parse_scene(
    data: Mapping[str, Any], source: str = "scene", folder: Path | None = None, *, allow_code: bool = False
) -> Scene:
    """The scene in these tables; `source` names them in messages, `folder` is where file names start.

    With `allow_code` the Python files that it names may be run by this process, as they are now.
    """
    try:
        scene = Scene.model_validate(dict(data))
    except ValidationError as error:
        raise SceneError(explain(error.errors(), source)) from None
    if folder is not None:
        scene = change_marked(scene, FileName, lambda mark, name: _find_file(mark, name, folder, source))
    if allow_code:
        permit_code(scene)
    return scene


def _find_file(mark: FileName, name: str, folder: Path, source: str) -> str:
    """Where a file that a scene in this folder names is; one that is run is there or below."""
    if mark.runs and (Path(name).is_absolute() or PureWindowsPath(name).is_absolute() or ".." in Path(name).parts):
        raise SceneError(f"{source}: {name} would be run and does not lie beside the scene: move it there.")
    return name if name in mark.but else str(folder / name)


def explain(errors: list[ErrorDetails], source: str) -> str:
    """All errors, a line each where there are several; misspelt keys come first."""
    errors = sorted(errors, key=lambda error: error["type"] != "extra_forbidden")
    misspelt = [_describe(error) for error in errors if error["type"] == "extra_forbidden"]
    explained = [
        error
        for error in errors
        if error["type"] == "missing" and any(f"'{error['loc'][-1]}'" in text for text in misspelt)
    ]
    texts = list(dict.fromkeys(_describe(error) for error in errors if error not in explained))
    if len(texts) == 1:
        return f"{source}: {texts[0]}{'' if texts[0].endswith('?') else '.'}"
    return "\n  ".join([f"{source} has {len(texts)} faults:", *texts])


def _describe(error: ErrorDetails) -> str:
    """What one validation error means, with the key, the value and what is allowed."""
    kind, value, context = error["type"], error["input"], error.get("ctx", {})
    keys = list(error["loc"])
    if kind == "extra_forbidden":
        return _describe_unknown(keys)
    key = _spell(keys)
    if kind == "missing":
        return f"{key} is missing: add it"
    shown = f"{key} = {_show(value)}" if not isinstance(value, Mapping | list) and key else key or "the scene"
    if kind == "value_error":
        return f"{shown} {context['error']}"
    if kind == "literal_error":
        allowed = re.findall(r"'([^']*)'", context["expected"])
        near = difflib.get_close_matches(str(value)[:60], allowed, n=1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        return f"{shown} must be one of {', '.join(allowed)}{hint}"
    if kind in BOUNDS:
        return f"{shown} must be {BOUNDS[kind]} {next(iter(context.values())):g}"
    return f"{shown} {TYPES.get(kind, error['msg'][:1].lower() + error['msg'][1:])}"


def _describe_unknown(keys: list[int | str]) -> str:
    """That the last of `keys` is not known, and the known key nearest to it."""
    table, name = _spell(keys[:-1]), str(keys[-1])[:60]
    known = key_names(_section_at(keys[:-1]))
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"did you mean '{near[0]}'?" if near else f"known keys are {', '.join(known)}"
    return f"{_spell([*keys[:-1], name])} is not a key of {f'[{table}]' if table else 'a scene'}: {hint}"


def _section_at(keys: list[int | str]) -> type[Section]:
    """The table found by following `keys` down from the scene."""
    section: type[Section] = Scene
    named = False  # the next key is a name the user chose, as in [material.regions.NAME]
    for key in keys:
        if named or isinstance(key, int):
            named = False
            continue
        field = next((field for name, field in section.model_fields.items() if key in (name, field.alias)), None)
        if field is None:
            break
        section = _first_section(field.annotation) or section
        named = get_origin(field.annotation) is dict
    return section


def _first_section(annotation: Any) -> type[Section] | None:
    """The table type inside a type hint such as `list[Pin]` or `Move | None`."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return annotation
    return next((found for part in get_args(annotation) if (found := _first_section(part))), None)


def _spell(keys: list[int | str]) -> str:
    """The path of a key as a person writes it: `pin[1].move.keys`."""
    text = ""
    for key in keys:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text


def _show(value: object) -> str:
    """A value as it stands in a scene file."""
    text = str(value).lower() if isinstance(value, bool) else json.dumps(value, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."
