"""Soft bodies simulated in small subspaces, with the error measured against the full solver."""

from supple import _threads

_threads.configure()

__version__ = "0.1.0"
