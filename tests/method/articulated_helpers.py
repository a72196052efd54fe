"""Skinned bodies in domains that several tests share."""

import numpy as np
from reduced_helpers import FAR

from supple.cubature import Rule
from supple.elastic import Body
from supple.method.articulated.model import ArticulatedModel
from supple.rig import SkinnedRig
from supple.subspace import Basis, DomainBases, Domains, Interface, bone_domains


def every(count: int) -> Rule:
    """All candidates with weight 1."""
    return Rule(np.arange(count), np.ones(count), 0.0)


def exact_model(bases: DomainBases, interface: Interface) -> ArticulatedModel:
    """Bases with all elements and all vertices."""
    domains = bases.domains
    return ArticulatedModel(bases, interface, every(len(domains.owners)), every(len(domains.vertex_of)), FAR)


def all_coordinates(domains: Domains) -> DomainBases:
    """Every free coordinate of every copy is a column."""
    bases = []
    for domain in range(len(domains)):
        piece = domains.piece(domain)
        free = np.ones((len(piece.mass), 3), bool)
        free[piece.pins.vertices] = ~piece.pins.held
        columns = np.diag(np.repeat(1.0 / np.sqrt(piece.mass), 3))[:, free.ravel()]
        importance = np.full(columns.shape[1], 1e6)
        bases.append(Basis(columns, piece.mass, "all coordinates", importance))
    return DomainBases(domains, tuple(bases))


def cut(body: Body, rig: SkinnedRig) -> Domains:
    """One domain a bone."""
    return bone_domains(body, rig.skeleton, rig.influences)
