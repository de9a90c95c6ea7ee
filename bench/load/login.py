"""Load process: connections one after the other, each logged in by SCRAM, with one request."""

from __future__ import annotations

import os
import socket
from functools import lru_cache
from unittest.mock import patch

from bench.load.child import Spec, serve
from bench.load.in_threads import timed
from penstock.cli.wire_call import authenticate, choose_mechanism
from penstock.security.scram import salted_password
from penstock.security.scram_client import ScramClient

THREADS = 4


def login(spec: Spec) -> Spec:
    host, _, port = spec["bootstrap"].rpartition(":")

    def one(_: int) -> None:
        with socket.create_connection((host, int(port)), 30) as sock:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            choose_mechanism(sock, spec["mechanism"])
            client = ScramClient(
                spec["mechanism"], spec["user"], spec["password"], lambda: os.urandom(16).hex()
            )
            challenge = authenticate(sock, client.first())
            client.check(authenticate(sock, client.final(challenge)))

    # Thousands of hashes of the same password and salt: the broker is what is measured.
    hashed = patch("penstock.security.scram_client.salted_password", lru_cache(salted_password))
    with hashed:
        return timed(one, spec["count"], THREADS)


if __name__ == "__main__":
    serve(login)
