"""Keys as they are shown."""

from __future__ import annotations

from penstock.cli.value import is_text

_MAX = 40


def key_name(key: bytes | None) -> str:
    """As text where it is; else as the bytes it is made of."""
    if key is None:
        return "(no key)"
    try:
        text = key.decode()
    except UnicodeDecodeError:
        text = ""
    shown = text if text and is_text(text) else "0x" + key.hex()
    return shown if len(shown) <= _MAX else f"{shown[: _MAX - 1]}…"
