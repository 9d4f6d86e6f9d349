"""The choice of models, in the sidebar: a profile, and models of one's own by role."""

from __future__ import annotations

import streamlit as st

from core.models.catalog import PROFILES, ROLE_HELP, ROLES
from dashboard import say, state
from dashboard.models import ModelChoice, obstacles

TITLES = {
    "encoder": "Encoder",
    "piecewise": "Piecewise reranker",
    "listwise": "Listwise reranker",
    "context": "Context reranker",
}


def draw(choice: ModelChoice) -> None:
    """The form. Nothing is loaded before it is sent."""
    with st.expander(f"Models: {say.escaped(choice.described()[:60])}", key="group_models"):
        for number, said in enumerate(obstacles(choice)):
            say.note("warning", said, key=f"models_{number}")
        with st.form("models_form", border=False):
            st.selectbox(
                "Profile",
                list(PROFILES),
                index=list(PROFILES).index(choice.profile),
                format_func=lambda name: PROFILES[name].title,
                key="models_profile",
                help="\n".join(f"- **{p.title}**: {p.help}" for p in PROFILES.values()),
            )
            for role in ROLES:
                st.text_input(
                    TITLES[role],
                    getattr(choice, role),
                    key=f"models_{role}",
                    placeholder="as in the profile",
                    help=say.escaped(f"A folder or a hub's name: {ROLE_HELP[role]}."),
                )
            st.text_input(
                "Trusted code",
                " ".join(choice.trust),
                key="models_trust",
                placeholder="MODEL@REVISION",
                help="Models that bring code of their own run it only where you name them with "
                "the revision that you read. Such code may do whatever you may.",
            )
            st.toggle(
                "Ask the hub",
                choice.download,
                key="models_download",
                help="Lets a model that is not on this machine be fetched. Off, nothing leaves it.",
            )
            st.form_submit_button("Use these models", on_click=_chosen)


def _chosen() -> None:
    held = st.session_state
    state.change(
        models=ModelChoice(
            profile=held["models_profile"],
            trust=tuple(held["models_trust"].split()),
            download=held["models_download"],
            **{role: held[f"models_{role}"].strip() for role in ROLES},
        )
    )
