"""Pictures without a display: renderer, film strips, films, plots, and a self-contained web page."""

from supple.picture.camera import Camera, find_bounds
from supple.picture.colormap import COLORMAPS, map_colours
from supple.picture.film import save_film
from supple.picture.page import Page
from supple.picture.plot import plot_bars, plot_lines, plot_points, plot_strips
from supple.picture.png import encode_png, save_picture
from supple.picture.render import RenderOptions, render
from supple.picture.stage import pick_frames, render_frames
from supple.picture.strip import join_pictures, render_strip, stack_pictures

__all__ = [
    "COLORMAPS",
    "Camera",
    "Page",
    "RenderOptions",
    "encode_png",
    "find_bounds",
    "join_pictures",
    "map_colours",
    "pick_frames",
    "plot_bars",
    "plot_lines",
    "plot_points",
    "plot_strips",
    "render",
    "render_frames",
    "render_strip",
    "save_film",
    "save_picture",
    "stack_pictures",
]
