"""Contact: colliders, self-contact, penalty forces and friction."""

from supple.contact.contacts import SELF, Contacts

__all__ = ["SELF", "Contacts"]
