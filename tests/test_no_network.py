"""The guard of conftest.py: tests reach this machine and no other."""

from __future__ import annotations

import os
import socket

import pytest

ELSEWHERE = "192.0.2.1"
"""Set aside for documents (RFC 5737): no machine has it."""


def test_another_machine_cannot_be_reached() -> None:
    with (
        socket.socket() as tcp,
        pytest.raises(AssertionError, match=rf"asked for '{ELSEWHERE}'"),
    ):
        tcp.connect((ELSEWHERE, 80))
    with (
        socket.socket(type=socket.SOCK_DGRAM) as udp,
        pytest.raises(AssertionError, match="127.0.0.1"),
    ):
        udp.sendto(b"?", (ELSEWHERE, 53))


def test_names_of_other_machines_do_not_resolve() -> None:
    with pytest.raises(AssertionError, match="a server on 127"):
        socket.getaddrinfo("example.org", 443)


def test_this_machine_can_be_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(("localhost", server.getsockname()[1])) as client:
            client.sendall(b"hello")
            there, _ = server.accept()
        with there:
            assert there.recv(5) == b"hello"


def test_models_are_not_looked_for_on_a_hub() -> None:
    assert os.environ["HF_HUB_OFFLINE"] == "1"
