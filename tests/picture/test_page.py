"""A page carries all it shows, shows text as text and asks nothing of the network."""

import base64
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from supple.errors import OutputError
from supple.picture import Page, plot_lines

EVIL = "<script>alert('a & b')</script>\"'"
PICTURE = np.random.default_rng(3).integers(0, 256, (20, 30, 3), dtype=np.uint8)


class Outline(HTMLParser):
    """Tags that are open too long or closed too often, and all attributes that could fetch something."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.faults: list[str] = []
        self.addresses: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "data", "action")]
        if tag not in ("meta", "img", "source", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)


def make_page(text: str) -> Page:
    page = Page(text, text)
    page.add_facts({text: text, "number": 12345})
    page.add_section(text)
    page.add_paragraph(text)
    page.add_code(text)
    page.add_table([text, "n"], [[text, 1.5], [text, None]], text)
    page.add_section("Pictures")
    page.add_picture(PICTURE, text, alt=text, dark=PICTURE)
    page.add_picture(plot_lines({"a": ([0, 1], [0, 1])}, "x", "y"))
    page.add_film([PICTURE, PICTURE[::-1].copy()], 12.0, text)
    return page


def read(page: Page) -> Outline:
    outline = Outline()
    outline.feed(page.to_html())
    return outline


def test_page_is_well_formed_and_fetches_nothing() -> None:
    page = make_page("plain")
    outline = read(page)
    assert outline.faults == []
    assert outline.open == []
    assert outline.addresses
    assert all(address.startswith("data:image/") for address in outline.addresses)
    html = page.to_html()
    assert not re.search(r"https?:|@import|url\(|//[a-z]", re.sub(r"base64,[A-Za-z0-9+/=]+", "", html))
    assert "default-src 'none'" in html


def test_text_is_never_read_as_html() -> None:
    html = make_page(EVIL).to_html()
    assert EVIL not in html
    assert "alert(" in html
    assert "<script>alert" not in html
    assert html.count("<script") == make_page("plain").to_html().count("<script")
    assert read(make_page(EVIL)).tags == read(make_page("plain")).tags


def test_embedded_picture_is_the_picture() -> None:
    page = Page("one")
    page.add_picture(PICTURE)
    address = read(page).addresses[0]
    data = base64.b64decode(address.removeprefix("data:image/png;base64,"))
    with Image.open(io.BytesIO(data)) as image:
        assert np.array_equal(np.asarray(image), PICTURE)


def test_film_carries_all_frames_and_its_pace() -> None:
    page = Page("film")
    page.add_film((PICTURE for _ in range(5)), 12.5)
    html = page.to_html()
    frames = json.loads(re.findall(r'<script type="application/json">(.*?)</script>', html)[0])
    assert len(frames) == 5
    assert 'data-fps="12.5"' in html
    assert 'max="4"' in html
    assert 'width="30" height="20"' in html
    assert "requestAnimationFrame" in html
    assert "requestAnimationFrame" not in Page("no film").to_html()


def test_numbers_are_set_flush_right_and_short() -> None:
    page = Page("table")
    page.add_table(["name", "count", "ms"], [["a", 160000, 0.012345], ["b", 7, None], ["c", -1, 12345.6]])
    html = page.to_html()
    assert html.count('<th scope="col" class="number">') == 2
    for cell in ("160&#8239;000", "0.01235", "&ndash;", "&minus;1", "12&#8239;346"):
        assert f'<td class="number">{cell}</td>' in html


def test_bad_parts_are_refused() -> None:
    page = Page("bad")
    with pytest.raises(OutputError, match="1 cells for 2 columns"):
        page.add_table(["a", "b"], [["only one"]])
    with pytest.raises(OutputError, match="unknown kind"):
        page.add_picture(b"no image")
    with pytest.raises(OutputError, match="0 pictures"):
        page.add_film([])


def test_saved_page_is_the_page(tmp_path: Path) -> None:
    page = make_page("saved ψ")
    path = page.save(tmp_path / "out" / "page.html")
    assert path.read_text(encoding="utf-8") == page.to_html()
    assert [child.name for child in path.parent.iterdir()] == ["page.html"]
