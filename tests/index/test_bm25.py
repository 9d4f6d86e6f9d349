"""BM25 against a plain loop, against rank-bm25, and on the inputs that broke other tools."""

from __future__ import annotations

import io
import math
import threading
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from core.index import bm25
from core.index.analyse import analyse, analyse_query
from core.index.bm25 import BM25Index
from core.index.term_counts import (
    TermCounts,
    TermStatistics,
    count_terms,
    inverse_document_frequency,
)

WORDS = "alpha beta gamma delta valve pump the v2.3.1 getUserById 押金退还".split()
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), max_size=12)
K1 = st.floats(0, 4)
B = st.floats(0, 1)


def index_of(*texts: str) -> BM25Index:
    return BM25Index.merge([count_terms(texts)])


def ranked(index: BM25Index, question: str) -> list[int]:
    scores = index.scores(analyse_query(question))
    return sorted(range(index.n), key=lambda row: (-scores[row], row))


def plain_loop(texts: list[str], terms: list[str], k1: float, b: float) -> list[float]:
    chunks = [Counter(analyse(text)) for text in texts]
    lengths = [sum(chunk.values()) for chunk in chunks]
    average = sum(lengths) / len(lengths) if lengths else 0
    scores = []
    for chunk, length in zip(chunks, lengths, strict=True):
        score = 0.0
        for term in terms:
            f = chunk[term]
            if f:
                n = sum(1 for other in chunks if other[term])
                idf = math.log(1 + (len(chunks) - n + 0.5) / (n + 0.5))
                score += idf * f * (k1 + 1) / (f + k1 * (1 - b + b * length / average))
        scores.append(score)
    return scores


@given(TEXTS, st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join), K1, B)
def test_scores_equal_a_plain_loop(texts, question, k1, b):
    terms = analyse_query(question)
    expected = plain_loop(texts, terms, k1, b)
    scores = index_of(*texts).scores(terms, k1, b)
    assert scores.dtype == np.float64
    assert scores.shape == (len(texts),)
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-9)
    assert (scores >= 0).all()


@given(
    TEXTS,
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join),
    st.floats(0.01, 4),  # at 0 rank-bm25 divides 0 by 0 where a chunk lacks the term
    B,
)
def test_scores_equal_rank_bm25_with_this_idf(texts, question, k1, b):
    class Okapi(BM25Okapi, TermStatistics):
        _calc_idf = TermStatistics._calc_idf

    corpus = [analyse(text) for text in texts if text]
    if not corpus:
        return
    terms = analyse_query(question)
    expected = Okapi(corpus, k1=k1, b=b).get_scores(terms)
    scores = index_of(*(text for text in texts if text)).scores(terms, k1, b)
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-9)


@given(TEXTS, st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join), K1, B)
def test_an_explanation_adds_up_to_the_score(texts, question, k1, b):
    index, terms = index_of(*texts), analyse_query(question)
    scores = index.scores(terms, k1, b)
    for row in range(index.n):
        lines = index.explain(row, terms, k1, b)
        assert [line.term for line in lines] == terms
        assert abs(sum(line.score for line in lines) - scores[row]) <= 1e-12
        for line in lines:
            assert line.count == analyse(texts[row]).count(line.term)
            assert line.document_frequency == index.document_frequency(line.term)
            assert (line.score > 0) == (line.count > 0)


@given(TEXTS, TEXTS, TEXTS)
def test_how_chunks_are_grouped_into_documents_does_not_matter(first, second, third):
    terms = analyse_query(" ".join(WORDS))
    apart = BM25Index.merge([count_terms(part) for part in (first, second, third)])
    together = BM25Index.merge([count_terms(first + second + third)])
    assert apart.n == together.n
    assert apart.average_length == together.average_length
    np.testing.assert_array_equal(apart.scores(terms), together.scores(terms))


@given(TEXTS, TEXTS)
def test_the_order_of_documents_only_moves_rows(first, second):
    terms = analyse_query(" ".join(WORDS))
    one, other = count_terms(first), count_terms(second)
    here = BM25Index.merge([one, other]).scores(terms)
    there = BM25Index.merge([other, one]).scores(terms)
    np.testing.assert_array_equal(here, np.concatenate([there[other.n :], there[: other.n]]))


@given(TEXTS)
def test_counts_survive_a_file(texts):
    counts = count_terms(texts)
    file = io.BytesIO()
    np.savez(file, **counts.to_arrays())
    file.seek(0)
    with np.load(file, allow_pickle=False) as stored:
        back = TermCounts.from_arrays(stored)
    assert back.vocabulary == counts.vocabulary == tuple(sorted(set(back.vocabulary)))
    for name in ("indptr", "indices", "counts", "lengths"):
        stored_array, array = getattr(back, name), getattr(counts, name)
        assert stored_array.dtype == array.dtype
        np.testing.assert_array_equal(stored_array, array)


def test_counts_are_those_of_the_analyser():
    counts = count_terms(["valve pump valve", "", "pump"])
    assert counts.n == 3
    assert counts.lengths.tolist() == [len(analyse("valve pump valve")), 0, 1]
    first = slice(counts.indptr[0], counts.indptr[1])
    terms = [counts.vocabulary[i] for i in counts.indices[first]]
    held = dict(zip(terms, counts.counts[first].tolist(), strict=True))
    assert held == Counter(analyse("valve pump valve"))


@pytest.mark.parametrize(
    "harm",
    [
        {"indptr": np.array([0, 2])},
        {"indptr": np.array([0, 5, 3])},
        {"counts": np.array([1])},
        {"indices": np.array([0, 1, 9])},
        {"indices": np.array([0, 1, -1])},
        {"vocabulary": np.zeros(0, np.uint8)},
    ],
)
def test_arrays_that_do_not_fit_are_refused(harm):
    arrays = count_terms(["valve", "pump"]).to_arrays()
    with pytest.raises(ValueError, match="do not fit together"):
        TermCounts.from_arrays({**arrays, **harm})


def test_two_chunks_one_match():
    index = index_of("alpha pump", "beta valve")
    scores = index.scores(analyse_query("alpha"))
    assert scores[0] > 0 == scores[1]


def test_a_term_that_every_chunk_holds_still_scores_above_zero():
    assert index_of("alpha pump").scores(["alpha"])[0] > 0
    assert (index_of("alpha a", "alpha b", "alpha c").scores(["alpha"]) > 0).all()
    assert inverse_document_frequency(5, 5) > 0


def test_no_chunks_and_empty_chunks():
    for index in (BM25Index.merge([]), index_of()):
        assert index.n == 0
        assert index.average_length == 0
        assert index.scores(["alpha"]).shape == (0,)
        assert index.document_frequency("alpha") == 0
        with pytest.raises(IndexError, match="row 0"):
            index.explain(0, ["alpha"])
    index = index_of("", "… !", "")
    assert index.scores(analyse_query("alpha")).tolist() == [0, 0, 0]
    assert index.explain(1, ["alpha"])[0].score == 0


def test_more_are_asked_for_than_there_are():
    assert ranked(index_of("alpha", "beta"), "beta")[:10] == [1, 0]


def test_chinese_is_found_without_spaces():
    index = index_of("房间很干净", "押金退还需要七天", "押注金额很高")
    assert ranked(index, "押金")[0] == 1
    assert np.count_nonzero(index.scores(analyse_query("押金"))) == 1


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("CVE-2024-1234", 0),
        ("1234", 0),
        ("v2.3.1", 1),
        ("2.3.1", 1),
        ("C++", 2),
        ("getUserById", 3),
        ("user id", 3),
    ],
)
def test_identifiers_are_found_whole_and_in_parts(question, best):
    index = index_of(
        "Patched: CVE-2024-1234 and others",
        "Since v2.3.1 this is fixed",
        "Written in C++ for speed",
        "Call getUserById with care",
        "CVE-2023-9999, v2.3.2, C#, getNameByRole",
    )
    assert ranked(index, question)[0] == best


def test_composed_decomposed_and_case_agree():
    index = index_of("điều trị bệnh", "điều khác")
    composed, decomposed = "BỆNH", "be\u0323\u0302nh"
    assert ranked(index, composed)[0] == ranked(index, decomposed)[0] == 0
    np.testing.assert_array_equal(
        index.scores(analyse_query(composed)), index.scores(analyse_query(decomposed))
    )


def test_a_hidden_document_leaves_no_mark():
    shown, hidden = count_terms(["alpha pump", "beta"]), count_terms(["alpha alpha secret"])
    alone = BM25Index.merge([shown])
    BM25Index.merge([shown, hidden]).scores(["alpha"])
    np.testing.assert_array_equal(
        BM25Index.merge([shown]).scores(["alpha"]), alone.scores(["alpha"])
    )
    assert alone.document_frequency("secret") == 0


@pytest.mark.parametrize(
    ("k1", "b"), [(-1, 0.5), (1, -0.1), (1, 1.1), (math.nan, 0), (1, math.nan)]
)
def test_knobs_out_of_range_are_refused(k1, b):
    index = index_of("alpha")
    with pytest.raises(ValueError, match="k1"):
        index.scores(["alpha"], k1, b)
    with pytest.raises(ValueError, match="k1"):
        index.explain(0, ["alpha"], k1, b)


def test_a_repeated_term_counts_again():
    index = index_of("alpha", "beta")
    np.testing.assert_array_equal(index.scores(["alpha"] * 2), 2 * index.scores(["alpha"]))


def test_common_and_rare_terms_take_both_ways_and_memory_stays_bounded(monkeypatch):
    texts = [f"alpha {'pump' if i % 2 else ''} {'rare' if i % 50 == 0 else ''}" for i in range(200)]
    terms = ["alpha", "pump", "rare"]
    index = index_of(*texts)
    monkeypatch.setattr(bm25, "_MEMORY", 4_000)
    for k1 in (0.5, 1.0, 1.5, 0.5, 1.0):
        scores = index.scores(terms, k1, 0.75)
        np.testing.assert_allclose(scores, plain_loop(texts, terms, k1, 0.75), rtol=0, atol=1e-9)
    assert index._bytes == sum(map(bm25._size, index._remembered.values())) <= 4_000


def test_threads_share_an_index():
    texts = [f"alpha {i} pump" for i in range(300)]
    index, expected = index_of(*texts), {}
    for k1 in range(4):
        expected[k1] = index_of(*texts).scores(["alpha", "7", "pump"], k1)
    wrong = []

    def ask(k1: int) -> None:
        for _ in range(50):
            if not np.array_equal(index.scores(["alpha", "7", "pump"], k1), expected[k1]):
                wrong.append(k1)

    threads = [threading.Thread(target=ask, args=(i % 4,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
