"""Java's properties format, as far as meta.properties uses it."""

from __future__ import annotations


def decode_properties(text: str) -> dict[str, str]:
    properties: dict[str, str] = {}
    for line in text.splitlines():
        stripped = line.strip()
        if stripped and stripped[0] not in "#!":
            key, _, value = stripped.partition("=")
            properties[key.strip()] = value.strip()
    return properties


def encode_properties(properties: dict[str, str]) -> str:
    return "".join(f"{key}={value}\n" for key, value in sorted(properties.items()))
