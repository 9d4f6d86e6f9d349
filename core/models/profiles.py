"""Profiles: full sets of models, by name."""

from __future__ import annotations

from core.errors import ModelError
from core.models.embedded import EmbeddedContext, EmbeddedListwise, EmbeddedPiecewise
from core.models.embedder import EmbeddedEncoder, Encoder
from core.models.protocols import Reranker, Reranking, RerankRequest

FLAG = "flag:"
"""Before a model that FlagEmbedding is to read; without it, sentence-transformers does."""


def load_profile(
    name: str = "embedded", *, piecewise: str | None = None, download: bool = False
) -> tuple[Encoder, dict[str, Reranker]]:
    """The encoder and the rerankers by kind of a profile, loaded.

    Args:
        piecewise: a model in place of the profile's own, see :func:`load_piecewise`.
        download: whether the hub may be asked for a model that is not on this machine.

    Raises:
        ModelError: an unknown profile, or a model of its own that cannot be had.
    """
    if name != "embedded":
        raise ModelError(name, "there is no such profile", "Profiles: embedded.")
    encoder = EmbeddedEncoder.load()
    return encoder, {
        "piecewise": load_piecewise(piecewise, download=download)
        if piecewise
        else EmbeddedPiecewise(encoder),
        "listwise": EmbeddedListwise(encoder),
        "context": EmbeddedContext(encoder),
    }


def load_piecewise(model: str, *, download: bool = False) -> Reranker:
    """A cross-encoder, or what says in its place why it could not be loaded.

    Args:
        model: a folder or a hub's name. ``flag:`` before it lets FlagEmbedding read it, and
            alone means bge-reranker-v2-m3.
        download: whether the hub may be asked for it.
    """
    try:
        if model.startswith(FLAG):
            from core.models.flag_reranker import DEFAULT, FlagEmbeddingReranker

            wanted = model.removeprefix(FLAG) or DEFAULT
            return FlagEmbeddingReranker.load(wanted, download=download)
        from core.models.cross_encoder import CrossEncoderReranker

        return CrossEncoderReranker.load(model, download=download)
    except ModelError as error:
        return UnavailableReranker(model, error)


class UnavailableReranker:
    """Stands where a model was asked for that could not be loaded.

    The stage that uses it degrades with the true reason. Another model in its place would
    give scores under a name that is not its own.
    """

    def __init__(self, model: str, error: ModelError) -> None:
        self.error = error
        self.name = f"{model} (not loaded)"
        self.fingerprint = f"unavailable:{model}"

    def rerank(self, request: RerankRequest) -> Reranking:
        """Raises the error that loading met."""
        raise ModelError(self.error.culprit, self.error.problem, self.error.remedy) from self.error
