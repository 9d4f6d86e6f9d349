"""The Documents page: add, list, remove; and what was extracted, with the chunks' borders."""

from __future__ import annotations

import streamlit as st

from core.records import Chunk, Document
from dashboard import cache, header, say, state, work
from dashboard.link import View
from dashboard.passages import CHUNK, Block, sections
from dashboard.views import uploads

LIST_HEIGHT = 240
TEXT_HEIGHT = 620
CHOSEN = "document_chosen"


def draw() -> None:
    """The page, as this view's principal may see it."""
    view = state.view()
    shelf = work.shelf()
    if shelf is None:
        work.index(view, height=LIST_HEIGHT)
        return
    owner = view.principal is None
    if owner:
        uploads.draw(shelf)
    documents = shelf.seen_by(view.principal)
    if not documents:
        say.note("info", "There are no documents here.", key="no_documents")
        return
    job = work.index_job(shelf, view)
    if not job.finished and work.starting() is None and work.reading() is None:
        header.under_way(job, owner)  # and draw again with the counts of chunks
    indexed = indexed_chunks(view)
    document = _list(documents, indexed, view)
    chunks = indexed.get(document.id)
    if chunks is None:  # before the index stands, the chosen document's alone
        chunks = cache.chunks(document, view.settings)
    _details(document, chunks, view, owner)


def indexed_chunks(view: View) -> dict[str, tuple[Chunk, ...]]:
    """The chunks of each document, where the index stands already."""
    found = work.built_index(view)
    if found is None:
        return {}
    return {d.id: found.chunks[start:stop] for d, start, stop in found.document_rows()}


def _list(
    documents: tuple[Document, ...], chunks: dict[str, tuple[Chunk, ...]], view: View
) -> Document:
    """The table of documents; returns the chosen one."""
    ids = [d.id for d in documents]
    selected = view.chunk.rsplit(":", 1)[0]
    chosen = st.session_state.get(CHOSEN) or selected
    at = ids.index(chosen) if chosen in ids else 0
    st.session_state["documents"] = {"selection": {"rows": [at], "columns": [], "cells": []}}
    st.session_state["documents_ids"] = ids
    st.dataframe(
        [row(d, len(chunks[d.id]) if d.id in chunks else None) for d in documents],
        key="documents",
        height=LIST_HEIGHT,
        hide_index=True,
        on_select=_clicked,
        selection_mode=["single-row", "single-cell"],
        placeholder="",
        alt="The documents; choose one to see what was extracted from it",
    )
    return documents[at]


def _clicked() -> None:
    picked = st.session_state["documents"].selection
    ids = st.session_state["documents_ids"]
    now = st.session_state.get(CHOSEN)
    for at in [*(row for row, _ in picked.cells), *picked.rows]:
        if at < len(ids) and ids[at] != now:
            st.session_state[CHOSEN] = ids[at]
            return


def row(document: Document, chunks: int | None) -> dict[str, object]:
    """What the list says of a document."""
    access = document.access
    report = document.report
    return {
        "name": document.name,
        "title": document.title,
        "pages": len(document.pages) or None,
        "characters": len(document.text),
        "chunks": chunks,
        "warnings": len(warnings(document)) or None,
        "tenant": access.tenant,
        "roles": ", ".join(access.roles),
        "labels": ", ".join(access.labels),
        "date": document.date,
        "type": report.media_type,
    }


def warnings(document: Document) -> list[str]:
    """What went wrong with the text, a sentence each, with the page."""
    said = list(document.report.warnings)
    for page in document.report.pages:
        said += [f"Page {page.number}: {w}" for w in page.warnings]
    return list(dict.fromkeys(said))


def _details(document: Document, chunks: tuple[Chunk, ...], view: View, owner: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container(key="strong_document"):
            st.text(f"{document.title or document.name}")
        st.space("stretch")
        if owner:
            st.button(
                "Remove this document",
                key="remove_document",
                on_click=_remove,
                args=(document.id,),
                type="tertiary",
            )
    report = document.report
    facts = [report.media_type, report.encoding, f"{len(document.text):,} characters"]
    with st.container(key="quiet_document"):
        st.text(" · ".join(f for f in facts if f))
    said = warnings(document)
    if said:
        say.note("warning", said[:12], key="document")
        if len(said) > 12:
            st.caption(f"and {len(said) - 12} more")
    if not chunks:
        say.note("error", "No chunk came of this document: it cannot be found.", key="no_chunk")
    _text(document, chunks, view)


def _remove(document_id: str) -> None:
    shelf = work.shelf()
    if shelf is not None:
        state.put_shelf(shelf.without({document_id}))
        st.session_state.pop(CHOSEN, None)
        state.change(chunk="", evidence=())


def _text(document: Document, chunks: tuple[Chunk, ...], view: View) -> None:
    """One page of the text, in blocks: chunks, and what is in no chunk."""
    pages = sections(document, chunks)
    chosen = next((n for n, p in enumerate(pages, 1) if p.holds(view.chunk)), 1)
    key = f"page_{document.id}_{view.chunk}"
    number = chosen
    with st.container(horizontal=True, vertical_alignment="center", key="page_bar"):
        if len(pages) > 1:
            number = st.pagination(len(pages), default=chosen, key=key)
        page = pages[number - 1]
        with st.container(key="quiet_page"):
            st.text(page.title)
    with st.container(height=TEXT_HEIGHT, key="document_text", gap="small"):
        for at, block in enumerate(page.blocks):
            _block(block, at, view.chunk)


def _block(block: Block, at: int, selected: str) -> None:
    kind = "selected" if block.chunk_id and block.chunk_id == selected else block.kind
    with st.container(key=f"block-{kind}-{at}", gap=None):
        if block.kind == CHUNK:
            st.button(
                block.label,
                key=f"open_{block.chunk_id}_{at}",
                type="tertiary",
                help="Select this chunk: the Trace page shows what became of it.",
                on_click=_select,
                args=(block.chunk_id,),
            )
        else:
            with st.container(key=f"quiet_block_{at}"):
                st.text(block.label)
        st.text(block.text)


def _select(chunk_id: str) -> None:
    state.change(chunk=chunk_id)
