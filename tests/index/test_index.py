"""An index: rows, parts, and what a change of one document leaves alone."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest

from core.errors import Cancelled
from core.index.build import build_index, build_part
from core.index.cache import ArrayCache
from core.index.index import Index
from core.records import Access, Heading, Principal
from core.settings import Settings
from core.tokens import WordCounter, wordpiece
from tests.fakes import HashingEncoder, OtherEncoder
from tests.worlds import document

WORDS = WordCounter()
TEXTS = [f"Paragraph {n} speaks of the {w} and of its fee. " * 6 for n, w in enumerate(("harbour", "vessel", "pilot"))]  # fmt: skip
KNOBS = Settings(chunk_tokens=16)


def built(documents, knobs=KNOBS, encoder=None, **more) -> Index:
    return build_index(documents, knobs, encoder or HashingEncoder(), counter=WORDS, **more)


def three(**more) -> list:
    return [
        document(t, f"{n}.md", **{k: v[n] for k, v in more.items()}) for n, t in enumerate(TEXTS)
    ]


# Rows.


def test_rows_go_by_priority_then_id_then_ordinal():
    made = built(three(priority=[0, 2, 1]))
    assert [d.priority for d in made.documents] == [2, 1, 0]
    even = built(three())
    ids = [d.id for d in even.documents]
    assert ids == sorted(ids)
    assert list(even.chunk_ids) == sorted(even.chunk_ids)
    for row, chunk in enumerate(even.chunks):
        assert even.row(chunk.id) == row and even.chunk(chunk.id) is chunk


def test_ranges_are_those_of_each_document_empty_ones_too():
    made = built([*three(), document("", "empty.md")])
    covered = []
    for found, start, stop in made.document_rows():
        rows = [r for r, c in enumerate(made.chunks) if c.document_id == found.id]
        assert rows == list(range(start, stop))
        assert all(made.document_range(r) == (start, stop) for r in rows)
        covered += rows
    assert covered == list(range(len(made.chunks)))


def test_no_such_chunk_and_no_such_document():
    made = built(three())
    for call in (made.row, made.chunk, made.document):
        with pytest.raises(KeyError):
            call("nothing:000000")


# States.


def test_states_of_rows_are_those_of_their_documents():
    made = built(three())
    rows = [5, 0, 7, 5]
    states = made.states(rows)
    assert states.vectors.tolist() == made.vectors[rows].tolist()
    for i, row in enumerate(rows):
        part = next(p for p in made.parts if p.document.id == made.chunks[row].document_id)
        expected = part.states.tokens_of(made.chunks[row].ordinal)
        assert states.tokens_of(i).tolist() == expected.tolist()
    assert len(made.states([])) == 0


def test_without_an_encoder_there_are_none():
    made = build_index(three(), KNOBS, counter=WORDS)
    assert made.vectors is None and not made.has_states
    assert not Index([], WORDS).has_states and Index([], WORDS).vectors is None


# Fingerprints: equal for equal content, and for nothing else.


def test_what_changes_the_fingerprint_and_what_does_not():
    base = built(three())
    assert built(three()[::-1]).fingerprint == base.fingerprint
    assert built(three() * 2).fingerprint == base.fingerprint

    renamed = [replace(d, name=f"new-{d.name}") for d in three()]
    headed = [replace(d, headings=(Heading(0, 1, "H"),)) for d in three()]
    others = [
        built(three()[:2]),
        built(three(), Settings(chunk_tokens=32)),
        built(three(), encoder=OtherEncoder()),
        build_index(three(), KNOBS, counter=WORDS),
        build_index(three(), KNOBS, HashingEncoder(), counter=wordpiece()),
        built(renamed),
        built(headed),
        built(three(date=["2026-01-01"] * 3)),
        built(three(priority=[1, 1, 1])),
        built(three(access=[Access("north")] * 3)),
    ]
    assert len({m.fingerprint for m in (base, *others)}) == 1 + len(others)
    # k1 and the like are no part of an index
    assert built(three(), KNOBS.changed(k1=0.5, candidate_k=3)).fingerprint == base.fingerprint


def test_a_part_depends_on_its_document_alone():
    alone = build_part(three()[1], KNOBS, HashingEncoder(), WORDS)
    among = next(p for p in built(three()).parts if p.document.name == "1.md")
    assert (alone.key, alone.chunks, alone.counts.vocabulary) == (
        among.key,
        among.chunks,
        among.counts.vocabulary,
    )
    assert np.array_equal(alone.states.states, among.states.states)


# Restriction.


def test_a_restricted_index_equals_one_built_without():
    hidden = three(access=[Access(), Access("north"), Access()])
    made = built(hidden)
    seen = made.restricted(Principal("south"))
    alone = built([d for d in hidden if not d.access.tenant])
    assert seen.fingerprint == alone.fingerprint
    assert seen.chunk_ids == alone.chunk_ids
    assert seen.bm25.average_length == alone.bm25.average_length
    for term in ("fee", "vessel"):
        assert seen.bm25.scores((term,)).tolist() == alone.bm25.scores((term,)).tolist()
    assert made.restricted(None) is made
    assert made.restricted(Principal("north")) is made
    assert made.restricted(Principal("south")) is seen
    with pytest.raises(KeyError):
        seen.document(hidden[1].id)


# Building.


def test_progress_rises_to_the_whole_and_names_the_document():
    said = []
    built(three(), progress=lambda done, total, name: said.append((done, total, name)))
    total = sum(map(len, TEXTS))
    assert said[0] == (0, total, "0.md") and said[-1] == (total, total, "")
    assert [d for d, _, _ in said] == sorted(d for d, _, _ in said)
    assert {n for _, _, n in said} == {"0.md", "1.md", "2.md", ""}


@pytest.mark.parametrize("after", [0, 1, 2])
def test_building_can_be_cancelled(after):
    asked = iter(range(100))
    with pytest.raises(Cancelled):
        built(three(), cancelled=lambda: next(asked) >= after)


def test_a_cache_gives_the_same_index_and_reads_nothing(tmp_path):
    fresh, encoder = built(three()), HashingEncoder()
    first = built(three(), encoder=encoder, cache=ArrayCache(tmp_path))
    read = encoder.spans_read
    second = built(three(), encoder=encoder, cache=ArrayCache(tmp_path))
    assert encoder.spans_read == read > 0
    assert first.fingerprint == second.fingerprint == fresh.fingerprint
    assert np.array_equal(second.vectors, fresh.vectors)
    assert np.array_equal(second.states([0, 3]).states, fresh.states([0, 3]).states)


def test_the_same_document_twice_is_one():
    made = built([three()[0], replace(three()[0], name="copy.md")])
    assert len(made.documents) == 1


# Small things that stages ask for.


def test_what_is_derived_is_computed_once():
    made, asked = built(three()), []
    for _ in range(3):
        made.derived(made.chunks[0], "length", lambda text: asked.append(text) or len(text))
    assert asked == [made.chunks[0].text]


def test_each_term_of_a_score_is_explained():
    made = built(three())
    terms = ("fee", "vessel", "zebra")
    row = next(r for r, c in enumerate(made.chunks) if "vessel" in c.text)
    told = made.explain_bm25(terms, made.chunk_ids[row], 1.5, 0.75)
    assert [t.term for t in told] == list(terms) and told[2].score == 0
    assert sum(t.score for t in told) == pytest.approx(made.bm25.scores(terms)[row])


def test_two_threads_may_ask_for_the_statistics_at_once():
    made, seen = built(three()), []
    threads = [
        threading.Thread(target=lambda: seen.append(made.bm25.scores(("fee",)).tolist()))
        for _ in range(4)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(seen) == 4 and all(s == seen[0] for s in seen)
