"""The reference of the scene file, generated from its schema."""

from __future__ import annotations

import types
from inspect import cleandoc
from typing import Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from supple.scene.body_table import BodyTable
from supple.scene.collider import ColliderTable
from supple.scene.contact import ContactTable
from supple.scene.deformer_table import BlendShapeTable, CorrectionTable, DeformerTable
from supple.scene.force import Force
from supple.scene.material import MaterialTable, PoseMaterialTable, RegionTable
from supple.scene.mesh_table import MeshTable
from supple.scene.method_table import MethodTable
from supple.scene.motion import Move, MoveKey, ScaleKey, Turn, TurnKey
from supple.scene.motion_table import MotionTable, PoseKey
from supple.scene.output_table import OutputTable
from supple.scene.paint_table import PaintedTable, PaintTable
from supple.scene.pin import Pin
from supple.scene.rig_table import AttachTable, RigTable
from supple.scene.schema import Scene
from supple.scene.section import Section, Unit
from supple.scene.select import HalfSpace, Painted, Select, Side, Sphere
from supple.scene.shell_table import ShellTable, SkinTable, VolumeKey, VolumeTable
from supple.scene.start_table import StartTable
from supple.scene.tie_table import ExamplesTable, SpringTable, StrainTable
from supple.scene.time_table import TimeTable
from supple.scene.training_table import TrainingTable
from supple.scene.units import UNITS_RULE

__all__ = ["scene_reference"]

TABLES: dict[str, type[Section]] = {
    "Top of the file": Scene,
    "[time]": TimeTable,
    "[mesh]": MeshTable,
    "[[paint]]": PaintTable,
    "[material]": MaterialTable,
    "[material.regions.NAME]": RegionTable,
    "[[material.painted]]": PaintedTable,
    "[[material.pose]]": PoseMaterialTable,
    "[shell]": ShellTable,
    "[skin]": SkinTable,
    "[volume]": VolumeTable,
    "volume.keys": VolumeKey,
    "[[spring]]": SpringTable,
    "[strain]": StrainTable,
    "[examples]": ExamplesTable,
    "[[pin]]": Pin,
    "pin.move": Move,
    "pin.move.keys": MoveKey,
    "pin.turn": Turn,
    "pin.turn.keys": TurnKey,
    "[rig]": RigTable,
    "[rig.attach]": AttachTable,
    "[[rig.deformer]]": DeformerTable,
    "[[rig.blend_shape]]": BlendShapeTable,
    "[[rig.correction]]": CorrectionTable,
    "[motion]": MotionTable,
    "motion.keys": PoseKey,
    "[[force]]": Force,
    "force.keys": ScaleKey,
    "[[collider]]": ColliderTable,
    "[contact]": ContactTable,
    "[start]": StartTable,
    "[method]": MethodTable,
    "[training]": TrainingTable,
    "[output]": OutputTable,
    "[[body]]": BodyTable,
    "select": Select,
    "select.side": Side,
    "select.sphere": Sphere,
    "select.half_space": HalfSpace,
    "select.paint": Painted,
}
NAMES = {float: "number", int: "whole number", str: "text", bool: "true/false"}


def scene_reference() -> str:
    """The whole reference as Markdown: one table of keys for each table of the scene file."""
    parts = [f"{UNITS_RULE}\n\nAn unknown key is an error that suggests the nearest known one.\n"]
    for title, section in TABLES.items():
        parts.append(f"## {title if title.startswith('Top') else f'`{title}`'}\n\n{cleandoc(section.__doc__ or '')}\n")
        parts.append("| key | type | unit | default | meaning |\n| --- | --- | --- | --- | --- |")
        parts.append("\n".join(_row(section, name, field) for name, field in section.model_fields.items()) + "\n")
    return "\n".join(parts)


def _row(section: type[Section], name: str, field: FieldInfo) -> str:
    """One line of a table of keys."""
    also = [alias for alias, key in section.aliases.items() if key == name]
    key = " or ".join(f"`{spelling}`" for spelling in (field.alias or name, *also))
    unit = next((mark.text for mark in field.metadata if isinstance(mark, Unit)), "")
    limits = ", ".join(
        f"{sign} {getattr(mark, attribute):g}"
        for attribute, sign in (("gt", ">"), ("ge", "≥"), ("lt", "<"), ("le", "≤"))
        for mark in field.metadata
        if hasattr(mark, attribute)
    )
    kind = type_words(field.annotation) + (f" {limits}" if limits else "")
    meaning = field.description or ""
    return f"| {key} | {kind} | {unit} | {_default(field)} | {meaning} |".replace("  ", " ")


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.default
    if value is PydanticUndefined or value is None or isinstance(value, Section):
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        return f"`{list(value)}`"
    return f'`"{value}"`' if isinstance(value, str) else f"`{value:g}`"


def type_words(annotation: Any) -> str:
    """A type hint in words: "number", "three numbers", "list of tables"."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        return " or ".join(type_words(part) for part in inner if part is not types.NoneType)
    if origin is Literal:
        return ", ".join(f"`{choice}`" for choice in inner)
    if origin is list or (origin is tuple and inner[1:] == (...,)):
        return f"list of {type_words(inner[0])}" + ("" if get_origin(inner[0]) is Literal else "s")
    if origin is dict:
        return f"table of {type_words(inner[1]).removesuffix('s')}s"
    if origin is tuple:
        return "three numbers" if len(inner) == 3 else f"{len(inner)} x {type_words(inner[0])}"
    if origin is not None:
        return type_words(inner[0])
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return "selection" if annotation is Select else "table"
    return NAMES.get(annotation, str(annotation))
