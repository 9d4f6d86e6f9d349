"""Question sets over made-up corpora, and what opens a tiny pipeline in another process."""

from __future__ import annotations

from hypothesis import strategies as st

from core.evaluate import YARDSTICK, evaluate
from core.questions import Question, Reference
from tests.worlds import document, documents, index, pipeline, questions, settings

MODES = ("no_rerank", "rerank_extend_rerank")

RULES = document(
    "Pilots board the vessel at the outer buoy, two hours before high water.\n\n"
    "The deposit is refunded within seven days of the booking.\n\n"
    "The annual fee of the harbour is fourteen euros a day for each vessel.",
    "rules.md",
)
NOTES = document(
    "Budget tables compare the tax rate of Berlin and Lisbon.\n\n"
    "A query is a vector; a chunk is a window with an anchor and a score.",
    "notes.md",
)
SMALL = YARDSTICK.changed(chunk_tokens=16, candidate_k=3, max_radius=1)


def asked(id: str, text: str, made, *quotes: str) -> Question:
    """A question whose evidence is quotes of a document, by their characters."""
    references = []
    for quote in quotes:
        start = made.text.index(quote)
        references.append(Reference(start=start, end=start + len(quote)))
    return Question(id, text, made.name, tuple(references))


QUESTIONS = (
    asked("fee", "What is the annual fee?", RULES, "The annual fee of the harbour is fourteen"),
    asked("deposit", "When is the deposit refunded?", RULES, "refunded within seven days"),
    asked("both", "Where do pilots board, and what is the fee?", RULES, "outer buoy", "annual fee"),
    asked("rate", "Which tax rates are compared?", NOTES, "tax rate of Berlin and Lisbon"),
)


def corpus():
    return index([RULES, NOTES], SMALL)


def small(**more):
    """The evaluation of this set on these documents; ``more`` as for ``evaluate``."""
    more = {"modes": MODES, "budgets": (20, 60), **more}
    return evaluate(pipeline(), corpus(), more.pop("questions", QUESTIONS), settings=SMALL, **more)


def opened(documents, settings):
    """An opener for workers: the tiny pipeline, and the index of ``documents``."""
    return pipeline(), index(documents, settings)


def broken(documents, settings):
    """An opener that fails, as a model that cannot be loaded makes it fail."""
    from core.errors import ModelError

    raise ModelError("a tiny model", "cannot be loaded")


def elsewhere(documents, settings):
    """An opener that comes to an index of other documents."""
    return opened(documents[:1], settings)


@st.composite
def worlds(draw, **fixed):
    """(documents, settings, questions): evidence anywhere in the documents, chunks or not."""
    made = draw(documents(most=2))
    wanted = draw(
        settings(
            evidence_budget=2_000,
            window_tokens=8_000,
            answer_reserve=50,
            oversize="skip",
            **fixed,
        )
    )
    out = []
    for i in range(draw(st.integers(1, 3))):
        of = draw(st.sampled_from(made))
        references = []
        for _ in range(draw(st.integers(1, 3))):
            start = draw(st.integers(0, len(of.text) - 1))
            end = draw(st.integers(start + 1, min(len(of.text), start + 120)))
            references.append(Reference(start=start, end=end))
        out.append(Question(f"q{i}", draw(questions), of.name, tuple(references)))
    return made, wanted, out
