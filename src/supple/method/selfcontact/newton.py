"""Newton's method in a subspace that looks at the contacts of rules after every iteration, one compiled call per step.

Contacts that stay frozen until Newton's method has come to its end are solved for to the last digit where they are no
longer true. Here the stiffness of contacts is always that of the last look; the stiffness of elements is kept while
residuals fall fast. Looks that come late hold contacts where they were, and later keep all of them, so that none comes
and goes for ever. A template as that of method/reduced/newton.py, whose names it uses.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.contact.rule_look import Seen
from supple.cubature.reduced_kernels import PointLoops
from supple.elastic import EXACT, PROJECTED
from supple.linalg.clock import read_clock
from supple.linalg.compiled import compile_copy
from supple.linalg.jit import njit
from supple.linalg.vectors import are_equal, copy_into
from supple.method.placed_contacts import PlacedContacts, no_contacts
from supple.method.reduced.newton import CONVERGED, INDEFINITE, NO_DESCENT, NOT_FINITE, STALLED, make_names
from supple.method.reduced.space import SpaceLoops
from supple.method.selfcontact.look import (
    ANEW,
    HOLDS,
    KEEPS,
    LOOSE,
    Anchors,
    Asked,
    Rub,
    compare,
    look_again,
    press_parts,
)  # fmt: skip
from supple.method.selfcontact.places import Places, lift_and_walk
from supple.method.skinned.touch import STILL_TOUCHING, stiffen_contacts

__all__ = ["Settled", "View", "is_late", "ruled_kernel"]

FloatArray = NDArray[np.float64]
_FALLS_FAST = 0.25  # residuals that fall less than this make the stiffness of elements anew
_CLEAR = 0.5  # with friction a full step that leaves more of the residual must lower the energy, or it may come back
_ROUGH = 1e2  # times the residual that is asked for, above which contacts hold nothing sideways yet
_HOLD_FROM = 6  # looks from which on contacts stay where they may
_KEEP_FROM = 12  # looks from which on they stay
_RUBBING = 3  # times as many where there is friction
_SETTLED = 1e-3  # share of what contacts do to the coordinates by which a new look may still change it
_LAGGED = 5e-2  # the same of friction, whose normal forces are those of the look before


class View(NamedTuple):
    """What looks read and write."""

    asked: Asked
    anchors: Anchors
    rub: Rub
    alpha: float
    skin: Any
    shallows: Any
    places: Places
    far: float
    """Size that round-off in positions has for a stiffness of 1 N/m."""
    clock: int
    """Its address (linalg/clock.py)."""
    spent: FloatArray
    """Milliseconds that looks took, and forces and stiffness of contacts, (2,); a step adds to it."""


class Settled(NamedTuple):
    """What `_settle` returns."""

    z: FloatArray
    iterations: int
    residual: float
    """Relative."""
    elastic: float
    """Size of the elastic force."""
    status: int
    looks: int
    touch: PlacedContacts
    seen: Seen
    rows: NDArray[np.int32]
    """Of what was seen, those of contacts."""
    change: FloatArray
    """Sizes of the changes of what springs and friction of contacts do to the coordinates that the last look made, and
    of what springs do, (3,)."""
    resolution: float
    """Size of forces on the coordinates that is taken for zero."""


@cache
def ruled_kernel(loops: PointLoops, large: bool, space: SpaceLoops) -> Callable[..., Any]:
    """The compiled `_settle` for materials and a kind of space."""
    names, kind = make_names(loops, STILL_TOUCHING, large, space)
    names["look"], names["feel"] = compile_copy(_look, kind, names), compile_copy(_feel, kind, names)
    names["assemble"] = compile_copy(_assemble, kind, names)
    names["advance"] = compile_copy(_advance, kind, names, inline="always")  # called once
    return compile_copy(_settle, f"{kind}_{large}", names)


def _look(q, view, rests, renews, level):
    """The contacts at coordinates q; what was seen; rows of contacts."""
    begin = read_clock(view.clock)
    v, rub = view, Rub(view.rub.coefficient, view.rub.slip, rests, renews)
    through = lift_and_walk(q, v.asked, v.skin, v.shallows, v.places)
    seen, rows, touch = look_again(v.asked, through, v.anchors, level, v.alpha, rub, v.skin, v.places)
    view.spent[0] += read_clock(view.clock) - begin
    return touch, seen, rows


@njit(cache=True)
def is_late(looks, rubs):
    """Whether so many looks have been that all contacts stay; friction, whose normal forces lag, takes more."""
    return looks >= (_RUBBING * _KEEP_FROM if rubs else _KEEP_FROM)


@njit(cache=True)
def _level(looks, rough, rubs):
    """How a look treats contacts after so many looks, where Newton's method is far from its end or not."""
    if is_late(looks, rubs):
        return KEEPS
    return HOLDS if looks >= (_RUBBING * _HOLD_FROM if rubs else _HOLD_FROM) else (ANEW if rough else LOOSE)


@njit(cache=True)
def _stiffest(touch):
    """Size of the contacts' stiffness [N/m]."""
    return np.sqrt(((touch.along + touch.across + 2.0 / touch.slip[0] * touch.limit) ** 2).sum())


def _feel(z, touch, view, others, g):
    """What springs and friction of contacts do to the coordinates z, (r,) each; g gets all that acts beside `others`,
    and |g| is returned as well."""
    begin = read_clock(view.clock)
    springs, friction = press_parts(z, touch)
    for i in range(g.size):
        g[i] = others[i] + springs[i] + friction[i]
    view.spent[1] += read_clock(view.clock) - begin
    return springs, friction, np.sqrt(np.dot(g, g))


def _assemble(G, loads, touch, view, z, pieces, K):
    """The stiffness of all that acts at z, from the pieces of elements."""
    join(pieces, G, K)
    stiffen(z, (loads, no_contacts()), K)
    begin = read_clock(view.clock)
    stiffen_contacts(z, touch, K)
    view.spent[1] += read_clock(view.clock) - begin


def _advance(
    address, G, single, F, table, bounds, loads, touch, view, z, g, stale, ready, L, signs, stack, pieces, K, d
):
    """Fill d with Newton's step at z, where the gradient is g; False where the stiffness cannot be made definite.

    That of elements is in the pieces, unless it is stale; the factor of all is `ready` where nothing has changed.
    """
    now = couple(G, touch)
    if ready and not stale:
        copy_into(g, d)
        solve(K, now, d)
        return True
    if stale:
        # As numbers of no fixed value: a form that is written here would have a square compiled for it
        square(address, single, G, F, table, bounds, np.int64(EXACT), L, signs, stack, pieces)
    assemble(G, loads, touch, view, z, pieces, K)
    if not factor(K, now):
        square(address, single, G, F, table, bounds, np.int64(PROJECTED), L, signs, stack, pieces)
        assemble(G, loads, touch, view, z, pieces, K)
        if not strengthen(K, now):
            return False
    copy_into(g, d)
    solve(K, now, d)
    return True


def _settle(address, G, single, rest, table, bounds, loads, view, z, ahead, settings, L, signs, stack, pieces, K):
    """What `Settled` lists, from positions z on.

    Contacts are looked for at `ahead` first. settings: tolerance, reference, floor, most iterations.
    """
    rank, unknowns = rank_of(G), K.shape[0]
    tolerance, least, most, looks = settings[0], settings[2], int(settings[3]), 0
    rubs = view.rub.coefficient > 0.0
    F, P = np.empty(rest.size), np.empty(rest.size)
    inner, others = np.empty(rank), np.empty(unknowns)
    g, there, d = np.empty(unknowns), np.empty(unknowns), np.empty(unknowns)
    z, then = z.copy(), np.empty(z.size)
    # As truth values of no fixed value: those that are written in a call would have a look compiled for them
    yes, no = np.bool_(True), np.bool_(False)
    alone = loads, no_contacts()
    touch, seen, rows = look(ahead, view, yes, yes, np.int64(ANEW))
    met = are_equal(ahead, z)  # whether these contacts are those of z
    descend(G, rest, table, bounds, alone, z, F, P, inner, others)
    springs, friction, size = feel(z, touch, view, others, g)
    change = np.zeros(3)
    change[2] = np.sqrt((springs**2).sum())
    iteration, status, stale, bare, searched = 0, STALLED, True, False, False
    reference, floor = settings[1] + change[2], least + view.far * _stiffest(touch)
    while status == STALLED and iteration <= most:
        reference, floor = settings[1] + change[2], least + view.far * _stiffest(touch)
        goal = max(tolerance * reference, floor)
        if not np.isfinite(size):
            status = NOT_FINITE
            break
        if size <= goal and met:
            change[:2] = 0.0
            status = CONVERGED
            break
        if iteration == most:
            break
        if not advance(
            address, G, single, F, table, bounds, loads, touch, view, z, g, stale, bare, L, signs, stack, pieces, K, d
        ):
            status = INDEFINITE
            break
        bare = len(touch.along) == 0
        iteration += 1
        shift(z, d, -1.0, then)
        descend(G, rest, table, bounds, alone, then, F, P, inner, others)
        springs, friction, after = feel(then, touch, view, others, there)
        if not after <= max(_CLEAR * size if rubs else size, goal):
            if not search(G, rest, table, bounds, (loads, touch), z, d, g, F, then):
                if searched or size > 1e3 * goal:
                    status = NO_DESCENT
                    break
                searched = True  # energies too close to tell apart
            descend(G, rest, table, bounds, alone, then, F, P, inner, others)
            springs, friction, after = feel(then, touch, view, others, there)
        stale = after > _FALLS_FAST * size
        z, then = then, z
        looks += 1
        rough = after > _ROUGH * goal
        touch, seen, rows = look(z, view, no, not rough, _level(looks, rough, rubs))
        met, bare = True, bare and len(touch.along) == 0
        fresh, rubbing, size = feel(z, touch, view, others, g)
        compare(springs, friction, fresh, rubbing, change)
        springs, friction = fresh, rubbing
        still = change[0] <= max(_SETTLED * change[2], goal) and change[1] <= max(_LAGGED * change[2], goal)
        if after <= goal and still:
            size, status = after, CONVERGED
            break
    if status == CONVERGED and is_late(looks, rubs):  # honest about what a look at everything would change
        fresh, rubbing, _ = feel(z, look(z, view, no, yes, np.int64(HOLDS))[0], view, others, there)
        compare(springs, friction, fresh, rubbing, change)
    elastic = np.sqrt(np.dot(inner, inner))
    off, resolution = size / max(reference, floor), max(tolerance * reference, floor)
    return z, iteration, off, elastic, status, looks, touch, seen, rows, change, resolution
