"""Settings → widgets → Settings: every knob of the pipeline, grouped by stage.

Nothing here names a knob: a knob that is added to ``Settings`` appears by itself.
"""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.errors import SettingsError
from core.settings import Knob, Settings, knob_named
from core.trace import Trace
from core.words import counted
from dashboard import knobs, model_form, say, state

KEY = "knob_{}"
OPEN_AT_FIRST = ("first_stage", "extend", "relevance", "budget")
CHANGED_MARK = "●"

AIMED, OUTLINED = "aimed_knob", "outlined_knob"
"""Where the session keeps the knob that a page sent the person to: its group is open, and until
it is turned it is outlined."""


def draw(settings: Settings, mode: str, *, frozen: bool = False) -> None:
    """Draws the sidebar for these settings. ``frozen`` shows them without a way to turn them."""
    changed = settings.differences()
    encoder = state.view().models.models.encoder
    aimed = state.session().get(AIMED, "")
    with st.sidebar:
        _summary(changed, frozen)
        if outlined := state.session().get(OUTLINED):
            st.html(f"<style>.st-key-knobrow_{outlined} {{ outline: 2px solid #d38b18; }}</style>")
        if not frozen:
            model_form.draw(state.view().models)
        for group, members in knobs.grouped().items():
            count = sum(k.name in changed for k in members)
            title = knobs.GROUP_TITLES.get(group, group.replace("_", " ").capitalize())
            idle = all(knobs.idle_reason(k, mode, settings, encoder) for k in members)
            label = title + (f" {CHANGED_MARK} {count} changed" if count else "")
            label = f":gray[{label} (not used by this mode)]" if idle else label
            here = any(k.name == aimed for k in members)
            # Under a key of its own: an expander that is there already ignores ``expanded``.
            key = f"group_{group}_aimed" if here else f"group_{group}"
            with st.expander(label, expanded=here or group in OPEN_AT_FIRST, key=key):
                for knob in members:
                    _knob(knob, settings, mode, frozen, encoder)


def draw_imported(trace: Trace) -> None:
    """What an imported trace says of the other pipeline's settings; it has none of these knobs."""
    settings = dict(trace.settings)
    settings |= {f"{s.name}, {name}": v for s in trace.stages for name, v in s.settings.items()}
    with st.sidebar:
        st.caption("Settings of the imported trace, as it gives them")
        for name, value in settings.items():
            st.text(f"{name}: {value}"[:300])
        if not settings:
            st.text("None are recorded.")


def aim(knob: str) -> None:
    """Opens the group of a knob and outlines it, from the next run on."""
    state.session()[AIMED] = state.session()[OUTLINED] = knob


def _summary(changed: Mapping[str, object], frozen: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="knob_summary"):
        if frozen:
            st.caption("Knobs of the saved trace (read only)", width="stretch")
            return
        many = f"{counted(len(changed), 'knob')} off default"
        st.caption(many if changed else "All knobs at their defaults", width="stretch")
        st.button(
            "Reset all",
            key="reset_all",
            type="tertiary",
            disabled=not changed,
            on_click=_reset,
            args=(tuple(changed),),
        )


def _knob(knob: Knob, settings: Settings, mode: str, frozen: bool, encoder: str) -> None:
    value = getattr(settings, knob.name)
    off_default = value != knob.default
    idle = knobs.idle_reason(knob, mode, settings, encoder)
    label = (knob.label or knob.name) + (f" ({knob.unit})" if knob.unit else "")
    # The reset button lies over the corner of its knob (style.css), so that nothing moves
    # when it comes and goes.
    with st.container(key=f"knobrow_{knob.name}", gap=None):
        _widget(
            knob,
            value,
            label=f"{CHANGED_MARK} {label}" if off_default else label,
            help=knobs.help_text(knob) + (f" **Idle:** {idle}" if idle else ""),
            disabled=frozen or bool(idle),
        )
        if off_default and not frozen:
            st.button(
                "↺",
                key=f"reset_{knob.name}",
                help=f"Back to {say.escaped(knobs.shown(knob, knob.default)[:60])}",
                type="tertiary",
                on_click=_reset,
                args=((knob.name,),),
            )


def _widget(knob: Knob, value: object, **look: object) -> None:
    key = KEY.format(knob.name)
    state.project(key, value, same=lambda held, value: _equal(knob, held, value))
    look |= {"key": key, "on_change": _turned, "args": (knob.name,)}
    match knobs.widget_kind(knob):
        case "toggle":
            st.toggle(value=bool(value), **look)
        case "choice":
            st.selectbox(options=knob.choices, index=knob.choices.index(value), **look)
        case "text":
            st.text_area(value=str(value), height=120, max_chars=4_000, **look)
        case kind:
            cast = int if knob.kind is int else float
            draw_number = st.slider if kind == "slider" else st.number_input
            draw_number(
                value=cast(value),
                min_value=cast(knob.low),
                max_value=cast(knob.high),
                step=cast(knob.step),
                format="%d" if cast is int else f"%.{max(knobs.decimals(knob), 2)}f",
                **look,
            )


def _equal(knob: Knob, held: object, value: object) -> bool:
    try:
        return knobs.tidy(knob, held) == value
    except SettingsError:
        return False


def _turned(name: str) -> None:
    if state.session().get(OUTLINED) == name:
        state.session()[OUTLINED] = ""
    knob = knob_named(name)
    try:
        state.turn(**{name: knobs.tidy(knob, st.session_state[KEY.format(name)])})
    except SettingsError as error:
        state.session()[state.NOTES] = [str(error)]


def _reset(names: tuple[str, ...]) -> None:
    state.turn(**{name: knob_named(name).default for name in names})
