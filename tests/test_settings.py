"""Every knob: its range at the edges, and texts that are no value of it."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import SettingsError
from core.pipeline import STAGE_TABLE
from core.settings import GROUPS, STAGES, Settings, knob_named, knobs, parse_settings

KNOBS = list(knobs())
NUMBERS = [k for k in KNOBS if k.low is not None]
CHOICES = [k for k in KNOBS if k.choices]


def ids(knob) -> str:
    return knob.name


@pytest.mark.parametrize("knob", KNOBS, ids=ids)
def test_every_knob_says_what_it_is(knob):
    assert knob.help.endswith(".") and knob.label and knob.group in GROUPS
    assert knob.check(knob.default) == knob.default
    if knob.low is not None:
        assert knob.low <= knob.default <= knob.high and knob.step > 0
    if knob.choices:
        assert knob.default in knob.choices


def test_labels_tell_the_knobs_of_a_group_apart():
    assert max(Counter((k.group, k.label) for k in KNOBS).values()) == 1


def test_every_knob_is_read_by_a_stage_or_rebuilds_the_index():
    read = {group for _, _, groups in STAGE_TABLE for group in groups}
    # ``limits`` changes no score, and so no key of what is kept.
    assert "limits" not in read
    assert {k.group for k in KNOBS} <= read | {"documents", "limits"}
    assert tuple(name for name, _, _ in STAGE_TABLE) == STAGES


@pytest.mark.parametrize("knob", NUMBERS, ids=ids)
def test_ranges_are_inclusive_and_closed(knob):
    for value in (knob.low, knob.high):
        assert getattr(Settings(**{knob.name: value}), knob.name) == value
    over = 1 if knob.kind is int else 1e-9
    for value in (
        knob.low - over,
        knob.high + over * max(1, knob.high),
        -math.inf,
        math.inf,
        math.nan,
    ):
        with pytest.raises(SettingsError, match=knob.name) as caught:
            Settings(**{knob.name: value})
        assert caught.value.culprit == knob.name
    assert type(getattr(Settings(**{knob.name: knob.high}), knob.name)) is knob.kind


@pytest.mark.parametrize("knob", NUMBERS, ids=ids)
@pytest.mark.parametrize("value", [True, None, "", "many", [], "0x10", "1,5", {}])
def test_what_is_no_number_is_refused_with_what_is_allowed(knob, value):
    with pytest.raises(SettingsError) as caught:
        knob.check(value)
    assert f"{knob.low:g} to {knob.high:g}" in str(caught.value)


@pytest.mark.parametrize("knob", CHOICES, ids=ids)
def test_choices_are_listed(knob):
    for choice in knob.choices:
        assert knob.check(choice) == choice
    for value in ("nothing such", "", 3, None, [knob.choices[0]]):
        with pytest.raises(SettingsError) as caught:
            knob.check(value)
        assert all(choice in str(caught.value) for choice in knob.choices)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("candidate_k=7", 7),
        (" candidate_k = 7 ", 7),
        ("candidate_k=7.0", 7),
        ("candidate_k=1e2", 100),
        ("extend_threshold=0.5", 0.5),
        ("extend_threshold=0", 0.0),
        ("protect_exceptions=off", False),
        ("protect_exceptions=TRUE", True),
        ("protect_exceptions=0", False),
        ("fusion=bm25", "bm25"),
        ("instructions=Say a=b.", "Say a=b."),
        ("instructions=", ""),
    ],
)
def test_texts_become_values(text, value):
    name = text.partition("=")[0].strip()
    parsed = getattr(parse_settings([text]), name)
    assert parsed == value and type(parsed) is type(value)
    assert parse_settings({name: value}) == parse_settings([text])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("candidate_k", "not of the form knob=value"),
        ("candidate_k=7.5", "whole number"),
        ("candidate_k=many", "whole number"),
        ("candidate_k=0", "from 1 to 1000 chunks"),
        ("candidates_k=7", "candidate_k"),
        ("=7", "no such knob"),
        ("protect_exceptions=maybe", "true or false"),
        ("order=random", "score_then_source"),
        ("fusion", "knob=value"),
    ],
)
def test_bad_texts_name_the_knob_and_the_remedy(text, said):
    with pytest.raises(SettingsError) as caught:
        parse_settings([text])
    assert said in str(caught.value)
    assert text.partition("=")[0] in str(caught.value)


def test_the_last_of_two_values_counts():
    assert parse_settings(["candidate_k=7", "candidate_k=9"]).candidate_k == 9


def test_half_a_surrogate_pair_is_no_text():
    """A command line hands over bytes that are not UTF-8 like this."""
    assert Settings(instructions="caf\udce9").instructions == "caf?"


def test_unknown_knobs_are_refused_everywhere():
    for call in (lambda: knob_named("tpo_k"), lambda: Settings().changed(tpo_k=1)):
        with pytest.raises(SettingsError, match="top_k"):
            call()


@given(st.data())
def test_differences_rebuild_the_settings(data):
    """What a link carries gives the same settings back, through text too."""
    chosen = data.draw(st.lists(st.sampled_from(NUMBERS), max_size=4, unique=True))
    values = {
        k.name: data.draw(
            st.integers(int(k.low), int(k.high)) if k.kind is int else st.floats(k.low, k.high)
        )
        for k in chosen
    }
    made = Settings(**values)
    assert Settings(**made.differences()) == made
    assert parse_settings([f"{n}={v!r}" for n, v in made.differences().items()]) == made
    assert Settings(**made.to_dict()) == made
    assert set(made.differences()) <= set(values)


def test_groups_part_the_knobs():
    held = [set(Settings().of_groups(group)) for group in GROUPS]
    assert sum(map(len, held)) == len(KNOBS) == len(set().union(*held))
