"""What a link carries, and back: the view as query parameters.

Only what is off its default is written, so that links stay short enough to read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.errors import SettingsError
from core.modes import DEFAULT_MODE, MODES
from core.records import Principal
from core.settings import Settings, knob_named, knobs
from dashboard.models import EMBEDDED, ModelChoice

QUESTION_LIMIT = 4_000
"""Characters of a question; a longer one in a link is cut, and the page says so."""

DOCUMENTS = "docs"
"""The parameter that names the documents, where they are not those the process was started with."""

EVIDENCE_LIMIT = 50
"""Chunks that a link may mark as evidence."""

PASSAGE_LIMIT = 4_000
"""Characters of a passage that should have been found; a longer one in a link is cut."""

SWEPT = (
    "mode",
    *(
        k.name
        for k in knobs()
        if k.group not in ("documents", "limits") and (k.kind is not str or k.choices)
    ),
)
"""The knobs whose range can be swept: those that need no new index, decide something and are no
text. The mode is one of them."""

CHUNK = "chunk"
"""``View.why`` where the selected chunk is what should have been found."""


@dataclass(frozen=True, slots=True)
class View:
    """All that decides what a page shows, documents aside.

    ``chunk`` is the id of the selected chunk, ``evidence`` the chunks that the person marked
    as those that should have been found. ``passage`` is a text that they miss in the prompt.
    ``why`` says what the Missing page looks for: :data:`CHUNK`, the number of a piece of the
    expected evidence (from 1), or "" for the passage, or the first of these that there is.
    ``knob`` and ``second`` are the knobs of the Tune page, "" for its first one and for none.
    ``models`` is in no link: see :class:`ModelChoice`.
    """

    question: str = ""
    mode: str = DEFAULT_MODE
    settings: Settings = Settings()
    principal: Principal | None = None
    chunk: str = ""
    evidence: tuple[str, ...] = ()
    passage: str = ""
    why: str = ""
    knob: str = ""
    second: str = ""
    models: ModelChoice = EMBEDDED

    def changed(self, **fields: object) -> View:
        return replace(self, **fields)


def known_mode(name: str) -> str:
    """A mode's name from elsewhere; the default's where this version has no such mode."""
    return name if name in MODES else DEFAULT_MODE


def to_params(view: View) -> dict[str, str | list[str]]:
    """The query parameters that :func:`from_params` reads back to the same view."""
    params: dict[str, str | list[str]] = {}
    if view.question:
        params["q"] = view.question
    if view.mode != DEFAULT_MODE:
        params["mode"] = view.mode
    for name, value in view.settings.differences().items():
        params[name] = _text(value)
    if view.principal is not None:
        params["tenant"] = view.principal.tenant
        if view.principal.roles:
            params["role"] = list(view.principal.roles)
        if view.principal.labels:
            params["label"] = list(view.principal.labels)
    if view.chunk:
        params["chunk"] = view.chunk
    if view.evidence:
        params["evidence"] = list(view.evidence)
    if view.passage:
        params["passage"] = view.passage
    if view.why:
        params["why"] = view.why
    if view.knob:
        params["knob"] = view.knob
    if view.second:
        params["second"] = view.second
    return params


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return repr(value) if isinstance(value, float) else str(value)


def from_params(params: Mapping[str, Sequence[str]]) -> tuple[View, list[str]]:
    """A view, and a sentence for each parameter that could not be used.

    What is wrong is left at its default: a link never stops the page.
    """
    problems: list[str] = []
    values: dict[str, object] = {}
    settings: dict[str, object] = {}
    known = {k.name for k in knobs()}
    for name, given in params.items():
        if not given:
            continue
        last = given[-1]
        if name == "q":
            if len(last) > QUESTION_LIMIT:
                problems.append(f"The question was cut at {QUESTION_LIMIT:,} characters.")
            values["question"] = last[:QUESTION_LIMIT]
        elif name == "mode":
            if last in MODES:
                values["mode"] = last
            else:
                problems.append(
                    f"There is no mode {last[:60]!r}; the link's page uses {DEFAULT_MODE}. "
                    f"Modes are {', '.join(MODES)}."
                )
        elif name == "chunk":
            values["chunk"] = last[:100]
        elif name == "evidence":
            values["evidence"] = tuple(dict.fromkeys(v[:100] for v in given))[:EVIDENCE_LIMIT]
        elif name == "passage":
            if len(last) > PASSAGE_LIMIT:
                problems.append(f"The passage was cut at {PASSAGE_LIMIT:,} characters.")
            values["passage"] = last[:PASSAGE_LIMIT]
        elif name == "why":
            number = last.isdecimal() and len(last) < 6
            values["why"] = last if last == CHUNK or number else ""
        elif name in ("knob", "second"):
            values[name] = last if last in SWEPT else ""
        elif name in known:
            try:
                settings[name] = knob_named(name).check(last)
            except SettingsError as error:
                problems.append(f"{error} The default is used.")
        elif name not in ("tenant", "role", "label", DOCUMENTS):
            problems.append(f"The link's parameter {name[:60]!r} means nothing here.")
    if {"tenant", "role", "label"} & set(params):
        tenant = list(params.get("tenant", [])) or [""]
        values["principal"] = Principal(
            tenant=tenant[-1],
            roles=tuple(sorted(set(params.get("role", [])))),
            labels=tuple(sorted(set(params.get("label", [])))),
        )
    return View(settings=Settings(**settings), **values), problems
