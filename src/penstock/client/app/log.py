"""The log of applications: plain lines that name the record."""

from __future__ import annotations

import logging

LOG = logging.getLogger("penstock.client.app")
