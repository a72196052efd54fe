"""How the pattern of a block matrix is found and read, in time that grows with its blocks alone.

Sorts of all pairs take ten times as long, and a region that grows finds its pattern anew.
"""

import numpy as np
from numpy.typing import NDArray

from supple.linalg.jit import njit

__all__ = ["find_later", "find_slots", "list_rows"]

Numbers = NDArray[np.int64]
IntArray = NDArray[np.int32]


@njit(cache=True)
def find_later(count: int, first: Numbers, second: Numbers) -> tuple[Numbers, IntArray]:
    """Later neighbours of every block row, ascending, (k,), and where they begin, (count + 1,), from pairs first <
    second that may be named more than once."""
    start = np.zeros(count + 1, np.int64)
    for k in range(len(first)):
        start[first[k] + 1] += 1
    start = np.cumsum(start)
    place, found = start[:-1].copy(), np.empty(len(first), np.int32)
    for k in range(len(first)):
        row, column = first[k], second[k]
        at = place[row]
        while at > start[row] and found[at - 1] > column:  # rows are short
            at -= 1
        if at > start[row] and found[at - 1] == column:
            continue
        for m in range(place[row], at, -1):
            found[m] = found[m - 1]
        found[at] = column
        place[row] += 1
    ends, used = np.zeros(count + 1, np.int64), 0
    for row in range(count):
        for k in range(start[row], place[row]):
            found[used] = found[k]
            used += 1
        ends[row + 1] = used
    return ends, found[:used].copy()


@njit(cache=True)
def find_slots(first: Numbers, second: Numbers, rows: Numbers, start: Numbers, neighbours: IntArray) -> Numbers:
    """`BlockPattern.slots` of pairs that are all in the pattern."""
    out = np.empty(len(first), np.int64)
    for k in range(len(first)):
        row, low, high = first[k], start[first[k]], start[first[k] + 1]
        while high - low > 1:
            middle = (low + high) // 2
            if neighbours[middle] <= second[k]:
                low = middle
            else:
                high = middle
        out[k] = rows[row] + 3 + 3 * (low - start[row])
    return out


@njit(cache=True)
def list_rows(rows: Numbers, start: Numbers, neighbours: IntArray) -> tuple[Numbers, IntArray, Numbers]:
    """Where each block row of both triangles begins, (n + 1,), its columns, ascending, and where their entries begin
    in the upper triangle."""
    count = len(rows)
    begin = np.zeros(count + 1, np.int64)
    for row in range(count):
        begin[row + 1] += 1 + start[row + 1] - start[row]
        for k in range(start[row], start[row + 1]):
            begin[neighbours[k] + 1] += 1
    begin = np.cumsum(begin)
    place = begin[:-1].copy()
    columns, source = np.empty(begin[-1], np.int32), np.empty(begin[-1], np.int64)
    for row in range(count):  # earlier neighbours of a row have been here before it
        at = place[row]
        columns[at], source[at] = row, rows[row]
        for k in range(start[row], start[row + 1]):
            column, entry = neighbours[k], rows[row] + 3 + 3 * (k - start[row])
            at += 1
            columns[at], source[at] = column, entry
            columns[place[column]], source[place[column]] = row, entry
            place[column] += 1
    return begin, columns, source
