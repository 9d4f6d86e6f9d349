"""OpenTelemetry spans from JSON: OTLP's own form, and the flat lists that tools write.

Attributes come as one tree, whether a file writes them dotted (``retrieval.documents.0.
document.id``), nested, or as a list of keys and typed values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from core.interchange.names import number
from core.interchange.recorded import refuse

RESOURCE_SPANS = ("resourceSpans", "resource_spans")
_SCOPE_SPANS = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
_WRAPPERS = ("data", "spans")
_WANTED = ("openinference", "retrieval", "reranker", "input", "llm", "metadata", "embedding")
"""What attributes begin with that are read. The rest may be large, and is left alone."""

MOST_PARTS = 12
"""Parts of a dotted key that are read; the conventions have fewer."""


@dataclass(frozen=True, slots=True)
class Span:
    """One span. Times are seconds since 1970, None where not recorded; ids are as in the file."""

    trace_id: str
    id: str
    parent: str
    name: str
    start: float | None
    end: float | None
    attributes: Mapping[str, Any]
    service: str = ""
    place: str = field(default="", compare=False)

    def at(self, *path: str) -> Any:
        """The value of an attribute, a tree below it, or None."""
        found: Any = self.attributes
        for part in path:
            found = found.get(part) if isinstance(found, dict) else None
        return found

    def text(self, *path: str) -> str:
        value = self.at(*path)
        return value if isinstance(value, str) else ""

    @property
    def seconds(self) -> float:
        """How long it took; 0 where that is not recorded."""
        if self.start is None or self.end is None:
            return 0.0
        return max(0.0, round(self.end - self.start, 6))  # a double holds no more


def looks_like(data: Any) -> bool:
    """Whether it is meant to be spans."""
    if isinstance(data, dict):
        if any(key in data for key in RESOURCE_SPANS) or _is_span(data):
            return True
        return any(isinstance(data.get(k), list) and looks_like(data[k]) for k in _WRAPPERS)
    return isinstance(data, list) and any(isinstance(d, dict) and looks_like(d) for d in data)


def _is_span(item: Any) -> bool:
    if not isinstance(item, dict) or "stages" in item:
        return False
    return "attributes" in item or any(k.startswith("attributes.") for k in item)


def read(data: Any) -> list[Span]:
    """Every span in the file, in its order.

    Raises:
        TraceFormatError: with the place in the file, what is wrong there, and what to do.
    """
    return list(_walk(data, ""))


def _walk(data: Any, place: str) -> Iterator[Span]:
    if isinstance(data, list):
        for i, item in enumerate(data):
            yield from _walk(item, f"{place}[{i}]")
        return
    if not isinstance(data, dict):
        raise refuse(place or "the file", "is no span", "Export spans as JSON objects.")
    for key in RESOURCE_SPANS:
        if key in data:
            yield from _resources(data[key], f"{place}{'.' if place else ''}{key}")
            return
    if not _is_span(data):
        for key in _WRAPPERS:
            if isinstance(data.get(key), list):
                yield from _walk(data[key], f"{place}{'.' if place else ''}{key}")
                return
    yield _flat(data, place or "the span")


def _resources(resources: Any, place: str) -> Iterator[Span]:
    for i, resource in enumerate(_list(resources, place)):
        at = f"{place}[{i}]"
        held = _object(resource, at).get("resource")
        service = ""
        if isinstance(held, dict):
            attributes = _typed(held.get("attributes"), f"{at}.resource.attributes")
            named = attributes.get("service.name") or attributes.get("openinference.project.name")
            service = named if isinstance(named, str) else ""
        scopes = next((k for k in _SCOPE_SPANS if k in resource), "")
        for j, scope in enumerate(_list(resource.get(scopes, []), f"{at}.{scopes}")):
            within = f"{at}.{scopes}[{j}]"
            for k, span in enumerate(_list(_object(scope, within).get("spans", []), within)):
                yield _otlp(_object(span, f"{within}.spans[{k}]"), f"{within}.spans[{k}]", service)


def _otlp(span: Mapping[str, Any], place: str, service: str) -> Span:
    def get(camel: str, snake: str) -> Any:
        return span.get(camel, span.get(snake))

    attributes = _typed(span.get("attributes"), f"{place}.attributes")
    return Span(
        trace_id=_id(get("traceId", "trace_id"), f"{place}.traceId"),
        id=_id(get("spanId", "span_id"), f"{place}.spanId"),
        parent=_word(get("parentSpanId", "parent_span_id")),
        name=_word(span.get("name")),
        start=_time(get("startTimeUnixNano", "start_time_unix_nano")),
        end=_time(get("endTimeUnixNano", "end_time_unix_nano")),
        attributes=_tree(attributes),
        service=service,
        place=place,
    )


def _flat(span: Mapping[str, Any], place: str) -> Span:
    """A span as the console exporter, Phoenix or a data frame of it writes it."""
    context = span.get("context")
    context = context if isinstance(context, dict) else {}

    def get(*keys: str) -> Any:
        for key in keys:
            value = context.get(key, span.get(f"context.{key}", span.get(key)))
            if value is not None:
                return value
        return None

    attributes = span.get("attributes")
    if attributes is None:
        cut = len("attributes.")
        attributes = {k[cut:]: v for k, v in span.items() if k.startswith("attributes.")}
    if isinstance(attributes, list):
        attributes = _typed(attributes, f"{place}.attributes")
    attributes = dict(_object(attributes, f"{place}.attributes"))
    kind = span.get("span_kind")
    if isinstance(kind, str) and not {"openinference.span.kind", "openinference"} & set(attributes):
        attributes["openinference.span.kind"] = kind
    resource = span.get("resource")
    held = resource.get("attributes") if isinstance(resource, dict) else None
    service = held.get("service.name") if isinstance(held, dict) else ""
    return Span(
        trace_id=_id(get("trace_id", "traceId"), f"{place}.context.trace_id"),
        id=_id(get("span_id", "spanId"), f"{place}.context.span_id"),
        parent=_word(span.get("parent_id") or span.get("parentId") or span.get("parent_span_id")),
        name=_word(span.get("name")),
        start=_time(span.get("start_time", span.get("startTime"))),
        end=_time(span.get("end_time", span.get("endTime"))),
        attributes=_tree(attributes),
        service=_word(service),
        place=place,
    )


def _typed(attributes: Any, place: str) -> dict[str, Any]:
    """OTLP's list of keys and typed values as a mapping. Flat mappings come back as they are."""
    if attributes is None:
        return {}
    if isinstance(attributes, dict):
        return attributes
    out = {}
    for i, item in enumerate(_list(attributes, place)):
        key = _object(item, f"{place}[{i}]").get("key")
        if not isinstance(key, str):
            raise refuse(f"{place}[{i}].key", "is not text", "Export the spans as OTLP JSON.")
        out[key] = _any_value(item.get("value"))
    return out


def _any_value(value: Any) -> Any:
    """An OTLP ``AnyValue``: whole numbers come as text, lists and objects are nested."""
    if not isinstance(value, dict) or not value:
        return value if value else None
    kind, held = next(iter(value.items()))
    kind = kind.replace("_", "").lower()
    if kind == "intvalue":
        whole = number(held)
        return int(whole) if whole is not None else None
    if kind == "doublevalue":
        return number(held)
    if kind == "arrayvalue":
        items = held.get("values") if isinstance(held, dict) else None
        return [_any_value(v) for v in items] if isinstance(items, list) else []
    if kind == "kvlistvalue":
        items = held.get("values") if isinstance(held, dict) else None
        pairs = [v for v in items if isinstance(v, dict)] if isinstance(items, list) else []
        return {str(v.get("key")): _any_value(v.get("value")) for v in pairs}
    return held


def _tree(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Dotted keys as a tree of objects; lists become objects with whole numbers for keys."""
    root: dict[str, Any] = {}
    for key, value in attributes.items():
        if key.partition(".")[0] in _WANTED:
            _put(root, key, value)
    return root


def _put(root: dict[str, Any], key: str, value: Any) -> None:
    *path, last = key.split(".", MOST_PARTS)
    here = root
    for part in path:
        below = here.get(part)
        if not isinstance(below, dict):
            below = here[part] = {}
        here = below
    if isinstance(value, list):
        value = {str(i): v for i, v in enumerate(value)}
    if isinstance(value, dict):
        below = here.get(last)
        if not isinstance(below, dict):
            below = here[last] = {}
        for inner, held in value.items():
            _put(below, str(inner), held)
    elif not isinstance(here.get(last), dict):
        here[last] = value


def _time(value: Any) -> float | None:
    """Nanoseconds since 1970, or a date and time of ISO 8601, in seconds."""
    if isinstance(value, str) and not value.isdigit():
        try:
            return datetime.fromisoformat(value).timestamp()
        except (ValueError, OverflowError, OSError):
            return None
    nanoseconds = number(value)
    return None if nanoseconds is None else nanoseconds / 1e9


def _id(value: Any, place: str) -> str:
    named = _word(value)
    if not named:
        raise refuse(place, "is missing", "Export the spans with their ids.")
    return named


def _word(value: Any) -> str:
    if isinstance(value, str):
        return value.removeprefix("0x")
    return str(value) if type(value) is int and abs(value) < 10**40 else ""


def _list(value: Any, place: str) -> list[Any]:
    if not isinstance(value, list):
        raise refuse(place, "is not a list", "Export the spans as OTLP JSON.")
    return value


def _object(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise refuse(place, "is not an object", "Export the spans as JSON objects.")
    return value
