"""The Documents page: add, list, remove; and what was extracted, with the chunks' borders."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.records import Chunk, Document
from core.words import counted
from dashboard import cache, charts, columns, figures, header, row_choice, say, state, tables, work
from dashboard.link import View
from dashboard.passages import CHUNK, Block, Section, sections
from dashboard.shelf import Shelf
from dashboard.views import expected, uploads
from dashboard.views import page as page_view

LIST_HEIGHT = 240
TEXT_HEIGHT = 620
FEW_PAGES = 12
"""Pages that are chosen by a click each."""

CHOSEN = "document_chosen"
"""In the session: the document chosen in the list, and the chunk that was selected then. Once
another chunk is selected, its document is the one to show."""
ALWAYS = ("Name", "Title", "Characters", "Chunks")
"""Columns of the list that are there whatever the documents."""


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
    _details(document, chunks, view, owner, shelf)


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
    chosen, beside = st.session_state.get(CHOSEN, ("", ""))
    if view.chunk and beside != view.chunk:
        chosen = view.chunk.rsplit(":", 1)[0]
    at = ids.index(chosen) if chosen in ids else 0
    frame = pd.DataFrame([row(d, len(chunks[d.id]) if d.id in chunks else None) for d in documents])
    for name in ("Pages", "Chunks", "Warnings"):
        frame[name] = frame[name].astype("Int64")
    # Columns that say nothing of any document are left out.
    frame = frame[[c for c in frame if c in ALWAYS or frame[c].replace("", pd.NA).notna().any()]]
    st.dataframe(
        frame,
        height=LIST_HEIGHT,
        column_config=columns.layout(frame),
        on_select=_clicked,
        alt="The documents; choose one to see what was extracted from it",
        **row_choice.choose("documents", ids, ids[at]),
    )
    return documents[at]


def _clicked() -> None:
    now, _ = st.session_state.get(CHOSEN, ("", ""))
    if chosen := row_choice.clicked("documents", now):
        st.session_state[CHOSEN] = (chosen, state.view().chunk)


def row(document: Document, chunks: int | None) -> dict[str, object]:
    """What the list says of a document."""
    access = document.access
    report = document.report
    return {
        "Name": document.name,
        "Pages in doubt": tables.health_line(document),
        "Title": document.title,
        "Pages": len(document.pages) or None,
        "Characters": len(document.text),
        "Chunks": chunks,
        "Warnings": len(warnings(document)) or None,
        "Tenant": access.tenant,
        "Roles": ", ".join(access.roles),
        "Labels": ", ".join(access.labels),
        "Date": document.date,
        "Type": kind(report.media_type),
    }


def kind(media_type: str) -> str:
    """What a kind of file is called."""
    return {
        "application/pdf": "PDF", "text/markdown": "Markdown", "text/plain": "Plain text",
    }.get(media_type, media_type)  # fmt: skip


def warnings(document: Document) -> list[str]:
    """What went wrong with the text, a sentence each, with the page."""
    said = list(document.report.warnings)
    for page in document.report.pages:
        said += [f"Page {page.number}: {w}" for w in page.warnings]
    return list(dict.fromkeys(said))


def page_warnings(document: Document, number: int) -> list[str]:
    """What went wrong with one page's text, a sentence each."""
    found = next((p for p in document.report.pages if p.number == number), None)
    return list(found.warnings) if found is not None else []


def _details(
    document: Document, chunks: tuple[Chunk, ...], view: View, owner: bool, shelf: Shelf
) -> None:
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
    many = f"{len(document.pages):,} pages" if document.pages else ""
    size = f"{len(document.text):,} characters in {len(chunks):,} chunks"
    facts = [kind(report.media_type), many, size, tables.facts_line(document)]
    with st.container(key="quiet_document"):
        st.text(" · ".join(f for f in facts if f))
    say.note("warning", report.warnings[:12], key="document")
    if not chunks:
        say.note("error", "No chunk came of this document: it cannot be found.", key="no_chunk")
    _done_to_it(document)
    _text(document, chunks, view, shelf)


def _done_to_it(document: Document) -> None:
    """What extraction repaired, left out and took in; nothing where it did nothing."""
    frame = tables.health_table(document)
    if frame.empty:
        return
    with st.expander("What extraction did", key="extraction_box"):
        st.dataframe(frame, hide_index=True, height="content", column_config=columns.layout(frame))


def _remove(document_id: str) -> None:
    shelf = work.shelf()
    if shelf is not None:
        state.put_shelf(shelf.without({document_id}))
        st.session_state.pop(CHOSEN, None)
        state.change(chunk="", evidence=())


def _text(document: Document, chunks: tuple[Chunk, ...], view: View, shelf: Shelf) -> None:
    """One page of the text, in blocks: chunks, and what is in no chunk; of a PDF, beside it
    the page itself."""
    pages = sections(document, chunks)
    chosen = next((n for n, p in enumerate(pages, 1) if p.holds(view.chunk)), 1)
    key = f"page_{document.id}_{view.chunk}"
    number = chosen
    if len(document.report.pages) > 1:
        shown = st.session_state.get(key, chosen)
        charts.draw(
            figures.page_bars(document.report.pages, current=shown, theme=work.theme()),
            key="page_bars",
            on_select=lambda: _page_clicked(key),
            selection_mode="points",
            alt="A bar a page: its characters, coloured by how far its text can be trusted",
        )
    with st.container(horizontal=True, vertical_alignment="center", key="page_bar"):
        if len(pages) > 1:
            number = _choose_page(len(pages), chosen, key)
            _next_in_doubt(document, number, key)
        page = pages[number - 1]
        with st.container(key="quiet_page"):
            st.text(page.title)
        chunk = next((c for c in chunks if c.id == view.chunk and page.holds(c.id)), None)
        if chunk is not None:
            expected.draw(document, chunk.start, chunk.end, key="document")
    say.note("warning", page_warnings(document, number), key="page")
    original = shelf.originals.get(document.id)
    if original is None or not document.pages:
        _blocks(page, view)
        return
    with st.container(key="split_document"):
        left, right = st.columns(2, gap="medium")
    with left:
        page_view.draw(document, chunks, number, view, original, work.evidence(view))
    with right:
        _blocks(page, view, page_view.HEIGHT)


def _blocks(page: Section, view: View, height: int = TEXT_HEIGHT) -> None:
    with st.container(height=height, key="document_text", gap="small"):
        if not page.blocks:
            with st.container(key="quiet_no_text"):
                st.text("No text came of this page.")
        for at, block in enumerate(page.blocks):
            _block(block, at, view.chunk)


def _page_clicked(key: str) -> None:
    for point in st.session_state["page_bars"].selection.points:
        number = point.get("customdata")
        number = number[0] if isinstance(number, list | tuple) else number
        if isinstance(number, int | float):
            st.session_state[key] = int(number)
            return


def _choose_page(many: int, chosen: int, key: str) -> int:
    """The page to show, from 1; where there are many, its number can be typed."""
    if many <= FEW_PAGES:
        return st.pagination(many, default=chosen, key=key)
    return st.number_input(
        "Page", 1, many, chosen, key=key, width=140, label_visibility="collapsed"
    )


def _next_in_doubt(document: Document, number: int, key: str) -> None:
    """In a long document, the way to the next page whose text cannot be trusted."""
    doubtful = tables.pages_in_doubt(document)
    others = [n for n in doubtful if n != number]
    if len(document.pages) <= FEW_PAGES or not doubtful:
        return
    following = next((n for n in others if n > number), others[0] if others else number)
    st.button(
        "Next page in doubt",
        key="next_in_doubt",
        type="tertiary",
        disabled=not others,
        on_click=st.session_state.__setitem__,
        args=(key, following),
        help=f"{counted(len(doubtful), 'page')} in doubt, the next is page {following:,}.",
    )


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
