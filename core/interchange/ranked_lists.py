"""The documented form of an import: ranked lists per stage, as docs/import.md describes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.interchange.names import known_names, number, stage_called, whole_of
from core.interchange.ranges import faults
from core.interchange.recorded import Drop, Hit, RankedList, Recorded, Source, refuse
from core.settings import STAGES

TRACES = "traces"
_SEE = "docs/import.md shows the form."


def looks_like(data: Any) -> bool:
    """Whether it is meant to be of this form."""
    if isinstance(data, dict) and isinstance(data.get(TRACES), list):
        return True
    if isinstance(data, list):
        return bool(data) and isinstance(data[0], dict) and "stages" in data[0]
    return isinstance(data, dict) and "stages" in data and "schema" not in data


def read(data: Any) -> list[Recorded]:
    """Every run in the file.

    Raises:
        TraceFormatError: with the place in the file, what is wrong there, and what to do.
    """
    if isinstance(data, dict) and TRACES in data:
        items, place = data[TRACES], f"{TRACES}[{{}}]"
    elif isinstance(data, list):
        items, place = data, "[{}]"
    else:
        return [_run(_object(data, "the file"), "")]
    if not items:
        raise refuse(TRACES, "holds no trace", _SEE)
    return [
        _run(_object(item, place.format(i)), place.format(i) + ".") for i, item in enumerate(items)
    ]


def _run(run: Mapping[str, Any], at: str) -> Recorded:
    question = _text(run, "question", at)
    if not question.strip():
        raise refuse(f"{at}question", "is missing or empty", "Say what was asked.")
    lists: list[RankedList] = []
    for i, item in enumerate(_list(run, "stages", at)):
        place = f"{at}stages[{i}]"
        lists.append(_ranked(_object(item, place), place, lists))
    if not lists:
        raise refuse(f"{at}stages", "holds no list", _SEE)
    prompt = _text(run, "prompt", at)
    sources: dict[str, Source] = {}
    for i, item in enumerate(_list(run, "documents", at)):
        source = _source(_object(item, f"{at}documents[{i}]"), f"{at}documents[{i}]")
        if source.key in sources:
            raise refuse(f"{at}documents[{i}]", "is listed already", "Give each document once.")
        sources[source.key] = source
    return Recorded(
        question=question,
        lists=tuple(lists),
        pipeline=_text(run, "pipeline", at),
        name=_text(run, "name", at),
        sources=tuple(sources.values()),
        prompts=(prompt,) if prompt.strip() else (),
        settings=_mapping(run, "settings", at),
    )


def _source(item: Mapping[str, Any], place: str) -> Source:
    name = _text(item, "name", f"{place}.") or _id(item, f"{place}.")
    if not name:
        raise refuse(place, "has neither name nor id", "Give it one.")
    pages = item.get("pages", 0)
    if type(pages) is not int or not 0 <= pages < 10**7:
        raise refuse(f"{place}.pages", "is not a number of pages", "Write it as in 12.")
    return Source(
        key=_id(item, f"{place}.") or name,
        name=name,
        title=_text(item, "title", f"{place}."),
        date=_text(item, "date", f"{place}."),
        pages=pages,
    )


def _ranked(item: Mapping[str, Any], place: str, before: list[RankedList]) -> RankedList:
    title = _text(item, "name", f"{place}.")
    stage = _stage(item, title, place, before)
    hits: dict[str, Hit] = {}
    for i, result in enumerate(_list(item, "results", f"{place}.")):
        at = f"{place}.results[{i}]"
        hit = _hit(_object(result, at), at)
        if hit.id in hits:
            raise refuse(f"{at}.id", "is on this list already", "Give each result once.")
        hits[hit.id] = hit
    drops: dict[str, Drop] = {}
    for i, result in enumerate(_list(item, "dropped", f"{place}.")):
        at = f"{place}.dropped[{i}]"
        result = _object(result, at)
        hit = _hit(result, at)
        if hit.id in hits or hit.id in drops:
            raise refuse(f"{at}.id", "is on this stage's lists already", "Give each result once.")
        cause = _id(result, f"{at}.", "cause")
        drops[hit.id] = Drop(hit, _text(result, "reason", f"{at}."), cause)
    seconds = number(item.get("seconds", 0))
    if seconds is None or seconds < 0:
        raise refuse(f"{place}.seconds", "is not a time", "Write it in seconds, as in 0.25.")
    entered = item.get("entered")
    if entered is not None and (type(entered) is not int or not len(hits) <= entered < 2**53):
        raise refuse(
            f"{place}.entered",
            f"is not a number of at least {len(hits)}, the results",
            "Say how many the stage read, or leave it out.",
        )
    return RankedList(
        stage,
        tuple(hits.values()),
        tuple(drops.values()),
        title=title if title != stage else "",
        model=_text(item, "model", f"{place}."),
        seconds=seconds,
        entered=entered,
        settings=_mapping(item, "settings", f"{place}."),
    )


def _stage(item: Mapping[str, Any], title: str, place: str, before: list[RankedList]) -> str:
    """The stage that a list is of. Lists come in the order of the stages, one each."""
    named = _text(item, "stage", f"{place}.") or title
    key = "stage" if item.get("stage") else "name"
    stage = stage_called(named)
    if not stage:
        known = ", ".join(known_names())
        raise refuse(
            f"{place}.{key}",
            f"{named!r:.60} is no stage" if named else "is missing",
            f'Name a stage, or say which one it stands for ("stage": "rerank_1"). Known: {known}.',
        )
    done = [ranked.stage for ranked in before]
    if stage == "rerank_1" and "rerank_1" in done:
        stage = "rerank_2"  # a second list called "rerank"
    if stage in done:
        raise refuse(f"{place}.{key}", f"is a second list of {stage}", "Give each stage one list.")
    if done and STAGES.index(stage) < STAGES.index(done[-1]):
        raise refuse(
            f"{place}.{key}",
            f"{stage} comes after {done[-1]}",
            f"Stages run in this order: {', '.join(STAGES[1:])}.",
        )
    return stage


def _hit(item: Mapping[str, Any], place: str) -> Hit:
    name, text = _id(item, f"{place}."), _text(item, "text", f"{place}.")
    if not name and not text.strip():
        raise refuse(place, "has neither id nor text", "Give it an id.")
    scores = _mapping(item, "scores", f"{place}.")
    metadata = _mapping(item, "metadata", f"{place}.")
    for fault in faults(metadata):
        raise refuse(f"{place}.metadata.{fault.key}", fault.problem, fault.remedy)
    rank = item.get("rank")  # not read, the place on the list is; but a wrong one says that
    if rank is not None and whole_of(rank) is None:  # something went wrong where it was written
        raise refuse(
            f"{place}.rank",
            f"is {rank!r:.40}, which is no rank",
            "Write a whole number, or leave it out: the place on the list counts.",
        )
    return Hit(
        name or text_id(text),
        text,
        _score(item.get("score"), f"{place}.score"),
        metadata,
        {k: _score(v, f"{place}.scores.{k:.40}") for k, v in scores.items()},
    )


def text_id(text: str) -> str:
    """The id of a result that has none: it follows from its text."""
    import hashlib

    digest = hashlib.sha256(" ".join(text.split()).encode("utf-8", "surrogatepass"))
    return f"text:{digest.hexdigest()[:12]}"


def _score(value: Any, place: str) -> float | None:
    if value is None:
        return None
    score = None if isinstance(value, str) else number(value)
    if score is None:
        raise refuse(
            place, f"is {value!r:.40}, which is no number", "Write a number, or leave it out."
        )
    return score


def _object(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise refuse(place, "is not an object", _SEE)
    return value


def _list(item: Mapping[str, Any], key: str, at: str) -> list[Any]:
    value = item.get(key)
    if value is None and key != "results":
        return []
    if not isinstance(value, list):
        raise refuse(f"{at}{key}", "is missing" if value is None else "is not a list", _SEE)
    return value


def _mapping(item: Mapping[str, Any], key: str, at: str) -> Mapping[str, Any]:
    value = item.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise refuse(f"{at}{key}", "is not an object", _SEE)
    return value


def _text(item: Mapping[str, Any], key: str, at: str) -> str:
    value = item.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise refuse(f"{at}{key}", "is not text", "Write it in quotes.")
    return value


def _id(item: Mapping[str, Any], at: str, key: str = "id") -> str:
    value = item.get(key)
    if type(value) is int and abs(value) < 10**30:
        return str(value)
    return _text(item, key, at)
