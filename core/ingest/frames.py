"""Messages on a pipe: a header in JSON and a body of bytes, each after its length."""

from __future__ import annotations

import json
import struct
from typing import Any, BinaryIO

_LENGTHS = struct.Struct(">IQ")


def write_frame(pipe: BinaryIO, header: dict[str, Any], body: bytes = b"") -> None:
    """Send one message. Raises OSError where the other side has gone."""
    packed = json.dumps(header).encode("ascii")
    pipe.write(_LENGTHS.pack(len(packed), len(body)))
    pipe.write(packed)
    pipe.write(body)
    pipe.flush()


def read_frame(pipe: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    """The next message, or None where the other side has ended, also in mid-message."""
    lengths = _exactly(pipe, _LENGTHS.size)
    if lengths is None:
        return None
    header_length, body_length = _LENGTHS.unpack(lengths)
    header = _exactly(pipe, header_length)
    body = _exactly(pipe, body_length)
    if header is None or body is None:
        return None
    return json.loads(header), body


def _exactly(pipe: BinaryIO, count: int) -> bytes | None:
    data = pipe.read(count)
    return data if len(data) == count else None
