"""``chunkscope eval``: the yardstick on the command line, and its gates."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import EvaluationError
from core.modes import MODES, mode_named
from core.words import counted, first_few

if TYPE_CHECKING:
    from core.evaluate.comparison import Comparison
    from core.evaluate.gate import Gate
    from core.evaluate.records import Asked, Evaluation
    from core.evaluate.resume import TakenOver
    from core.questions import Question
    from core.settings import Settings

DONE, FAILED_GATE, BAD_INPUT, DEGRADED = 0, 1, 2, 3

WORTH_A_PROCESS = 20
"""Questions that a worker must have before it is worth its start of some seconds."""

QUIET_SECONDS = 30.0
"""How often progress is written where no person watches a terminal."""


def add_command(commands: Any, parents: list[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """``eval`` among the commands; ``parents`` hold the flags that it shares with others."""
    e = commands.add_parser("eval", parents=parents, help="measure modes on a question set")
    e.add_argument(
        "--questions", required=True, metavar="FILE", help="a question set, JSONL or CSV"
    )
    e.add_argument("--modes", metavar="A,B", help="the modes, or all; without it the six that rank")  # fmt: skip
    e.add_argument("--budgets", metavar="B,C", help="tokens of evidence; 1000,5000,10000 without it")  # fmt: skip
    e.add_argument("--scope", choices=("corpus", "document"), default="corpus", help="ask each question of all documents, or of its own alone")  # fmt: skip
    e.add_argument("--workers", type=int, metavar="N", help="processes; without it as many as there are cores, if the set is long enough")  # fmt: skip
    e.add_argument("--save", metavar="FILE", help="keep the run, also where it is stopped")
    e.add_argument("--resume", metavar="FILE", help="take over what a saved run has done")
    e.add_argument("--baseline", metavar="FILE", help="an earlier saved run to compare with")
    e.add_argument("--fail-under", nargs="+", action="extend", default=[], metavar="GATE", help="exit with 1 below it: recall@1000=0.9 for every mode, MODE:recall@1000=90%% for one")  # fmt: skip
    e.add_argument("--fail-worse", action="store_true", help="exit with 1 where a mode's recall fell below the baseline's by more than chance")  # fmt: skip
    e.add_argument("--markdown", metavar="FILE", help="write the table as Markdown too")
    return e


@dataclass(frozen=True)
class Opened:
    """How the command line opens models and documents, and complains."""

    pipeline: Callable[[argparse.Namespace, Sequence[str]], Any]
    corpus: Callable[[argparse.Namespace, Any, Any], Any]
    principal: Callable[[argparse.Namespace], Any]
    complain: Callable[[str], None]


def run_command(options: argparse.Namespace, opened: Opened) -> int:
    """Runs ``eval`` and returns its exit code.

    Raises:
        ChunkscopeError: the input is at fault.
        KeyboardInterrupt: stopped by Ctrl-C; what was done is saved where it was to be.
    """
    from core.evaluate import compare, evaluate, load_evaluation
    from core.evaluate.output import Saver
    from core.questions import load_questions

    # What can be wrong is looked at before anything long begins.
    wanted = _wanted(options)
    _check_files(options)
    questions = load_questions(options.questions)
    baseline = load_evaluation(options.baseline) if options.baseline else None
    _comparable(options, wanted, baseline, questions)
    earlier = load_evaluation(options.resume) if options.resume else None
    save = Saver(options.save or options.resume, opened.complain)

    def told(taken: TakenOver) -> None:
        if not options.save and taken.loses:
            save.path = None
        for sentence in taken.sentences(options.resume, kept=save.path is None):
            opened.complain(sentence)

    pipeline = opened.pipeline(options, wanted.modes)
    corpus = opened.corpus(options, wanted.settings, pipeline.encoder)
    with stopped_by_ctrl_c() as stopped:
        evaluation = evaluate(
            pipeline,
            corpus.index,
            questions,
            wanted.modes,
            wanted.settings,
            wanted.budgets,
            options.scope,
            principal=opened.principal(options),
            earlier=earlier,
            told=told,
            through=_through(options, pipeline, len(questions), wanted.modes),
            progress=Progress().said,
            save=save,
            cancelled=stopped,
        )
    unsaved = not save(evaluation)
    if not evaluation.finished:
        kept = f"; go on with --resume {save.path}" if save.path and not unsaved else ""
        done = len(evaluation.common)
        opened.complain(f"{done} of {len(evaluation.measured)} questions were asked{kept}")
        raise KeyboardInterrupt
    comparison = compare(evaluation, baseline) if baseline else None
    code = _report(options, evaluation, comparison, wanted.gates, opened.complain)
    return code or (BAD_INPUT if unsaved else DONE)


@dataclass(frozen=True)
class _Wanted:
    settings: Settings
    modes: list[str]
    budgets: list[int]
    gates: list[Gate]


def _wanted(options: argparse.Namespace) -> _Wanted:
    from core.evaluate import BUDGETS, RANKED, YARDSTICK
    from core.evaluate.gate import parse_gate
    from core.settings import parse_settings

    if options.workers is not None and options.workers < 1:
        raise EvaluationError("--workers", "is less than one", "Give 1 or more.")
    for taken in ("evidence_budget", "window_tokens"):
        if any(text.partition("=")[0].strip() == taken for text in options.set):
            raise EvaluationError(taken, "is no knob of eval", "Name the --budgets instead.")
    off = [f"{name}={value}" for name, value in YARDSTICK.differences().items()]
    settings = parse_settings([*off, *options.set])
    named = _listed("--modes", options.modes, "no_rerank,context_rerank")
    listed = list(MODES) if named == ["all"] else named
    modes = [mode_named(m).name for m in listed or RANKED]
    given = _listed("--budgets", options.budgets, "1000,5000")
    budgets = [_tokens(b) for b in given] or list(BUDGETS)
    gates = [parse_gate(text, modes, budgets) for text in options.fail_under]
    return _Wanted(settings, modes, budgets, gates)


def _comparable(
    options: argparse.Namespace,
    wanted: _Wanted,
    baseline: Evaluation | None,
    questions: Sequence[Question],
) -> None:
    """EvaluationError where there will be nothing to compare: now, and not after the run."""
    from core.evaluate.records import Asked

    if baseline is None:
        if options.fail_worse:
            raise EvaluationError("--fail-worse", "has nothing to compare with", "Give --baseline.")
        return
    for what, mine, theirs in (
        ("modes", wanted.modes, baseline.modes),
        ("budgets", wanted.budgets, baseline.budgets),
    ):
        if not set(mine) & set(theirs):
            known = ", ".join(map(str, theirs))
            raise EvaluationError(options.baseline, f"has none of the {what}", f"It has {known}.")
    asked = {Asked(q.id, q.text, q.document, q.references).digest for q in questions}
    if asked.isdisjoint(a.digest for a in baseline.common):
        raise EvaluationError(
            options.baseline, "has none of the questions", "Compare with a run of this set."
        )


def _listed(flag: str, text: str | None, example: str) -> list[str]:
    """The parts of a list; none where the flag is not given. Given and empty, as by a variable
    that is not set, it is not the default."""
    parts = [part.strip() for part in (text or "").split(",") if part.strip()]
    if text is not None and not parts:
        raise EvaluationError(
            flag, "is empty", f"Write it as in {example}, or leave it out for the default."
        )
    return parts


def _check_files(options: argparse.Namespace) -> None:
    """EvaluationError where a file that is named cannot be written, or a flag names none."""
    from core.evaluate.output import check

    for flag, path in (("--save", options.save), ("--markdown", options.markdown)):
        if path is not None:
            check(flag, path)
    for flag, path in (("--resume", options.resume), ("--baseline", options.baseline)):
        if path == "":
            raise EvaluationError(flag, "names no file", "Name one, or leave the flag out.")


def _tokens(text: str) -> int:
    try:
        return int(text.replace("_", ""))
    except ValueError:
        raise EvaluationError(
            f"--budgets {text}", "is no number of tokens", "Write it as in 1000,5000."
        ) from None


def _through(options: argparse.Namespace, pipeline: Any, questions: int, modes: list[str]):
    """One process, or several; None is one."""
    from core.evaluate.workers import parallel, reopened
    from core.index.cache import default_root

    worth = min(
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        questions // WORTH_A_PROCESS,
    )
    workers = options.workers or worth
    # Without its model a pipeline cannot be opened again, and BM25 needs no help.
    if workers < 2 or pipeline.encoder is None:
        return None
    cache = Path(options.cache) if options.cache else default_root()
    if not os.access(cache, os.W_OK):  # what each process reads anew may differ in its last bits
        return None
    models = argparse.Namespace(**{k: v for k, v in vars(options).items() if k != "command"})
    opener = partial(reopened, options=models, modes=modes, cache=cache)
    return partial(parallel, opener=opener, workers=workers)


def _report(
    options: argparse.Namespace,
    evaluation: Evaluation,
    comparison: Comparison | None,
    gates: list[Gate],
    complain: Callable[[str], None],
) -> int:
    from core.evaluate import summarise, summary_json
    from core.evaluate.output import write
    from core.evaluate.table import markdown, text

    summary = summarise(evaluation)
    failures = [said for gate in gates for said in gate.failures(summary)]
    if options.fail_worse and comparison is not None:
        failures += [
            f"{x.mode}: recall@{x.budget} fell by {-x.figure.mean:.2%} from the baseline"
            for x in comparison.lines
            if x.is_worse
        ]
    if options.json:
        said = summary_json(evaluation, summary)
        said["failures"] = failures
        if comparison is not None:
            said["baseline"] = comparison.to_dict()
        print(json.dumps(said, ensure_ascii=False))
    else:
        print(text(evaluation, summary, comparison))
    written = options.markdown is None or write(
        options.markdown, markdown(evaluation, summary, comparison), complain
    )
    for failure in failures:
        complain(failure)
    degraded = {f"{f.mode}: {why}" for f in summary.modes.values() for why in f.degraded}
    for why in sorted(degraded):
        complain(why)
    left_out = [a for a in evaluation.asked if a.unfound]
    for sentence in _left_out(left_out):
        complain(sentence)
    # Figures of a model that did not do its part answer no gate.
    if options.strict and degraded:
        return DEGRADED
    if options.strict and left_out:
        return BAD_INPUT
    if failures:
        return FAILED_GATE
    return DONE if written else BAD_INPUT


def _left_out(asked: Sequence[Asked]) -> Iterator[str]:
    """What is not counted and why: questions that were skipped by their reason, which may be a
    document that is not there, and those of which a part stands nowhere."""
    reasons: dict[str, list[str]] = {}
    for a in asked:
        reasons.setdefault(a.skipped, []).append(a.id)
    for why, found in reasons.items():
        ids = first_few(found)
        many = counted(len(found), "question")
        if why:
            yield f"{many} {'is' if len(found) == 1 else 'are'} not asked, since {why}: {ids}"
        else:
            yield f"evidence of {many} is in no document, and is not counted: {ids}"


class Progress:
    """Questions done and time left, on standard error: one line written over at a terminal,
    a line now and then elsewhere."""

    def __init__(self) -> None:
        self._began = self._said = time.perf_counter()
        self._at_first = 0
        self._watched = sys.stderr.isatty()

    def said(self, done: int, total: int, question: str) -> None:
        now = time.perf_counter()
        if not question:
            self._at_first = done
        asked = done - self._at_first
        if not self._watched and (now - self._said < QUIET_SECONDS or done == total):
            return
        self._said = now
        left = (now - self._began) / asked * (total - done) if asked else 0
        text = f"{done} of {total} questions" + (f", about {left:,.0f} s left" if left else "")
        if self._watched:
            over = "" if done == total else text
            print(f"\r{over:<78}\r", end="", file=sys.stderr, flush=True)
        else:
            print(f"chunkscope: {text}", file=sys.stderr, flush=True)


@contextmanager
def stopped_by_ctrl_c() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed. The first ends the work in good order, the second at once."""
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield pressed.is_set  # signals come to the main thread alone
        return
    before = signal.getsignal(signal.SIGINT)

    def note(number: int, frame: Any) -> None:
        pressed.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, note)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)
