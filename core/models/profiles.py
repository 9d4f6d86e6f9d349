"""Loading the models of a profile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from core.errors import ModelError
from core.models.catalog import DEFAULT_PROFILE, FLAG, M3, PROVENCE, Profile, chosen, parted
from core.models.consent import Consent, parse_consents
from core.models.embedded import EmbeddedContext, EmbeddedListwise, EmbeddedPiecewise
from core.models.embedder import EmbeddedEncoder
from core.models.encoder import Encoder
from core.models.protocols import Reranker, Reranking, RerankRequest


def load_profile(
    name: str = DEFAULT_PROFILE,
    *,
    encoder: str | None = None,
    piecewise: str | None = None,
    listwise: str | None = None,
    context: str | None = None,
    download: bool = False,
    trust: Iterable[str] = (),
) -> tuple[Encoder, dict[str, Reranker]]:
    """The encoder and the rerankers by kind of a profile, loaded.

    Args:
        encoder, piecewise, listwise, context: models in place of the profile's own: a folder
            or a hub's name, see ``core/models/catalog.py`` for the marks ahead of it.
        download: whether the hub may be asked for a model that is not on this machine.
        trust: models whose own code may run, each as ``MODEL@REVISION``.

    Raises:
        ModelError: an unknown profile, or an encoder that cannot be had. A reranker that cannot
            is :class:`UnavailableReranker`, so that its stage degrades with the reason.
    """
    wanted = chosen(name, encoder=encoder, piecewise=piecewise, listwise=listwise, context=context)
    consents = parse_consents(trust)
    loaded = load_encoder(wanted.encoder, download=download, trust=consents)
    return loaded, load_rerankers(wanted, loaded, download=download, trust=consents)


def load_encoder(
    model: str = "", *, download: bool = False, trust: Sequence[Consent] = ()
) -> Encoder:
    """The encoder of that name; the embedded one for "".

    A folder that holds BGE-M3's heads is read as BGE-M3, with or without ``m3:`` before it.
    ``ModelError`` where it cannot be had.
    """
    if not model:
        return EmbeddedEncoder.load()
    from core.models.folder import model_folder

    mark, name = parted(model)
    if mark not in ("", M3):
        raise ModelError(model, "is no encoder", f"Name a model, with {M3} or nothing before it.")
    from core.models.bge_m3 import BgeM3Encoder, has_heads

    if mark or has_heads(model_folder(name, download=download)):
        return BgeM3Encoder.load(name, download=download)
    from core.models.sentence_encoder import SentenceEncoder

    return SentenceEncoder.load(name, download=download, trust=trust)


def load_rerankers(
    wanted: Profile,
    encoder: Encoder | None,
    *,
    download: bool = False,
    trust: Sequence[Consent] = (),
) -> dict[str, Reranker]:
    """The rerankers of a profile by kind. Without an encoder, those alone that need none."""
    own = isinstance(encoder, EmbeddedEncoder)
    found: dict[str, Reranker] = {}
    for kind, model, load, maxsim in (
        ("piecewise", wanted.piecewise, load_piecewise, EmbeddedPiecewise),
        ("listwise", wanted.listwise, load_listwise, EmbeddedListwise),
        ("context", wanted.context, load_context, EmbeddedContext),
    ):
        if model:
            found[kind] = load(model, download=download, trust=trust)
        elif encoder is not None:
            found[kind] = maxsim(encoder, calibrated=own)
    return found


def load_piecewise(
    model: str, *, download: bool = False, trust: Sequence[Consent] = ()
) -> Reranker:
    """A cross-encoder, or what says in its place why it could not be loaded.

    Args:
        model: a folder or a hub's name. ``flag:`` before it lets FlagEmbedding read it, and
            alone means bge-reranker-v2-m3.
        download: whether the hub may be asked for it.
        trust: whose own code may run.
    """

    def load() -> Reranker:
        mark, name = parted(model)
        if mark == FLAG:
            from core.models.flag_reranker import FlagEmbeddingReranker

            return FlagEmbeddingReranker.load(name, download=download)
        from core.models.cross_encoder import CrossEncoderReranker

        return CrossEncoderReranker.load(model, download=download, trust=trust)

    return _or_why_not(model, load)


def load_listwise(model: str, *, download: bool = False, trust: Sequence[Consent] = ()) -> Reranker:
    """A model with a ``rerank`` method of its own, or what says why it could not be loaded."""

    def load() -> Reranker:
        from core.models.listwise import RemoteListwise

        return RemoteListwise.load(model, download=download, trust=trust)

    return _or_why_not(model, load)


def load_context(model: str, *, download: bool = False, trust: Sequence[Consent] = ()) -> Reranker:
    """A model of tokens' relevance, ``provence:MODEL``, or what says why it could not be loaded."""

    def load() -> Reranker:
        mark, name = parted(model)
        if mark != PROVENCE:
            raise ModelError(
                model,
                "does not say what kind of context reranker it is",
                f"Write {PROVENCE}{name} for tokens' relevance; an encoder goes to --encoder.",
            )
        from core.models.token_relevance import TokenRelevance

        return TokenRelevance.load(name, download=download, trust=trust)

    return _or_why_not(model, load)


def _or_why_not(model: str, load: Callable[[], Reranker]) -> Reranker:
    try:
        return load()
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
