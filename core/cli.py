"""The command line: ``chunkscope index``, ``trace``, ``eval``, ``why``, ``compare`` and ``import``.

With ``--json`` one document goes to standard output and nothing else; errors go to
standard error. :data:`EXIT_CODES` says what a script can tell by.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from core.errors import ChunkscopeError, DocumentError, SettingsError
from core.evaluate.command import BAD_INPUT, DEGRADED, DONE, FAILED_GATE, Opened
from core.evaluate.command import add_command as add_eval
from core.evaluate.command import run_command as run_eval
from core.model_arguments import add_model_arguments, pipeline_from, unused_models
from core.modes import DEFAULT_MODE, MODES, mode_named
from core.records import Principal
from core.settings import Settings, parse_settings
from core.terminal import printable, trace_text
from core.traces_command import add_commands as add_traces
from core.words import counted

NOT_FOUND = FAILED_GATE
"""``why`` of a passage that is in no document: like a gate, an answer and no fault of the input."""

EXIT_CODES = {
    DONE: "done",
    NOT_FOUND: "a gate failed, or the passage is in no document",
    BAD_INPUT: "bad input",
    DEGRADED: "a model could not do its part, under --strict",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    for stream in (sys.stdout, sys.stderr):
        # JSON is UTF-8 wherever it goes, and no terminal's encoding may stop a report.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    options = _parser().parse_args(arguments)
    try:
        code = options.command(options)
        sys.stdout.flush()
        return code
    except ChunkscopeError as error:
        _complain(str(error))
        return BAD_INPUT
    except KeyboardInterrupt:
        _complain("stopped")
        return 130
    except BrokenPipeError:
        # The reader has seen enough; what is still held must not be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except OSError as error:
        _complain(f"{error.filename or 'the file system'}: {error.strerror or error}")
        return BAD_INPUT


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="chunkscope",
        description="What became of every chunk between a question and the prompt.",
        epilog=f"Exit codes: {'; '.join(f'{n} {what}' for n, what in EXIT_CODES.items())}.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--docs",
        nargs="+",
        action="extend",
        required=True,
        metavar="PATH",
        help="files and folders",
    )
    common.add_argument("--set", nargs="+", action="extend", default=[], metavar="KNOB=VALUE", help="turn a knob (docs/knobs.md lists them)")  # fmt: skip
    common.add_argument("--password", action="append", default=[], metavar="NAME=PASSWORD", help="for an encrypted document")  # fmt: skip
    common.add_argument("--ocr", action="store_true", help="recognise the text of pages that are pictures (needs tesseract)")  # fmt: skip
    common.add_argument("--ocr-language", metavar="LANGUAGE", help="tesseract's name of the language, several joined by +; eng where not given")  # fmt: skip
    common.add_argument("--cache", metavar="FOLDER", help="where what was computed is kept")
    add_model_arguments(common)
    common.add_argument("--json", action="store_true", help="one JSON document on standard output")
    common.add_argument("--strict", action="store_true", help="exit with 3 where a model could not do its part; index exits with 2 where a file could not be read")  # fmt: skip

    index = commands.add_parser("index", parents=[common], help="read and index documents")
    index.set_defaults(command=_index)

    asking = argparse.ArgumentParser(add_help=False)
    asking.add_argument("--tenant", help="ask as this tenant; without any of these three, as the owner of the files")  # fmt: skip
    asking.add_argument("--role", nargs="+", action="extend", default=[], metavar="ROLE")
    asking.add_argument("--label", nargs="+", action="extend", default=[], metavar="LABEL", help="data policy labels that the principal is cleared for")  # fmt: skip

    one = argparse.ArgumentParser(add_help=False, parents=[common, asking])
    one.add_argument("--question", required=True)
    one.add_argument("--mode", default=DEFAULT_MODE, metavar="MODE", help=f"one of {', '.join(MODES)}")  # fmt: skip

    trace = commands.add_parser("trace", parents=[one], help="trace a question through every stage")  # fmt: skip
    trace.set_defaults(command=_trace)

    why = commands.add_parser("why", parents=[one], help="say why a passage is missing, and what brings it back")  # fmt: skip
    wanted = why.add_mutually_exclusive_group(required=True)
    wanted.add_argument("--passage", help="text that should have been in the prompt")
    wanted.add_argument("--chunk", metavar="ID", help="the same, by a chunk's id")
    why.add_argument("--questions", metavar="FILE", help="a question set, JSONL or CSV: say what each change does to recall over it")  # fmt: skip
    why.add_argument("--seconds", type=_seconds, default=3.0, help="how long to look for what brings it back, at most")  # fmt: skip
    why.add_argument("--as-owner", action="store_true", help="ask as the tenant, but speak of hidden documents too, as to the owner of the files")  # fmt: skip
    why.set_defaults(command=_why)

    add_eval(commands, [common, asking]).set_defaults(command=_eval)
    add_traces(commands)
    return parser


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < 86_400:
        raise argparse.ArgumentTypeError(f"{text} is no number of seconds above 0")
    return value


def _index(options: argparse.Namespace) -> int:
    settings = parse_settings(options.set)
    pipeline = pipeline_from(options, _complain, ())
    corpus = _open(options, settings, pipeline.encoder)
    chunks: dict[str, int] = {d.id: stop - start for d, start, stop in corpus.index.document_rows()}
    rows = [
        {
            "name": f.name,
            "id": f.document.id if f.document else None,
            "pages": len(f.document.pages) if f.document else 0,
            "chunks": chunks.get(f.document.id, 0) if f.document else 0,
            "warnings": _warnings(f.document) if f.document else [],
            "error": str(f.error) if f.error else None,
        }
        for f in corpus.files
    ]
    if options.json:
        _print_json({"documents": rows, "corpus": corpus.index.fingerprint})
    else:
        for row in rows:
            print(printable(_size(row)))
            for warning in row["warnings"]:
                print(printable(f"  warning: {warning}"))
    if options.strict and corpus.errors:
        return BAD_INPUT
    return DEGRADED if options.strict and pipeline.encoder is None else DONE


def _size(row: dict[str, Any]) -> str:
    """A line for one file. What is wrong with one that was not read stands on standard error."""
    if row["error"]:
        return f"{row['name']}: not read"
    pages, chunks = row["pages"], row["chunks"]
    said = [counted(pages, "page")] if pages else []
    return f"{row['name']}: {', '.join([*said, counted(chunks, 'chunk')])}"


def _warnings(document) -> list[str]:
    pages = [f"page {p.number}: {w}" for p in document.report.pages for w in p.warnings]
    return [*document.report.warnings, *pages]


def _trace(options: argparse.Namespace) -> int:
    _, _, trace = _asked(options)
    print(trace.to_json() if options.json else printable(trace_text(trace)))
    return _ended(options, trace)


def _why(options: argparse.Namespace) -> int:
    from core.diagnosis import target_of_chunk, targets_of_passage, why
    from core.questions import load_questions

    questions = load_questions(options.questions) if options.questions else None
    pipeline, index, trace = _asked(options)
    seen = index if options.as_owner else index.restricted(trace.principal)
    if options.chunk is not None:
        targets = (target_of_chunk(seen, options.chunk),)
        if not targets[0].pieces:
            raise SettingsError(
                "--chunk",
                f"{options.chunk!r:.60} is in none of these documents",
                "Take an id from chunkscope trace --json.",
            )
    elif not any(c.isalnum() for c in options.passage):
        raise SettingsError(
            "--passage", "holds no word", "Give the text that should have been found."
        )
    else:
        targets = targets_of_passage(seen, options.passage)
    answer = why(
        pipeline,
        index,
        trace,
        targets,
        viewer=None if options.as_owner else trace.principal,
        seconds=options.seconds,
        questions=questions,
    )
    if options.json:
        _print_json(answer.to_dict())
    else:
        print(printable(answer.text()))
    return _ended(options, trace) or (DONE if any(t.pieces for t in targets) else NOT_FOUND)


def _asked(options: argparse.Namespace):
    """The pipeline, the whole index, and the trace of the question."""
    settings = parse_settings(options.set)
    mode = mode_named(options.mode)
    for sentence in unused_models(options, mode):
        _complain(sentence)
    pipeline = pipeline_from(options, _complain, (mode,))
    corpus = _open(options, settings, pipeline.encoder)
    principal = _principal(options)
    trace = pipeline.run(corpus.index, options.question, settings, options.mode, principal)
    return pipeline, corpus.index, trace


def _ended(options: argparse.Namespace, trace) -> int:
    for stage in trace.degraded:
        _complain(f"{stage.name}: {stage.degraded}")
    return DEGRADED if options.strict and trace.degraded else DONE


def _eval(options: argparse.Namespace) -> int:
    def pipeline(options: argparse.Namespace, modes: Sequence[str]):
        return pipeline_from(options, _complain, [mode_named(m) for m in modes])

    return run_eval(options, Opened(pipeline, _open, _principal, _complain))


def _principal(options: argparse.Namespace) -> Principal | None:
    """Who asks: None, the owner, unless a flag says otherwise."""
    if options.tenant is None and not options.role and not options.label:
        return None
    # A flag that is given and empty, as by a variable that is not set, makes nobody the owner.
    return Principal(options.tenant or "", tuple(options.role), tuple(options.label))


def _open(options: argparse.Namespace, settings: Settings, encoder: Any):
    from core.ingest import Limits
    from core.session import open_documents

    passwords = {}
    for given in options.password:
        name, sign, password = given.partition("=")
        if not sign:
            raise DocumentError(
                "--password",
                "is not of the form NAME=PASSWORD",
                "Write it as in policy.pdf=SECRET.",
            )
        passwords[name] = password
    if options.ocr_language and not options.ocr:
        raise DocumentError(
            "--ocr-language", "is given without --ocr", "Add --ocr, or leave it out."
        )
    corpus = open_documents(
        options.docs,
        settings,
        encoder,
        passwords=passwords,
        limits=Limits(ocr=options.ocr, ocr_language=options.ocr_language or "eng"),
        cache=options.cache,
        progress=_progress if sys.stderr.isatty() else None,
    )
    for error in corpus.errors:
        _complain(str(error))
    return corpus


def _progress(done: int, total: int, name: str) -> None:
    """One line that is written over, for a person who waits at a terminal."""
    share = f"{done * 100 // max(1, total):3d} %  {name}"[:78] if name else ""
    print(f"\r{share:<78}\r", end="", file=sys.stderr, flush=True)


def _print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False))


def _complain(text: str) -> None:
    print(f"chunkscope: {printable(text)}", file=sys.stderr)
