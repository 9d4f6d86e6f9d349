"""The command line's words about models, the same for every command that loads some."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from core.errors import ModelError
from core.models.catalog import DEFAULT_PROFILE, PROFILES, ROLE_HELP, ROLES
from core.modes import Mode

if TYPE_CHECKING:
    from core.pipeline import Pipeline


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds ``--profile``, one word a role, ``--trust-remote-code`` and ``--download``."""
    group = parser.add_argument_group(
        "models", "each a folder, or a name in the hub that is looked for on this machine"
    )
    group.add_argument("--profile", default=DEFAULT_PROFILE, metavar="NAME", help=f"a full set of models, one of {', '.join(PROFILES)}")  # fmt: skip
    for role in ROLES:
        group.add_argument(f"--{role}", metavar="MODEL", help=ROLE_HELP[role])
    group.add_argument("--trust-remote-code", action="append", default=[], metavar="MODEL@REVISION", help="let a model run code of its own, which may do whatever you may, in this revision")  # fmt: skip
    group.add_argument("--download", action="store_true", help="let the hub be asked for a model that is not on this machine")  # fmt: skip


def pipeline_from(
    options: argparse.Namespace, say: Callable[[str], None], modes: Collection[Mode]
) -> Pipeline:
    """The pipeline that ``options``, from :func:`add_model_arguments`, ask for.

    Only what ``modes`` use is loaded: the encoder, and their kinds of reranker.

    Where the encoder cannot be had, one that ranks by BM25 and says so in every trace; ``say``
    is told why at once. Slow models' scores are kept in ``options.cache``, if it is given.

    Raises:
        ModelError: an unknown profile, or a consent that names no revision.
    """
    from core.index.cache import default_root
    from core.index.scores import ScoreCache
    from core.models.catalog import chosen
    from core.models.consent import parse_consents
    from core.models.profiles import load_encoder, load_rerankers
    from core.pipeline import Pipeline

    wanted = chosen(options.profile, **{role: getattr(options, role) for role in ROLES})
    kinds = {kind for mode in modes for kind in (mode.rerank_1, mode.rerank_2)}
    wanted = replace(wanted, **{kind: "" for kind in ROLES[1:] if kind not in kinds})
    trust = parse_consents(options.trust_remote_code)
    why = ""
    try:
        encoder = load_encoder(wanted.encoder, download=options.download, trust=trust)
    except ModelError as error:
        say(str(error))
        encoder, why = None, str(error)
    rerankers = load_rerankers(wanted, encoder, download=options.download, trust=trust)
    scores = ScoreCache(getattr(options, "cache", None) or default_root())
    return Pipeline(encoder, rerankers, scores=scores, no_encoder=why)


def unused_models(options: argparse.Namespace, mode: Mode) -> list[str]:
    """A sentence for each reranker that was named and that ``mode`` does not use."""
    uses = {mode.rerank_1, mode.rerank_2}
    return [
        f"--{kind}: mode {mode.name} has no {kind} rerank; {_WHO[kind]} does"
        for kind in ROLES[1:]
        if getattr(options, kind) and kind not in uses
    ]


_WHO = {"piecewise": "bge_rerank", "listwise": "jina_rerank", "context": "context_rerank"}
