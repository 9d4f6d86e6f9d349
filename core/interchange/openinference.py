"""Retriever, reranker and model spans of OpenInference as ranked lists.

The attributes are those of its semantic conventions. LangChain's instrumentation writes
neither ids nor scores of documents: there, a result is known by its text. A retriever around
another one (a compressor, an ensemble) comes after it; one that only passes on what it was given
is the same step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.interchange.merge import merged
from core.interchange.names import number, source_of
from core.interchange.ranges import faults
from core.interchange.ranked_lists import text_id
from core.interchange.recorded import Hit, RankedList, Recorded, refuse
from core.interchange.spans import Span
from core.plain import parse

LONGEST_QUESTION = 20_000

_QUESTIONS = ("query_str", "query", "question", "input", "user_input", "text", "content")
_REDACTED = "__REDACTED__"


def read(spans: Sequence[Span]) -> list[Recorded]:
    """A run for each trace that retrieved something, in the order of the file.

    Raises:
        TraceFormatError: no span is a retriever's or a reranker's with documents.
    """
    traces: dict[str, list[Span]] = {}
    for span in spans:
        traces.setdefault(span.trace_id, []).append(span)
    found = [run for members in traces.values() if (run := _run(members)) is not None]
    if not found:
        raise refuse(
            "the spans",
            "hold no list of documents",
            "Export the spans of kind RETRIEVER or RERANKER with their attributes "
            "(retrieval.documents, reranker.output_documents).",
        )
    return found


def kind(span: Span) -> str:
    return span.text("openinference", "span", "kind").upper()


def _run(spans: Sequence[Span]) -> Recorded | None:
    """One trace; None where it retrieved nothing."""
    searching = [s for s in spans if kind(s) in ("RETRIEVER", "RERANKER")]
    steps = [_Step(s) for s in sorted(searching, key=_ended)]
    steps = [s for s in steps if s.hits or s.read]
    if not steps:
        return None
    lists, warnings = merged([s.as_list() for s in steps], [s.span for s in steps], spans)
    warnings = [*warnings, *dict.fromkeys(w for s in steps for w in s.warnings)]
    searched = next((q for s in steps if (q := s.query)), "")
    asked = _asked(spans)
    if searched and asked and " ".join(asked.split()) != " ".join(searched.split()):
        warnings.append(f"Asked was “{_short(asked)}”; this is what was searched for.")
    question = (searched or asked or "(the question is not recorded)")[:LONGEST_QUESTION]
    prompts, tokens = _prompts(spans, searching, lists)
    first = min(spans, key=_started)
    service = next((s.service for s in spans if s.service), "")
    return Recorded(
        question=question,
        lists=tuple(lists),
        pipeline=service,
        name=f"{first.name or 'trace'} {first.trace_id[:8]}",
        prompts=tuple(prompts),
        models=_models(spans),
        settings={"llm.token_count.prompt": tokens} if tokens else {},
        warnings=tuple(warnings),
    )


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 200 else text[:199] + "…"


def _started(span: Span) -> float:
    return span.start if span.start is not None else float("inf")


def _ended(span: Span) -> float:
    return span.end if span.end is not None else float("inf")


class _Step:
    """A retriever or reranker span: what it gave, and what a reranker had read."""

    def __init__(self, span: Span) -> None:
        self.span = span
        self.warnings: list[str] = []
        self._left_out: set[str] = set()
        self.hits: tuple[Hit, ...] = ()
        self.read: tuple[Hit, ...] = ()
        if kind(span) == "RERANKER":
            self.hits = self._documents("reranker", "output_documents")
            self.read = self._documents("reranker", "input_documents")
        else:
            self.hits = self._documents("retrieval", "documents")

    @property
    def query(self) -> str:
        return self.span.text("reranker", "query").strip() or _question(self.span)

    def as_list(self) -> tuple[RankedList, tuple[Hit, ...]]:
        span = self.span
        top_k = span.at("reranker", "top_k")
        return (
            RankedList(
                stage="rerank_1" if kind(span) == "RERANKER" else "first_stage",
                hits=self.hits,
                title=span.name,
                model=span.text("reranker", "model_name"),
                seconds=span.seconds,
                settings={"top_k": top_k} if type(top_k) is int else {},
            ),
            self.read,
        )

    def _documents(self, *path: str) -> tuple[Hit, ...]:
        found: dict[str, Hit] = {}
        for at, item in enumerate(ordered(self.span.at(*path))):
            hit = _hit(item)
            if hit is not None:
                for field, problem in _odd(item, hit):
                    self._leave_out(f"{'.'.join(path)}.{at}.document.", field, problem)
            if hit is None:
                self._warn("A document has neither id nor content, and is left out.")
            elif hit.id in found:
                self._warn("A list names a document twice: its better place counts.")
            else:
                found[hit.id] = hit
        return tuple(found.values())

    def _leave_out(self, place: str, field: str, problem: str) -> None:
        """Says of a value that cannot be that it is not used, once a field: tools wrote the file,
        and nobody can put right in it what they recorded."""
        if field not in self._left_out:
            self._left_out.add(field)
            self._warn(f"{self.span.name}: {place}{field} {problem}; such values are left out.")

    def _warn(self, sentence: str) -> None:
        if sentence not in self.warnings:
            self.warnings.append(sentence)


def ordered(tree: Any) -> Iterator[Any]:
    """The members of a list that is kept as an object with whole numbers for keys."""
    if isinstance(tree, dict):
        places = sorted((int(k), k) for k in tree if k.isascii() and k.isdigit() and len(k) < 9)
        yield from (tree[k] for _, k in places)


def _hit(item: Any) -> Hit | None:
    document = item.get("document") if isinstance(item, dict) else None
    if not isinstance(document, dict):
        return None
    text = document.get("content")
    text = text if isinstance(text, str) and text != _REDACTED else ""
    own = document.get("id")
    own = str(own) if isinstance(own, (str, int)) and not isinstance(own, bool) else ""
    if own == _REDACTED or not own.strip():
        own = text_id(text) if text.strip() else ""
    if not own:
        return None
    metadata = _metadata(document.get("metadata"))
    score = number(document.get("score"))
    if score is None:  # LangChain's rerankers leave theirs among the metadata
        score = number(metadata.get("relevance_score"))
    return Hit(own[:500], text, score, metadata)


def _odd(item: Mapping[str, Any], hit: Hit) -> Iterator[tuple[str, str]]:
    """Each field of a document whose value cannot be, and what is wrong with it."""
    given = {
        "score": item["document"].get("score"),
        "metadata.relevance_score": hit.metadata.get("relevance_score"),
    }
    for field, value in given.items():
        if value is not None and number(value) is None:
            yield field, f"is {value!r:.40}, which is no number"
    for fault in faults(hit.metadata, first_page=0):
        yield f"metadata.{fault.key}", fault.problem


def _metadata(value: Any) -> Mapping[str, Any]:
    if isinstance(value, str):
        try:
            value = parse(value)
        except ValueError:
            return {}
    if not isinstance(value, dict):
        return {}
    if not source_of(value) and isinstance(nested := value.get("metadata"), dict):
        value = {**nested, **value}
    return {str(k): v for k, v in value.items() if isinstance(v, (str, int, float))}


def _question(span: Span) -> str:
    """What a span was asked, out of the JSON in which some instrumentations wrap it."""
    value = span.text("input", "value").strip()
    if value == _REDACTED:
        return ""
    if value[:1] not in ("{", "["):
        return value
    try:
        held = parse(value)
    except ValueError:
        return value
    for _ in range(3):
        if not isinstance(held, dict):
            break
        held = next((held[k] for k in _QUESTIONS if held.get(k)), "")
    return held.strip() if isinstance(held, str) else ""


def _asked(spans: Sequence[Span]) -> str:
    """What the whole run was asked: the input of the span that no other one holds."""
    known = {s.id for s in spans}
    roots = [s for s in spans if s.parent not in known and kind(s) in ("CHAIN", "AGENT", "")]
    return next((q for s in roots if (q := _question(s))), "")


def _models(spans: Sequence[Span]) -> Mapping[str, str]:
    paths = {
        "embedding": ("embedding", "model_name"),
        "reranker": ("reranker", "model_name"),
        "llm": ("llm", "model_name"),
    }
    found = {
        part: next((v for s in spans if (v := s.text(*path))), "") for part, path in paths.items()
    }
    return {part: name for part, name in found.items() if name}


def _prompts(
    spans: Sequence[Span], searching: Sequence[Span], lists: Sequence[RankedList]
) -> tuple[list[str], int]:
    """What models read that holds a result, in order of time, and the tokens that they counted.

    Where none holds one, the last prompt after the searching: it may quote them differently.
    """
    calls = [(s, text) for s in sorted(spans, key=_started) if (text := _prompt(s))]
    known = [" ".join(h.text.split())[:80] for ranked in lists for h in ranked.hits]
    beginnings = [words for words in known if words]
    holding = [
        (s, text)
        for s, text in calls
        if any(words in " ".join(text.split()) for words in beginnings)
    ]
    after = min((_ended(s) for s in searching), default=0.0)
    used = holding or [call for call in calls if _started(call[0]) >= after][-1:]
    # A model that scores candidates one by one is a reranker, not the one that answers.
    used = [(s, text) for s, text in used if not _inside(s, searching, spans)] or used
    counts = [s.at("llm", "token_count", "prompt") for s, _ in used]
    whole = all(type(c) is int for c in counts)
    return [text for _, text in used], sum(counts) if counts and whole else 0


def _inside(span: Span, others: Sequence[Span], spans: Sequence[Span]) -> bool:
    by_id, wanted, seen = {s.id: s for s in spans}, {s.id for s in others}, set()
    while span.parent in by_id and span.parent not in seen:
        seen.add(span.parent)
        if span.parent in wanted:
            return True
        span = by_id[span.parent]
    return False


def _prompt(span: Span) -> str:
    """What a model read: its messages, each after its role, or its plain prompts."""
    if kind(span) != "LLM":
        return ""
    said = []
    for item in ordered(span.at("llm", "input_messages")):
        message = item.get("message") if isinstance(item, dict) else None
        if isinstance(message, dict):
            words = _content(message)
            role = message.get("role")
            if words:
                said.append(f"{role}:\n{words}" if isinstance(role, str) and role else words)
    for item in ordered(span.at("llm", "prompts")):
        text = item.get("prompt") if isinstance(item, dict) else item
        text = text.get("text") if isinstance(text, dict) else text
        if isinstance(text, str) and not said:
            said.append(text)
    return "\n\n".join(said)


def _content(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content if content != _REDACTED else ""
    parts = []
    for item in ordered(message.get("contents")):
        part = item.get("message_content") if isinstance(item, dict) else None
        text = part.get("text") if isinstance(part, dict) else None
        if isinstance(text, str):
            parts.append(text)
    return "\n".join(parts)
