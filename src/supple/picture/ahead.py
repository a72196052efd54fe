"""The smallest picture: `python -m supple.picture.ahead` compiles what pictures are drawn by, into Numba's cache."""

import numpy as np

from supple.picture.render import render

__all__ = ["draw_a_picture"]


def draw_a_picture() -> None:
    """Draw one triangle."""
    render(np.eye(3), np.array([[0, 1, 2]], np.int32), values=np.arange(3.0), width=8, height=8, samples=1)


if __name__ == "__main__":
    draw_a_picture()
