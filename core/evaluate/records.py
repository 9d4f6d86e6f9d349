"""What an evaluation leaves behind: frozen records that go to JSON and back without loss."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from core.errors import EvaluationError
from core.plain import build, parse, plain
from core.questions import Reference
from core.records import Principal

SCHEMA_VERSION = 1

CORPUS, DOCUMENT = "corpus", "document"
SCOPES = (CORPUS, DOCUMENT)
"""Of which documents a question is asked: of all, or of its own alone."""

LOSSES = (
    "access",
    "extraction",
    "first_stage",
    "rerank",
    "extend",
    "relevance",
    "dedup",
    "diversity",
    "budget",
)
"""Where a piece of evidence can be lost; :mod:`core.evaluate.losses` says what each means."""

WHOLE = ""
"""The loss of a piece of which nothing is missing."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it was measured, whatever the mode.

    ``characters`` is how many distinct characters of evidence were found. ``unfound`` and
    ``textless`` are positions in ``references``: those that stand nowhere in the documents,
    which are reported and never counted, and pages from which no text was extracted.
    ``skipped`` says why nothing could be measured; it is empty where something could.
    """

    id: str
    text: str
    document: str = ""
    references: tuple[Reference, ...] = ()
    characters: int = 0
    unfound: tuple[int, ...] = ()
    textless: tuple[int, ...] = ()
    skipped: str = ""

    @property
    def digest(self) -> str:
        """Sixteen hex digits of what was asked: equal where rows can be compared."""
        packed = json.dumps(plain([self.id, self.text, self.document, self.references]))
        return hashlib.sha256(packed.encode("ascii")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Row:
    """One question in one mode. Mappings without another name have the budget as their key.

    ``recall``, ``before`` and ``assembled`` are shares in [0, 1] of the evidence's characters:
    in the final order cut at the budget, in the first stage's order cut likewise, and in the
    prompt that the pipeline itself assembles for that budget, labels and all. ``lost`` has for
    each reference the stage that lost it, "" for one that is whole or was not found; ``repeated``
    has the positions of those lost that stand word for word in another chunk that was shown.

    ``ranks`` are the places (from 1) of evidence chunks in the final order, ``relevant`` how
    many such chunks there are. ``tokens`` is what the assembled evidence takes. ``seconds`` and
    ``degraded`` are by stage.
    """

    question: str
    mode: str
    recall: Mapping[str, float]
    before: Mapping[str, float]
    assembled: Mapping[str, float]
    lost: Mapping[str, tuple[str, ...]]
    repeated: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    ranks: tuple[int, ...] = ()
    relevant: int = 0
    tokens: Mapping[str, int] = field(default_factory=dict)
    tokens_read: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict)
    outcome: str = ""
    degraded: Mapping[str, str] = field(default_factory=dict)

    def complete(self, budget: int) -> bool:
        """Whether nothing of the evidence is missing at this budget."""
        return not any(self.lost[str(budget)])

    def without_timings(self) -> Row:
        return replace(self, seconds=dict.fromkeys(self.seconds, 0.0))


@dataclass(frozen=True)
class Evaluation:
    """A question set run through some modes. ``seconds`` is the time that it took, in all.

    ``rows`` are in the order of questions, then modes. Where a run was stopped some are
    missing, and ``finished`` is False.
    """

    modes: tuple[str, ...]
    budgets: tuple[int, ...]
    scope: str
    settings: Mapping[str, Any]
    corpus: str
    models: Mapping[str, str]
    asked: tuple[Asked, ...]
    rows: tuple[Row, ...] = ()
    principal: Principal | None = None
    seconds: float = 0.0
    schema: int = SCHEMA_VERSION

    @cached_property
    def measured(self) -> tuple[Asked, ...]:
        """The questions of which something could be measured."""
        return tuple(a for a in self.asked if not a.skipped)

    @cached_property
    def by_mode(self) -> Mapping[str, Mapping[str, Row]]:
        """mode → question id → row."""
        out: dict[str, dict[str, Row]] = {mode: {} for mode in self.modes}
        for row in self.rows:
            out[row.mode][row.question] = row
        return out

    @property
    def finished(self) -> bool:
        return len(self.rows) == len(self.measured) * len(self.modes)

    @cached_property
    def common(self) -> tuple[Asked, ...]:
        """The measured questions that have a row in every mode: what figures are made from."""
        held = [self.by_mode[m].keys() for m in self.modes]
        return tuple(a for a in self.measured if all(a.id in ids for ids in held))

    def without_timings(self) -> Evaluation:
        """This evaluation with every duration set to 0: equal for equal inputs."""
        return replace(self, seconds=0.0, rows=tuple(r.without_timings() for r in self.rows))

    def to_json(self) -> str:
        """One JSON document that :meth:`from_json` reads back to an equal evaluation."""
        return json.dumps({**plain(self), "finished": self.finished}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str, name: str = "the evaluation") -> Evaluation:
        """An evaluation from :meth:`to_json`'s text; ``name`` is what an error calls it.

        Raises:
            EvaluationError: where the text is not an evaluation of this schema version.
        """
        try:
            data = parse(text)
        except ValueError as error:
            raise EvaluationError(name, f"is not JSON ({error})", _CHOOSE) from None
        if not isinstance(data, dict) or not {"schema", "rows", "asked"} <= data.keys():
            raise EvaluationError(name, "is JSON, but not a saved evaluation", _CHOOSE)
        if type(data["schema"]) is not int or data["schema"] != SCHEMA_VERSION:
            raise EvaluationError(
                name,
                f"has schema version {data['schema']!r:.40}",
                f"This version of Chunkscope reads version {SCHEMA_VERSION}.",
            )
        try:
            made = build(cls, data)
            _check(made)
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise EvaluationError(name, f"is damaged ({error})", "Save it again.") from None
        return made


_CHOOSE = "Choose a file that --save wrote."


def _check(made: Evaluation) -> None:
    """What figures rely on, and types cannot say. ValueError where it does not hold."""
    references = {a.id: len(a.references) for a in made.measured}
    keys = {str(b) for b in made.budgets}
    if not made.modes or not keys or made.scope not in SCOPES:
        raise ValueError("it has no modes, no budgets or no scope")
    if len(references) < len(made.measured) or len({(r.question, r.mode) for r in made.rows}) < len(
        made.rows
    ):
        raise ValueError("a question is in it twice")
    for row in made.rows:
        if row.question not in references or row.mode not in made.modes:
            raise ValueError(f"a row is of no question or mode of it: {row.question!r:.40}")
        for shares in (row.recall, row.before, row.assembled):
            if shares.keys() != keys or not all(0 <= share <= 1 for share in shares.values()):
                raise ValueError(f"the shares of question {row.question!r:.40} are none")
        if row.lost.keys() != keys or row.tokens.keys() != keys:
            raise ValueError(f"question {row.question!r:.40} has other budgets")
        for lost in row.lost.values():
            if len(lost) != references[row.question] or not set(lost) <= {WHOLE, *LOSSES}:
                raise ValueError(f"the losses of question {row.question!r:.40} are none")
