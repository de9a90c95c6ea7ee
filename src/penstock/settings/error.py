"""What a person gets to read when a setting is wrong: one line, naming the key and its place."""

from __future__ import annotations

from penstock.model.error import PenstockError


class SettingError(PenstockError):
    """An unknown key, a malformed value, or a file that is no properties file."""
