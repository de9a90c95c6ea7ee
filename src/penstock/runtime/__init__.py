"""Drives pure machines: journal, timers, and replies that wait for the commit."""

from penstock.runtime.driver import JournalError, Runtime
from penstock.runtime.log_file import LogFile, MetadataLogConfig, StorageLogFile
from penstock.runtime.metadata_journal import MetadataJournal
from penstock.runtime.metadata_snapshot import SnapshotId, read_bootstrap

__all__ = [
    "JournalError",
    "LogFile",
    "MetadataJournal",
    "MetadataLogConfig",
    "Runtime",
    "SnapshotId",
    "StorageLogFile",
    "read_bootstrap",
]
