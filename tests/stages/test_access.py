"""Stage 1: what a principal may not read leaves no mark anywhere (E11 and its kind)."""

from __future__ import annotations

import json

import numpy as np
import pytest

from core.errors import EmptyIndexError
from core.fates import fate_of
from core.modes import MODES
from core.records import Access, Principal
from core.settings import Settings
from tests.stages.made import index_of
from tests.worlds import pipeline

SHOWN = {"open": ["alpha one", "beta two"]}
HIDDEN = {"secret": ["alpha classified", "alpha hushed", "alpha covert"]}
HIDING = (Access(tenant="north"), Access(roles=("board",)), Access(labels=("internal",)))
WHO = Principal("south", roles=("staff",))


@pytest.mark.parametrize("mode", sorted(MODES))
@pytest.mark.parametrize("access", HIDING, ids=lambda a: repr(a))
def test_two_of_five_chunks_may_be_seen_and_four_are_asked_for(mode, access):
    made = index_of(SHOWN | HIDDEN, access={"secret": access})
    pipe = pipeline()
    pipe.run(made, "alpha", Settings(candidate_k=4), mode)  # the owner's run fills the caches
    trace = pipe.run(made, "alpha", Settings(candidate_k=4), mode, WHO)
    hidden = next(d for d in made.documents if d.name == "secret")
    saved = trace.to_json()
    for mark in ("secret", hidden.id, "classified", "hushed", "covert"):
        assert mark not in saved
    assert trace.stage("access").passed == 2 == sum(d.chunks for d in trace.documents)
    assert all(len(s.kept) + len(s.added) + len(s.dropped) <= 2 for s in trace.stages)
    scored = [a for a in ("bm25", "dense", "fused") if len(trace.corpus_scores.array(a))]
    assert all(len(trace.corpus_scores.array(a)) == 2 for a in scored)
    assert {p.document for p in trace.selected} <= {"open"}


@pytest.mark.parametrize("access", HIDING, ids=lambda a: repr(a))
def test_scores_are_those_of_a_corpus_without_it(access):
    """A document frequency that counts hidden chunks would be a mark."""
    both = index_of(SHOWN | HIDDEN, access={"secret": access})
    alone = index_of(SHOWN)
    pipe = pipeline()
    seen = pipe.run(both, "alpha", principal=WHO)
    bare = pipe.run(alone, "alpha", principal=WHO)
    assert seen.corpus == bare.corpus
    assert seen.without_timings() == bare.without_timings()
    owner = pipe.run(both, "alpha").corpus_scores.array("bm25")
    assert not np.isin(seen.corpus_scores.array("bm25")[:1], owner).all()


def test_a_hidden_chunk_is_spoken_of_like_one_that_never_was():
    made = index_of(SHOWN | HIDDEN, access={"secret": HIDING[0]})
    trace = pipeline().run(made, "alpha", principal=WHO)
    hidden = next(c.id for c in made.chunks if "covert" in c.text)
    assert fate_of(trace, hidden) == fate_of(trace, "0123456789abcdef:000000")
    assert fate_of(trace, hidden).stage == "access"


def test_who_may_read_nothing_has_an_empty_index():
    made = index_of(SHOWN | HIDDEN, access={n: HIDING[0] for n in SHOWN | HIDDEN})
    with pytest.raises(EmptyIndexError, match="the index is empty") as caught:
        pipeline().run(made, "alpha", principal=WHO)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("access", "principal", "may"),
    [
        (Access(), Principal(), True),
        (Access("north"), Principal("north"), True),
        (Access("north"), Principal(""), False),
        (Access(roles=("a", "b")), Principal(roles=("b",)), True),
        (Access(roles=("a",)), Principal(roles=()), False),
        (Access(labels=("x", "y")), Principal(labels=("x",)), False),
        (Access(labels=("x",)), Principal(labels=("x", "y")), True),
        (Access("north", ("a",)), Principal("south", ("a",)), False),
    ],
)
def test_who_may_read_what(access, principal, may):
    assert principal.may_read(access) is may


def test_a_memory_of_the_owners_scores_is_not_the_guests():
    """The owner and the guest ask in turn; each gets what they would get alone."""
    made = index_of(SHOWN | HIDDEN, access={"secret": HIDING[0]})
    pipe = pipeline()
    seen = [pipe.run(made, "alpha", principal=w).without_timings() for w in (None, WHO) * 2]
    assert seen[0] == seen[2] and seen[1] == seen[3]
    for trace, who in zip(seen, (None, WHO), strict=False):
        assert trace == pipeline().run(made, "alpha", principal=who).without_timings()
    assert json.loads(seen[1].to_json())["principal"]["tenant"] == "south"
