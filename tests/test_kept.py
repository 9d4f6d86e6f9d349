"""The store of computed values, against a plain list as its oracle."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.kept import Kept


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(1, 5))), st.integers(1, 12))
def test_the_least_recently_used_go_when_it_grows_too_heavy(puts, limit):
    kept, oracle = Kept(limit, lambda value: value), []
    for key, value in puts:
        known = next((v for k, v in oracle if k == key), value)
        assert kept.put(key, value) == known
        oracle = [(k, v) for k, v in oracle if k != key] + [(key, known)]
        while sum(v for _, v in oracle) > limit and len(oracle) > 1:
            oracle.pop(0)
    for key in range(7):
        assert kept.get(key) == next((v for k, v in oracle if k == key), None)


def test_what_is_asked_for_stays():
    kept = Kept(2)
    kept.put("a", 1)
    kept.put("b", 2)
    kept.get("a")
    kept.put("c", 3)
    assert (kept.get("a"), kept.get("b"), kept.get("c")) == (1, None, 3)
