"""Traces of other pipelines: read from ranked lists, or from spans of OpenInference."""

from core.interchange.read import Imported, load_traces, named, read_traces

__all__ = ["Imported", "load_traces", "named", "read_traces"]
