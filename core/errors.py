"""What can go wrong, each with its culprit and its remedy.

Every error that reaches a person is a :class:`ChunkscopeError`; its text is one
sentence about the culprit and one about what to do.
"""

from __future__ import annotations


class ChunkscopeError(Exception):
    """Something that a person can put right. ``str(error)`` is fit to be shown as it is."""

    def __init__(self, culprit: str, problem: str, remedy: str = "") -> None:
        self.culprit, self.problem, self.remedy = culprit, problem, remedy
        super().__init__(f"{culprit}: {problem}." + (f" {remedy}" if remedy else ""))

    def __reduce__(self):
        return type(self), (self.culprit, self.problem, self.remedy)


class DocumentError(ChunkscopeError):
    """One file that could not be read; the others load."""


class SettingsError(ChunkscopeError):
    """A knob that does not exist, or a value out of its range."""


class EmptyIndexError(ChunkscopeError):
    """There is nothing to search."""


class ModelError(ChunkscopeError):
    """A model that cannot be found, loaded or trusted."""


class TraceFormatError(ChunkscopeError):
    """A file that is not a trace that this version reads."""


class QuestionSetError(ChunkscopeError):
    """A question file that cannot be read, with the line at fault."""


class EvaluationError(ChunkscopeError):
    """An evaluation that cannot be run as asked, or a file that is not a saved one."""


class Cancelled(Exception):
    """The person stopped the work. Not an error; nothing is to be reported."""
