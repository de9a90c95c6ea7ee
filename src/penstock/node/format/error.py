"""What ends a formatting: one line that says why, and what to do."""

from __future__ import annotations

from penstock.model.error import PenstockError


class FormatError(PenstockError):
    """Nothing was formatted, or not all of it: the message names the directory."""
