"""The long pieces of a step in pose space, and the types of their arguments: compiled once, called where they are."""

from typing import Any

from numba import boolean, float32, float64, int64, types

from supple.method.posespace.elements import pose_elements
from supple.method.posespace.products import mix_products, turn_products
from supple.method.posespace.pushes import push_handles, push_particles
from supple.method.posespace.turning import drag_particles, turn_particles

__all__ = ["PIECES", "SQUARE", "minimise_types"]

_numbers, _matrix, _cube, _table = float64[::1], float64[:, ::1], float64[:, :, ::1], int64[:, ::1]
_single, _singles, _single_cube = float32[::1], float32[:, ::1], float32[:, :, ::1]
_G = types.Tuple((_singles, int64, _table, int64[::1]))  # as regions.py has it
_ROOM = _single_cube, boolean[:, ::1], _singles, _single  # roots, their signs, stack and pieces

#: Those that know nothing of materials.
PIECES: tuple[tuple[Any, tuple[Any, ...]], ...] = (
    (
        pose_elements,
        (
            _single, _table, _matrix, _numbers, _table, _numbers, _matrix, boolean, _matrix, float64, _single_cube,
            _matrix,
        ),
    ),
    (push_handles, (float64[:, :, :, ::1], _numbers, _matrix, _matrix, _matrix, _matrix, _numbers)),
    (
        push_particles,
        (
            int64[::1], _matrix, float32[:, :, :, ::1], _table, _numbers, _matrix, _matrix, _cube, float64, _numbers,
        ),
    ),
    (
        turn_particles,
        (
            int64[::1], _matrix, float32[:, :, :, ::1], _table, _numbers, _matrix, _matrix, _cube, _matrix, _cube,
            _numbers, _numbers, _matrix, _numbers,
        ),
    ),
    (
        drag_particles,
        (
            int64[::1], _matrix, float32[:, :, :, ::1], _table, _numbers, _numbers, _numbers, _cube, _matrix, _cube,
            float64, _numbers, _numbers,
        ),
    ),
    (mix_products, (_matrix, _table, _numbers, _matrix, _matrix, _matrix, _matrix)),
    (turn_products, (_single_cube, _table, _numbers, _matrix, _matrix, _cube, _numbers)),
)  # fmt: skip
SQUARE = int64, _single_cube, _G, _numbers, _matrix, int64[::1], int64, *_ROOM


def minimise_types(touching: bool) -> tuple[Any, ...]:
    """Of Newton's method, whose loads are those of `STILL`, or with contacts those of `ONE_SIDED`."""
    loads = (_matrix, _numbers, _matrix, _numbers, _numbers, _numbers) if touching else (float64, _matrix, _numbers)
    elements = int64, _G, _single_cube, _numbers, _matrix, int64[::1]
    return *elements, types.Tuple(loads), _numbers, _numbers, _numbers, *_ROOM, _matrix
