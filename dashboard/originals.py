"""The files behind PDF documents, for drawing their pages again. No streamlit.

What was uploaded stays in the session's memory; a file on this machine is read again when a
page of it is asked for, and must still be the one that was read. Passwords are not kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from core.errors import DocumentError
from core.ingest import Ingested, Source

PDF = "application/pdf"


@dataclass(frozen=True, slots=True)
class Original:
    """One file: its name, the SHA-256 of its bytes, and where they are. ``locked`` says that
    a password opened it."""

    name: str
    digest: str
    path: str = ""
    data: bytes = field(default=b"", repr=False)
    locked: bool = False

    def source(self, password: str | None = None) -> Source:
        """The file, to be read again.

        Raises:
            DocumentError: where it is gone or has changed.
        """
        if not self.path:
            return Source(self.name, self.data, password=password)
        try:
            data = Path(self.path).read_bytes()
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise DocumentError(
                self.name, f"cannot be read again ({reason})", "Put the file back."
            ) from None
        if _digest(data) != self.digest:
            raise DocumentError(
                self.name, "has changed since it was read", "Add it again to see its pages."
            )
        return Source(self.name, data, password=password)


def originals(sources: Iterable[Source], outcomes: Iterable[Ingested]) -> Mapping[str, Original]:
    """The file of each PDF document that was read, by document id."""
    by_name = {s.name: s for s in sources}
    return {
        o.document.id: _original(by_name[o.name])
        for o in outcomes
        if o.document is not None and o.document.report.media_type == PDF
    }


def _original(source: Source) -> Original:
    return Original(
        name=source.name,
        digest=_digest(source.data),
        path=source.path,
        data=b"" if source.path else source.data,
        locked=source.password is not None,
    )


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
