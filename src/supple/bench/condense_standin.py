"""The stand-in hand that the authors' own code of [TMDK15] was measured on, as a case of condensation."""

import warnings
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.bench.condense_measure import Case, Row
from supple.bench.contact_case import CONTACT
from supple.bench.contact_lessons import record, train
from supple.bench.hand_standin import load_hand
from supple.errors import SuppleWarning
from supple.solve import Inputs, Moment

__all__ = ["AUTHORS", "make_standin"]

FloatArray = NDArray[np.float64]
_LEARNED = {"small": slice(0, 41, 2), "paper": slice(0, 41)}  # recorded poses, of every fifth: none of what is played
_PLAYED = {"small": slice(0, 9), "paper": slice(None)}  # of every second from there on: fingers close by two and more
#: What the authors' C++ takes there on one thread, over 162 frames unlike its training.
AUTHORS: Row = {
    "tets": 50_816, "vertices": 9_894, "rank": 130, "elements": 2_627, "weights": "authors' code", "full_ms": 1341.0,
    "subspace_ms": 29.6, "avg_active": 0.048, "avg_ms": 44.7, "worst_active": 0.096, "worst_ms": 96.9, "pcg_avg": 16.5,
    "rms_error": 0.012, "rms_error_subspace": 0.015,
}  # fmt: skip


def make_standin(folder: Path, size: str, frames: int | None = None) -> Case:
    """The hand with domains and rules that know its learned poses, and other ones to play."""
    hand = load_hand(folder, "paper")
    learned = hand.learned[_LEARNED[size]]
    hand = replace(hand, learned=learned, played=hand.played[_PLAYED[size]], rank=len(learned))
    body, rig = hand.body, hand.rig
    pins = body.pins.vertices

    def list_inputs(poses: FloatArray) -> list[Inputs]:
        moments = [Moment(float(k), rig.positions(pose, pins), (), pose=pose) for k, pose in enumerate(poses)]
        return [Inputs(begin, end) for begin, end in pairwise(moments)]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)  # what does not settle shows in the errors
        model = train(hand, record(hand))
    played = hand.played if frames is None else hand.played[: frames + 1]
    return Case(body, model, list_inputs(played), "static", (), replace(CONTACT, rules=True), rig)
