"""Which models the person chose, and in words what stands in the way. No streamlit."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.models.catalog import DEFAULT_PROFILE, PROFILES, ROLES, Profile, chosen, unavailable


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A profile, with models in place of its own: each a folder or a hub's name, "" for none.

    ``trust`` names models whose own code may run, as ``MODEL@REVISION``; ``download`` lets the
    hub be asked. Neither is ever read from a link: a link must not make this machine run code.
    """

    profile: str = DEFAULT_PROFILE
    encoder: str = ""
    piecewise: str = ""
    listwise: str = ""
    context: str = ""
    trust: tuple[str, ...] = ()
    download: bool = field(default=False)

    @property
    def models(self) -> Profile:
        """The models that this comes to, by role. ``ModelError`` for an unknown profile."""
        return chosen(self.profile, **{role: getattr(self, role) for role in ROLES})

    def described(self) -> str:
        """In a few words: "Embedded", or "BGE, piecewise my-model"."""
        title = PROFILES[self.profile].title
        others = [f"{role} {getattr(self, role)}" for role in ROLES if getattr(self, role)]
        return ", ".join([title, *others])


EMBEDDED = ModelChoice()


def obstacles(choice: ModelChoice) -> list[str]:
    """Why some of these models cannot be loaded without a download, a sentence each."""
    if choice.download:
        return []
    return [f"The {role}: {why}" for role, why in unavailable(choice.models).items()]
