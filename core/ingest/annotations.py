"""What people put on a PDF's page: filled-in form fields, text boxes, comments.

MuPDF draws fields and text boxes with the page, so that their text is read where it stands. A
checked box is drawn as a glyph of a symbol font, which would read as a figure; comments are not
drawn at all and stay out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.ingest.lines import Line, altered

CHECKED = "☑"

# PDF's numbers for kinds of annotations and fields, as PyMuPDF gives them.
_FREE_TEXT = 2
_CHECK_BOX, _RADIO = 2, 5
_SIGNS_ONLY = {_CHECK_BOX, _RADIO}


@dataclass(frozen=True, slots=True)
class Annotations:
    """``fields`` and ``text_boxes`` are in the page's text; ``checked`` are places of ticks."""

    fields: int = 0
    fields_out: int = 0
    text_boxes: int = 0
    notes_out: int = 0
    checked: tuple[tuple[float, float, float, float], ...] = ()


NONE = Annotations()


def annotations_of(page: Any, lines: Sequence[Line]) -> Annotations:
    """What of a PyMuPDF page's annotations is among its lines, and what is not; nothing where
    they are too damaged to be listed."""
    try:
        return _listed(page, lines)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 (a broken form takes nothing from the page's text)
        return NONE


def _listed(page: Any, lines: Sequence[Line]) -> Annotations:
    fields = list(page.widgets()) if page.first_widget else []
    notes = list(page.annots()) if page.first_annot else []
    if not fields and not notes:
        return NONE
    shown = _letters("".join(line.text for line in lines))
    inside = outside = 0
    checked = []
    for field in fields:
        value = str(field.field_value or "")
        if field.field_type in _SIGNS_ONLY:
            if value not in ("", "Off", "False"):
                inside += 1
                checked.append(tuple(field.rect))
        elif _letters(value):
            inside += _letters(value) in shown
            outside += _letters(value) not in shown
    boxes = [note for note in notes if note.type[0] == _FREE_TEXT and _said(note)]
    others = [note for note in notes if note.type[0] != _FREE_TEXT and _said(note)]
    return Annotations(inside, outside, len(boxes), len(others), tuple(checked))


def with_ticks(lines: Sequence[Line], found: Annotations) -> tuple[Line, ...]:
    """The lines, with the sign of a checked box in place of the glyph that draws it."""
    if not found.checked:
        return tuple(lines)
    return tuple(_ticked(line) if _within(line, found) else line for line in lines)


def _ticked(line: Line) -> Line:
    return altered(line, text=CHECKED, private=0, unknown=0)


def _within(line: Line, found: Annotations) -> bool:
    x, y = (line.x0 + line.x1) / 2, (line.y0 + line.y1) / 2
    return len(line.text) <= 1 and any(
        x0 <= x <= x1 and y0 <= y <= y1 for x0, y0, x1, y1 in found.checked
    )


def _said(note: Any) -> str:
    return _letters(str(note.info.get("content") or ""))


def _letters(text: str) -> str:
    return "".join(c for c in text if c.isalnum())
