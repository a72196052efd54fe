"""Contact: colliders, self-contact, penalty forces and friction."""

from supple.contact.box import Box
from supple.contact.capsule import Capsule
from supple.contact.collider import Collider
from supple.contact.contacts import SELF, Contacts
from supple.contact.cylinder import Cylinder
from supple.contact.detector import Detector
from supple.contact.mesh_collider import MeshCollider
from supple.contact.pipe import Pipe
from supple.contact.plane import Plane
from supple.contact.potential import ContactPotential
from supple.contact.result import Touch
from supple.contact.self_contact import SelfContact
from supple.contact.settings import ContactSettings
from supple.contact.sphere import Sphere

__all__ = [
    "SELF",
    "Box",
    "Capsule",
    "Collider",
    "ContactPotential",
    "ContactSettings",
    "Contacts",
    "Cylinder",
    "Detector",
    "MeshCollider",
    "Pipe",
    "Plane",
    "SelfContact",
    "Sphere",
    "Touch",
]
