"""Drives pure machines: journal, timers, and replies that wait for the commit."""

from penstock.runtime.driver import JournalError, Runtime

__all__ = ["JournalError", "Runtime"]
