"""Law 10: a change that the diagnosis proposes brings the target in, and no smaller one does."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from core.diagnosis import propose, target_of_chunk, target_of_span
from core.diagnosis.grid import MODE, between_steps, outward, size, step_before
from core.diagnosis.replay import Point, Replay
from core.settings import Settings, knobs
from tests.worlds import documents, index, modes, pipeline, questions, settings

FEW = max(12, examples.default.max_examples // 4)
"""A search is hundreds of runs."""

PATIENT = 60.0
"""Seconds: what is short of time proposes less, and these laws are about what is proposed."""


def arrives(pipe, made, trace, target, point) -> bool:
    after = pipe.run(made, trace.question, point.settings, point.mode, trace.principal)
    return target.reached(after.selected)


@st.composite
def missed(draw):
    """A world, a trace in it, and a target that is not in its prompt."""
    docs, knobs_ = draw(documents()), draw(settings())
    question, mode = draw(questions), draw(modes)
    made, pipe = index(docs, knobs_), pipeline()
    trace = pipe.run(made, question, knobs_, mode)
    if draw(st.booleans()):
        target = target_of_chunk(made, draw(st.sampled_from(made.chunk_ids)))
    else:
        document = draw(st.sampled_from(docs))
        start = draw(st.integers(0, len(document.text) - 1))
        end = draw(st.integers(start + 1, min(len(document.text), start + 300)))
        target = target_of_span(made, document.id, start, end)
    assume(target.pieces)
    assume(not arrives(pipe, made, trace, target, Point(knobs_, mode)))
    return pipe, made, trace, target, Point(knobs_, mode)


@examples(max_examples=FEW)
@given(missed())
def test_a_proposal_brings_the_target_in_and_the_step_before_does_not(world):
    pipe, made, trace, target, here = world
    found = propose(pipe, made, trace, target, seconds=PATIENT)
    for proposal in found.proposals:
        assert proposal.proved
        fresh = pipeline()
        there = here.moved(**proposal.changes)
        after = fresh.run(made, trace.question, there.settings, there.mode)
        assert arrives(fresh, made, trace, target, there)
        had, has = ([p.chunk_id for p in t.selected] for t in (trace, after))
        assert set(proposal.gained) == set(has) - set(had)
        assert set(proposal.lost) == set(had) - set(has)
        assert proposal.tokens == after.ledger.evidence - trace.ledger.evidence
        assert proposal.before == {k: here.value(k) for k in proposal.changes}
        assert not {"chunk_tokens", "chunk_overlap"} & set(proposal.changes)
        for knob, value in proposal.changes.items():
            step = step_before(knob, here.value(knob), value)
            nearer = there.moved(**{knob: step})
            assert not arrives(fresh, made, trace, target, nearer), (knob, step, value)
    prices = [(len(p.changes), len(p.lost), p.size) for p in found.proposals]
    assert prices == sorted(prices)


@examples(max_examples=FEW)
@given(missed(), st.data())
def test_no_value_that_is_nearer_brings_it_in(world, data):
    """Of an exact proposal every nearer value fails, not the step before alone; and a knob of
    which none is proposed, though all was tried, has none."""
    pipe, made, trace, target, here = world
    found = propose(pipe, made, trace, target, seconds=PATIENT)
    alone = {k: p for p in found.proposals if len(p.changes) == 1 for k in p.changes}
    names = [
        k.name for k in knobs() if k.name not in ("chunk_tokens", "chunk_overlap", "instructions")
    ]
    knob = data.draw(st.sampled_from(sorted(alone) if alone else [*names, MODE]))
    if knob in alone and not alone[knob].exact:
        return
    finished = {t.knob for t in found.tried if "not finished" not in t.outcome}
    if knob not in finished:
        return
    current = here.value(knob)
    values = list(outward(knob, current))
    if knob in alone:
        values = values[: values.index(alone[knob].changes[knob])]
    replay = Replay(pipe, made, trace.question)
    for value in values if len(values) <= 300 else values[:: len(values) // 300]:
        assert not replay.reach(here.moved(**{knob: value}), target).arrived, (knob, value)


@given(missed(), settings(), modes)
def test_a_replay_says_what_the_pipeline_says(world, other, mode):
    pipe, made, trace, target, here = world
    replay = Replay(pipe, made, trace.question)
    for point in (here, Point(other, here.mode), Point(here.settings, mode), Point(other, mode)):
        expected = arrives(pipe, made, trace, target, point)
        assert replay.reach(point, target).arrived == expected
        assert replay.reach(point, target).arrived == expected  # and again, from what was kept


@given(st.sampled_from([k.name for k in knobs() if k.kind in (int, float)]), st.data())
def test_values_come_nearest_first_and_all_of_them(name, data):
    knob = next(k for k in knobs() if k.name == name)
    if knob.kind is int:
        current = data.draw(st.integers(int(knob.low), int(knob.high)))
    else:
        current = data.draw(st.floats(knob.low, knob.high))
    far = data.draw(st.integers(1, 40)) * knob.step
    values = list(
        outward(name, current, max(knob.low, current - far), min(knob.high, current + far))
    )
    assert values == sorted(values, key=lambda v: abs(v - current))
    assert current not in values and len(set(values)) == len(values)
    assert all(Settings(**{name: v}) for v in values[:3])
    for value in values[:5]:
        before = step_before(name, current, value)
        assert size(name, current, before) < size(name, current, value)
        assert between_steps(name, current, value)[-1:] in ([before], [])
