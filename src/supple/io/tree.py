"""JSON and TOML as plain values, with whole numbers of 64 bits and nesting that whoever reads them can follow."""

import json
import tomllib
from collections.abc import Callable
from typing import Any

__all__ = ["DEEPEST", "parse_json", "parse_toml"]

DEEPEST = 64  #: levels of tables and lists
_WHOLE = -(2**63), 2**64


def parse_json(text: str | bytes, refuse_constants: bool = False) -> Any:
    """The values of a JSON text; a ValueError in a user's words where there are none.

    `refuse_constants`: NaN and Infinity, which are no JSON but Python's, are refused too.
    """
    return _parse(lambda: json.loads(text, parse_constant=_refuse if refuse_constants else None))


def parse_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text; a ValueError in a user's words where there are none."""
    tree: dict[str, Any] = _parse(lambda: tomllib.loads(text))
    return tree


def _parse(read: Callable[[], Any]) -> Any:
    try:
        tree = read()
        _check(tree)
        return tree
    except RecursionError:
        raise ValueError(f"it is nested deeper than {DEEPEST} levels") from None
    except (json.JSONDecodeError, tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise
    except ValueError as error:
        if "int_max_str_digits" in str(error):  # what Python says of thousands of digits
            raise ValueError("a whole number in it does not fit 64 bits") from None
        raise


def _check(tree: Any) -> None:
    """Refuse nesting and whole numbers beyond the limits."""
    level: list[Any] = [tree]
    for depth in range(DEEPEST + 1):
        below: list[Any] = []
        for value in level:
            if isinstance(value, dict | list):
                if depth == DEEPEST:
                    raise ValueError(f"it is nested deeper than {DEEPEST} levels")
                below.extend(value.values() if isinstance(value, dict) else value)
            elif isinstance(value, int) and not _WHOLE[0] <= value < _WHOLE[1]:
                raise ValueError("a whole number in it does not fit 64 bits")
        level = below


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no number")
