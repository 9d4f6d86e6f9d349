"""Law 2 for the diagnosis: a verdict says of each chunk what the trace says of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.diagnosis import target_of_chunk, target_of_span, targets_of_passage, verdict
from core.diagnosis.facts import OverBudget
from core.errors import EmptyIndexError
from core.fates import fate_of
from core.records import Principal
from core.settings import STAGES
from tests.worlds import (
    accesses,
    documents,
    index,
    modes,
    pipeline,
    questions,
    settings,
)


@given(documents(), settings(), questions, modes)
def test_a_verdict_agrees_with_the_fate(docs, knobs_, question, mode):
    made = index(docs, knobs_)
    trace = pipeline().run(made, question, knobs_, mode)
    shown = {p.chunk_id: p for p in trace.selected}
    for chunk_id in made.chunk_ids:
        fate = fate_of(trace, chunk_id)
        found = verdict(trace, made, target_of_chunk(made, chunk_id))
        (own,) = found.chunks
        assert (own.stage, own.cause, own.margin) == (fate.stage, fate.cause, fate.margin)
        assert own.sentence and own.name in own.sentence
        assert found.arrived == (fate.arrived and own.shown == 1.0)
        if not fate.arrived:
            assert own.facts is not None
        elif not found.arrived:
            assert shown[chunk_id].trimmed
        if isinstance(own.facts, OverBudget):
            assert own.facts.left - own.facts.needed == own.margin


@given(documents(), settings(), questions, modes, st.data())
def test_the_whole_is_lost_where_its_first_chunk_is(docs, knobs_, question, mode, data):
    made = index(docs, knobs_)
    trace = pipeline().run(made, question, knobs_, mode)
    document = data.draw(st.sampled_from(docs))
    start = data.draw(st.integers(0, len(document.text) - 1))
    end = data.draw(st.integers(start + 1, len(document.text)))
    target = target_of_span(made, document.id, start, end)
    found = verdict(trace, made, target)
    if not target.pieces:
        assert not document.text[start:end].strip()
        assert found.stage == "documents" and not found.arrived
        return
    read = {
        at for p in trace.selected if p.document_id == document.id for at in range(p.start, p.end)
    }
    wanted = {at for p in target.pieces for at in range(p.start, p.end)}
    assert found.arrived == (wanted <= read) == target.reached(trace.selected)
    lost = [c for c in found.chunks if not c.arrived]
    if lost:
        assert found.stage == min((c.stage for c in lost), key=STAGES.index)


@given(documents(), settings(), st.data())
def test_a_passage_of_a_text_is_found_there(docs, knobs_, data):
    made = index(docs, knobs_)
    document = data.draw(st.sampled_from(docs))
    words = document.text.split()
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    pasted = "  \n".join(words[first : last + 1]).upper().replace("-", "\u2010")
    targets = targets_of_passage(made, pasted)
    assert all(t.share == 1 and not t.missing for t in targets)
    assert document.id in {p.document_id for t in targets for p in t.pieces}
    plain = "".join(pasted.lower().split())
    for target in targets:
        texts = {d.id: d.text for d in docs}
        held = "".join(texts[p.document_id][p.start : p.end] for p in target.pieces)
        if knobs_.chunk_overlap == 0:
            assert _letters(held) == _letters(plain)


def _letters(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


principals = st.builds(
    Principal,
    tenant=st.sampled_from(["", "north", "south"]),
    roles=st.sampled_from([(), ("staff",)]),
)


@given(documents(most=5, access=accesses), settings(), questions, modes, principals)
def test_a_hidden_document_is_as_if_it_were_not(docs, knobs_, question, mode, principal):
    """Law 8: to a viewer who may not read it, a hidden chunk and one of no document are alike."""
    made = index(docs, knobs_)
    try:
        trace = pipeline().run(made, question, knobs_, mode, principal)
    except EmptyIndexError:
        return
    alone = index([d for d in docs if principal.may_read(d.access)], knobs_)
    for chunk in made.chunks:
        hidden = not principal.may_read(made.document(chunk.document_id).access)
        if not hidden:
            continue
        target = target_of_chunk(made, chunk.id)
        blind = verdict(trace, made, target)
        assert blind == verdict(trace, alone, target)
        name = made.document(chunk.document_id).name
        assert name not in blind.sentence and name not in blind.chunks[0].name
        owner = verdict(trace, made, target, viewer=None)
        assert owner.stage == blind.stage == "access"
        assert name in owner.sentence
        pasted = targets_of_passage(alone, chunk.text)
        assert targets_of_passage(made.restricted(principal), chunk.text) == pasted


def test_a_trace_of_other_documents_is_refused():
    from core.errors import ChunkscopeError
    from tests.worlds import document

    one, other = index([document("Alpha beta.")]), index([document("Gamma delta.")])
    trace = pipeline().run(one, "alpha")
    with pytest.raises(ChunkscopeError, match="other documents"):
        verdict(trace, other, target_of_chunk(other, other.chunk_ids[0]))
