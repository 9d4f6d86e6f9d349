"""The sample documents, indexed, with the embedded model: what several tests ask."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from core.diagnosis import Verdict, target_of_evidence, verdict
from core.index.index import Index
from core.pipeline import Pipeline
from core.questions import Question, load_questions, locate
from core.records import Document, Principal
from core.session import Corpus
from core.settings import parse_settings
from core.trace import Trace

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sample_docs"
QUESTIONS = {question.id: question for question in load_questions(SAMPLES / "questions.jsonl")}


@dataclass(frozen=True)
class World:
    """The sample documents, indexed, and the pipeline that reads them."""

    pipeline: Pipeline
    corpus: Corpus

    @property
    def index(self) -> Index:
        return self.corpus.index

    @cached_property
    def documents(self) -> tuple[Document, ...]:
        return tuple(f.document for f in self.corpus.files if f.document)

    def ask(self, question: Question, mode: str = "rerank_extend_rerank", **knobs: object) -> Trace:
        """The trace of a sample question, with its own settings and tenant, then ``knobs``."""
        tenant = question.more.get("tenant")
        settings = parse_settings({**question.more.get("settings", {}), **knobs})
        principal = Principal(tenant) if tenant else None
        return self.pipeline.run(self.index, question.text, settings, mode, principal)

    def lost(self, question: Question, trace: Trace) -> list[Verdict]:
        """The verdicts on the pieces of evidence that are missing."""
        found = [
            verdict(trace, self.index, target_of_evidence(self.index, e))
            for e in locate(question, self.documents)
        ]
        return [v for v in found if not v.arrived]

    def text(self, chunk_id: str) -> str:
        return " ".join(self.index.chunk(chunk_id).text.split())

    def found(self, question: Question, trace: Trace) -> list[float]:
        """For each piece of evidence, the share of its characters that reached the prompt."""
        return [
            len(
                set(range(e.span.start, e.span.end))
                & {
                    at
                    for passage in trace.selected
                    if passage.document_id == e.document_id
                    for at in range(passage.start, passage.end)
                }
            )
            / (e.span.end - e.span.start)
            for e in locate(question, self.documents)
        ]

    def texts(self, trace: Trace, part: str) -> list[str]:
        """Names of the documents whose passages in the prompt hold ``part``."""
        return [p.document for p in trace.selected if part in " ".join(p.text.split())]
