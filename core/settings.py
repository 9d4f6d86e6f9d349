"""Every knob, once: its stage, unit, range, default and meaning.

Sliders, command-line flags and the documentation are generated from here, so a knob
that is added below appears in all of them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from core.errors import SettingsError
from core.knob import Knob

STAGES = (
    "access",
    "first_stage",
    "rerank_1",
    "extend",
    "rerank_2",
    "relevance",
    "dedup",
    "diversity",
    "budget",
    "order",
    "prompt",
)
"""The stages of a trace, in the order in which they run."""

GROUPS = ("documents", "first_stage", "rerank", "limits", "extend", *STAGES[5:])
"""The groups of knobs: ``documents`` rebuilds the index, ``rerank`` serves both reranks, and
``limits`` changes no score: it only says when to give up, so nothing kept depends on it."""


def _knob(group: str, default: Any, help: str, **more: Any) -> Any:
    return field(default=default, metadata={"group": group, "help": help, **more})


def _number(
    group: str,
    default: float,
    low: float,
    high: float,
    step: float,
    unit: str,
    help: str,
    **more: Any,
) -> Any:
    return _knob(group, default, help, low=low, high=high, step=step, unit=unit, **more)


DEFAULT_INSTRUCTIONS = (
    "Answer from the numbered evidence alone. Cite the number of each passage that you use, "
    "like [1]. If the evidence does not answer the question, say that it does not."
)


@dataclass(frozen=True, slots=True)
class Settings:
    """All knobs of a run. Unknown names and values out of range raise :class:`SettingsError`."""

    # documents: a change here rebuilds the index
    chunk_tokens: int = _number(
        "documents", 128, 16, 480, 16, "tokens", "Target size of a chunk. Chunks end early at a paragraph or sentence end.",
        label="Chunk size",
    )  # fmt: skip
    chunk_overlap: int = _number(
        "documents", 0, 0, 240, 8, "tokens", "How many tokens a chunk repeats from the one before it. At most half of the chunk size is used.",
        label="Chunk overlap",
    )  # fmt: skip

    # first_stage
    fusion: str = _knob(
        "first_stage", "rrf", "How BM25 and dense scores become one order: reciprocal rank fusion, a weighted sum of min-max scores, or one of them alone.",
        choices=("rrf", "weighted", "bm25", "dense"), label="Fusion",
    )  # fmt: skip
    rrf_k: int = _number(
        "first_stage", 60, 1, 200, 1, "ranks", "Reciprocal rank fusion adds 1/(k + rank). A small k trusts the first ranks more.",
        label="RRF k",
    )  # fmt: skip
    fusion_bm25: float = _number(
        "first_stage", 0.5, 0.0, 1.0, 0.05, "share", "BM25's share of the weighted sum; the dense score has the rest. Fusion must be weighted.",
        label="BM25 share",
    )  # fmt: skip
    fusion_sparse: float = _number(
        "first_stage", 0.3, 0.0, 1.0, 0.05, "weight", "Weight of the sparse score beside BM25 and dense, in a weighted sum or in rank fusion. Only an encoder that learns lexical weights (BGE-M3) gives that score; without one this changes nothing.",
        label="Sparse weight",
    )  # fmt: skip
    k1: float = _number(
        "first_stage", 1.5, 0.0, 4.0, 0.1, "", "BM25: how soon repeats of a term stop adding. At 0 they add nothing.",
        label="BM25 k1",
    )  # fmt: skip
    b: float = _number(
        "first_stage", 0.75, 0.0, 1.0, 0.05, "", "BM25: how much long chunks are discounted, from 0 (not) to 1 (fully).",
        label="BM25 b",
    )  # fmt: skip
    candidate_k: int = _number(
        "first_stage", 50, 1, 1000, 1, "chunks", "How many of the best chunks go on to the rerank.",
        label="Candidates",
    )  # fmt: skip
    top_k: int = _number(
        "first_stage", 8, 1, 100, 1, "chunks", "How many chunks the bm25_top_k mode takes.",
        label="BM25 top k",
    )  # fmt: skip
    full_document_limit: int = _number(
        "first_stage", 120_000, 1_000, 2_000_000, 1_000, "characters", "The full_document mode takes documents below this size whole.",
        label="Whole-document limit",
    )  # fmt: skip

    # rerank: both rounds
    weight_bm25: float = _number(
        "rerank", 0.25, 0.0, 1.0, 0.05, "weight", "Context rerank: weight of the BM25 score (logarithm, min-max over the candidates).",
        label="BM25 weight",
    )  # fmt: skip
    weight_dense: float = _number(
        "rerank", 0.25, 0.0, 1.0, 0.05, "weight", "Context rerank: weight of the dense score (min-max over the candidates).",
        label="Dense weight",
    )  # fmt: skip
    weight_maxsim: float = _number(
        "rerank", 0.30, 0.0, 1.0, 0.05, "weight", "Context rerank: weight of the contextual MaxSim score (min-max over the candidates), in which rare words of the question count more.",
        label="MaxSim weight",
    )  # fmt: skip
    weight_terms: float = _number(
        "rerank", 0.20, 0.0, 1.0, 0.05, "weight", "Context rerank: weight of the share of the question's terms that a chunk holds, rare ones counting more (min-max over the candidates). BM25 also counts how often.",
        label="Terms weight",
    )  # fmt: skip
    neighbour_words: float = _number(
        "rerank", 0.7, 0.0, 1.0, 0.05, "share", "Context rerank: in MaxSim, what a match of a word of the question in the chunk next door counts beside one in the chunk itself. Each word takes the larger of the two.",
        label="Neighbours' words",
    )  # fmt: skip
    neighbour_share: float = _number(
        "rerank", 0.3, 0.0, 1.0, 0.05, "share", "Context rerank: how much of its neighbours' scores a chunk gains; half of it from those one chunk away on each side, a quarter from those two away.",
        label="Neighbours' share",
    )  # fmt: skip

    # limits
    rerank_seconds: float = _number(
        "limits", 0.0, 0.0, 3_600.0, 0.5, "seconds", "Each rerank that takes longer is given up, and the order before it stays. Looked at between batches; 0 sets no limit.",
        label="Rerank time limit",
    )  # fmt: skip

    # extend
    extend_threshold: float = _number(
        "extend", 0.35, 0.0, 0.99, 0.01, "score", "A candidate whose score (min-max, 0 to 1) is below this opens no window.",
        label="Window threshold",
    )  # fmt: skip
    max_radius: int = _number(
        "extend", 4, 0, 20, 1, "chunks", "How many chunks join on each side of a candidate that scores 1. Lower scores open narrower windows.",
        label="Largest radius",
    )  # fmt: skip
    max_context_tokens: int = _number(
        "extend", 60_000, 500, 500_000, 500, "tokens", "Windows stop growing when candidates and windows together reach this size.",
        label="Context limit",
    )  # fmt: skip

    # relevance
    relevance_threshold: float = _number(
        "relevance", 0.10, 0.0, 1.0, 0.01, "probability", "Relevance is the calibrated probability that the documents answer the question, lowered for chunks that match less than the best. Chunks below this are dropped; if none is left, the outcome is insufficient evidence. It tells answered questions from unanswered ones, not one chunk from the next: the scores and the budget do that.",
        label="Relevance threshold",
    )  # fmt: skip

    # dedup
    dedup_method: str = _knob(
        "dedup", "overlap", "How near-duplicates are found: overlap coefficient over words, MinHash for large sets, or not at all.",
        choices=("overlap", "minhash", "off"), label="Method",
    )  # fmt: skip
    dedup_threshold: float = _number(
        "dedup", 0.75, 0.3, 1.0, 0.01, "overlap", "A chunk that shares at least this part of the smaller word set with a better one is its duplicate.",
        label="Duplicate threshold",
    )  # fmt: skip
    protect_exceptions: bool = _knob(
        "dedup", True, "Keep a near-duplicate that adds a negation, a number, a date or a name that the better one lacks.",
        label="Protect exceptions",
    )  # fmt: skip

    # diversity
    diversity: str = _knob(
        "diversity", "off", "How variety is enforced: not at all, maximal marginal relevance, sections not yet seen first, or a cap for each source.",
        choices=("off", "mmr", "sections", "source_cap"), label="Diversity",
    )  # fmt: skip
    mmr_lambda: float = _number(
        "diversity", 0.7, 0.0, 1.0, 0.05, "share", "MMR: 1 looks at relevance alone, 0 at novelty alone.",
        label="MMR lambda",
    )  # fmt: skip
    per_source_cap: int = _number(
        "diversity", 3, 1, 50, 1, "passages", "At most this many passages from one source (diversity source_cap).",
        label="Cap per source",
    )  # fmt: skip
    procedure_lifts_cap: bool = _knob(
        "diversity", True, "A question that asks for steps or a procedure lifts the cap, so that one source can tell it in full.",
        label="Procedures lift the cap",
    )  # fmt: skip

    # budget
    evidence_budget: int = _number(
        "budget", 2_000, 0, 200_000, 50, "tokens", "Room for evidence in the prompt, labels and separators included.",
        label="Evidence budget",
    )  # fmt: skip
    oversize: str = _knob(
        "budget", "skip", "What happens to a passage that is larger than the whole budget: it is skipped, or trimmed at a sentence.",
        choices=("skip", "trim"), label="Oversized passage",
    )  # fmt: skip

    # order
    order: str = _knob(
        "order", "score_then_source", "How passages stand in the prompt: best first, by source and position, by date, or sources by their best passage with each source in reading order.",
        choices=("score_then_source", "score", "source", "date"), label="Order",
    )  # fmt: skip

    # prompt
    instructions: str = _knob(
        "prompt", DEFAULT_INSTRUCTIONS, "The text ahead of the question in the prompt.", label="Instructions",
    )  # fmt: skip
    window_tokens: int = _number(
        "prompt", 8_000, 500, 1_000_000, 500, "tokens", "The generator's input and answer together.",
        label="Model window",
    )  # fmt: skip
    answer_reserve: int = _number(
        "prompt", 1_000, 0, 100_000, 50, "tokens", "Room kept free for the answer.",
        label="Answer reserve",
    )  # fmt: skip

    def __post_init__(self) -> None:
        for knob in knobs():
            object.__setattr__(self, knob.name, knob.check(getattr(self, knob.name)))

    def changed(self, **values: Any) -> Settings:
        """These settings with some knobs turned."""
        for name in values:
            knob_named(name)
        return dataclasses.replace(self, **values)

    def differences(self) -> dict[str, Any]:
        """The knobs that are off their default: what a link has to carry."""
        return {k.name: v for k in knobs() if (v := getattr(self, k.name)) != k.default}

    def of_groups(self, *groups: str) -> dict[str, Any]:
        """The knobs of some groups: what a stage's key and record hold."""
        return {name: getattr(self, name) for g in groups for name in _GROUPS.get(g, ())}

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _KNOBS}


_KNOBS = {f.name: Knob(name=f.name, default=f.default, **f.metadata) for f in fields(Settings)}

_GROUPS: dict[str, list[str]] = {}
for _knob in _KNOBS.values():
    _GROUPS.setdefault(_knob.group, []).append(_knob.name)


def knobs() -> Iterable[Knob]:
    """Every knob, in the order of the stages."""
    return _KNOBS.values()


def knob_named(name: str) -> Knob:
    """The knob of that name, or an error that lists those that are close to it."""
    import difflib

    if name not in _KNOBS:
        close = difflib.get_close_matches(name, _KNOBS, n=3) or sorted(_KNOBS)
        raise SettingsError(name, "there is no such knob", f"Did you mean {', '.join(close)}?")
    return _KNOBS[name]


def parse_settings(values: Mapping[str, Any] | Iterable[str]) -> Settings:
    """Settings from ``knob=value`` strings or a mapping of texts or numbers.

    Raises:
        SettingsError: naming the knob, and what it takes.
    """
    if not isinstance(values, Mapping):
        pairs = {}
        for text in values:
            name, sign, value = text.partition("=")
            if not sign:
                raise SettingsError(
                    text, "is not of the form knob=value", "Write it as in evidence_budget=2000."
                )
            pairs[name.strip()] = value.strip()
        values = pairs
    return Settings(**{name: knob_named(name).check(value) for name, value in values.items()})
