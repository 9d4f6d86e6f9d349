"""Made-up corpora, settings and pipelines for tests: small, varied and fast."""

from __future__ import annotations

from hypothesis import strategies as st

from core.index.build import build_index
from core.index.index import Index
from core.models.embedded import EmbeddedContext, EmbeddedListwise, EmbeddedPiecewise
from core.modes import MODES
from core.pipeline import Pipeline
from core.records import Access, Document, Heading, Page, document_id
from core.settings import Settings
from core.tokens import WordCounter
from tests.fakes import HashingEncoder

WORDS = (
    "harbour pilot vessel master refund deposit booking not except 7 14 days annual plan "
    "Berlin Lisbon fee waived index vector query chunk window anchor score budget tax rate "
    "v2.3.1 CVE-2024-1234 naïve Größe 押金 efficiency comparison table"
).split()

sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=14).map(
    lambda words: " ".join(words).capitalize() + "."
)
paragraphs = st.lists(sentences, min_size=1, max_size=5).map(" ".join)
texts = st.lists(paragraphs, min_size=1, max_size=6).map("\n\n".join)
questions = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(
    lambda words: " ".join(words) + "?"
)
accesses = st.builds(
    Access,
    tenant=st.sampled_from(["", "north", "south"]),
    roles=st.sampled_from([(), ("staff",), ("staff", "admin")]),
    labels=st.sampled_from([(), ("internal",)]),
)
modes = st.sampled_from(sorted(MODES))


def document(text: str, name: str = "a.md", access: Access = Access(), **more) -> Document:
    """A document whose id is derived from what it says."""
    pages = more.pop("pages", ())
    known = {k: more[k] for k in ("date", "priority") if k in more}
    return Document(
        id=document_id(text, pages, access, **known),
        name=name,
        title=more.pop("title", name),
        text=text,
        pages=pages,
        access=access,
        **more,
    )


@st.composite
def documents(draw, most: int = 4, access=st.just(Access())) -> list[Document]:
    """Up to ``most`` documents of distinct content, some with pages, headings and dates."""
    out = {}
    for i in range(draw(st.integers(1, most))):
        text = draw(texts)
        half = len(text) // 2
        pages = (Page(1, 0, half), Page(2, half, len(text))) if draw(st.booleans()) else ()
        made = document(
            text,
            f"d{i}.md",
            draw(access),
            pages=pages,
            headings=(Heading(half, 1, "Middle"),) if draw(st.booleans()) else (),
            date=draw(st.sampled_from(["", "2026-01-01", "2025-06-30"])),
            priority=draw(st.integers(0, 1)),
        )
        out.setdefault(made.id, made)
    return list(out.values())


@st.composite
def settings(draw, **fixed) -> Settings:
    """Settings that small corpora feel."""
    values = {
        "chunk_tokens": draw(st.sampled_from([16, 24, 48])),
        "chunk_overlap": draw(st.sampled_from([0, 0, 8])),
        "fusion": draw(st.sampled_from(["rrf", "weighted", "bm25", "dense"])),
        "candidate_k": draw(st.integers(1, 12)),
        "max_radius": draw(st.integers(0, 4)),
        "extend_threshold": draw(st.floats(0, 0.99)),
        "max_context_tokens": draw(st.sampled_from([500, 60_000])),
        "relevance_threshold": draw(st.sampled_from([0.0, 0.3, 0.9])),
        "dedup_method": draw(st.sampled_from(["overlap", "minhash", "off"])),
        "dedup_threshold": draw(st.floats(0.3, 1.0)),
        "protect_exceptions": draw(st.booleans()),
        "diversity": draw(st.sampled_from(["off", "mmr", "sections", "source_cap"])),
        "per_source_cap": draw(st.integers(1, 3)),
        "evidence_budget": draw(st.integers(0, 250)),
        "oversize": draw(st.sampled_from(["skip", "trim"])),
        "window_tokens": draw(st.sampled_from([500, 8_000])),
        "answer_reserve": draw(st.sampled_from([50, 350])),
        "order": draw(st.sampled_from(["score", "source", "date", "score_then_source"])),
    }
    return Settings(**(values | fixed))


def pipeline(encoder: HashingEncoder | None = None) -> Pipeline:
    """A pipeline on word hashes, with the embedded rerankers' own code."""
    encoder = encoder or HashingEncoder()
    kinds = {
        "piecewise": EmbeddedPiecewise(encoder),
        "listwise": EmbeddedListwise(encoder),
        "context": EmbeddedContext(encoder),
    }
    return Pipeline(encoder, kinds)


def index(documents, settings: Settings = Settings(), encoder: object | None = None) -> Index:
    return build_index(documents, settings, encoder or HashingEncoder(), counter=WordCounter())
