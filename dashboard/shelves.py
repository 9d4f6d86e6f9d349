"""The last few sets of documents that were put together on the pages, by fingerprint.

A link names its documents, and a page that is loaded again begins a new session: both find
them here, while the process runs. No streamlit.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

from dashboard.shelf import Shelf

MOST = 12

GONE = (
    "This link was made with other documents, which are not here any more: what the page shows "
    "comes from the documents above. Add those files again to see what the link meant."
)

_lock = threading.Lock()
_kept: OrderedDict[str, Shelf] = OrderedDict()


def keep(shelf: Shelf) -> None:
    """Keeps these documents, and lets go of the set that was wanted least recently."""
    with _lock:
        _kept[shelf.fingerprint] = shelf
        _kept.move_to_end(shelf.fingerprint)
        while len(_kept) > MOST:
            _kept.popitem(last=False)


def kept(fingerprint: str) -> Shelf | None:
    """The documents of that fingerprint; None where they are not here (any more)."""
    with _lock:
        found = _kept.get(fingerprint)
        if found is not None:
            _kept.move_to_end(fingerprint)
        return found
