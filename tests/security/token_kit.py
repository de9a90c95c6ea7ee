"""Tokens for tests: keys, the set of their public halves, and what is signed with them."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
)
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

ISSUER = "https://issuer.example"
AUDIENCE = "penstock"

RSA_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC_KEY = ec.generate_private_key(ec.SECP256R1())
OTHER_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)


def public_pem() -> bytes:
    return RSA_KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def key_set() -> dict[str, Any]:
    return {
        "keys": [
            json.loads(RSAAlgorithm.to_jwk(RSA_KEY.public_key())) | {"kid": "rsa", "use": "sig"},
            json.loads(ECAlgorithm.to_jwk(EC_KEY.public_key())) | {"kid": "ec"},
            {
                "kty": "oct",
                "kid": "shared",
                "k": "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0",
            },
        ]
    }


def write_key_set(path: Path, document: dict[str, Any] | None = None) -> None:
    new = path.with_suffix(".new")
    new.write_text(json.dumps(document or key_set()))
    new.replace(path)


def token(
    key: Any = RSA_KEY,
    algorithm: str = "RS256",
    *,
    kid: str | None = "rsa",
    lasts_s: float = 600,
    **changed: Any,
) -> str:
    now = int(time.time())
    claims = {
        "sub": "carol",
        "iss": ISSUER,
        "aud": AUDIENCE,
        "iat": now,
        "exp": int(now + lasts_s),
        "scope": "read write",
    } | changed
    said = {name: value for name, value in claims.items() if value is not None}
    return jwt.encode(said, key, algorithm, headers={} if kid is None else {"kid": kid})


def first_message(value: str, authorization: str = "") -> bytes:
    named = f"a={authorization}" if authorization else ""
    return f"n,{named},\x01auth=Bearer {value}\x01\x01".encode()
