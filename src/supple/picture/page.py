"""A web page in one file: text, tables, pictures and films, and nothing fetched from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.errors import OutputError
from supple.picture.embed import embed_frame, embed_image
from supple.picture.page_assets import CONTROLS, PLAYER, POLICY, STYLE
from supple.picture.png import save_bytes

__all__ = ["Cell", "Page"]

Cell = str | int | float | None


class Page:
    """A page that grows from top to bottom; text given to it is shown as it is, never read as HTML."""

    def __init__(self, title: str, lead: str | None = None) -> None:
        self._title = title
        self._lead = lead
        self._parts: list[str] = []
        self._in_section = False
        self._has_film = False

    def add_section(self, heading: str) -> None:
        """Begin a section; what is added next belongs to it."""
        end = "</section>\n" if self._in_section else ""
        self._parts.append(f"{end}<section><h2>{escape(heading)}</h2>")
        self._in_section = True

    def add_paragraph(self, text: str) -> None:
        """Add running text."""
        self._parts.append(f"<p>{escape(text)}</p>")

    def add_code(self, text: str) -> None:
        """Add a command or a file's text, with its line breaks."""
        self._parts.append(f"<pre><code>{escape(text)}</code></pre>")

    def add_facts(self, facts: Mapping[str, Cell]) -> None:
        """Add a few numbers to be seen at a glance: what it is -> the number."""
        items = [f"<div><dt>{escape(name)}</dt><dd>{_show(cell)}</dd></div>" for name, cell in facts.items()]
        self._parts.append(f'<dl class="facts">{"".join(items)}</dl>')

    def add_table(self, header: Sequence[str], rows: Sequence[Sequence[Cell]], caption: str | None = None) -> None:
        """Add a table; a column of numbers is set flush right."""
        for row in rows:
            if len(row) != len(header):
                raise OutputError(f"A table row has {len(row)} cells for {len(header)} columns: give one each.")
        marks = [' class="number"' if _is_numeric([row[k] for row in rows]) else "" for k in range(len(header))]
        head = [f'<th scope="col"{mark}>{escape(name)}</th>' for mark, name in zip(marks, header, strict=True)]
        body = []
        for row in rows:
            cells = [f"<td{mark}>{_show(cell)}</td>" for mark, cell in zip(marks, row, strict=True)]
            body.append(f"<tr>{''.join(cells)}</tr>")
        note = f"<caption>{escape(caption)}</caption>" if caption else ""
        table = f"<thead><tr>{''.join(head)}</tr></thead><tbody>{''.join(body)}</tbody>"
        self._parts.append(f'<div class="wide" tabindex="0"><table>{note}{table}</table></div>')

    def add_picture(
        self,
        picture: NDArray[np.uint8] | bytes,
        caption: str | None = None,
        *,
        alt: str | None = None,
        dark: NDArray[np.uint8] | bytes | None = None,
    ) -> None:
        """Add a picture (h, w, 3) or a PNG, GIF, JPEG, WebP or SVG file; `dark` is for a dark page."""
        bright = ' class="bright"' if dark is None else ""
        image = f'<img{bright} src="{embed_image(picture)}" alt="{escape(alt or caption or "")}">'
        if dark is not None:
            source = f'<source media="(prefers-color-scheme: dark)" srcset="{embed_image(dark)}">'
            image = f"<picture>{source}{image}</picture>"
        self._parts.append(f"<figure>{image}{_caption(caption)}</figure>")

    def add_film(
        self,
        pictures: Iterable[NDArray[np.uint8]],
        fps: float = 24.0,
        caption: str | None = None,
        *,
        alt: str | None = None,
    ) -> None:
        """Add a looping film of pictures (h, w, 3), to play, pause and scrub; script off shows its first."""
        size = ""
        frames = []
        for picture in pictures:
            frames.append(embed_frame(picture))
            size = size or f'width="{picture.shape[1]}" height="{picture.shape[0]}"'
        if not frames or not fps > 0.0:
            raise OutputError(f"A film has {len(frames)} pictures at {fps} per second: give some, above 0.")
        still = f'<img src="{frames[0]}" {size} alt="{escape(alt or caption or "")}">'
        data = f'<script type="application/json">{json.dumps(frames)}</script>'
        bar = CONTROLS.format(last=len(frames) - 1)
        figure = f"{still}{bar}{data}{_caption(caption)}"
        self._parts.append(f'<figure class="film" data-fps="{fps:g}">{figure}</figure>')
        self._has_film = True

    def to_html(self) -> str:
        """The whole page."""
        title = escape(self._title)
        lead = f'<p class="lead">{escape(self._lead)}</p>' if self._lead else ""
        body = "\n".join(self._parts) + ("</section>" if self._in_section else "")
        player = f"<script>{PLAYER}</script>" if self._has_film else ""
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{title}</title><style>{STYLE}</style></head>\n"
            f"<body><main><header><h1>{title}</h1>{lead}</header>\n{body}</main>{player}</body></html>\n"
        )

    def save(self, path: str | Path) -> Path:
        """Path of the file that now holds the page."""
        return save_bytes(path, self.to_html().encode())


def _is_numeric(cells: Sequence[Cell]) -> bool:
    """Whether a column holds numbers, at least one, and nothing else."""
    filled = [cell for cell in cells if cell is not None]
    return bool(filled) and all(not isinstance(cell, str | bool) for cell in filled)


def _show(cell: Cell) -> str:
    """A cell as HTML text: four digits for a float, thousands set apart, a dash for nothing."""
    if cell is None:
        return "&ndash;"
    if isinstance(cell, str | bool):
        return escape(str(cell))
    whole = not isinstance(cell, float) or 1e3 <= abs(cell) < 1e9
    text = f"{cell:,.0f}" if whole else f"{cell:.4g}"
    return text.replace(",", "&#8239;").replace("-", "&minus;")


def _caption(text: str | None) -> str:
    return f"<figcaption>{escape(text)}</figcaption>" if text else ""
