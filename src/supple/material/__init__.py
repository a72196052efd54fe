"""Energy densities, one a file: psi, stress, Hessian and its projection, second derivative of the stress."""

from supple.material.arruda_boyce import ArrudaBoyce
from supple.material.corotational import Corotational
from supple.material.linear import Linear
from supple.material.material import ElasticMaterial, Material, lame
from supple.material.neo_hookean import NeoHookean
from supple.material.presets import PRESETS, Preset
from supple.material.stable_neo_hookean import StableNeoHookean
from supple.material.stvk import StVK

__all__ = [
    "MATERIALS",
    "PRESETS",
    "ArrudaBoyce",
    "Corotational",
    "ElasticMaterial",
    "Linear",
    "Material",
    "NeoHookean",
    "Preset",
    "StVK",
    "StableNeoHookean",
    "lame",
]

MATERIALS: dict[str, type[Material]] = {
    "arruda_boyce": ArrudaBoyce,
    "corotational": Corotational,
    "linear": Linear,
    "neo_hookean": NeoHookean,
    "stable_neo_hookean": StableNeoHookean,
    "stvk": StVK,
}
