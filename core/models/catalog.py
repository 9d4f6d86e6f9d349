"""Profiles, full sets of models by name, and what of them is on this machine. Loads no model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec

from core.errors import ModelError
from core.models.flag import why_unfit
from core.models.folder import model_folder
from core.package import INSTALL, TITLE, packaged

FLAG, M3, PROVENCE = "flag:", "m3:", "provence:"
"""Ahead of a model: read a reranker with FlagReranker, an encoder with BGEM3FlagModel, and a
context reranker as one of tokens' relevance."""

DEFAULTS = {FLAG: "BAAI/bge-reranker-v2-m3", M3: "BAAI/bge-m3"}
"""The model that a mark alone means."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A set of models. Each is a folder or a hub's name, with a mark ahead of it perhaps.

    Empty, ``encoder`` is the embedded model, and a kind of reranker is MaxSim over the encoder's
    own token states.
    """

    name: str
    title: str
    help: str
    encoder: str = ""
    piecewise: str = ""
    listwise: str = ""
    context: str = ""

    @property
    def models(self) -> Mapping[str, str]:
        """The models by role: ``encoder``, ``piecewise``, ``listwise``, ``context``."""
        return {role: getattr(self, role) for role in ROLES}


ROLES = ("encoder", "piecewise", "listwise", "context")

ROLE_HELP = {
    "encoder": "reads documents and questions: a model of sentence-transformers; m3:MODEL is "
    "BGE-M3 through FlagEmbedding",
    "piecewise": "a cross-encoder for mode bge_rerank; flag:MODEL reads it with FlagEmbedding",
    "listwise": "a model with a rerank method of its own for mode jina_rerank, such as "
    "jinaai/jina-reranker-v3",
    "context": "provence:MODEL, a model of tokens' relevance for the modes with a context rerank",
}

PROFILES: Mapping[str, Profile] = {
    p.name: p
    for p in (
        Profile(
            "embedded",
            "Embedded",
            f"{TITLE}, which came with the installation. It does the dense scores and all three "
            "kinds of rerank.",
        ),
        Profile(
            "bge",
            "BGE",
            "BGE-M3 for dense, sparse and token vectors, and bge-reranker-v2-m3 for the piecewise "
            "rerank. 4.6 GB from the hub; slow without a GPU.",
            encoder=M3,
            piecewise=FLAG,
        ),
        Profile(
            "custom",
            "Custom",
            "Any models: folders, or names in the hub. What is not named is embedded.",
        ),
    )
}

DEFAULT_PROFILE = "embedded"


def chosen(name: str = DEFAULT_PROFILE, **models: str | None) -> Profile:
    """A profile with some of its models replaced, by role; None and "" replace nothing.

    Raises:
        ModelError: there is no such profile.
    """
    if name not in PROFILES:
        raise ModelError(name, "there is no such profile", f"Profiles: {', '.join(PROFILES)}.")
    return replace(PROFILES[name], **{role: m for role, m in models.items() if m})


def parted(model: str) -> tuple[str, str]:
    """The mark ahead of a model, or "", and the model: ``flag:`` alone means its default."""
    for mark in (FLAG, M3, PROVENCE):
        if model.startswith(mark):
            return mark, model.removeprefix(mark) or DEFAULTS.get(mark, "")
    return "", model


def why_not(role: str, model: str) -> str:
    """Why a model could not be loaded now without a download; empty where it should load.

    Looks for packages and files alone, in milliseconds: files that are there may still be broken.
    """
    if not model:
        there = packaged("model.safetensors") is not None
        return "" if there or role != "encoder" else f"{TITLE} is not installed. {INSTALL}"
    mark, name = parted(model)
    if find_spec("sentence_transformers") is None:
        return "sentence-transformers is not installed. Run: pip install sentence-transformers"
    if mark in (FLAG, M3) and (unfit := why_unfit()):
        return unfit
    try:
        model_folder(name)
    except ModelError as error:
        return str(error)
    return ""


def unavailable(profile: Profile) -> Mapping[str, str]:
    """For each role whose model could not be loaded now, why; empty where all should load."""
    found = {role: why_not(role, model) for role, model in profile.models.items()}
    return {role: why for role, why in found.items() if why}
