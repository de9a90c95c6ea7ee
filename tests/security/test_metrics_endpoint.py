"""The endpoint of metrics, encrypted and with a token."""

from __future__ import annotations

from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pytest

from penstock.node.address import Address
from tests.node.node_kit import running
from tests.security.tls_kit import PATIENCE_S, Keys


def test_a_token_and_tls(tmp_path: Path) -> None:
    keys = Keys(tmp_path / "keys")
    settings = {"penstock.metrics.tls.enable": "true", "penstock.metrics.token": "hush"}
    settings |= {
        f"listener.name.metrics.{key}": str(value) for key, value in keys.node_settings.items()
    }
    where = Address("127.0.0.1", 0)
    with running(tmp_path / "data", metrics=where, settings=settings) as node:
        address = node.node.metrics_address
        assert address is not None

        def read(path: str, token: str | None = None, scheme: str = "https") -> bytes:
            headers = {} if token is None else {"Authorization": f"Bearer {token}"}
            request = Request(f"{scheme}://127.0.0.1:{address.port}{path}", headers=headers)
            context = keys.context() if scheme == "https" else None
            with urlopen(request, timeout=PATIENCE_S, context=context) as answer:
                body: bytes = answer.read()
                return body

        assert b"penstock_connections" in read("/metrics", "hush")
        assert read("/healthz") == b"ok\n"
        for token in (None, "", "guessed"):
            with pytest.raises(HTTPError) as refused:
                read("/metrics", token)
            assert refused.value.code == 401
            refused.value.close()
        with pytest.raises((URLError, ConnectionError)):
            read("/healthz", scheme="http")
