"""How much one file may cost before it is given up, and what is said then."""

from __future__ import annotations

from dataclasses import dataclass

from core.errors import DocumentError
from core.ingest.bombs import MAX_UNPACKED


@dataclass(frozen=True)
class Limits:
    """Per file: ``seconds`` of wall clock and of CPU, ``memory_mb`` of address space for the
    process that reads it, ``pages`` of a PDF, and ``characters`` of text.

    ``ocr`` asks for the text of pages that are pictures to be recognised, in ``ocr_language``
    (tesseract's name, several joined by "+"); a file may then take ``ocr_seconds`` more.
    """

    seconds: float = 60.0
    memory_mb: int = 2048
    pages: int = 5000
    characters: int = 20_000_000
    ocr: bool = False
    ocr_language: str = "eng"
    ocr_seconds: float = 600.0

    @property
    def allowed_seconds(self) -> float:
        """What a file may take in all."""
        return self.seconds + (self.ocr_seconds if self.ocr else 0.0)

    def out_of_time(self, name: str) -> DocumentError:
        """The error for a file that takes longer than it may."""
        problem = f"reading it takes more than the limit of {self.allowed_seconds:g} seconds"
        remedy = "It may be built to exhaust time. If you trust it, raise the limit."
        return DocumentError(name, problem, remedy)

    def out_of_memory(self, name: str) -> DocumentError:
        """The error for a file that needs more memory than it may have."""
        problem = f"reading it needs more than the limit of {self.memory_mb:,} MB of memory"
        remedy = "It may be built to exhaust memory. If you trust it, raise the limit."
        return DocumentError(name, problem, remedy)

    def expands(self, name: str) -> DocumentError:
        """The error for a file that packs an absurd amount into a few bytes."""
        megabytes = MAX_UNPACKED // 2**20
        problem = f"it unpacks to more than {megabytes} MB in one place, as no document does"
        return DocumentError(name, problem, "It may be built to exhaust memory: do not trust it.")

    def too_many_pages(self, name: str, pages: int) -> DocumentError:
        """The error for a PDF over ``pages``."""
        problem = f"it claims {pages:,} pages, over the limit of {self.pages:,}"
        return DocumentError(name, problem, "Split the file, or raise the limit.")

    def too_long(self, name: str) -> DocumentError:
        """The error for a text over ``characters``."""
        problem = f"its text is longer than the limit of {self.characters:,} characters"
        return DocumentError(name, problem, "Split the file, or raise the limit.")


DEFAULT_LIMITS = Limits()
