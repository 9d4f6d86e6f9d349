"""The map between clean and raw text: what holds for any segments."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.alignment import Alignment, Segment


@st.composite
def alignments(draw) -> Alignment:
    """Up to eight segments, their raw sides in any order."""
    sides = st.tuples(st.integers(1, 4), st.integers(1, 4), st.booleans())
    shapes = [(a, a if same else b) for a, b, same in draw(st.lists(sides, max_size=8))]
    order = draw(st.permutations(range(len(shapes))))
    raw_at, raws = 0, {}
    for index in order:
        raw_at += draw(st.integers(0, 2))
        raws[index] = raw_at
        raw_at += shapes[index][1]
    clean_at, segments = 0, []
    for index, (clean, raw) in enumerate(shapes):
        clean_at += draw(st.integers(0, 2))
        segments.append(Segment(clean_at, clean_at + clean, raws[index], raws[index] + raw))
        clean_at += clean
    return Alignment(tuple(segments))


def _by_hand(alignment: Alignment, start: int, end: int, there: bool) -> list[int]:
    """Characters on the other side, one by one."""
    found = set()
    for c0, c1, r0, r1 in alignment.segments:
        near, far = ((c0, c1), (r0, r1)) if there else ((r0, r1), (c0, c1))
        inside = [i for i in range(*near) if start <= i < end]
        if c1 - c0 == r1 - r0:
            found.update(i - near[0] + far[0] for i in inside)
        elif inside:
            found.update(range(*far))
    return sorted(found)


@given(alignments(), st.integers(0, 40), st.integers(0, 40))
def test_both_ways_agree_with_a_plain_loop(alignment: Alignment, start: int, end: int) -> None:
    if not alignment:
        expected = ((start, end),) if start < end else ()
        assert alignment.to_raw(start, end) == alignment.to_clean(start, end) == expected
        return
    for there, spans in (
        (True, alignment.to_raw(start, end)),
        (False, alignment.to_clean(start, end)),
    ):
        assert all(a < b for a, b in spans)
        found = [i for a, b in spans for i in range(a, b)]
        assert sorted(found) == _by_hand(alignment, start, end, there)


@given(alignments())
def test_there_and_back_is_where_it_began(alignment: Alignment) -> None:
    for s in alignment.segments:
        ((low, high),) = alignment.to_raw(s.clean_start, s.clean_end)
        assert alignment.to_clean(low, high) == ((s.clean_start, s.clean_end),)


@pytest.mark.parametrize(
    "segments",
    [
        [(0, 0, 0, 1)],
        [(0, 1, 3, 3)],
        [(0, 2, 0, 2), (1, 3, 2, 4)],
        [(0, 2, 0, 2), (2, 4, 1, 3)],
        [(2, 3, 0, 1), (0, 1, 1, 2)],
        [(-1, 1, 0, 2)],
    ],
)
def test_segments_that_make_no_map_are_refused(segments: list[tuple[int, ...]]) -> None:
    with pytest.raises(ValueError):
        Alignment(tuple(map(Segment._make, segments)))
