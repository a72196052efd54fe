"""What every table of a scene shares: strict keys, finite numbers, aliases, marked lengths and file names."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

__all__ = [
    "CODE",
    "FILE",
    "FRICTION",
    "LENGTH",
    "SPEED",
    "FileName",
    "Section",
    "Unit",
    "Vec3",
    "change_files",
    "change_marked",
    "key_names",
    "only",
    "three_numbers",
]


@dataclass(frozen=True)
class Unit:
    """The unit a scene key is written in; `scales` when it follows the scene's `units`."""

    text: str
    scales: bool = False


@dataclass(frozen=True)
class FileName:
    """Marks a key that names a file, relative to the scene file's folder; the words in `but` are no names."""

    but: tuple[str, ...] = ()
    runs: bool = False
    """Whether what is in it is run: then it must lie in that folder or below."""


LENGTH = Unit("units", scales=True)


def _refuse_infinite(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("must be a finite number: to make things stick for good, pin the vertices instead")
    return value


FRICTION = BeforeValidator(_refuse_infinite)  #: a coefficient of friction
SPEED = Unit("units/s", scales=True)
FILE = FileName()
CODE = FileName(runs=True)


def three_numbers(value: object) -> tuple[float, float, float]:
    """A list of three numbers as a tuple, which strict validation then checks."""
    if isinstance(value, list | tuple) and len(value) == 3:
        x, y, z = value
        if all(isinstance(number, int | float) and not isinstance(number, bool) for number in value):
            return float(x), float(y), float(z)
    raise ValueError("must be three numbers, such as [0.0, -1.0, 0.0]")


Vec3 = Annotated[tuple[float, float, float], BeforeValidator(three_numbers)]


def only(kinds: tuple[type, ...], wording: str) -> BeforeValidator:
    """A check that a value is of one of these types, complaining that it `must be` so and so."""

    def check(value: object) -> object:
        if value is not None and not isinstance(value, kinds):
            raise ValueError(f"must be {wording}")
        return value

    return BeforeValidator(check)


class Section(BaseModel):
    """Base of the scene's tables: unknown keys, NaN, infinities and silent conversions are refused."""

    # Built when first used: a start reads a few tables, and would wait a quarter of a second for the others
    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, frozen=True, defer_build=True)
    aliases: ClassVar[Mapping[str, str]] = {}

    @model_validator(mode="before")
    @classmethod
    def _spell_out_aliases(cls, data: object) -> object:
        """The table with every alias replaced by the key it stands for."""
        if not isinstance(data, Mapping):
            return data
        for alias, name in cls.aliases.items():
            if alias in data and name in data:
                raise ValueError(f"has both {name} and {alias}, which are one key: keep one of them")
        return {cls.aliases.get(key, key): value for key, value in data.items()}


AnySection = TypeVar("AnySection", bound=Section)


def key_names(section: type[Section]) -> list[str]:
    """Every key a table may hold as it is spelt in a file, aliases last."""
    return [field.alias or name for name, field in section.model_fields.items()] + list(section.aliases)


def change_marked(section: AnySection, mark: type, change: Callable[[Any, Any], Any]) -> AnySection:
    """A copy of the table and those below it, with `change(mark, value)` for each value that is marked."""
    update: dict[str, Any] = {}
    for name in section.model_fields_set:  # so that the copy still knows which keys were given
        value = getattr(section, name)
        marks = [entry for entry in type(section).model_fields[name].metadata if isinstance(entry, mark)]
        if marks:
            value = _map_leaves(value, partial(change, marks[0]))
        update[name] = _map_sections(value, lambda below: change_marked(below, mark, change))
    return section.model_copy(update=update)


def change_files(section: AnySection, change: Callable[[str], str]) -> AnySection:
    """A copy of the table and those below it with the name of every file changed."""
    return change_marked(section, FileName, lambda mark, name: name if name in mark.but else change(name))


def _map_leaves(value: Any, change: Callable[[Any], Any]) -> Any:
    """The same nesting of tuples, lists and tables with every number or text changed."""
    if isinstance(value, tuple | list):
        return type(value)(_map_leaves(item, change) for item in value)
    if isinstance(value, dict):
        return {key: _map_leaves(item, change) for key, item in value.items()}
    return value if value is None or isinstance(value, bool | Section) else change(value)


def _map_sections(value: Any, change: Callable[[Section], Section]) -> Any:
    """The same value with every table in it changed."""
    if isinstance(value, Section):
        return change(value)
    if isinstance(value, list | tuple):
        return type(value)(_map_sections(item, change) for item in value)
    if isinstance(value, dict):
        return {key: _map_sections(item, change) for key, item in value.items()}
    return value
