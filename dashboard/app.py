"""The dashboard: page configuration, navigation and the frame of every page. Nothing else."""

from __future__ import annotations

import streamlit as st

from dashboard import frame

st.set_page_config(
    page_title="Chunkscope",
    page_icon="🔎",
    layout="wide",
    initial_sidebar_state=320,
)
frame.run()
