"""A page as a picture: where its text stands on it, and what cannot be drawn."""

from __future__ import annotations

import io

import numpy as np
import pytest

from core.errors import Cancelled, DocumentError
from core.ingest import Limits, Source, ingest
from core.ingest.picture import MOST_PIXELS, page_picture
from tests.ingest.pdfs import drawn

WORD = [(200.0, 300.0, "Lighthouse")]


def turned(degrees: int, crop: bool) -> bytes:
    """A PDF of one word on a page that is turned, and perhaps cropped."""
    import pymupdf

    document = pymupdf.open("pdf", drawn(WORD))
    page = document[0]
    if crop:
        page.set_cropbox(pymupdf.Rect(100, 150, 500, 700))
    page.set_rotation(degrees)
    return document.tobytes()


def ink(png: bytes) -> np.ndarray:
    """bool[height, width]: where the picture is dark."""
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(png)).convert("L")) < 128


@pytest.mark.parametrize("crop", [False, True], ids=["whole page", "cropped page"])
@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
def test_the_box_of_a_word_is_where_its_ink_is(degrees, crop):
    source = Source("turned.pdf", turned(degrees, crop))
    document = ingest([source])[0].document
    (box,) = document.boxes
    assert document.text[box.start : box.end] == "Lighthouse" and box.page == 1
    picture = page_picture(source, 1, pixels=800)
    dark = ink(picture.png)
    rows, columns = np.nonzero(dark)
    scale = dark.shape[1] / picture.width
    assert dark.shape[0] / picture.height == pytest.approx(scale, rel=0.01)
    x0, y0, x1, y1 = (v * scale for v in (box.x0, box.y0, box.x1, box.y1))
    assert x0 - 2 <= columns.min() and columns.max() <= x1 + 2
    assert y0 - 2 <= rows.min() and rows.max() <= y1 + 2
    # And the box is no larger than a line of print around it.
    assert dark[int(y0) : int(y1) + 1, int(x0) : int(x1) + 1].mean() > 0.05


def test_the_longer_side_is_as_asked_and_never_absurd():
    source = Source("a.pdf", drawn(WORD))
    assert ink(page_picture(source, 1, pixels=500).png).shape[0] == pytest.approx(500, abs=1)
    assert max(ink(page_picture(source, 1, pixels=10**6).png).shape) <= MOST_PIXELS + 1


@pytest.mark.parametrize("page", [0, -1, 2, 10**9])
def test_a_page_that_is_not_there_is_named(page):
    with pytest.raises(DocumentError, match=f"no page {page}: there are 1"):
        page_picture(Source("a.pdf", drawn(WORD)), page)


def test_what_is_no_pdf_says_so():
    with pytest.raises(DocumentError, match="not a PDF"):
        page_picture(Source("a.pdf", b"# Only Markdown\n"), 1)


def test_a_locked_file_needs_its_password_each_time():
    import pymupdf

    locked = drawn(WORD, encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="sesame", owner_pw="o")
    with pytest.raises(DocumentError, match="needs a password"):
        page_picture(Source("locked.pdf", locked), 1)
    assert ink(page_picture(Source("locked.pdf", locked, password="sesame"), 1).png).any()


def test_a_page_made_to_exhaust_memory_ends_its_process_alone():
    from tests.ingest.pdfs import one_page

    # A stroke a point, two million times over: harmless bytes, minutes of drawing.
    bomb = one_page(b"0 0 m 500 500 l S\n" * 2_000_000)
    with pytest.raises(DocumentError, match="limit"):
        page_picture(Source("bomb.pdf", bomb), 1, Limits(seconds=1.0))


def test_drawing_can_be_stopped():
    with pytest.raises(Cancelled):
        page_picture(Source("a.pdf", drawn(WORD)), 1, cancelled=lambda: True)
