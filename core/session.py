"""The shortest way from paths to a pipeline: what the command line and scripts call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from core.errors import DocumentError, EmptyIndexError
from core.index.build import Progress, build_index
from core.index.cache import ArrayCache, default_root
from core.index.index import Index
from core.index.scores import ScoreCache
from core.ingest import Ingested, Limits, ingest, sources_from_paths
from core.pipeline import Pipeline
from core.settings import Settings


@dataclass(frozen=True)
class Corpus:
    """An index and what became of each file, the unreadable ones included."""

    index: Index
    files: tuple[Ingested, ...]

    @property
    def errors(self) -> tuple[DocumentError, ...]:
        return tuple(f.error for f in self.files if f.error is not None)


def open_documents(
    paths: Sequence[str | Path],
    settings: Settings = Settings(),
    encoder: Any = None,
    *,
    passwords: Mapping[str, str] | None = None,
    cache: Path | None = None,
    limits: Limits = Limits(),
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Corpus:
    """Reads files and folders, and indexes what could be read.

    Args:
        encoder: None leaves dense scores out.
        passwords: by document name.
        cache: folder for what was computed; the default one where not given.
        limits: what one file may cost.
        progress: called with (done, in all, document name): files while they are read, then
            characters while they are indexed.

    Raises:
        Cancelled: ``cancelled`` answered True between two steps.
        DocumentError: a password is for a name that no document has.
        EmptyIndexError: none of the files could be read; it repeats their messages.
    """
    root = Path(cache) if cache else default_root()
    sources = [
        replace(s, password=(passwords or {}).get(s.name)) for s in sources_from_paths(paths)
    ]
    _check_names(passwords or {}, [source.name for source in sources])
    files = ingest(
        sources,
        limits,
        cache=root,
        progress=progress,
        cancelled=cancelled,
    )
    documents = [f.document for f in files if f.document is not None]
    if not documents:
        problems = " ".join(str(f.error) for f in files if f.error) or "No file was found."
        raise EmptyIndexError("the index is empty", "no document could be read", problems)
    index = build_index(
        documents,
        settings,
        encoder,
        cache=ArrayCache(root),
        progress=progress,
        cancelled=cancelled,
    )
    return Corpus(index, tuple(files))


def _check_names(passwords: Mapping[str, str], names: Sequence[str]) -> None:
    """Raises DocumentError for a password that would open nothing."""
    for name in passwords:
        if name not in names:
            near = get_close_matches(name, names, n=1, cutoff=0.5)
            listed = f"Was {near[0]} meant?" if near else f"There are: {', '.join(names[:5])}."
            problem = "a password is given for it, and no document has this name"
            raise DocumentError(name or "(no name)", problem, listed)


def embedded_pipeline(
    piecewise: str | None = None, *, download: bool = False, **more: Any
) -> Pipeline:
    """A pipeline on the embedded model, which needs no hub and no account.

    Args:
        piecewise: a cross-encoder for the piecewise kind, as :func:`load_piecewise` takes it. One
            that cannot be loaded leaves that kind degraded, with the reason in the trace.
        download: whether the hub may be asked for it.
        more: further words of :func:`profile_pipeline`.

    Raises:
        ModelError: where its package is missing or its weights are not the published ones.
    """
    return profile_pipeline("embedded", piecewise=piecewise, download=download, **more)


def profile_pipeline(
    name: str = "embedded",
    *,
    encoder: str | None = None,
    piecewise: str | None = None,
    listwise: str | None = None,
    context: str | None = None,
    download: bool = False,
    trust: Sequence[str] = (),
    cache: Path | None = None,
) -> Pipeline:
    """A pipeline on the models of a profile, or on others in their place.

    Args:
        encoder, piecewise, listwise, context: a folder or a hub's name each, as
            :func:`core.models.profiles.load_profile` takes them. The encoder is the one to
            hand to :func:`open_documents`.
        download: whether the hub may be asked for what is not on this machine.
        trust: models whose own code may run, each as ``MODEL@REVISION``.
        cache: folder for slow models' scores; the default one where not given.

    Raises:
        ModelError: an unknown profile, or an encoder that cannot be had. Another model that
            cannot leaves its kind degraded, with the reason in the trace.
    """
    from core.models.profiles import load_profile

    loaded, rerankers = load_profile(
        name,
        encoder=encoder,
        piecewise=piecewise,
        listwise=listwise,
        context=context,
        download=download,
        trust=trust,
    )
    scores = ScoreCache(Path(cache) if cache else default_root())
    return Pipeline(loaded, rerankers, scores=scores)
