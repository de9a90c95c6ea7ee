"""Load process: TLS connections one after the other, each with a request and its answer."""

from __future__ import annotations

import socket
import ssl

from bench.load.child import Spec, serve
from bench.load.in_threads import timed

REQUEST = bytes.fromhex("0000001300120000000000070009") + b"connector"
THREADS = 4


def connect(spec: Spec) -> Spec:
    host, _, port = spec["bootstrap"].rpartition(":")
    context = ssl.create_default_context(cafile=spec["ca"])
    context.load_cert_chain(spec["certificate"], spec["key"])

    def one(_: int) -> None:
        with (
            socket.create_connection((host, int(port)), 30) as raw,
            context.wrap_socket(raw, server_hostname=host) as sock,
        ):
            sock.sendall(REQUEST)
            if not sock.recv(65536):
                raise ConnectionError("closed")

    return timed(one, spec["count"], THREADS)


if __name__ == "__main__":
    serve(connect)
