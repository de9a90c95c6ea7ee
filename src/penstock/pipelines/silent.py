"""Where librdkafka's own lines go: failures come back as exceptions and are reported where they
matter, so it need not print them on standard error as well."""

from __future__ import annotations

import logging

SILENT = logging.getLogger("penstock.pipelines.librdkafka")
SILENT.addHandler(logging.NullHandler())
SILENT.propagate = False
