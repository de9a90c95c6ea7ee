"""Consumers as functions.

Pure machines decide: `progress`, `lanes`, `retry`, `held`, `suspicion`. `poller` reads and commits
in a thread of its own, `runner` runs handlers on the event loop, `app` is what a user declares.
"""
