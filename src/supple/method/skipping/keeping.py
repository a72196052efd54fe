"""What was learned in one run, kept as a model for the next."""

import numpy as np

from supple.elastic import Body
from supple.errors import SceneError
from supple.method.model import ReducedModel
from supple.method.reduced.fit import refuse_unfit
from supple.method.skipping.carried import Carrier
from supple.method.skipping.deciding import identify_pins
from supple.method.skipping.model import Kept
from supple.method.skipping.state import Memory
from supple.rig import SkinnedRig

__all__ = ["keep_model", "model_of"]


def keep_model(model: ReducedModel, body: Body, rig: SkinnedRig | None) -> Kept:
    """What of a model a run begins with."""
    if rig is not None:
        raise SceneError("a body with a rig is skipped without a model to begin with: remove method.model.")
    refuse_unfit(body, model)
    return Kept(model.basis, model.rule)


def model_of(memory: Memory, carrier: Carrier, tolerance: float) -> ReducedModel | None:
    """What was learned last, for errors of a step below `tolerance`.

    None where nothing was learned, where it was under other pins than the body's own, or beside bones.
    """
    learned, body = memory.learned, carrier.body
    if learned is None or carrier.rig is not None or memory.situation.pins != identify_pins(body.pins):
        return None
    basis = learned.basis
    seen = np.array([basis.project(u) for u in memory.window.fields])
    reach = float(np.sqrt((seen**2 @ basis.importance).max()))
    facts = {"learned": "while a run skipped steps", "step_tolerance": tolerance}
    return ReducedModel(basis, learned.rule, np.zeros((len(basis.columns), 0)), reach, facts=facts)
