"""The top of every page: the question, the mode, the documents, and who is asking."""

from __future__ import annotations

import streamlit as st

from core.modes import MODES
from core.records import Principal
from core.words import counted
from dashboard import say, state, waiting, work
from dashboard.jobs import Job
from dashboard.link import QUESTION_LIMIT, View, known_mode
from dashboard.shelf import Shelf

NAMES_SHOWN = 40


def draw(view: View) -> None:
    """Draws the header for this view."""
    saved = state.saved_trace()
    frozen = saved is not None
    # The question has a row of its own: it should be read whole.
    question = saved[1].question if saved else view.question
    state.project("question", question)
    st.text_input(
        "Question",
        question,
        key="question",
        max_chars=QUESTION_LIMIT,
        placeholder="Ask your documents a question, then press Enter",
        on_change=_asked,
        disabled=frozen,
        label_visibility="collapsed",
    )
    # This row breaks where the window is narrow; the label's place is in style.css.
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="header"):
        if saved and saved[1].origin:
            st.text(f"Imported from {saved[1].origin}"[:80], width="content")
        else:
            _mode(known_mode(saved[1].mode) if saved else view.mode, frozen)
        _documents(view)
        _access(view, frozen)
    _status()


def _mode(mode: str, frozen: bool) -> None:
    state.project("mode", mode)
    st.selectbox(
        "Mode",
        list(MODES),
        list(MODES).index(mode),
        format_func=lambda name: f"{MODES[name].title} · {name}",
        key="mode",
        help="\n".join(f"- **{m.title}**: {m.help}" for m in MODES.values()),
        on_change=_mode_chosen,
        disabled=frozen,
        width=330,
    )


def _asked() -> None:
    state.change(question=st.session_state["question"].strip())


def _mode_chosen() -> None:
    state.change(mode=st.session_state["mode"])


def _documents(view: View) -> None:
    shelf = work.shelf()
    visible = shelf.seen_by(view.principal) if shelf else ()
    label = counted(len(visible), "document") if shelf else "Documents …"
    with st.popover(label, key="documents_popover"):
        if shelf is None:
            st.text("The documents are being read.")
        elif not visible:
            st.text("There are no documents here.")
        else:
            names = [d.name for d in visible[:NAMES_SHOWN]]
            more = len(visible) - len(names)
            st.text("\n".join(names) + (f"\nand {more} more" if more else ""))
        st.caption("Add, remove and read them on the Documents page.")


def _access(view: View, frozen: bool) -> None:
    who = view.principal
    label = "View as: owner" if who is None else f"View as: {say.escaped(_short(who))}"
    with st.popover(label, key="access_popover", disabled=frozen):
        st.caption(
            "The owner sees every document. Anyone else sees what their tenant, roles and "
            "labels admit, and nothing of the rest: not in a score, a count or an export."
        )
        choices = _choices(work.shelf() or Shelf(), who)
        with st.form("access_form", border=False):
            st.selectbox(
                "Tenant",
                ["", *choices["tenant"]],
                index=["", *choices["tenant"]].index(who.tenant) if who else 0,
                format_func=lambda t: t or "(none)",
                key="access_tenant",
                accept_new_options=True,
            )
            st.multiselect(
                "Roles",
                choices["roles"],
                default=list(who.roles) if who else [],
                key="access_roles",
                accept_new_options=True,
            )
            st.multiselect(
                "Cleared for labels",
                choices["labels"],
                default=list(who.labels) if who else [],
                key="access_labels",
                accept_new_options=True,
            )
            with st.container(horizontal=True):
                st.form_submit_button("View as these", on_click=_view_as)
                st.form_submit_button("View as owner", on_click=_view_as_owner)


def _choices(shelf: Shelf, who: Principal | None) -> dict[str, list[str]]:
    access = [d.access for d in shelf.documents]
    found = {
        "tenant": {a.tenant for a in access if a.tenant},
        "roles": {r for a in access for r in a.roles},
        "labels": {x for a in access for x in a.labels},
    }
    if who is not None:
        found["tenant"] |= {who.tenant} - {""}
        found["roles"] |= set(who.roles)
        found["labels"] |= set(who.labels)
    return {name: sorted(values) for name, values in found.items()}


def _short(who: Principal) -> str:
    parts = [who.tenant or "no tenant", *who.roles, *who.labels]
    text = ", ".join(parts)
    return text if len(text) <= 24 else text[:23] + "…"


def _view_as() -> None:
    state.change(
        principal=Principal(
            tenant=st.session_state["access_tenant"] or "",
            roles=tuple(sorted(st.session_state["access_roles"])),
            labels=tuple(sorted(st.session_state["access_labels"])),
        ),
        chunk="",
        evidence=(),
        why="",
    )


def _view_as_owner() -> None:
    state.change(principal=None)


def _status() -> None:
    """What is being loaded or read, and what could not be used of the link."""
    job = work.starting() or work.reading()
    if job is not None:
        under_way(job, state.view().principal is None)
    missing = work.model_problem()
    if missing:
        say.note("warning", missing, key="models")
    problems = state.notes()
    if problems:
        with st.container(horizontal=True, vertical_alignment="center", key="link_notes"):
            say.note("warning", problems, key="link")
            st.button("Dismiss", on_click=state.dismiss_notes, type="tertiary", key="dismiss")


def under_way(job: Job, names: bool) -> None:
    """One line while models load or files are read; the page can be used meanwhile."""
    _under_way(job, names, waiting.now())


@st.fragment(run_every=1.0)
def _under_way(job: Job, names: bool, drawn: float) -> None:
    if job.finished:
        waiting.draw_again(drawn)
    with st.container(key="status"):
        st.text(f"◌ {job.described(names=names)} …")
