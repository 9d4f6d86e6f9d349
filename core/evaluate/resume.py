"""What an earlier evaluation is worth to a new one: the rows that still hold, and what differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.evaluate.comparison import changed_between
from core.evaluate.records import Evaluation, Row
from core.words import counted, first_few


@dataclass(frozen=True)
class TakenOver:
    """The ``rows`` of an earlier evaluation that hold for a plan, and why others do not.

    ``changed`` is (then, now) by name: knobs, documents, scope, models, budgets, rights; where
    anything is in it no row holds. ``new`` are ids of measured questions that the earlier one did
    not measure, ``reworded`` those that it asked otherwise, ``gone`` those that the plan does not
    ask; ``new_modes`` and ``gone_modes`` likewise. ``written_over`` is how many of its rows are
    for a question and mode of the plan, ``held`` how many it has.
    """

    rows: tuple[Row, ...] = ()
    held: int = 0
    written_over: int = 0
    changed: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    new: tuple[str, ...] = ()
    reworded: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    new_modes: tuple[str, ...] = ()
    gone_modes: tuple[str, ...] = ()

    @property
    def loses(self) -> bool:
        """Whether the plan, saved in place of the earlier evaluation, would lose work: rows that
        it has no use for, other than those of questions that read otherwise now."""
        return bool(self.held) and (not self.rows or self.written_over < self.held)

    @property
    def differences(self) -> tuple[str, ...]:
        """What differs, a few words each."""
        said = [_difference(name, *values) for name, values in self.changed.items()]
        for ids, words in (
            (self.new, "not in it"),
            (self.reworded, "asked otherwise in it"),
            (self.gone, "only in it"),
        ):
            if ids:
                said.append(f"{counted(len(ids), 'question')} {words} ({first_few(ids)})")
        for modes, words in ((self.new_modes, "not in it"), (self.gone_modes, "only in it")):
            if modes:
                many = "mode" if len(modes) == 1 else "modes"
                said.append(f"{many} {words}: {', '.join(modes)}")
        return tuple(said)

    def sentences(self, path: str, *, kept: bool) -> Iterator[str]:
        """What a person should know before the run: none where all goes on as it was.

        Args:
            path: the file of the earlier evaluation. kept: it is not written over.
        """
        if self.differences:
            many = len(self.rows)
            what = f"{counted(many, 'result')} of it {'is' if many == 1 else 'are'}"
            rest = "; ".join(self.differences)
            yield f"{path}: {what if many else 'nothing of it is'} taken over ({rest})"
        if kept:
            yield f"{path} stays as it is, since results in it would be lost; keep this run by --save"


def taken_over(plan: Evaluation, earlier: Evaluation) -> TakenOver:
    """The rows of ``earlier`` that hold for ``plan``: same question, same mode, all else equal."""
    changed = dict(changed_between(plan, earlier))
    for name, part in (("budgets", "budgets"), ("rights", "principal")):
        then, now = getattr(earlier, part), getattr(plan, part)
        if then != now:
            changed[name] = (then, now)
    before = {a.id: a.digest for a in earlier.measured}
    now = {a.id: a.digest for a in plan.measured}
    same = {i for i, digest in now.items() if before.get(i) == digest}
    kept = [r for r in earlier.rows if r.question in now and r.mode in plan.modes]
    return TakenOver(
        rows=() if changed else tuple(r for r in kept if r.question in same),
        held=len(earlier.rows),
        written_over=len(kept),
        changed=changed,
        new=tuple(i for i in now if i not in before),
        reworded=tuple(i for i in now if i in before and i not in same),
        gone=tuple(i for i in before if i not in now),
        new_modes=tuple(m for m in plan.modes if m not in earlier.modes),
        gone_modes=tuple(m for m in earlier.modes if m not in plan.modes),
    )


def _difference(name: str, then: Any, now: Any) -> str:
    """Fingerprints say nothing to a person; values of knobs do."""
    if name == "documents":
        return "other documents"
    if name == "rights":
        return "other rights of who asks"
    if name == "budgets":
        return f"budgets {_listed(then)} in it, {_listed(now)} now (tokens)"
    if name in _MODELS:
        return f"another {name} model" if then and now else f"the {name} model in one alone"
    return f"{name} {_value(then)} in it, {_value(now)} now"


_MODELS = ("encoder", "piecewise", "listwise", "context")


def _listed(budgets: tuple[int, ...]) -> str:
    return "+".join(map(str, budgets))


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return "not set" if value is None else str(value)[:40]
