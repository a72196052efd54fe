"""Checks of arguments where objects are made: "Class(argument): got X; want Y. Remedy." """

import difflib
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, NoReturn

import numpy as np
from numpy.typing import DTypeLike, NDArray

from supple.errors import ArgumentError

__all__ = [
    "as_floats",
    "as_index",
    "as_indices",
    "as_integers",
    "check_keywords",
    "check_number",
    "check_type",
    "describe",
    "refuse",
    "remember",
]

Shape = tuple[int | str, ...]


def describe(value: object) -> str:
    """What came, in a few words: a shape for arrays, the value of a number, else the type."""
    match value:
        case str() | os.PathLike():
            text = os.fspath(value)
            return f'"{text}"' if isinstance(text, str) and len(text) < 30 and not _is_path(text) else "a path"
        case None | bool() | int() | float() | np.number() | np.bool_():
            text = str(value)
            return text if len(text) < 30 else f"{text[:20]}..."
        case np.ndarray():
            return f"shape {value.shape}"
        case type():
            return f"the class {value.__name__}"
        case _:
            return type(value).__name__


def refuse(where: str, got: str, want: str, remedy: str = "", error: type[ArgumentError] = ArgumentError) -> NoReturn:
    """Raise the error; `where` is "Class(argument)"."""
    raise error(f"{where}: got {got}; want {want}.{' ' + remedy if remedy else ''}")


def remember(made: object, /, **attributes: object) -> None:
    """Set attributes of a frozen dataclass while it is made."""
    for name, attribute in attributes.items():
        object.__setattr__(made, name, attribute)


def check_keywords(kind: type, positional: tuple[object, ...], named: Mapping[str, object], example: str) -> None:
    """Refuse positional arguments of a dataclass that takes keywords only, and keywords that it does not know."""
    if positional:
        raise ArgumentError(f"{kind.__name__}(): takes keywords, such as {example}.")
    known = [item.name for item in fields(kind) if item.init]
    for name in named:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f'did you mean "{near[0]}"?' if near else f"it takes {', '.join(known)}."
            raise ArgumentError(f'{kind.__name__}(): no argument "{name}"; {hint}')


def check_type(
    value: object,
    where: str,
    kinds: type | tuple[type, ...],
    want: str,
    remedy: str = "",
    error: type[ArgumentError] = ArgumentError,
) -> None:
    """Refuse what is of none of these types."""
    if not isinstance(value, kinds):
        refuse(where, describe(value), want, remedy, error)


def check_number(
    value: object,
    where: str,
    *,
    above: float | None = None,
    least: float | None = None,
    below: float | None = None,
    most: float | None = None,
    unit: str = "",
    remedy: str = "",
    error: type[ArgumentError] = ArgumentError,
) -> None:
    """Refuse what is no finite number, or lies outside a range whose ends count (`least`, `most`) or do not."""
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if (
        is_number
        and math.isfinite(value)  # type: ignore[arg-type]
        and (above is None or value > above)  # type: ignore[operator]
        and (least is None or value >= least)  # type: ignore[operator]
        and (below is None or value < below)  # type: ignore[operator]
        and (most is None or value <= most)  # type: ignore[operator]
    ):
        return
    bounds = (("above", above), ("from", least), ("below", below), ("up to", most))
    words = ", ".join(f"{word} {bound:g}" for word, bound in bounds if bound is not None)
    want = words if words and is_number else f"a finite number{' ' + words if words else ''}"
    refuse(where, describe(value), f"{want}{f' [{unit}]' if unit else ''}", remedy, error)


def as_floats(
    value: object,
    where: str,
    shape: Shape,
    *,
    unit: str = "",
    remedy: str = "",
    finite: bool = True,
    above: float | None = None,
    least: float | None = None,
    error: type[ArgumentError] = ArgumentError,
) -> NDArray[np.float64]:
    """The value as doubles of a shape such as ("n", 3), copied only where it must be; letters stand for any extent."""
    want = f"{_tell_shape(shape)}{f' [{unit}]' if unit else ''}"
    array = value if isinstance(value, np.ndarray) else _as_array(value, where, want, remedy, error)
    if array.dtype.kind not in "fiu" and array.size:
        refuse(where, _tell_type(array, value), want, remedy, error)
    _check_shape(array, where, shape, want, remedy, error)
    floats = np.asarray(array, np.float64, order="C")
    if finite and not np.isfinite(floats).all():
        rows = np.flatnonzero(~np.isfinite(floats.reshape(len(floats), -1) if floats.ndim else floats).all(axis=-1))
        which = f" in row {rows[0]} ({len(rows)} in all)" if floats.ndim > 1 else ""
        refuse(where, f"numbers that are not finite{which}", "finite ones", remedy, error)
    for bound, beyond, word in ((above, np.less_equal, "above"), (least, np.less, "from")):
        if bound is not None and beyond(floats, bound).any():
            place = int(np.argmax(beyond(floats, bound)))
            got = f"{floats.flat[place]:g}{f' at {place}' if floats.size > 1 else ''}"
            refuse(where, got, f"{word} {bound:g}{f' [{unit}]' if unit else ''}", remedy, error)
    return floats


def as_integers(
    value: object,
    where: str,
    shape: Shape,
    *,
    remedy: str = "",
    dtype: DTypeLike = np.int32,
    error: type[ArgumentError] = ArgumentError,
) -> NDArray[Any]:
    """The value as integers of a shape; a mask and numbers that are not whole are refused."""
    want = f"integers of shape {_tell_shape(shape)}"
    array = _as_array(value, where, want, remedy, error)
    if array.dtype.kind not in "iu" and array.size:
        refuse(where, _tell_type(array, value), want, remedy, error)
    _check_shape(array, where, shape, _tell_shape(shape), remedy, error)
    limits = np.iinfo(dtype)
    if array.size and (int(array.min()) < limits.min or int(array.max()) > limits.max):
        refuse(where, f"numbers from {array.min()} to {array.max()}", f"numbers up to {limits.max:,}", remedy, error)
    return np.ascontiguousarray(array, dtype)


def as_indices(value: object, where: str, count: int | None = None, *, noun: str = "vertex") -> NDArray[np.int32]:
    """Numbers of vertices, (k,), from such numbers or from a mask (count,) of booleans; None: as many as it has."""
    array = np.asarray(value) if isinstance(value, list | tuple | np.ndarray) else value
    if isinstance(array, np.ndarray) and array.dtype == np.bool_:
        if array.ndim != 1 or (count is not None and len(array) != count):
            refuse(where, f"a mask {array.shape}", "(n,)" if count is None else f"({count},)")
        return np.flatnonzero(array).astype(np.int32)
    if isinstance(array, range):
        array = np.arange(array.start, array.stop, array.step)
    found: NDArray[np.int32] = as_integers(array, where, ("k",), remedy="A mask of booleans serves, too.")
    beyond = np.flatnonzero((found < 0) | (found >= (count if count is not None else np.iinfo(np.int32).max)))
    if beyond.size:
        last = "" if count is None else f"; the last is {count - 1}"
        raise ArgumentError(f"{where}: got {noun} {found[beyond[0]]}{last or '; want numbers from 0 on'}.")
    return found


def as_index(value: object, where: str) -> int:
    """A whole number from 0 on."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        refuse(where, describe(value), "a whole number from 0 on")
    return int(value)


def _as_array(value: object, where: str, want: str, remedy: str, error: type[ArgumentError]) -> NDArray[Any]:
    if isinstance(value, str | os.PathLike) or value is None or callable(value) or isinstance(value, Mapping):
        refuse(where, describe(value), want, remedy, error)
    if isinstance(value, Iterable) and not hasattr(value, "__len__"):
        refuse(where, f"a {type(value).__name__}", want, remedy or "Make a list of it.", error)
    try:
        return np.asarray(value)
    except (TypeError, ValueError):
        refuse(where, "rows of different lengths, or no numbers", want, remedy, error)


def _check_shape(
    array: NDArray[Any], where: str, shape: Shape, want: str, remedy: str, error: type[ArgumentError]
) -> None:
    fits = array.ndim == len(shape) and all(
        found == extent or isinstance(extent, str) for extent, found in zip(shape, array.shape, strict=True)
    )
    if not fits:
        refuse(where, f"shape {array.shape}", want, remedy, error)


def _tell_shape(shape: Shape) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def _tell_type(array: NDArray[Any], value: object) -> str:
    if array.dtype == np.bool_:
        return f"a mask {array.shape}" if array.ndim else describe(value)
    return describe(value) if array.ndim == 0 else f"values of type {array.dtype}"


def _is_path(text: str) -> bool:
    return "/" in text or "\\" in text or (0 < text.rfind(".") < len(text) - 1)
